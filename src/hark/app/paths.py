"""Where settings and state are kept (XDG base directories)."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from hark.errors import UserError


class NoHomeDirectory(UserError):
    """The environment names no home directory; the text names the option to use instead."""


def settings_file(environment: Mapping[str, str]) -> Path:
    """The default settings file."""
    return _base(environment, "XDG_CONFIG_HOME", ".config", "--settings") / "hark" / "hark.toml"


def state_directory(environment: Mapping[str, str]) -> Path:
    """The default state directory."""
    return _base(environment, "XDG_STATE_HOME", ".local/state", "--state") / "hark"


def tokens_file(named: str | None, state: Path) -> Path:
    """The file with the tokens for the bus."""
    return Path(named).expanduser() if named is not None else state / "tokens.json"


def _base(environment: Mapping[str, str], variable: str, below_home: str, option: str) -> Path:
    named = Path(environment.get(variable, ""))
    if named.is_absolute():  # the XDG specification says to ignore relative paths
        return named
    try:
        return Path.home() / below_home
    except RuntimeError:
        raise NoHomeDirectory(f"neither {variable} nor a home directory is set; name a path with {option}") from None
