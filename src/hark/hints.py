"""Commands in messages: as they have to be typed here and now."""

from __future__ import annotations

import sys
from importlib.util import find_spec
from pathlib import Path
from typing import Final

DISTRIBUTION: Final = "hark-voice"
"""The name under which Hark is installed; it is imported, and typed, as `hark`."""
_LONG_AS_A_TOKEN: Final = 32
"""Characters of a part of a path that may be a token."""


def hark(words: str, *, anywhere: bool = False) -> str:
    """`hark` with `words`, such that it starts this Hark when it is typed as it is.

    That is a path where `hark` on the PATH is missing or another one: a relative one, unless it is to work `anywhere`.
    """
    beside = Path(sys.executable).parent / "hark"
    if not beside.exists():
        return python(f"-m hark {words}", anywhere=anywhere)
    return f"hark {words}" if _is_on_path(beside) else f"{_path(beside, anywhere)} {words}"


def python(words: str, *, anywhere: bool = False) -> str:
    """The Python of this Hark with `words`."""
    return f"{_path(Path(sys.executable), anywhere)} {words}"


def bus_address(url: str) -> str:
    """The address of a bus as it may be shown: without a password, and without a token at the end of its path."""
    scheme, colon, rest = url.rpartition("://")
    place, slash, path = rest.partition("/")
    parts = ["…" if len(part) >= _LONG_AS_A_TOKEN else part for part in path.split("/")]
    return f"{scheme}{colon}{place.rpartition('@')[2]}{slash}{'/'.join(parts)}"


def install(words: str, *, anywhere: bool = False) -> str:
    """What installs `words`, arguments of `pip install`, into the environment of this Hark."""
    if _is_on_path(Path(sys.executable).parent / "pip"):
        return f"pip install {words}"
    if find_spec("pip") is None and _on_path("uv") is not None:
        return f"uv pip install --python {_path(Path(sys.executable), anywhere)} {words}"
    return python(f"-m pip install {words}", anywhere=anywhere)


def install_extra(name: str) -> str:
    """What installs an extra of Hark."""
    return install(f"'{DISTRIBUTION}[{name}]'")


def _is_on_path(program: Path) -> bool:
    found = _on_path(program.name)
    return found is not None and program.exists() and program.samefile(found)


def _on_path(name: str) -> str | None:
    from shutil import which  # most commands give no hint, and this costs 5 ms

    return which(name)


def _path(path: Path, anywhere: bool) -> str:
    try:
        shown = path if anywhere else path.relative_to(Path.cwd())
    except (ValueError, OSError):  # it is elsewhere, or the working directory is gone
        shown = path
    import shlex  # here: a running assistant can do without it

    return shlex.quote(str(shown))
