"""Builds the plugin class for each extension point and mode: it behaves well until its fault is switched on."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from types import CoroutineType
from typing import Any, Final

from hark.model import Message, Session
from hark.plugins import (
    AudioTransformer,
    Ctx,
    DialogTransformer,
    IntentTransformer,
    MetadataTransformer,
    PipelinePlugin,
    Plugin,
    Round,
    Transformer,
    TTSTransformer,
    Turn,
    UtteranceTransformer,
    handles,
)
from hark.plugins.handlers import answers, fallback
from hark.skills import Skill
from hark.spec import topics
from hark.testing.faults.plugin import CallSite, FaultSwitch, FaultyPlugin, Point

Forms = Mapping[str, Callable[..., Any]]
"""A handler, by mode."""

KINDS: Final[Mapping[Point, type[Transformer]]] = {
    "audio": AudioTransformer,
    "utterance": UtteranceTransformer,
    "metadata": MetadataTransformer,
    "intent": IntentTransformer,
    "dialog": DialogTransformer,
    "tts": TTSTransformer,
}

Hold = Callable[..., CallSite]
"""Makes a call site of the arguments a plugin is called with."""


def build(faulty: FaultyPlugin, switch: FaultSwitch) -> Plugin:
    """A new plugin of this kind, whose fault `switch` turns on."""
    if faulty.point in KINDS:
        return _transformer(faulty, switch)
    return _BUILDERS[faulty.point](faulty, switch)


def made_of(base: type[Plugin], faulty: FaultyPlugin, switch: FaultSwitch, **members: Any) -> Plugin:
    """A plugin with the id and mode of `faulty` and these members."""
    given = {"id": faulty.id, "quick": faulty.mode == "inline", "faulty": faulty, "switch": switch}
    made: Plugin = type(faulty.behaviour.name, (base,), {**given, **members})()
    return made


def method_of(
    faulty: FaultyPlugin, hold: Hold, *, always: bool = False
) -> tuple[Callable[..., Any], Callable[..., Any]]:
    """What the frame calls, as `def` and as `async def`: normal unless the fault is on (or `always`)."""

    def ready(site: CallSite) -> bool:
        if not always and not site.switch.is_on(faulty.id):
            return False
        site.switch.record(faulty.id, site.utterance_id)
        return True

    def plain(*arguments: Any) -> Any:
        site = hold(*arguments)
        return faulty.behaviour.act(site) if ready(site) else site.normal

    async def waiting(*arguments: Any) -> Any:
        site = hold(*arguments)
        if not ready(site):
            return site.normal
        result = faulty.behaviour.act(site)
        return await result if type(result) is CoroutineType else result

    return plain, waiting


def _transformer(faulty: FaultyPlugin, switch: FaultSwitch) -> Plugin:
    def hold(plugin: Plugin, artifact: Any, ctx: Ctx) -> CallSite:
        return CallSite(plugin, switch, artifact, artifact, ctx=ctx, session=ctx.session)

    plain, waiting = method_of(faulty, hold)
    if faulty.point == "metadata":

        def transform(self: Plugin, ctx: Ctx) -> Any:
            return plain(self, None, ctx)

        async def transform_later(self: Plugin, ctx: Ctx) -> Any:
            return await waiting(self, None, ctx)
    else:

        def transform(self: Plugin, artifact: Any, ctx: Ctx) -> Any:  # type: ignore[misc]
            return plain(self, artifact, ctx)

        async def transform_later(self: Plugin, artifact: Any, ctx: Ctx) -> Any:  # type: ignore[misc]
            return await waiting(self, artifact, ctx)

    chosen = transform_later if faulty.mode == "loop" else transform
    return made_of(KINDS[faulty.point], faulty, switch, transform=chosen)


def _matcher(faulty: FaultyPlugin, switch: FaultSwitch) -> Plugin:
    def hold(plugin: Plugin, utterances: Sequence[str], lang: str, session: Session, around: Round) -> CallSite:
        return CallSite(plugin, switch, utterances, None, lang, session, round=around)

    plain, waiting = method_of(faulty, hold)

    def match(self: Plugin, utterances: Sequence[str], lang: str, session: Session, round: Round) -> Any:
        return plain(self, utterances, lang, session, round)

    async def match_later(self: Plugin, utterances: Sequence[str], lang: str, session: Session, round: Round) -> Any:
        return await waiting(self, utterances, lang, session, round)

    return made_of(PipelinePlugin, faulty, switch, match=match_later if faulty.mode == "loop" else match)


def handler_forms(
    faulty: FaultyPlugin, switch: FaultSwitch, normal: str | None = "normal", *, always: bool = True
) -> Forms:
    """The fault as a handler, by mode."""

    def hold(plugin: Plugin, turn: Turn) -> CallSite:
        return CallSite(plugin, switch, turn.message, normal, turn.lang, turn.session, turn=turn)

    plain, waiting = method_of(faulty, hold, always=always)

    def act(self: Plugin, turn: Turn) -> Any:
        return plain(self, turn)

    async def act_later(self: Plugin, turn: Turn) -> Any:
        return await waiting(self, turn)

    async def act_bit_by_bit(self: Plugin, turn: Turn) -> AsyncIterator[Any]:
        yield "so far"
        said = await waiting(self, turn)
        if said is not None:
            yield said

    return {"inline": act, "worker": act, "loop": act_later, "stream": act_bit_by_bit}


def _handler(faulty: FaultyPlugin, switch: FaultSwitch) -> Plugin:
    """Claims every utterance while its fault is on, and misbehaves in its handler."""
    forms = handler_forms(faulty, switch)

    async def match(self: PipelinePlugin, utterances: Sequence[str], lang: str, session: Session) -> Any:  # noqa: ARG001
        return self.claim("act", lang=lang, utterance=utterances[0]) if switch.is_on(faulty.id) else None

    def match_now(self: PipelinePlugin, utterances: Sequence[str], lang: str, session: Session) -> Any:  # noqa: ARG001
        return self.claim("act", lang=lang, utterance=utterances[0]) if switch.is_on(faulty.id) else None

    chosen = match_now if faulty.mode == "inline" else match
    return made_of(PipelinePlugin, faulty, switch, match=chosen, act=handles("act")(forms[faulty.mode]))


def _beside(faulty: FaultyPlugin, switch: FaultSwitch) -> tuple[Callable[..., Any], Callable[..., Any]]:
    def hold(plugin: Plugin, message: Message | None = None) -> CallSite:
        return CallSite(plugin, switch, message)

    return method_of(faulty, hold)


def _listener(faulty: FaultyPlugin, switch: FaultSwitch) -> Plugin:
    plain, waiting = _beside(faulty, switch)

    async def start(self: Plugin) -> None:
        def hears(message: Message) -> Any:
            return plain(self, message)

        async def hears_later(message: Message) -> Any:
            return await waiting(self, message)

        self.host.on(topics.UTTERANCE_HANDLE, hears_later if faulty.mode == "loop" else hears)

    return made_of(Plugin, faulty, switch, start=start)


def _task(faulty: FaultyPlugin, switch: FaultSwitch) -> Plugin:
    _, waiting = _beside(faulty, switch)

    async def start(self: Plugin) -> None:
        async def begin(_message: Message) -> None:
            self.host.task(waiting(self), "at work")

        self.host.on(topics.UTTERANCE_HANDLE, begin)

    return made_of(Plugin, faulty, switch, start=start)


def _timer(faulty: FaultyPlugin, switch: FaultSwitch) -> Plugin:
    plain, waiting = _beside(faulty, switch)

    async def start(self: Plugin) -> None:
        def due() -> Any:
            return plain(self)

        async def due_later() -> Any:
            return await waiting(self)

        async def wind(_message: Message) -> None:
            self.host.after(0.0, due_later if faulty.mode == "loop" else due)

        self.host.on(topics.UTTERANCE_HANDLE, wind)

    return made_of(Plugin, faulty, switch, start=start)


def _starter(faulty: FaultyPlugin, switch: FaultSwitch) -> Plugin:
    _, waiting = _beside(faulty, switch)

    async def start(self: Plugin) -> None:
        await waiting(self)

    return made_of(Plugin, faulty, switch, start=start)


def _stopper(faulty: FaultyPlugin, switch: FaultSwitch) -> Plugin:
    _, waiting = _beside(faulty, switch)

    async def stop(self: Plugin) -> None:
        await waiting(self)

    return made_of(Plugin, faulty, switch, stop=stop)


_PRIORITY: Final = 50


def _decides(faulty: FaultyPlugin, switch: FaultSwitch, normal: Any = False) -> Callable[..., Any]:
    """The fault as a decision about an utterance or a question in a session, in the mode of the plugin."""

    def hold(plugin: Plugin, said: Sequence[str] | str, lang: str, session: Session) -> CallSite:
        return CallSite(plugin, switch, said, normal, lang, session)

    plain, waiting = method_of(faulty, hold)

    def decide(self: Plugin, said: Sequence[str] | str, lang: str, session: Session) -> Any:
        return plain(self, said, lang, session)

    async def decide_later(self: Plugin, said: Sequence[str] | str, lang: str, session: Session) -> Any:
        return await waiting(self, said, lang, session)

    return decide_later if faulty.mode == "loop" else decide


def _eager(faulty: FaultyPlugin, switch: FaultSwitch) -> Callable[..., Awaitable[bool]]:
    """Wants everything while the fault is on. On the loop: a thread could answer after a test's time has passed."""

    async def wants(_self: Plugin, _said: Sequence[str] | str, _lang: str, _session: Session) -> bool:
        return switch.is_on(faulty.id)

    return wants


