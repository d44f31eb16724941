"""Which plugins an assistant is made of."""

from __future__ import annotations

import os
import sys
from collections.abc import Collection, Iterable, Iterator
from importlib import import_module
from pathlib import Path
from typing import Final

from hark.app.services.names import ALL_SERVICES, ServiceName, group_of, kind_of, kinds_in
from hark.app.settings import Settings
from hark.builtin import DEFAULT_PLUGINS, OPTIONAL
from hark.hosting import PluginFile, Refusal, discover
from hark.hosting.discovery import GROUPS
from hark.plugins import Plugin

_PACKAGES: Final = (".dist-info", ".egg-info")
_ANY_GROUP: Final = b"[hark."


def plugins(
    *,
    installed: bool,
    files: Iterable[Path] = (),
    wanted: Collection[str] = (),
    services: Collection[ServiceName] = ALL_SERVICES,
) -> Iterator[Plugin | Refusal]:
    """The plugins that come with Hark, those in `files` and, if asked for, those that installed packages offer.

    Of those that come with Hark some are loaded only where they are `wanted`, by id. Of all of them, those that live
    in these `services` are made.
    """
    kinds = kinds_in(services)

    def lives_here(offered: type[Plugin]) -> bool:
        return kind_of(offered) in kinds

    for made in filter(lives_here, builtin(wanted)):
        yield made()
    for path in files:
        yield from PluginFile(path).make(lives_here)
    if installed and any(map(_may_offer, sys.path)):
        yield from discover(tuple(group for group in GROUPS if group in set(map(group_of, kinds))))


def builtin(wanted: Collection[str]) -> Iterator[type[Plugin]]:
    """The plugins that come with Hark, and those of the optional ones that are wanted."""
    yield from DEFAULT_PLUGINS
    for plugin_id, place in OPTIONAL.items():
        if plugin_id in wanted:
            module, _, name = place.partition(":")
            yield getattr(import_module(module), name)


def wanted_by(settings: Settings) -> frozenset[str]:
    """The pipeline plugins that the settings name."""
    understanding = settings.understanding()
    return frozenset(understanding.entry(name).plugin for name in understanding.pipeline)


def plugin_files(settings: Settings, settings_file: Path) -> list[Path]:
    """The files with plugins that the settings name; what is relative is so to the folder of the settings file."""
    folder = settings_file.absolute().parent
    return [Path(os.path.normpath(folder / Path(name).expanduser())) for name in settings.assistant.files]


def _may_offer(place: str) -> bool:
    """Whether a package there may have entry points of ours.

    Looked up by hand first: most machines have none, and the standard library's way to find out costs 2 MB and 30 ms.
    """
    try:
        with os.scandir(place or ".") as entries:
            return any(_ANY_GROUP in _entry_points(entry) for entry in entries if entry.name.endswith(_PACKAGES))
    except NotADirectoryError:
        return True  # an archive: not for us to look into
    except OSError:
        return False


def _entry_points(package: os.DirEntry[str]) -> bytes:
    try:
        return Path(package.path, "entry_points.txt").read_bytes()
    except OSError:
        return b""
