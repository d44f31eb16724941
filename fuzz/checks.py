"""What must hold of any input at all. Needs no fuzzer, so a finding can be looked at with plain Python."""

from __future__ import annotations

import json
from typing import Any

import msgspec

from hark.model import Frozen, MalformedMessage, Message, Session, decode, encode, intent_context, thaw
from hark.model.frozen import EMPTY, freeze, freeze_object
from hark.model.session_codec import FIELDS
from hark.model.session_merge import Denials, SessionChanges, activate, commit, fold, three_way_merge

NOW = 1_767_268_800.0
ID = "clock.skill"
OTHERS = (
    Session(),
    Session("x", lang="en-US", blacklisted_skills=["a"], active_handlers=[{"skill_id": ID, "activated_at": 1}]),
    Session(intent_context={"k": {"value": "v", "turns_remaining": 1}}, location={"tz": "UTC"}, more={"a": [1]}),
)
"""What a session meets on its way."""


class Broken(AssertionError):
    """An input for which something does not hold that must hold for every input."""


def hold(truth: object, promise: str) -> None:
    """Raise `Broken` unless `truth`; unlike `assert`, also under `python -O`."""
    if not truth:
        raise Broken(promise)


def check_codec(raw: bytes) -> None:
    """Any bytes decode into a Message that can be worked with, or are malformed, and nothing else."""
    try:
        message = decode(raw)
    except MalformedMessage:
        hold(_written(raw) is None, "what can be written as a Message can be read as one")
        return
    unopened = encode(message)
    _check_open(message)
    opened = encode(message)
    hold(decode(unopened) == message, "a Message that nobody opened survives the wire")
    again = decode(opened)
    hold(again == message, "a Message that was opened survives the wire")
    hold(_exact(again.wire()) == _exact(message.wire()), "on the wire nothing turns into another type")
    hold(_exact(json.loads(opened)) == _exact(thaw(message.wire())), "what is written is what `wire` shows, as JSON")
    hold(_is_json(raw), "what decodes is JSON in UTF-8, all of it")
    rewritten = Message(message.type, thaw(message.data), thaw(message.context), message.session)
    hold(rewritten == message or message.malformed_session, "what was read can be written")
    written = _written(raw)
    hold(written is None or written == message, "reading a Message and writing the same one agree")
    _check_derived(message)


def check_session(raw: bytes) -> None:
    """Any JSON object at all reads as a session that can be taken through a turn."""
    try:
        carrier = msgspec.json.decode(raw)
    except (msgspec.DecodeError, UnicodeError, RecursionError):
        return
    if not isinstance(carrier, dict):
        return
    session = Session.read(carrier)
    _check_session_parts(session)
    try:
        message = Message("a.b", session=session)
    except MalformedMessage as error:
        raise Broken(f"a session that was read can be carried: {error}") from error
    hold(decode(encode(message)).session == session, "a session survives the wire")
    written = session.wire()
    hold(written.keys() <= carrier.keys(), "nothing is made up")
    hold(None not in written.values(), "a null is never passed on")
    hold(Session.read(thaw(written)) == session, "reading what was written gives the same session")
    for name, value in written.items():
        hold(name in FIELDS or _exact(value) == _exact(carrier[name]), "unknown fields are carried as they came")
    _check_turn(session)


def _check_open(message: Message) -> None:
    unopened = message.session_id
    for part in (message.data, message.context, message.wire()):
        hold(type(part) is Frozen, "every part is frozen")
    hash(message)
    repr(message)
    session = message.session
    hold(isinstance(unopened, str) and unopened, "a Message always belongs to some session")
    hold(message.session_id == unopened, "which session it is can be told before and after opening it")
    hold(message.utterance_id is None or isinstance(message.utterance_id, str), "an utterance_id is text")
    if session is not None:
        hold(message.malformed_session is None, "a session that can be read is not malformed")
        hold(message.session_id == session.session_id, "a Message is of the session it carries")
        _check_session_parts(session)
    for end in ("source", "destination"):
        name = message.context.get(end, "x")
        hold(isinstance(name, str) and name, "each end of the way is one name or absent")


def _check_derived(message: Message) -> None:
    derived = [
        message.forward("a.b", message.data),
        message.reply("a.b", message.data),
        message.carrying(x=1),
        message.carrying(Session("another")),
        message.with_data(EMPTY),
        message.within(message.context, message.session),
    ]
    for each in derived:
        hold(decode(encode(each)) == each, "what is derived survives the wire")


def _check_session_parts(session: Session) -> None:
    hash(session)
    repr(session)
    hold(isinstance(session.session_id, str) and session.session_id, "a session always has an id")
    hold(session.is_default == (session.session_id == "default"), "the default session is the one called default")
    for name in FIELDS:
        getattr(session, name)
        if name in session and name != "secondary_langs":
            value = session.get(name)
            hold(session.replace(**{name: value}).get(name) == value, f"{name} can be set to what it is")


def _check_turn(session: Session) -> None:
    """What a turn does to a session, on one that anybody may have sent."""
    other = OTHERS[len(session.wire()) % len(OTHERS)]
    outcomes = [
        fold(other, session),
        fold(session, other),
        commit(session, other),
        activate(session, ID, "time", NOW),
        three_way_merge(other, session, activate(other, ID, "time", NOW)),
        Denials.of(session).grown(other).imposed_on(other),
    ]
    for dispatched, done in ((session, other), (other, session)):
        writes = SessionChanges.between(dispatched, done, ID)
        after = dispatched if writes is None else writes.applied_to(dispatched)
        for name in ("response_mode", "persona_id", "pipeline"):
            hold(after.get(name) == done.get(name), f"{name} is as the handler left it")
        outcomes.append(after)
    for outcome in outcomes:
        message = Message("a.b", session=outcome)
        hold(decode(encode(message)) == message, "a session survives the wire at every step of a turn")
    pruned = intent_context.prune(session.intent_context, NOW)
    ticked = intent_context.evict(intent_context.tick(pruned, pruned), 3)
    hold(len(ticked) <= 3, "the intent context is bounded")
    intent_context.gate_is_open(ticked, ID, "k", NOW)
    session.trusted(intent_context=ticked).wire()


def _written(raw: bytes) -> Message | None:
    """The Message that Python's own JSON reader and our constructor make of `raw`; None where they make none."""
    try:
        parts = freeze_object(freeze(json.loads(raw.decode().removeprefix("\ufeff")), 0))
        return Message(**{key: parts[key] for key in ("type", "data", "context") if key in parts})
    except (ValueError, TypeError, RecursionError):  # among them MalformedMessage
        return None


def _is_json(raw: bytes) -> bool:
    try:
        json.loads(raw.decode().removeprefix("\ufeff"))
    except ValueError:
        return False
    return True


def _exact(value: Any) -> Any:
    """`value` with its types, for comparing: to Python, 1 and 1.0 and true are equal."""
    if isinstance(value, dict):
        return {key: _exact(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [_exact(item) for item in value]
    return (type(value).__name__, repr(value))