def _can_converse(faulty: FaultyPlugin, switch: FaultSwitch) -> Plugin:
    return made_of(Skill, faulty, switch, can_converse=_decides(faulty, switch))


def _converse(faulty: FaultyPlugin, switch: FaultSwitch) -> Plugin:
    act = handler_forms(faulty, switch)[faulty.mode]
    return made_of(Skill, faulty, switch, can_converse=_eager(faulty, switch), converse=act)


def _can_stop(faulty: FaultyPlugin, switch: FaultSwitch) -> Plugin:
    def hold(plugin: Plugin, session: Session) -> CallSite:
        return CallSite(plugin, switch, None, False, session=session)

    plain, waiting = method_of(faulty, hold)

    def can_stop(self: Plugin, session: Session) -> Any:
        return plain(self, session)

    async def can_stop_later(self: Plugin, session: Session) -> Any:
        return await waiting(self, session)

    return made_of(Skill, faulty, switch, can_stop=can_stop_later if faulty.mode == "loop" else can_stop)


def _stopped(faulty: FaultyPlugin, switch: FaultSwitch) -> Plugin:
    return made_of(Skill, faulty, switch, stopped=handler_forms(faulty, switch, None, always=False)[faulty.mode])


def _wants_fallback(faulty: FaultyPlugin, switch: FaultSwitch) -> Plugin:
    def take(_self: Plugin, _turn: Turn) -> None:
        return None

    return made_of(Skill, faulty, switch, take=fallback(_PRIORITY, when=_decides(faulty, switch))(take))


