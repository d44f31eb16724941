"""Bodies for behaviours: a plugin that behaves well until it is provoked, for every extension point and mode."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Mapping, Sequence
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
from hark.spec import topics
from hark.testing.zoo.animal import Animal, Grip, Point
from hark.testing.zoo.cage import Cage

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

Hold = Callable[..., Grip]
"""Makes a grip of what the frame calls a plugin with."""


def body(animal: Animal, cage: Cage) -> Plugin:
    """A specimen of `animal`."""
    if animal.point in KINDS:
        return _transformer(animal, cage)
    return _MAKERS[animal.point](animal, cage)


def made_of(base: type[Plugin], animal: Animal, cage: Cage, **members: Any) -> Plugin:
    """A plugin of `animal`'s id and mode with these members."""
    given = {"id": animal.id, "quick": animal.mode == "inline", "animal": animal, "cage": cage}
    made: Plugin = type(animal.behaviour.name, (base,), {**given, **members})()
    return made


def method_of(animal: Animal, hold: Hold, *, always: bool = False) -> tuple[Callable[..., Any], Callable[..., Any]]:
    """What the frame calls, as `def` and as `async def`: tame unless provoked (or `always`), else the misbehaviour."""

    def ready(grip: Grip) -> bool:
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


def _transformer(animal: Animal, cage: Cage) -> Plugin:
    def hold(plugin: Plugin, artifact: Any, ctx: Ctx) -> Grip:
        return Grip(plugin, cage, artifact, artifact, ctx=ctx, session=ctx.session)

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


def _matcher(animal: Animal, cage: Cage) -> Plugin:
    def hold(plugin: Plugin, utterances: Sequence[str], lang: str, session: Session, around: Round) -> Grip:
        return Grip(plugin, cage, utterances, None, lang, session, round=around)

    plain, waiting = method_of(animal, hold)

    def match(self: Plugin, utterances: Sequence[str], lang: str, session: Session, round: Round) -> Any:
        return plain(self, utterances, lang, session, round)

    async def match_later(self: Plugin, utterances: Sequence[str], lang: str, session: Session, round: Round) -> Any:
        return await waiting(self, utterances, lang, session, round)

    return made_of(PipelinePlugin, animal, cage, match=match_later if animal.mode == "loop" else match)


def handler_forms(animal: Animal, cage: Cage, tame: str | None = "tame", *, always: bool = True) -> Forms:
    """The misbehaviour as a handler, by mode."""

    def hold(plugin: Plugin, turn: Turn) -> Grip:
        return Grip(plugin, cage, turn.message, tame, turn.lang, turn.session, turn=turn)

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


def _handler(animal: Animal, cage: Cage) -> Plugin:
    """Claims every utterance while provoked, and misbehaves when it is to answer."""

    forms = handler_forms(animal, cage)

    async def match(self: PipelinePlugin, utterances: Sequence[str], lang: str, session: Session) -> Any:  # noqa: ARG001
        return self.claim("act", lang=lang, utterance=utterances[0]) if cage.provokes(animal.id) else None

    def match_now(self: PipelinePlugin, utterances: Sequence[str], lang: str, session: Session) -> Any:  # noqa: ARG001
        return self.claim("act", lang=lang, utterance=utterances[0]) if cage.provokes(animal.id) else None

    chosen = match_now if animal.mode == "inline" else match
    return made_of(PipelinePlugin, animal, cage, match=chosen, act=handles("act")(forms[animal.mode]))


def _beside(animal: Animal, cage: Cage) -> tuple[Callable[..., Any], Callable[..., Any]]:
    def hold(plugin: Plugin, message: Message | None = None) -> Grip:
        return Grip(plugin, cage, message)

    return method_of(animal, hold)


def _listener(animal: Animal, cage: Cage) -> Plugin:
    plain, waiting = _beside(animal, cage)

    async def start(self: Plugin) -> None:
        def hears(message: Message) -> Any:
            return plain(self, message)

        async def hears_later(message: Message) -> Any:
            return await waiting(self, message)

        self.host.on(topics.UTTERANCE_HANDLE, hears_later if animal.mode == "loop" else hears)

    return made_of(Plugin, animal, cage, start=start)


def _task(animal: Animal, cage: Cage) -> Plugin:
    _, waiting = _beside(animal, cage)

    async def start(self: Plugin) -> None:
        async def begin(_message: Message) -> None:
            self.host.task(waiting(self), "at work")

        self.host.on(topics.UTTERANCE_HANDLE, begin)

    return made_of(Plugin, animal, cage, start=start)


def _timer(animal: Animal, cage: Cage) -> Plugin:
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


def _starter(animal: Animal, cage: Cage) -> Plugin:
    _, waiting = _beside(animal, cage)

    async def start(self: Plugin) -> None:
        await waiting(self)

    return made_of(Plugin, animal, cage, start=start)


def _stopper(animal: Animal, cage: Cage) -> Plugin:
    _, waiting = _beside(animal, cage)

    async def stop(self: Plugin) -> None:
        await waiting(self)

    return made_of(Plugin, animal, cage, stop=stop)


_MAKERS: Final[Mapping[Point, Callable[[Animal, Cage], Plugin]]] = {
    "matcher": _matcher,
    "handler": _handler,
    "listener": _listener,
    "task": _task,
    "timer": _timer,
    "start": _starter,
    "stop": _stopper,
}
