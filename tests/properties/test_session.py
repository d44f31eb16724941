"""Sessions: reading never fails, nothing is lost or resurrected, denylists only grow."""

from __future__ import annotations

import json
import logging
import math
from collections.abc import Callable, Iterator
from typing import Any

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hark.model import ContextEntry, Handler, MalformedSession, Message, Session, decode, encode, intent_context, thaw
from hark.model.session_codec import EMPTY_IS_OMITTED, FIELDS
from hark.model.session_merge import Denials, SessionChanges, activate, commit, fold, three_way_merge
from hark.spec.names import DENYLISTS, HANDLER_WRITES, REIMPOSED

SIGNALS = ("stt_lang", "request_lang", "detected_lang")


@pytest.fixture(autouse=True, scope="module")
def _quiet() -> Iterator[None]:
    # What is read here is malformed by the thousand, and says so.
    logger = logging.getLogger("hark")
    level = logger.level
    logger.setLevel(logging.CRITICAL)
    yield
    logger.setLevel(level)


# How long an example takes says something about the machine, not about us.
settings.register_profile("untimed", deadline=None)
settings.load_profile("untimed")

texts = st.text(st.characters(exclude_categories=["Cs"]), max_size=6)
scalars = st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | texts
json_values = st.recursive(
    scalars,
    lambda children: st.lists(children, max_size=3) | st.dictionaries(texts, children, max_size=3),
    max_leaves=8,
)

# Anything Python has, JSON or not.
wild_scalars = (
    scalars
    | st.floats()
    | st.text(max_size=4)
    | st.binary(max_size=3)
    | st.builds(object)
    | st.dates()
    | st.complex_numbers()
)
wild_values = st.recursive(
    wild_scalars,
    lambda children: (
        st.lists(children, max_size=3)
        | st.tuples(children)
        | st.frozensets(scalars, max_size=2)
        | st.dictionaries(wild_scalars.filter(lambda key: key == key), children, max_size=3)
    ),
    max_leaves=8,
)

ids = st.sampled_from(["a", "b.skill", "c"])
lists_of_ids = st.lists(ids, max_size=3)
seconds = st.integers(0, 5) | st.floats(0, 5)
handlers = st.lists(st.fixed_dictionaries({"skill_id": ids, "activated_at": seconds}), max_size=3)
entries = st.fixed_dictionaries(
    {"value": st.none() | texts}, optional={"expires_at": seconds, "turns_remaining": st.integers(0, 3)}
)
keys = st.sampled_from(["k", "l", "a:k", "b.skill:k"])


def field_values(name: str) -> st.SearchStrategy[Any]:
    """Well-formed values of one field."""
    if name in EMPTY_IS_OMITTED:
        return lists_of_ids
    return {
        "active_handlers": handlers,
        "converse_handlers": handlers,
        "response_mode": st.fixed_dictionaries({"skill_id": ids, "expires_at": seconds}),
        "intent_context": st.dictionaries(keys, st.none() | entries, max_size=3),
        "location": st.fixed_dictionaries(
            {}, optional={"lat": st.floats(-90, 90), "lon": st.integers(-180, 180), "tz": texts}
        ),
    }.get(name, texts)


well_formed = st.fixed_dictionaries({}, optional={name: field_values(name) for name in FIELDS} | {"x_new": json_values})
carriers = st.fixed_dictionaries({}, optional={name: field_values(name) | json_values for name in FIELDS}).flatmap(
    lambda known: st.dictionaries(texts, json_values, max_size=2).map(lambda unknown: {**unknown, **known})
)
sessions = well_formed.map(lambda carrier: Session.read({"session_id": "x", **carrier}))
default_sessions = well_formed.map(Session.read)


def wire(session: Session) -> Any:
    return json.loads(encode(Message("a.b", session=session)))["context"]["session"]


def is_json(value: Any) -> bool:
    if isinstance(value, dict):
        return all(isinstance(key, str) and is_json(item) for key, item in value.items())
    if isinstance(value, (list, tuple)):
        return all(map(is_json, value))
    return value is None or isinstance(value, (str, bool, int)) or (isinstance(value, float) and math.isfinite(value))


# Reading and writing.


@given(st.dictionaries(st.sampled_from(["session_id", *FIELDS, "x"]) | wild_scalars, wild_values, max_size=6))
def test_any_dict_at_all_reads_as_a_session_and_nothing_un_json_gets_through(carrier: dict[Any, Any]) -> None:
    session = Session.read(carrier)

    assert session.session_id
    assert is_json(session.wire())
    assert thaw(session.wire()) == wire(session)
    assert Session.read(wire(session)) == session


@given(carriers)
def test_reading_json_gives_the_same_session_from_python_and_from_the_wire(carrier: dict[str, Any]) -> None:
    message = decode(json.dumps({"type": "a.b", "context": {"session": carrier}}))

    assert message.session == Session.read(carrier)
    assert wire(Session.read(carrier)) == wire(Session.read(wire(Session.read(carrier))))


