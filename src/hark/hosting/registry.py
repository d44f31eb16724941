"""The loaded plugins of one kind, why others are not loaded, and the checks a plugin has to pass."""

from __future__ import annotations

import inspect
import logging
import sys
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import fields, is_dataclass
from types import FunctionType
from typing import Any, Final, Generic, TypeVar

import msgspec

from hark.hosting.loaded import Loaded
from hark.hosting.runner import error_text
from hark.plugins import AudioTap, PipelinePlugin, Plugin, Toolbox, Transformer
from hark.plugins.engines import ENGINE_KINDS, Engine
from hark.plugins.handlers import handlers_of
from hark.spec import is_pipeline_id, is_skill_id, is_transformer_id
from hark.spec.names import TRANSFORMER_TYPES

log = logging.getLogger("hark.hosting")

P = TypeVar("P", bound=Plugin)

# The main method of each kind of plugin with the arguments it is called with.
_TRANSFORM: Final = {
    "audio": ("audio", "ctx"),
    "utterance": ("utterances", "ctx"),
    "metadata": ("ctx",),
    "intent": ("match", "ctx"),
    "dialog": ("text", "ctx"),
    "tts": ("audio", "ctx"),
}
_HEAR: Final = ("audio", "ctx")
_MATCH: Final = ("utterances", "lang", "session")
_ENGINE_METHODS: Final = {
    "stt": ("transcribe", ("audio", "lang")),
    "tts": ("synthesize", ("text", "lang", "voice")),
    "vad": ("detector", ()),
    "wakeword": ("detector", ("wake_word",)),
    "microphone": ("blocks", ()),
    "player": ("play", ("audio",)),
}
_REMOVED: Final = "it was removed"
_DOTTED: Final = "letters, digits, '_' and '-', with '.' between words"


class InvalidPlugin(ValueError):
    """A plugin cannot be loaded; the message says why, `remedy` what to do about it."""

    def __init__(self, reason: str, remedy: str) -> None:
        super().__init__(reason)
        self.remedy = remedy


class Refusal(msgspec.Struct, frozen=True):
    """Why a plugin is not loaded, where it is, and what to do about it."""

    kind: str
    name: str
    reason: str
    remedy: str = ""
    where: str = ""

    def __str__(self) -> str:
        parts = (f"{self.kind} {self.name} is not loaded: {self.reason}", self.where, self.remedy)
        return " · ".join(part for part in parts if part)


class CallLimits(msgspec.Struct, frozen=True):
    """The limits of one kind of plugin: seconds for each call, and failures in a row before it is disabled."""

    seconds: float = 10.0
    failures_allowed: int = 5
    retry_after: float = 60.0
    timeouts_only: bool = False
    """Whether only timeouts count (ruling R19)."""


class Registry(Generic[P]):
    """The plugins of one kind. Adding never raises: an invalid plugin is recorded as a `Refusal`."""

    def __init__(self, kind: str, limits: CallLimits | None = None) -> None:
        self.kind = kind
        self.refusals: list[Refusal] = []
        self.version = 0
        """Counts changes, so that a chain knows when to compose itself again."""
        self._limits = limits or CallLimits()
        self._loaded: dict[str, Loaded[P]] = {}

    def add(self, plugin: P, settings: dict[str, Any] | None = None, *, limit: float | None = None) -> Loaded[P] | None:
        """Check and register a plugin; None when it was refused."""
        entry = self.check(plugin, settings, limit=limit)
        if isinstance(entry, Refusal):
            self.refuse(entry)
            return None
        self.register(entry)
        return entry

    def check(
        self,
        plugin: P,
        settings: dict[str, Any] | None = None,
        *,
        limit: float | None = None,
        leaving: Collection[str] = (),
    ) -> Loaded[P] | Refusal:
        """Check a plugin and fill its settings without registering it; ids in `leaving` count as free."""
        name = type(plugin).__qualname__
        try:
            name = str(getattr(plugin, "id", None) or name)
            call = main_method(plugin)
            if plugin.id in self._loaded and plugin.id not in leaving:
                other = self._loaded[plugin.id].origin
                raise InvalidPlugin(
                    f"another {self.kind} has the id {plugin.id!r} already: {other}", "rename one of the two"
                )
            plugin.settings = settings_for(plugin, settings or {})
            plugin.host = None  # type: ignore[assignment]  # until it starts; a class that forbids it fails now
        except BaseException as error:  # reading an attribute of a plugin may raise anything
            invalid = (
                error
                if isinstance(error, InvalidPlugin)
                else InvalidPlugin(f"checking it failed: {error_text(error)}", "")
            )
            return Refusal(self.kind, name, str(invalid), invalid.remedy, line_of(type(plugin)))
        limits = self._limits
        return Loaded(
            plugin,
            call,
            origin=where_is(type(plugin)),
            limit=limits.seconds if limit is None else limit,
            failures_allowed=limits.failures_allowed,
            retry_after=limits.retry_after,
            timeouts_only=limits.timeouts_only,
        )

    def register(self, entry: Loaded[P]) -> None:
        """Register a plugin that passed `check`."""
        if entry.unloaded == _REMOVED:
            entry.unloaded = ""
        self._loaded[entry.id] = entry
        self.version += 1

    def reorder(self, ids: Sequence[str]) -> None:
        """Put the loaded plugins into this order; those not named come last."""
        known = {plugin_id: self._loaded[plugin_id] for plugin_id in ids if plugin_id in self._loaded}
        self._loaded = known | self._loaded
        self.version += 1

    def set_limits(self, limits: CallLimits, single: Mapping[str, float]) -> None:
        """Use other limits, for loaded plugins and later ones; `single` has the seconds of some, by id."""
        self._limits = limits
        for entry in self:
            entry.set_limits(single.get(entry.id, limits.seconds), limits.failures_allowed, limits.retry_after)

    def refuse(self, refusal: Refusal) -> None:
        """Record and log why a plugin is not loaded."""
        self.refusals.append(refusal)
        log.warning("%s", refusal)

    def remove(self, plugin_id: str) -> None:
        """Remove a plugin, if it is loaded. A turn that has already chosen it does not call it any more."""
        entry = self._loaded.pop(plugin_id, None)
        if entry is not None:
            entry.unloaded = entry.unloaded or _REMOVED
            self.version += 1

    def get(self, plugin_id: str) -> Loaded[P] | None:
        """The plugin with this id."""
        return self._loaded.get(plugin_id)

    def __contains__(self, plugin_id: object) -> bool:
        return plugin_id in self._loaded

    def __iter__(self) -> Iterator[Loaded[P]]:
        return iter(self._loaded.values())

    def __len__(self) -> int:
        return len(self._loaded)


