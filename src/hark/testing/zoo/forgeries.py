"""Animals that forge what only Hark may say: stamps, cancellations, ids, markers and signals."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from typing import Any, Final

from hark.model import Match, Message
from hark.spec import RESERVED_INTENT_NAMES, topics
from hark.spec.names import CANCEL_BY, CANCEL_REASON, CANCELED, SESSION, STAMP_KEYS, UTTERANCE_ID
from hark.testing.zoo.animal import CHAINS, Behaviour, Grip, behaviour, behaviours_in

_KEYS: Final[Mapping[str, Any]] = {
    "a_cancellation": (CANCELED, True),
    "a_cancel_reason": (CANCEL_REASON, "on purpose"),
    "who_cancelled": (CANCEL_BY, "somebody.else"),
    "the_utterance_id": (UTTERANCE_ID, "another turn"),
    "the_session": (SESSION, {"session_id": "somebody-else"}),
    **{f"the_{kind}_stamps": (key, ["somebody.else"]) for kind, key in STAMP_KEYS.items()},
}

_TOPICS: Final[Mapping[str, str]] = {
    "an_end_marker": topics.UTTERANCE_HANDLED,
    "a_match": topics.INTENT_MATCHED,
    "a_failure_to_match": topics.INTENT_UNMATCHED,
    "a_cancellation_notice": topics.UTTERANCE_CANCELLED,
    "a_start": topics.HANDLER_START,
    "a_completion": topics.HANDLER_COMPLETE,
    "an_error": topics.HANDLER_ERROR,
    "an_acceptance": topics.HANDLER_ACCEPTED,
    "a_done_signal": topics.HANDLER_DONE,
    "a_sign_of_life": topics.HOST_ALIVE,
    "a_rendering": topics.SPEECH_RENDERED,
    "a_dispatch": "tame:answer",
}


def doors(grip: Grip) -> Iterator[Callable[[str, Mapping[str, Any]], None]]:
    """Every public way in which a plugin can put something on the bus, from where it stands."""
    host, utterance_id = grip.plugin.host, grip.utterance_id

    def send(topic: str, data: Mapping[str, Any]) -> None:
        host.send(Message(topic, data, {UTTERANCE_ID: utterance_id} if utterance_id else {}))

    yield host.emit
    yield send
    if grip.ctx is not None:
        yield grip.ctx.emit
    if grip.turn is not None:
        yield grip.turn.emit


def _forged_key(name: str, key: str, value: Any) -> Behaviour:
    def act(grip: Grip) -> Any:
        if grip.ctx is not None:
            grip.ctx.set(key, value)
        return grip.tame

    return Behaviour(f"forges_{name}", f"Sets the context key {key!r}.", act, CHAINS, ("inline",))


def _forged_message(name: str, topic: str) -> Behaviour:
    def act(grip: Grip) -> Any:
        # Whoever is behind this turn, and whatever it is called, the signal is for them.
        data = {"topic": "tame:answer", "exception": "forged", "host": "somebody.else", "outcome": "forged"}
        for door in doors(grip):
            try:
                door(topic, data)
            except (PermissionError, ValueError):
                grip.cage.refused += 1
        return grip.tame

    # A forgery that a chain is to send on acceptance spoils the whole output; anything else is refused on the spot.
    return Behaviour(f"forges_{name}", f"Emits {topic!r} through every door there is.", act, modes=("inline", "loop"),
                     shows="tame")  # fmt: skip


@behaviour(points=CHAINS, shows="tame")
def forges_quietly(grip: Grip) -> Any:
    """Tries every key of the frame, says nothing when it is refused, and goes on as if all were well."""
    if grip.ctx is not None:
        for key, value in _KEYS.values():
            with suppress(PermissionError):
                grip.ctx.set(key, value)
            with suppress(PermissionError):
                grip.ctx.unset(key)
    return grip.tame


@behaviour(points=("matcher",), shows="tame", diverts=True)
def claims_for_nobody(grip: Grip) -> Any:
    """Claims for a handler that does not exist."""
    return Match("zoo.nobody", "go", grip.lang, grip.artifact[0])


@behaviour(points=("matcher",), shows="tame", diverts=True)
def claims_for_somebody_else(grip: Grip) -> Any:
    """Claims for a handler of another plugin, with slots it never asked for."""
    return Match("tame", "answer", grip.lang, grip.artifact[0], {"zoo": "a slot nobody asked for"})


@behaviour(points=("matcher",), shows="tame", diverts=True)
def claims_a_reserved_name(grip: Grip) -> Any:
    """Claims for an intent name that no skill may register."""
    return Match("tame", sorted(RESERVED_INTENT_NAMES)[0], grip.lang, grip.artifact[0])


@behaviour(points=("matcher",), shows="tame", diverts=True)
def claims_what_nobody_said(grip: Grip) -> Any:
    """Claims an utterance that was not among the candidates."""
    return Match("tame", "answer", grip.lang, "something nobody said")


@behaviour(points=("matcher",), shows="tame", diverts=True)
def claims_in_another_language(grip: Grip) -> Any:
    """Claims in a language this assistant does not speak."""
    return Match("tame", "answer", "tlh", grip.artifact[0])


BEHAVIOURS: Final = (
    *(_forged_key(name, key, value) for name, (key, value) in _KEYS.items()),
    *(_forged_message(name, topic) for name, topic in _TOPICS.items()),
    *behaviours_in(globals()),
)