@given(carriers)
def test_what_is_written_was_in_the_carrier(carrier: dict[str, Any]) -> None:
    written = wire(Session.read(carrier))

    assert written.keys() <= carrier.keys()
    assert None not in written.values()
    for name, value in written.items():
        if name not in FIELDS:
            assert value == carrier[name]


@given(well_formed)
def test_a_well_formed_session_is_written_as_it_came(carrier: dict[str, Any]) -> None:
    expected = {
        name: value
        for name, value in carrier.items()
        if value is not None and not (value == [] and name in EMPTY_IS_OMITTED) and (name, value) != ("location", {})
    }

    assert wire(Session.read(carrier)) == expected


@given(well_formed)
def test_setting_fields_equals_reading_them(carrier: dict[str, Any]) -> None:
    carrier = {name: value for name, value in carrier.items() if value is not None and name != "secondary_langs"}

    assert Session(**carrier) == Session.read(carrier) == Session().replace(**carrier)


@given(st.sampled_from(["session_id", *FIELDS, "x_new"]), wild_values)
def test_setting_anything_sets_it_or_says_why_not(name: str, value: Any) -> None:
    try:
        session = Session("x").replace(**{name: value})
    except MalformedSession as error:
        complaint = str(error)
    else:
        complaint = name
        assert is_json(session.wire())
        assert Session.read(wire(session)) == session
    assert name in complaint


@given(sessions, st.sampled_from(sorted(FIELDS)), st.sampled_from(sorted(FIELDS)), st.data())
def test_a_change_touches_the_fields_it_names_and_no_other(
    session: Session, set_name: str, removed: str, data: st.DataObject
) -> None:
    changed = session.replace(**{set_name: data.draw(field_values(set_name))}).without(removed)
    touched = {set_name, removed} | ({"secondary_langs"} if set_name == "lang" else set())

    assert removed not in changed
    for name in {*session, *changed} - touched:
        assert changed.get(name) == session.get(name)


@given(sessions, sessions, st.lists(st.sampled_from(sorted(FIELDS))))
def test_taking_fields_takes_exactly_those(session: Session, other: Session, names: list[str]) -> None:
    taken = session.taking(other, names)

    for name in FIELDS:
        assert wire(taken).get(name) == wire(other if name in names else session).get(name)


# Intake.


@given(default_sessions, default_sessions)
def test_intake_takes_what_is_present_and_leaves_what_is_omitted(store: Session, carrier: Session) -> None:
    folded = fold(store, carrier)

    for name in {*store, *carrier} - {"intent_context", *SIGNALS}:
        assert folded.get(name) == (carrier if name in carrier else store).get(name)
    for name in SIGNALS:
        assert folded.get(name) == carrier.get(name)
    assert folded.is_default


@given(default_sessions, default_sessions)
def test_intake_merges_the_intent_context_entry_by_entry(store: Session, carrier: Session) -> None:
    folded = fold(store, carrier).intent_context

    for key, entry in carrier.intent_context.items():
        assert folded.get(key) == entry
    for key, entry in store.intent_context.items():
        if key not in carrier.intent_context:
            assert folded.get(key) == entry


@given(default_sessions, default_sessions)
def test_intake_twice_is_intake_once(store: Session, carrier: Session) -> None:
    folded = fold(store, carrier)

    assert fold(folded, carrier) == folded


# Denylists.

denylist_sessions = st.fixed_dictionaries({}, optional=dict.fromkeys(DENYLISTS, lists_of_ids)).map(Session.read)


def denied(denials: Denials) -> set[tuple[str, str]]:
    return {(field, name) for field, names in denials.lists.items() for name in names}


@given(st.lists(denylist_sessions, min_size=1))
def test_denials_only_grow(rounds: list[Session]) -> None:
    denials = Denials.of(rounds[0])
    for session in rounds:
        grown = denials.grown(session)
        assert denied(grown) == denied(denials) | denied(Denials.of(session))
        denials = grown
    for field, name in denied(denials):
        assert denials.deny(field, name)
    assert not denials.deny("blacklisted_skills", "never named")
    assert not denials.deny("never a field", "a")


@given(denylist_sessions, denylist_sessions)
def test_imposing_denials_adds_and_never_takes_away(of: Session, onto: Session) -> None:
    imposed = Denials.of(of).imposed_on(onto)

    assert denied(Denials.of(imposed)) == denied(Denials.of(of)) | denied(Denials.of(onto))
    assert imposed.without(*DENYLISTS) == onto.without(*DENYLISTS)
    assert Session.read(wire(imposed)) == imposed


# A claim.