def where_is(cls: type) -> str:
    """File and line of a class, from its methods: reading its source would slow down every start."""
    codes = [member.__code__ for member in vars(cls).values() if isinstance(member, FunctionType)]
    if not codes:
        return str(getattr(sys.modules.get(cls.__module__), "__file__", cls.__module__))
    first = min(codes, key=lambda code: code.co_firstlineno)
    return f"{first.co_filename}:{first.co_firstlineno}"


def line_of(cls: type) -> str:
    """File and line of a class, read from its source."""
    try:
        return f"{inspect.getsourcefile(cls)}:{inspect.getsourcelines(cls)[1]}"
    except Exception:  # the source may be missing or unreadable in many ways
        return where_is(cls)


def main_method(plugin: Plugin) -> Callable[..., Any]:
    """The method Hark calls, after everything about the plugin has been checked; raises `InvalidPlugin`."""
    method = _main_method(plugin)
    for intent_name in handlers_of(plugin):
        if not is_skill_id(intent_name):
            raise InvalidPlugin(f"it handles {intent_name!r}", f"an intent name has {_DOTTED}")
    return method


def _main_method(plugin: Plugin) -> Callable[..., Any]:
    if isinstance(plugin, Transformer):
        return _transform_method(plugin)
    if isinstance(plugin, AudioTap):
        _check_id(plugin, is_transformer_id, "letters, digits, '.', '_' and '-' only")
        return _method(plugin, "hear", _HEAR)
    if isinstance(plugin, PipelinePlugin):
        _check_id(plugin, is_pipeline_id, "letters, digits, '_' and '-' only")
        return _method(plugin, "match", _MATCH, optional="round")
    if isinstance(plugin, Toolbox):
        _check_id(plugin, is_pipeline_id, "letters, digits, '_' and '-' only")
        return plugin.start
    if isinstance(plugin, Engine):
        return _engine_method(plugin)
    _check_id(plugin, is_skill_id, _DOTTED)
    return plugin.start


def wants_round(match: Callable[..., Any]) -> bool:
    """Whether a matcher declares the fourth parameter, `round`."""
    return len(inspect.signature(match).parameters) == len(_MATCH) + 1


def settings_for(plugin: Plugin, table: dict[str, Any]) -> Any:
    """The plugin's `Settings` filled from its table in the settings file; raises `InvalidPlugin` naming the key."""
    shape: Any = type(plugin).Settings
    if shape is dict:  # a bridge to a plugin whose settings Hark does not know
        return dict(table)
    if not (isinstance(shape, type) and is_dataclass(shape) and shape.__dataclass_params__.frozen):  # type: ignore[attr-defined]
        raise InvalidPlugin(
            "its Settings is not a frozen dataclass", "write @dataclass(frozen=True) above class Settings"
        )
    known = [field.name for field in fields(shape)]
    quoted = f'"{plugin.id}"' if "." in plugin.id else plugin.id
    for key in table:
        if key not in known:
            remedy = f"remove [plugins.{quoted}] {key}; its settings are: {', '.join(known) or 'none'}"
            if isinstance(plugin, Transformer):
                remedy += f"; what is only for one chain belongs to [transformer.{plugin.type}.{plugin.id}]"
            raise InvalidPlugin(f"it has no setting {key!r}", remedy)
    try:
        settings = msgspec.convert(table, shape)
    except msgspec.ValidationError as error:
        raise InvalidPlugin(
            f"its settings are wrong: {error}", f"correct [plugins.{quoted}] in the settings file"
        ) from None
    except Exception as error:  # an annotation that cannot be resolved, a `__post_init__` that raises
        raise InvalidPlugin(
            f"its settings cannot be created: {error_text(error)}", f"fix {shape.__qualname__}"
        ) from None
    for path, names in _unknown_keys(table, settings, ""):
        raise InvalidPlugin(
            f"it has no setting {path!r}", f"correct it in [plugins.{plugin.id}]; there are: {', '.join(names)}"
        )
    return settings


