"""Writing what was converted, without harm to what is there."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from hark.app.convert.source import need
from hark.app.trouble import Trouble


def write(folder: Path, files: Mapping[str, str], *, force: bool) -> None:
    """Write the files into `folder`; raises `Trouble` before the first one if some exist and `force` is not given."""
    there = sorted(name for name in files if (folder / name).exists())
    if there and not force:
        more = f" and {len(there) - 1} more" if len(there) > 1 else ""
        raise Trouble(f"{folder / there[0]}{more} would be overwritten; --force does that, another DEST does not")
    folder.mkdir(parents=True, exist_ok=True)
    for name, text in files.items():
        (folder / name).write_text(text, encoding="utf-8", newline="\n")


def hassil_files(data: Mapping[str, Any]) -> dict[str, str]:
    """A language in hassil's files: one for each intent, and one for what they share."""
    yaml = need("yaml")

    def text(table: Mapping[str, Any]) -> str:
        return str(yaml.safe_dump(dict(table), allow_unicode=True, sort_keys=False, width=110))

    head = {"language": data["language"]}
    shared = {key: value for key, value in data.items() if key not in ("language", "intents")}
    found = {"_common.yaml": text({**head, "intents": {}, **shared})}
    for name, intent in data["intents"].items():
        found[f"{name}.yaml"] = text({**head, "intents": {name: intent}})
    return found
