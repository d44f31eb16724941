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
"""Makes a grip of what the frame calls a plugin with."""


def build(animal: FaultyPlugin, cage: FaultSwitch) -> Plugin:
    """A specimen of `animal`."""
    if animal.point in KINDS:
        return _transformer(animal, cage)
    return _MAKERS[animal.point](animal, cage)


def made_of(base: type[Plugin], animal: FaultyPlugin, cage: FaultSwitch, **members: Any) -> Plugin:
    """A plugin of `animal`'s id and mode with these members."""
    given = {"id": animal.id, "quick": animal.mode == "inline", "animal": animal, "cage": cage}
    made: Plugin = type(animal.behaviour.name, (base,), {**given, **members})()
    return made


def method_of(
    animal: FaultyPlugin, hold: Hold, *, always: bool = False
) -> tuple[Callable[..., Any], Callable[..., Any]]:
    """What the frame calls, as `def` and as `async def`: tame unless provoked (or `always`), else the misbehaviour."""

    def ready(grip: CallSite) -> bool:
        if not always and not grip.cage.provokes(animal.id):
            return False
        grip.cage.note(animal.id, grip.utterance_id)
        return True

    def plain(*arguments: Any) -> Any:
        grip = hold(*arguments)
        return animal.behaviour.act(grip) if ready(grip) else grip.tame

    async def waiting(*arguments: Any) -> Any:
        grip = hold(*arguments)
        if not ready(grip):
            return grip.tame
        result = animal.behaviour.act(grip)
        return await result if type(result) is CoroutineType else result

    return plain, waiting


def _transformer(animal: FaultyPlugin, cage: FaultSwitch) -> Plugin:
    def hold(plugin: Plugin, artifact: Any, ctx: Ctx) -> CallSite:
        return CallSite(plugin, cage, artifact, artifact, ctx=ctx, session=ctx.session)

    plain, waiting = method_of(animal, hold)
    if animal.point == "metadata":

        def transform(self: Plugin, ctx: Ctx) -> Any:
            return plain(self, None, ctx)

        async def transform_later(self: Plugin, ctx: Ctx) -> Any:
            return await waiting(self, None, ctx)
    else:

        def transform(self: Plugin, artifact: Any, ctx: Ctx) -> Any:  # type: ignore[misc]
            return plain(self, artifact, ctx)

        async def transform_later(self: Plugin, artifact: Any, ctx: Ctx) -> Any:  # type: ignore[misc]
            return await waiting(self, artifact, ctx)

    chosen = transform_later if animal.mode == "loop" else transform
    return made_of(KINDS[animal.point], animal, cage, transform=chosen)


def _matcher(animal: FaultyPlugin, cage: FaultSwitch) -> Plugin:
    def hold(plugin: Plugin, utterances: Sequence[str], lang: str, session: Session, around: Round) -> CallSite:
        return CallSite(plugin, cage, utterances, None, lang, session, round=around)

    plain, waiting = method_of(animal, hold)

    def match(self: Plugin, utterances: Sequence[str], lang: str, session: Session, round: Round) -> Any:
        return plain(self, utterances, lang, session, round)

    async def match_later(self: Plugin, utterances: Sequence[str], lang: str, session: Session, round: Round) -> Any:
        return await waiting(self, utterances, lang, session, round)

    return made_of(PipelinePlugin, animal, cage, match=match_later if animal.mode == "loop" else match)


def handler_forms(animal: FaultyPlugin, cage: FaultSwitch, tame: str | None = "tame", *, always: bool = True) -> Forms:
    """The misbehaviour as a handler, by mode."""

    def hold(plugin: Plugin, turn: Turn) -> CallSite:
        return CallSite(plugin, cage, turn.message, tame, turn.lang, turn.session, turn=turn)

    plain, waiting = method_of(animal, hold, always=always)

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


def _handler(animal: FaultyPlugin, cage: FaultSwitch) -> Plugin:
    """Claims every utterance while provoked, and misbehaves when it is to answer."""

    forms = handler_forms(animal, cage)

    async def match(self: PipelinePlugin, utterances: Sequence[str], lang: str, session: Session) -> Any:  # noqa: ARG001
        return self.claim("act", lang=lang, utterance=utterances[0]) if cage.provokes(animal.id) else None

    def match_now(self: PipelinePlugin, utterances: Sequence[str], lang: str, session: Session) -> Any:  # noqa: ARG001
        return self.claim("act", lang=lang, utterance=utterances[0]) if cage.provokes(animal.id) else None

    chosen = match_now if animal.mode == "inline" else match
    return made_of(PipelinePlugin, animal, cage, match=chosen, act=handles("act")(forms[animal.mode]))


def _beside(animal: FaultyPlugin, cage: FaultSwitch) -> tuple[Callable[..., Any], Callable[..., Any]]:
    def hold(plugin: Plugin, message: Message | None = None) -> CallSite:
        return CallSite(plugin, cage, message)

    return method_of(animal, hold)


def _listener(animal: FaultyPlugin, cage: FaultSwitch) -> Plugin:
    plain, waiting = _beside(animal, cage)

    async def start(self: Plugin) -> None:
        def hears(message: Message) -> Any:
            return plain(self, message)

        async def hears_later(message: Message) -> Any:
            return await waiting(self, message)

        self.host.on(topics.UTTERANCE_HANDLE, hears_later if animal.mode == "loop" else hears)

    return made_of(Plugin, animal, cage, start=start)


