"""Files that the settings of a transformer name."""

from __future__ import annotations

from pathlib import Path

from hark.plugins import Host


def plugin_path(name: str, host: Host) -> Path:
    """The path that a setting names; a relative one starts at the plugin's data folder."""
    path = Path(name).expanduser()
    return path if path.is_absolute() else host.data_dir / path
