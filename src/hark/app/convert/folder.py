"""The files of a locale folder as they are written: lines, not yet expanded (INTENT-2 §3)."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Final

from hark.app.convert.side import read_side
from hark.app.trouble import Trouble

_ROLES: Final = ("intent", "dialog", "entity", "voc", "blacklist", "required", "prompt")


class LocaleFolder:
    """One language of a locale folder."""

    def __init__(self, path: Path) -> None:
        self.lang = path.name
        self.side: dict[str, Any] = read_side(path)
        """What an import kept beside."""
        self._lines: dict[str, dict[str, list[str]]] = {role: {} for role in _ROLES}
        for file in sorted(path.rglob("*")):
            role = file.suffix.removeprefix(".")
            if file.is_file() and role in _ROLES:
                if file.stem in self._lines[role]:
                    raise Trouble(f"{file}: there is another {file.name} in this language")
                self._lines[role][file.stem] = _read(file)

    def files(self, role: str) -> list[str]:
        """The base names of a role."""
        return list(self._lines[role])

    def lines(self, role: str, base: str) -> list[str]:
        """The lines of a file, comments and blank lines apart; none when there is no such file."""
        return self._lines[role].get(base, [])


def _read(path: Path) -> list[str]:
    try:
        text = path.read_text(encoding="utf-8-sig")
    except UnicodeDecodeError as error:
        raise Trouble(f"{path} is not UTF-8: {error}") from error
    stripped = [line.strip() for line in text.split("\n")]
    return [line for line in stripped if line and not line.startswith("#")]


def languages(path: Path, lang: str | None) -> list[LocaleFolder]:
    """The languages of a locale folder, or the one that is asked for; raises `Trouble`."""
    if not path.is_dir():
        raise Trouble(f"{path} is no folder")
    found = sorted(one for one in path.iterdir() if one.is_dir() and lang in (None, one.name))
    if not found:
        raise Trouble(f"{path} holds no folder for {lang or 'any language'}: expected {path}/{lang or 'en'}/…")
    return [LocaleFolder(one) for one in found]