def _task(animal: FaultyPlugin, cage: FaultSwitch) -> Plugin:
    _, waiting = _beside(animal, cage)

    async def start(self: Plugin) -> None:
        async def begin(_message: Message) -> None:
            self.host.task(waiting(self), "at work")

        self.host.on(topics.UTTERANCE_HANDLE, begin)

    return made_of(Plugin, animal, cage, start=start)


def _timer(animal: FaultyPlugin, cage: FaultSwitch) -> Plugin:
    plain, waiting = _beside(animal, cage)

    async def start(self: Plugin) -> None:
        def due() -> Any:
            return plain(self)

        async def due_later() -> Any:
            return await waiting(self)

        async def wind(_message: Message) -> None:
            self.host.after(0.0, due_later if animal.mode == "loop" else due)

        self.host.on(topics.UTTERANCE_HANDLE, wind)

    return made_of(Plugin, animal, cage, start=start)


def _starter(animal: FaultyPlugin, cage: FaultSwitch) -> Plugin:
    _, waiting = _beside(animal, cage)

    async def start(self: Plugin) -> None:
        await waiting(self)

    return made_of(Plugin, animal, cage, start=start)


def _stopper(animal: FaultyPlugin, cage: FaultSwitch) -> Plugin:
    _, waiting = _beside(animal, cage)

    async def stop(self: Plugin) -> None:
        await waiting(self)

    return made_of(Plugin, animal, cage, stop=stop)


_MAKERS: Final[Mapping[Point, Callable[[FaultyPlugin, FaultSwitch], Plugin]]] = {
    "matcher": _matcher,
    "handler": _handler,
    "listener": _listener,
    "task": _task,
    "timer": _timer,
    "start": _starter,
    "stop": _stopper,
}


_PRIORITY: Final = 50


def build_dialogue(animal: FaultyPlugin, cage: FaultSwitch) -> Plugin:
    """A specimen of `animal`."""
    return _DIALOGUE_MAKERS[animal.point](animal, cage)


def _decides(animal: FaultyPlugin, cage: FaultSwitch, tame: Any = False) -> Callable[..., Any]:
    """What is asked about an utterance, or a question, in a session: the misbehaviour, in the animal's mode."""

    def hold(plugin: Plugin, said: Sequence[str] | str, lang: str, session: Session) -> CallSite:
        return CallSite(plugin, cage, said, tame, lang, session)

    plain, waiting = method_of(animal, hold)

    def decide(self: Plugin, said: Sequence[str] | str, lang: str, session: Session) -> Any:
        return plain(self, said, lang, session)

    async def decide_later(self: Plugin, said: Sequence[str] | str, lang: str, session: Session) -> Any:
        return await waiting(self, said, lang, session)

    return decide_later if animal.mode == "loop" else decide


def _eager(animal: FaultyPlugin, cage: FaultSwitch) -> Callable[..., Awaitable[bool]]:
    """Wants everything while it is provoked. On the loop: a test's time could run out before a thread has answered."""

    async def wants(_self: Plugin, _said: Sequence[str] | str, _lang: str, _session: Session) -> bool:
        return cage.provokes(animal.id)

    return wants


def _can_converse(animal: FaultyPlugin, cage: FaultSwitch) -> Plugin:
    return made_of(Skill, animal, cage, can_converse=_decides(animal, cage))


def _converse(animal: FaultyPlugin, cage: FaultSwitch) -> Plugin:
    act = handler_forms(animal, cage)[animal.mode]
    return made_of(Skill, animal, cage, can_converse=_eager(animal, cage), converse=act)


def _can_stop(animal: FaultyPlugin, cage: FaultSwitch) -> Plugin:
    def hold(plugin: Plugin, session: Session) -> CallSite:
        return CallSite(plugin, cage, None, False, session=session)

    plain, waiting = method_of(animal, hold)

    def can_stop(self: Plugin, session: Session) -> Any:
        return plain(self, session)

    async def can_stop_later(self: Plugin, session: Session) -> Any:
        return await waiting(self, session)

    return made_of(Skill, animal, cage, can_stop=can_stop_later if animal.mode == "loop" else can_stop)


def _stopped(animal: FaultyPlugin, cage: FaultSwitch) -> Plugin:
    return made_of(Skill, animal, cage, stopped=handler_forms(animal, cage, None, always=False)[animal.mode])


def _wants_fallback(animal: FaultyPlugin, cage: FaultSwitch) -> Plugin:
    def take(_self: Plugin, _turn: Turn) -> None:
        return None

    return made_of(Skill, animal, cage, take=fallback(_PRIORITY, when=_decides(animal, cage))(take))


def _fallback(animal: FaultyPlugin, cage: FaultSwitch) -> Plugin:
    act = handler_forms(animal, cage)[animal.mode]
    return made_of(Skill, animal, cage, take=fallback(_PRIORITY, when=_eager(animal, cage))(act))


def _wants_question(animal: FaultyPlugin, cage: FaultSwitch) -> Plugin:
    def know(_self: Plugin, _question: str, _lang: str, _session: Session) -> None:
        return None

    return made_of(Skill, animal, cage, know=answers(wants=_decides(animal, cage))(know))


def _answers(animal: FaultyPlugin, cage: FaultSwitch) -> Plugin:
    return made_of(Skill, animal, cage, know=answers()(_decides(animal, cage, None)))


_DIALOGUE_MAKERS: Final[Mapping[Point, Callable[[FaultyPlugin, FaultSwitch], Plugin]]] = {
    "can_converse": _can_converse,
    "converse": _converse,
    "can_stop": _can_stop,
    "stopped": _stopped,
    "wants_fallback": _wants_fallback,
    "fallback": _fallback,
    "wants_question": _wants_question,
    "answers": _answers,
}
