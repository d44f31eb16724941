"""Bodies for behaviours in a dialogue: skills that are asked whether they want something, and called when they do."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Any, Final

from hark.model import Session
from hark.plugins import Plugin, Turn
from hark.plugins.handlers import answers, fallback
from hark.skills import Skill
from hark.testing.zoo.animal import Animal, Grip, Point
from hark.testing.zoo.bodies import handler_forms, made_of, method_of
from hark.testing.zoo.cage import Cage

_PRIORITY: Final = 50


def dialogue_body(animal: Animal, cage: Cage) -> Plugin:
    """A specimen of `animal`."""
    return _MAKERS[animal.point](animal, cage)


def _decides(animal: Animal, cage: Cage, tame: Any = False) -> Callable[..., Any]:
    """What is asked about an utterance, or a question, in a session: the misbehaviour, in the animal's mode."""

    def hold(plugin: Plugin, said: Sequence[str] | str, lang: str, session: Session) -> Grip:
        return Grip(plugin, cage, said, tame, lang, session)

    plain, waiting = method_of(animal, hold)

    def decide(self: Plugin, said: Sequence[str] | str, lang: str, session: Session) -> Any:
        return plain(self, said, lang, session)

    async def decide_later(self: Plugin, said: Sequence[str] | str, lang: str, session: Session) -> Any:
        return await waiting(self, said, lang, session)

    return decide_later if animal.mode == "loop" else decide


def _eager(animal: Animal, cage: Cage) -> Callable[..., Awaitable[bool]]:
    """Wants everything while it is provoked. On the loop: a test's time could run out before a thread has answered."""

    async def wants(_self: Plugin, _said: Sequence[str] | str, _lang: str, _session: Session) -> bool:
        return cage.provokes(animal.id)

    return wants


def _can_converse(animal: Animal, cage: Cage) -> Plugin:
    return made_of(Skill, animal, cage, can_converse=_decides(animal, cage))


def _converse(animal: Animal, cage: Cage) -> Plugin:
    act = handler_forms(animal, cage)[animal.mode]
    return made_of(Skill, animal, cage, can_converse=_eager(animal, cage), converse=act)


def _can_stop(animal: Animal, cage: Cage) -> Plugin:
    def hold(plugin: Plugin, session: Session) -> Grip:
        return Grip(plugin, cage, None, False, session=session)

    plain, waiting = method_of(animal, hold)

    def can_stop(self: Plugin, session: Session) -> Any:
        return plain(self, session)

    async def can_stop_later(self: Plugin, session: Session) -> Any:
        return await waiting(self, session)

    return made_of(Skill, animal, cage, can_stop=can_stop_later if animal.mode == "loop" else can_stop)


def _stopped(animal: Animal, cage: Cage) -> Plugin:
    return made_of(Skill, animal, cage, stopped=handler_forms(animal, cage, None, always=False)[animal.mode])


def _wants_fallback(animal: Animal, cage: Cage) -> Plugin:
    def take(_self: Plugin, _turn: Turn) -> None:
        return None

    return made_of(Skill, animal, cage, take=fallback(_PRIORITY, when=_decides(animal, cage))(take))


def _fallback(animal: Animal, cage: Cage) -> Plugin:
    act = handler_forms(animal, cage)[animal.mode]
    return made_of(Skill, animal, cage, take=fallback(_PRIORITY, when=_eager(animal, cage))(act))


def _wants_question(animal: Animal, cage: Cage) -> Plugin:
    def know(_self: Plugin, _question: str, _lang: str, _session: Session) -> None:
        return None

    return made_of(Skill, animal, cage, know=answers(wants=_decides(animal, cage))(know))


def _answers(animal: Animal, cage: Cage) -> Plugin:
    return made_of(Skill, animal, cage, know=answers()(_decides(animal, cage, None)))


_MAKERS: Final[Mapping[Point, Callable[[Animal, Cage], Plugin]]] = {
    "can_converse": _can_converse,
    "converse": _converse,
    "can_stop": _can_stop,
    "stopped": _stopped,
    "wants_fallback": _wants_fallback,
    "fallback": _fallback,
    "wants_question": _wants_question,
    "answers": _answers,
}