@given(sessions, sessions)
def test_a_claim_replaces_the_session_but_for_the_fifteen_fields(updated: Session, of_round: Session) -> None:
    committed = commit(updated, of_round)

    for name in {*updated, *of_round}:
        assert committed.get(name) == (of_round if name in REIMPOSED else updated).get(name)


@given(sessions, ids, st.sampled_from(["time", "converse", "response", "stop", "fallback", "common_query"]))
def test_a_dispatch_puts_its_skill_first_and_once(session: Session, skill_id: str, intent_name: str) -> None:
    activated = activate(session, skill_id, intent_name, 9.0)

    if intent_name in ("time", "fallback"):
        assert activated.active_handlers[0] == Handler(skill_id, 9.0)
        others = [handler for handler in session.active_handlers if handler.skill_id != skill_id]
        assert list(activated.active_handlers[1:]) == others
    else:
        assert activated.active_handlers == session.active_handlers
    assert activated.converse_handlers[0] == Handler(skill_id, 9.0)
    assert [one.skill_id for one in activated.converse_handlers].count(skill_id) == 1


# A handler.


@given(sessions, sessions, sessions, ids)
def test_a_handler_touches_only_what_it_may(
    dispatched: Session, done: Session, current: Session, skill_id: str
) -> None:
    writes = SessionChanges.between(dispatched, done, skill_id)
    after = current if writes is None else writes.applied_to(current)

    for name in {*current, *after} - {*HANDLER_WRITES, "intent_context"}:
        assert after.get(name) == current.get(name)
    assert after.session_id == current.session_id
    assert not {*DENYLISTS, "session_id", "site_id"} & {*HANDLER_WRITES}


@given(sessions, sessions, sessions, ids)
def test_a_handler_touches_no_entry_of_another_skill(
    dispatched: Session, done: Session, current: Session, skill_id: str
) -> None:
    writes = SessionChanges.between(dispatched, done, skill_id)
    after = current if writes is None else writes.applied_to(current)

    for name in ("active_handlers", "converse_handlers"):
        others = [handler for handler in after.get(name, ()) if handler.skill_id != skill_id]
        assert others == [handler for handler in current.get(name, ()) if handler.skill_id != skill_id]


@given(sessions, sessions, sessions, ids)
def test_a_handler_that_changed_nothing_it_may_has_no_writes(
    dispatched: Session, done: Session, current: Session, skill_id: str
) -> None:
    unchanged = done.taking(dispatched, (*HANDLER_WRITES, "intent_context"))

    assert SessionChanges.between(dispatched, unchanged, skill_id) is None
    assert SessionChanges.between(dispatched, dispatched, skill_id) is None


@given(sessions, sessions, ids)
def test_writes_onto_what_was_dispatched_give_what_the_handler_left(
    dispatched: Session, done: Session, skill_id: str
) -> None:
    writes = SessionChanges.between(dispatched, done, skill_id)
    after = dispatched if writes is None else writes.applied_to(dispatched)

    for name in ("response_mode", "persona_id", "pipeline"):
        assert after.get(name) == done.get(name)
    left = {key: entry for key, entry in done.intent_context.items() if entry is not None}
    assert {key: entry for key, entry in after.intent_context.items() if entry is not None} == left


# Three ways.

contexts = st.dictionaries(keys, entries.map(lambda entry: msgspec.convert(entry, ContextEntry)), max_size=4)
MERGES: list[Callable[[Session, Session, Session], Session]] = [
    three_way_merge,
    lambda current, base, now: (
        current if (writes := SessionChanges.between(base, now, "a")) is None else writes.applied_to(current)
    ),
]


@pytest.mark.parametrize("merge", MERGES, ids=["three_way_merge", "writes"])
@given(contexts, contexts, contexts)
def test_what_went_meanwhile_is_not_resurrected(merge: Any, base: Any, now: Any, meanwhile: Any) -> None:
    merged = merge(
        Session("x", intent_context=meanwhile), Session("x", intent_context=base), Session("x", intent_context=now)
    ).intent_context

    for key in {*base, *now, *meanwhile}:
        if base.get(key) == now.get(key):
            assert merged.get(key) == meanwhile.get(key)
        else:
            assert merged.get(key) == now.get(key)


@given(sessions, sessions, sessions)
def test_advancing_changes_what_changed_and_nothing_else(current: Session, base: Session, now: Session) -> None:
    advanced = three_way_merge(current, base, now)

    for name in {*current, *base, *now} - {"intent_context"}:
        expected = current if base.get(name) == now.get(name) else now
        assert advanced.get(name) == expected.get(name)


@given(contexts, contexts)
def test_a_difference_brings_what_it_is_the_difference_to(base: Any, now: Any) -> None:
    assert intent_context.apply(base, intent_context.delta(base, now)) == now
    assert intent_context.delta(base, dict(base)) == {}
