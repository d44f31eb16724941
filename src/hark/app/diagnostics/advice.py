"""Settings that have no effect or are probably mistakes."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from itertools import chain as concatenated
from typing import Any, Final, NamedTuple

from hark.app.runtime import Runtime
from hark.app.services import Hear, Speak
from hark.app.settings import Settings
from hark.app.settings.check import nearest
from hark.builtin.transformers import SHIPPED, named
from hark.hosting import Engines, Loaded, Runner
from hark.plugins.engines import ENGINE_KINDS
from hark.spec import TRANSFORMER_TYPES


class Inventory(NamedTuple):
    """The ids of the loaded plugins."""

    pipeline: Sequence[str]
    transformers: Mapping[str, Sequence[str]]
    all_ids: Sequence[str]
    refused: Collection[str]


class Advice(NamedTuple):
    """A setting that has no effect or is probably a mistake."""

    key: tuple[str, ...]
    """Its tables and key."""
    text: str

    def __str__(self) -> str:
        return self.text


def advice(runtime: Runtime) -> Iterator[Advice]:
    """Settings of a started runtime that have no effect or are probably mistakes.

    None where services are in other processes: what is loaded there is not known here.
    """
    if not runtime.is_whole:
        return iter(())
    transformers: dict[str, Sequence[str]] = {
        kind: [entry.id for entry in registry] for kind, registry in runtime.transformers.items()
    }
    refused = {refusal.name for refusal in runtime.refusals}
    found = Inventory([entry.id for entry in runtime.pipeline], transformers, list(runtime.ids()), refused)
    lang = runtime.settings.understanding().lang
    spoken = (one for engines in engines_of(runtime) for one in language_advice(engines, lang, runtime.runner))
    return concatenated(advise(runtime.settings, found), spoken)


def engines_of(runtime: Runtime) -> Iterator[Engines[Any]]:
    """The engines of the services in this process, by kind."""
    for service in runtime.services.values():
        if isinstance(service, Hear | Speak) and service.engines is not None:
            yield from service.engines.by_kind.values()


_OF_LANGUAGES: Final[Mapping[str, str]] = {
    "stt": '[engine.faster-whisper] model = "base" knows many',
    "tts": "piper and espeak-ng know more",
}
"""The kinds of engines that depend on the language, and what helps."""


def language_advice(engines: Engines[Any], lang: str, runner: Runner) -> Iterator[Advice]:
    """That no loaded engine of this kind knows the language of the assistant."""
    remedy = _OF_LANGUAGES.get(engines.kind)
    loaded = list(engines.registry)
    if remedy is None or not loaded:
        return
    if not any(runner.attempt(Loaded(entry.plugin, entry.plugin.serves), lang).value for entry in loaded):
        names = ", ".join(entry.id for entry in loaded)
        text = f"[voice] {engines.kind}: none of the engines knows {lang} ({names}); {remedy}, see docs/voice.md"
        yield Advice(("voice", engines.kind), text)


def advise(settings: Settings, found: Inventory) -> Iterator[Advice]:
    """Settings that have no effect or are probably mistakes where these plugins are loaded."""
    yield from _pipeline_advice(settings, found.pipeline)
    for kind in TRANSFORMER_TYPES:
        loaded = found.transformers.get(kind, ())
        for name in settings.transformers.order(kind) or ():
            if name not in loaded and name not in found.refused:
                text = f"[transformers] {kind} names {name!r}, which is not loaded{_meant(name, loaded)}"
                yield Advice(("transformers", kind), text)
        for name in settings.transformer.get(kind, ()):
            if name not in loaded and settings.transformer_table(kind, name).essential:
                what = "utterance" if kind in ("audio", "utterance", "metadata", "intent") else "answer"
                text = f"[transformer.{kind}.{name}] is essential and not loaded: every {what} is cancelled"
                yield Advice(("transformer", kind, name), text)
            elif name not in loaded and name not in found.refused:
                text = f"[transformer.{kind}.{name}] names what is not loaded{_meant(name, loaded)}"
                yield Advice(("transformer", kind, name), text)
    yield from _enable_advice(settings, found)
    yield from _deny_advice(settings, found)
    wanted = {name for kind in ENGINE_KINDS for name in getattr(settings.voice, kind)}
    for name in settings.engine:
        if name not in wanted:
            text = f"[engine.{name}] has no effect: [voice] does not name {name!r}{_meant(name, wanted)}"
            yield Advice(("engine", name), text)
    for place, key, names in (
        ("[plugins]", ("plugins",), settings.plugins),
        ("[limits.plugins]", ("limits", "plugins"), settings.limits.plugins),
        ("[assistant] toolboxes", ("assistant", "toolboxes"), settings.assistant.toolboxes),
    ):
        for name in names:
            if name not in found.all_ids and name not in found.refused:
                text = f"{place} names {name!r}, which is not loaded{_meant(name, found.all_ids)}"
                yield Advice((*key, name), text)


def _enable_advice(settings: Settings, found: Inventory) -> Iterator[Advice]:
    key = "transformers", "enable"
    of_others = {name for kind, ids in found.transformers.items() for one in ids for name in (one, f"{kind}.{one}")}
    for name in settings.transformers.enable:
        shipped = named(name)
        if not shipped and name not in of_others and name.rpartition(".")[2] not in found.refused:
            known = {one.id for one in SHIPPED}
            yield Advice(key, f"[transformers] enable names {name!r}, which is not installed{_meant(name, known)}")
        for one in shipped:
            order = None if one.kind == "audio_tap" else settings.transformers.order(one.kind)
            if order is not None and one.id not in order:
                text = f"[transformers] enable has no effect on {one.name}: [transformers] {one.kind} does not name it"
                yield Advice(key, text)


def _deny_advice(settings: Settings, found: Inventory) -> Iterator[Advice]:
    """Names that look like mistakes. One that resembles none is a precaution: what is denied need not be installed."""
    known = {"skills": found.all_ids, "intents": found.all_ids, "pipelines": [*found.pipeline, *settings.entries]}
    known |= {f"{kind}_transformers": [*found.transformers.get(kind, ())] for kind in TRANSFORMER_TYPES}
    for key, ids in known.items():
        for name in getattr(settings.deny, key):
            one = name.partition(":")[0]
            if one not in ids and one not in found.refused and (meant := _meant(one, ids)):
                yield Advice(("deny", key), f"[deny] {key} names {one!r}, which is not loaded{meant}")


def _pipeline_advice(settings: Settings, loaded: Sequence[str]) -> Iterator[Advice]:
    key = "assistant", "pipeline"
    options = settings.understanding()
    plugins = {name: options.entry(name, loaded.__contains__).plugin for name in options.pipeline}
    if not plugins:
        yield Advice(key, "[assistant] pipeline is empty: no plugin is asked to match what is said")
    elif len(plugins) > 1 and not any(plugin in loaded for plugin in plugins.values()):
        text = (
            "[assistant] pipeline leads to no loaded plugin: nothing that is said is understood; "
            f"remove that line for the usual pipeline, or name some of these: {', '.join(loaded)}"
        )
        yield Advice(key, text)
    missing = [(name, plugin) for name, plugin in plugins.items() if plugin not in loaded]
    tables = [(f" by [pipeline.{name}]" if name in settings.entries else "", plugin) for name, plugin in missing]
    for table, plugin in dict.fromkeys(tables):  # a plugin may have several entries
        yield Advice(key, f"[assistant] pipeline names {plugin!r}{table}, which is not loaded{_meant(plugin, loaded)}")


def _meant(name: str, known: Iterable[str]) -> str:
    meant = nearest(name, known)
    return f"; did you mean {meant!r}?" if meant else ""


def unused_entries(settings: Settings) -> list[Advice]:
    """Advice on pipeline entries that the pipeline does not name."""
    return [
        Advice(("pipeline", name), f"[pipeline.{name}] has no effect: [assistant] pipeline does not name {name!r}")
        for name in settings.entries
        if name not in settings.assistant.pipeline
    ]