def _fallback(faulty: FaultyPlugin, switch: FaultSwitch) -> Plugin:
    act = handler_forms(faulty, switch)[faulty.mode]
    return made_of(Skill, faulty, switch, take=fallback(_PRIORITY, when=_eager(faulty, switch))(act))


def _wants_question(faulty: FaultyPlugin, switch: FaultSwitch) -> Plugin:
    def know(_self: Plugin, _question: str, _lang: str, _session: Session) -> None:
        return None

    return made_of(Skill, faulty, switch, know=answers(wants=_decides(faulty, switch))(know))


def _answers(faulty: FaultyPlugin, switch: FaultSwitch) -> Plugin:
    return made_of(Skill, faulty, switch, know=answers()(_decides(faulty, switch, None)))


_BUILDERS: Final[Mapping[Point, Callable[[FaultyPlugin, FaultSwitch], Plugin]]] = {
    "matcher": _matcher,
    "handler": _handler,
    "listener": _listener,
    "task": _task,
    "timer": _timer,
    "start": _starter,
    "stop": _stopper,
    "can_converse": _can_converse,
    "converse": _converse,
    "can_stop": _can_stop,
    "stopped": _stopped,
    "wants_fallback": _wants_fallback,
    "fallback": _fallback,
    "wants_question": _wants_question,
    "answers": _answers,
}
