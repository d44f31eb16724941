"""Where the peer may read and write, and which stages it is told to load."""

from __future__ import annotations

import importlib.metadata
import importlib.util
import json
import os
import tempfile
from collections.abc import Sequence
from pathlib import Path

LANG = "en-US"
PADATIOUS = "ovos-padatious-pipeline-plugin"
PADACIOSO = "ovos-padacioso-pipeline-plugin"
TRANSFORMERS = ("ovos-utterance-normalizer", "ovos-utterance-cancel-plugin")

# `all` is the order of the configuration ovos-core ships, less the plugins that are not among the measured ones;
# padacioso, which that configuration does not list, stands right behind padatious, whose stand-in it is.
PIPELINES: dict[str, tuple[str, ...]] = {
    "template": (f"{PADATIOUS}-high",),
    "all": (
        "ovos-stop-pipeline-plugin-high",
        "ovos-converse-pipeline-plugin",
        f"{PADATIOUS}-high",
        f"{PADACIOSO}-high",
        "ovos-adapt-pipeline-plugin-high",
        "ovos-fallback-pipeline-plugin-high",
        "ovos-stop-pipeline-plugin-medium",
        f"{PADATIOUS}-medium",
        f"{PADACIOSO}-medium",
        "ovos-adapt-pipeline-plugin-medium",
        "ovos-fallback-pipeline-plugin-medium",
        "ovos-fallback-pipeline-plugin-low",
    ),
}


def isolate(home: Path) -> None:
    """Point every place ovos-core reads or writes into `home`."""
    for name in list(os.environ):
        if name.startswith(("OVOS_", "MYCROFT_", "XDG_")):
            del os.environ[name]
    places = {
        "HOME": home,
        "XDG_CONFIG_HOME": home / "config",
        "XDG_DATA_HOME": home / "data",
        "XDG_CACHE_HOME": home / "cache",
        "XDG_STATE_HOME": home / "state",
        "XDG_RUNTIME_DIR": home / "run",
        "XDG_CONFIG_DIRS": home / "none",
        "XDG_DATA_DIRS": home / "none",
        "TMPDIR": home / "tmp",
    }
    for name, place in places.items():
        place.mkdir(parents=True, exist_ok=True)
        os.environ[name] = str(place)
    os.environ["OVOS_DISTRIBUTION_CONFIG"] = str(home / "none" / "distribution.conf")
    os.environ["MYCROFT_SYSTEM_CONFIG"] = str(home / "none" / "system.conf")
    tempfile.tempdir = None
    try:
        from memory_tempfile import memory_tempfile
    except ImportError:
        return
    # Its lock files would go to the machine's shared memory, where a real installation keeps its own; now to TMPDIR.
    memory_tempfile.SUITABLE_PATHS.clear()


def configure(home: Path, pipeline: Sequence[str], log_level: str) -> None:
    """Write the one configuration file of the run: the stages, and everything else at its shipped default."""
    wanted = {plugin_of(entry) for entry in pipeline}
    installed = {point.name for point in importlib.metadata.entry_points(group="opm.pipeline")}
    settings = {
        "lang": LANG,
        "log_level": log_level,
        "utterance_transformers": {name: {} for name in TRANSFORMERS},
        "intents": {"pipeline": list(pipeline), "blacklisted_pipelines": sorted(installed - wanted)},
    }
    place = home / "config" / "mycroft" / "mycroft.conf"
    place.parent.mkdir(parents=True, exist_ok=True)
    place.write_text(json.dumps(settings, indent=2))


def plugin_of(entry: str) -> str:
    """The plugin a pipeline entry belongs to: the entry without its confidence tier."""
    for tier in ("-high", "-medium", "-low"):
        entry = entry.removesuffix(tier)
    return entry


def choose_pipeline(stages: str, notes: list[str]) -> list[str]:
    """The entries of `stages`; without padatious, padacioso takes its place and `notes` says so."""
    pipeline = list(PIPELINES[stages])
    # Looked up, not imported: importing it would read the configuration before there is one.
    if importlib.util.find_spec("ovos_padatious") is None:
        notes.append("padatious is not installed: padacioso, the other template engine, is measured in its place")
        pipeline = list(dict.fromkeys(entry.replace(PADATIOUS, PADACIOSO) for entry in pipeline))
    return pipeline
