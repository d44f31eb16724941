"""Write a new plugin package from the files in `templates`.

A package is made of `templates/common` and the folder of its kind. Files that end in `.tmpl` are `string.Template`s
over the fields of `PackageNames` and `group`; others are copied. `__module__` in a path is the module's name.
"""

from __future__ import annotations

import re
import shutil
from pathlib import Path
from string import Template
from typing import Final, NamedTuple

from hark.errors import UserError
from hark.spec import TRANSFORMER_TYPES

_TEMPLATES: Final = Path(__file__).parent / "templates"

KINDS: Final = {
    "skill": "hark.skill",
    **{f"transformer-{kind}": f"hark.transformer.{kind}" for kind in TRANSFORMER_TYPES},
    "pipeline": "hark.pipeline",
}
"""The kinds of plugin there are templates for, each with its entry-point group."""


class PackageNames(NamedTuple):
    """The names in a new package."""

    package: str
    """As it is installed: `hark-kitchen-timer`."""
    module: str
    """As it is imported: `hark_kitchen_timer`."""
    title: str
    """The name of its class: `KitchenTimer`."""
    id: str
    """The id of the plugin."""

    @classmethod
    def of(cls, typed: str, kind: str) -> PackageNames:
        """Derive the names from what the author typed; raises `UserError` when that cannot be a name."""
        words = re.findall(r"[a-z0-9]+", re.sub(r"([a-z0-9])([A-Z])", r"\1 \2", typed).lower())
        if words[:1] == ["hark"]:
            words = words[1:]
        if not words or not typed.isascii() or not words[0][0].isalpha():
            allowed = "letters from a to z, digits and dashes, such as kitchen-timer"
            raise UserError(f"{typed!r} cannot be the name of a plugin; use {allowed}")
        joined = "-".join(words)
        plugin_id = f"{joined}.skill" if kind == "skill" else joined
        return cls(f"hark-{joined}", f"hark_{'_'.join(words)}", "".join(map(str.title, words)), plugin_id)


def write(kind: str, names: PackageNames, into: Path) -> list[Path]:
    """Write a package into the new folder `into` and return its files: code first, then tests, then the rest."""
    if into.exists():
        raise UserError(f"{into} exists already; choose another name, or another folder with --into")
    values = {**names._asdict(), "group": KINDS[kind]}
    files: dict[Path, str] = {}
    for folder in (_TEMPLATES / "common", _TEMPLATES / kind):
        for source in sorted(path for path in folder.rglob("*") if path.is_file()):
            text = source.read_text(encoding="utf-8")
            name = str(source.relative_to(folder)).replace("__module__", names.module)
            if source.suffix == ".tmpl":
                name, text = name.removesuffix(".tmpl"), Template(text).substitute(values)
            files[into / name] = text
    try:
        for path, text in files.items():
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, encoding="utf-8")
    except OSError:
        shutil.rmtree(into, ignore_errors=True)  # half a package would be in the way of the next attempt
        raise
    return sorted(files, key=lambda path: (path.parent == into, path))
