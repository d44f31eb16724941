"""What is looked at before a plugin is let in."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from dataclasses import fields, is_dataclass
from typing import Any, Final

import msgspec

from hark.hosting.runner import in_words
from hark.plugins import PipelinePlugin, Plugin, Transformer
from hark.plugins.engines import ENGINE_KINDS, Engine
from hark.plugins.handlers import handlers_of
from hark.spec import is_pipeline_id, is_skill_id, is_transformer_id
from hark.spec.names import TRANSFORMER_TYPES

_ARGUMENTS: Final = {
    "audio": ("audio", "ctx"),
    "utterance": ("utterances", "ctx"),
    "metadata": ("ctx",),
    "intent": ("match", "ctx"),
    "dialog": ("text", "ctx"),
    "tts": ("audio", "ctx"),
}
_MATCH: Final = ("utterances", "lang", "session")
_ENGINES: Final = {
    "stt": ("transcribe", ("audio", "lang")),
    "tts": ("synthesize", ("text", "lang", "voice")),
    "vad": ("detector", ()),
    "wakeword": ("detector", ("wake_word",)),
    "microphone": ("blocks", ()),
    "player": ("play", ("audio",)),
}
_DOTTED: Final = "letters, digits, '_' and '-', with '.' between words"


class Unfit(ValueError):
    """A plugin cannot be loaded; the text says why, `remedy` what to do about it."""

    def __init__(self, reason: str, remedy: str) -> None:
        super().__init__(reason)
        self.remedy = remedy


def main_method(plugin: Plugin) -> Callable[..., Any]:
    """The method the frame calls, after everything about the plugin has been checked; raises `Unfit`."""
    method = _main_method(plugin)
    for intent_name in handlers_of(plugin):
        if not is_skill_id(intent_name):
            raise Unfit(f"it handles {intent_name!r}", f"an intent name has {_DOTTED}")
    return method


def _main_method(plugin: Plugin) -> Callable[..., Any]:
    if isinstance(plugin, Transformer):
        return _transform(plugin)
    if isinstance(plugin, PipelinePlugin):
        _check_id(plugin, is_pipeline_id, "letters, digits, '_' and '-' only")
        return _method(plugin, "match", _MATCH, optional="round")
    if isinstance(plugin, Engine):
        return _work(plugin)
    _check_id(plugin, is_skill_id, _DOTTED)
    return plugin.start


def wants_round(match: Callable[..., Any]) -> bool:
    """Whether a matcher named the fourth parameter."""
    return len(inspect.signature(match).parameters) == len(_MATCH) + 1


def settings_for(plugin: Plugin, table: dict[str, Any]) -> Any:
    """The plugin's `Settings` filled from its table in the settings file; raises `Unfit` naming the key."""
    shape = type(plugin).Settings
    if not (isinstance(shape, type) and is_dataclass(shape) and shape.__dataclass_params__.frozen):  # type: ignore[attr-defined]
        raise Unfit("its Settings are no frozen dataclass", "write @dataclass(frozen=True) above class Settings")
    known = [field.name for field in fields(shape)]
    for key in table:
        if key not in known:
            allowed = ", ".join(known) or "none"
            raise Unfit(
                f"it has no setting {key!r}", f"remove [plugins.{plugin.id}] {key}; its settings are: {allowed}"
            )
    try:
        return msgspec.convert(table, shape)
    except msgspec.ValidationError as error:
        raise Unfit(f"its settings are wrong: {error}", f"correct [plugins.{plugin.id}] in the settings file") from None
    except Exception as error:  # an annotation that means nothing, a `__post_init__` that raises
        raise Unfit(f"its settings cannot be made: {in_words(error)}", f"mend {shape.__qualname__}") from None


def _transform(plugin: Transformer) -> Callable[..., Any]:
    _check_id(plugin, is_transformer_id, "letters, digits, '.', '_' and '-' only")
    if getattr(plugin, "type", None) not in TRANSFORMER_TYPES:
        raise Unfit("it does not say which chain it belongs to", "subclass one of the six transformer classes")
    if type(plugin.priority) is not int:
        raise Unfit(f"its priority is {plugin.priority!r}", "priority is a whole number, 50 unless it matters")
    return _method(plugin, "transform", _ARGUMENTS[plugin.type])


def _work(engine: Engine) -> Callable[..., Any]:
    _check_id(engine, is_transformer_id, "letters, digits, '.', '_' and '-' only")
    if getattr(engine, "kind", None) not in ENGINE_KINDS:
        raise Unfit("it does not say what kind of engine it is", "subclass one of the six engine classes")
    name, arguments = _ENGINES[engine.kind]
    method = _method(engine, name, arguments, yields=engine.kind == "microphone")
    if engine.kind == "player" and not inspect.iscoroutinefunction(method):
        raise Unfit("its play() cannot be stopped", "write: async def play(self, audio)")
    return method


def _check_id(plugin: Plugin, fits: Callable[[object], bool], rule: str) -> None:
    plugin_id = getattr(plugin, "id", None)
    if plugin_id is None:
        raise Unfit("it has no id", f'add a class attribute: id = "{type(plugin).__name__.lower()}"')
    if not fits(plugin_id):
        raise Unfit(f"its id is {plugin_id!r}", f"an id has {rule}")


def _method(
    plugin: Plugin, name: str, arguments: tuple[str, ...], optional: str = "", *, yields: bool = False
) -> Callable[..., Any]:
    wanted = f"def {name}(self, {', '.join(arguments)})"
    method: Callable[..., Any] | None = getattr(plugin, name, None)
    if not callable(method) or getattr(method, "__isabstractmethod__", False):
        raise Unfit(f"it does not define {name}()", f"write: {wanted}")
    if not yields and (inspect.isasyncgenfunction(method) or inspect.isgeneratorfunction(method)):
        raise Unfit(f"its {name}() is a generator", f"return the result instead of yielding it: {wanted}")
    if plugin.quick and inspect.iscoroutinefunction(method):
        raise Unfit(f"it is declared quick, but its {name}() is async", "drop quick, or make it a plain def")
    try:
        parameters = list(inspect.signature(method).parameters.values())
    except (TypeError, ValueError):
        raise Unfit(f"its {name} does not say what it takes", f"write: {wanted}") from None
    positional = [p for p in parameters if p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD)]
    required_others = [
        p for p in parameters if p not in positional and p.default is p.empty and p.kind is p.KEYWORD_ONLY
    ]
    fits = len(positional) == len(arguments)
    if optional and len(positional) == len(arguments) + 1:
        fits = positional[-1].name == optional
    if not fits or required_others or len(positional) != len(parameters):
        got = ", ".join(["self", *map(str, parameters)])
        raise Unfit(f"its {name}({got}) does not take what it is called with", f"write: {wanted}")
    return method