def _unknown_keys(given: Any, made: Any, path: str) -> Iterator[tuple[str, list[str]]]:
    """The keys of tables inside tables that nothing was made of, each with the names that there are."""
    if isinstance(given, Mapping) and is_dataclass(made):
        names = [field.name for field in fields(made)]
        for key, value in given.items():
            inside = f"{path}.{key}" if path else str(key)
            if key not in names:
                yield inside, names
            else:
                yield from _unknown_keys(value, getattr(made, key), inside)
    elif isinstance(given, Mapping) and isinstance(made, Mapping):
        for key, value in given.items():
            yield from _unknown_keys(value, made.get(key), f"{path}.{key}")
    elif isinstance(given, (list, tuple)) and isinstance(made, (list, tuple)):
        for number, (value, one) in enumerate(zip(given, made, strict=False), 1):
            yield from _unknown_keys(value, one, f"{path} {number}")


def _transform_method(plugin: Transformer) -> Callable[..., Any]:
    _check_id(plugin, is_transformer_id, "letters, digits, '.', '_' and '-' only")
    if getattr(plugin, "type", None) not in TRANSFORMER_TYPES:
        raise InvalidPlugin(
            "it does not declare which chain it belongs to", "subclass one of the six transformer classes"
        )
    if type(plugin.priority) is not int:
        raise InvalidPlugin(f"its priority is {plugin.priority!r}", "priority is a whole number, 50 unless it matters")
    return _method(plugin, "transform", _TRANSFORM[plugin.type])


def _engine_method(engine: Engine) -> Callable[..., Any]:
    _check_id(engine, is_transformer_id, "letters, digits, '.', '_' and '-' only")
    if getattr(engine, "kind", None) not in ENGINE_KINDS:
        raise InvalidPlugin("it does not declare its kind of engine", "subclass one of the six engine classes")
    name, arguments = _ENGINE_METHODS[engine.kind]
    method = _method(engine, name, arguments, yields=engine.kind == "microphone")
    if engine.kind == "player" and not inspect.iscoroutinefunction(method):
        raise InvalidPlugin("its play() cannot be stopped", "write: async def play(self, audio)")
    return method


def _check_id(plugin: Plugin, fits: Callable[[object], bool], rule: str) -> None:
    plugin_id = getattr(plugin, "id", None)
    if plugin_id is None:
        raise InvalidPlugin("it has no id", f'add a class attribute: id = "{type(plugin).__name__.lower()}"')
    if not fits(plugin_id):
        raise InvalidPlugin(f"its id is {plugin_id!r}", f"an id has {rule}")


def _method(
    plugin: Plugin, name: str, arguments: tuple[str, ...], optional: str = "", *, yields: bool = False
) -> Callable[..., Any]:
    wanted = f"def {name}(self, {', '.join(arguments)})"
    method: Callable[..., Any] | None = getattr(plugin, name, None)
    if not callable(method) or getattr(method, "__isabstractmethod__", False):
        raise InvalidPlugin(f"it does not define {name}()", f"write: {wanted}")
    if not yields and (inspect.isasyncgenfunction(method) or inspect.isgeneratorfunction(method)):
        raise InvalidPlugin(f"its {name}() is a generator", f"return the result instead of yielding it: {wanted}")
    if plugin.quick and inspect.iscoroutinefunction(method):
        raise InvalidPlugin(f"it is declared quick, but its {name}() is async", "drop quick, or make it a plain def")
    try:
        parameters = list(inspect.signature(method).parameters.values())
    except (TypeError, ValueError):
        raise InvalidPlugin(f"its {name} does not declare its parameters", f"write: {wanted}") from None
    positional = [p for p in parameters if p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD)]
    required = [p for p in positional if p.default is p.empty]
    takes_any = any(p.kind is p.VAR_POSITIONAL for p in parameters)
    needs_more = any(p.kind is p.KEYWORD_ONLY and p.default is p.empty for p in parameters)
    if optional:  # it has to be clear whether it is called with that one too
        wanted_counts = (len(arguments), len(arguments) + (positional[-1:] != [] and positional[-1].name == optional))
        fits = len(positional) == len(parameters) and len(positional) in wanted_counts
    else:
        fits = len(required) <= len(arguments) and (takes_any or len(arguments) <= len(positional))
    if not fits or needs_more:
        got = ", ".join(["self", *map(str, parameters)])
        raise InvalidPlugin(f"its {name}({got}) does not take the arguments it is called with", f"write: {wanted}")
    return method
