"""OVOS-CONTEXT-1: entries, keys, decay and merging, as far as they are a matter of values."""

from __future__ import annotations

import json
import logging
from typing import Any

import pytest

from hark.model import ContextEntry, Message, Session, encode
from hark.model.intent_context import (
    MAX_ENTRIES,
    apply,
    delta,
    evict,
    gate_is_open,
    is_key,
    is_live,
    private_key,
    prune,
    tick,
)

NOW = 1_000.0


def entry(value: str | None = "v", **timers: Any) -> ContextEntry:
    return ContextEntry(value, **timers)


def read(wire: Any) -> Session:
    return Session.read({"session_id": "x", "intent_context": wire})


@pytest.mark.spec("CONTEXT-1/2.a")
def test_a_session_without_the_field_remembers_nothing() -> None:
    assert Session().intent_context == {}
    assert Session.read({"intent_context": {}}).intent_context == {}


@pytest.mark.spec("CONTEXT-1/2.b")
@pytest.mark.parametrize("key", ["person", "a.b", "clock.skill:person", "9", "Ümlaut"])
def test_a_key_is_bare_or_prefixed_by_one_owner(key: str) -> None:
    assert is_key(key)


@pytest.mark.spec("CONTEXT-1/2.b")
@pytest.mark.parametrize("key", ["", ":", "a:", ":b", "a:b:c", "a::b"])
def test_a_key_with_another_shape_is_dropped_before_the_match_round(key: str, caplog: pytest.LogCaptureFixture) -> None:
    assert not is_key(key)
    assert prune({key: entry(), "ok": entry()}, NOW) == {"ok": entry()}
    assert repr(key) in caplog.text


@pytest.mark.spec("CONTEXT-1/2.g")
@pytest.mark.spec("CONTEXT-1/8.a")
def test_an_entry_has_a_value_and_two_timers_and_writes_only_those_it_has() -> None:
    context = {"flag": entry(None), "fact": entry("Bob", expires_at=5, turns_remaining=2)}
    wire = json.loads(encode(Message("a.b", session=Session(intent_context=context))))["context"]["session"]

    assert ContextEntry.__struct_fields__ == ("value", "expires_at", "turns_remaining")
    assert wire["intent_context"] == {
        "flag": {"value": None},
        "fact": {"value": "Bob", "expires_at": 5, "turns_remaining": 2},
    }


@pytest.mark.spec("CONTEXT-1/2.g")
@pytest.mark.parametrize("broken", ["text", 7, [], {}, {"turns_remaining": 1}, {"value": 7}, {"value": ["a"]}])
def test_an_entry_that_is_none_is_dropped_alone(broken: Any, caplog: pytest.LogCaptureFixture) -> None:
    session = read({"bad": broken, "good": {"value": "v"}})

    assert session.intent_context == {"good": entry("v")}
    assert [record.levelno for record in caplog.records] == [logging.WARNING]
    assert "'bad'" in caplog.text


@pytest.mark.spec("CONTEXT-1/2.g")
@pytest.mark.parametrize("timer", ["turns_remaining", "expires_at"])
@pytest.mark.parametrize("broken", ["5", True, [], {}, 10**30])
def test_a_malformed_timer_counts_as_absent(timer: str, broken: Any, caplog: pytest.LogCaptureFixture) -> None:
    assert read({"k": {"value": "v", timer: broken}}).intent_context == {"k": entry("v")}
    assert timer in caplog.text


@pytest.mark.spec("CONTEXT-1/2.g")
@pytest.mark.parametrize("timers", [{}, {"expires_at": None}, {"turns_remaining": None, "expires_at": None}])
def test_a_null_timer_is_no_timer(timers: Any) -> None:
    assert read({"k": {"value": "v", **timers}}).intent_context == {"k": entry("v")}


@pytest.mark.spec("CONTEXT-1/2.h")
@pytest.mark.parametrize(
    ("timers", "live"),
    [
        ({}, True),
        ({"turns_remaining": 1}, True),
        ({"turns_remaining": 0}, False),
        ({"turns_remaining": -3}, False),
        ({"expires_at": NOW + 0.001}, True),
        ({"expires_at": NOW}, False),
        ({"expires_at": NOW - 1}, False),
        ({"turns_remaining": 1, "expires_at": NOW}, False),
        ({"turns_remaining": 0, "expires_at": NOW + 1}, False),
        ({"turns_remaining": 1, "expires_at": NOW + 1}, True),
    ],
)
def test_an_entry_is_live_while_both_its_timers_run(timers: Any, live: bool) -> None:
    assert is_live(entry(**timers), NOW) is live
    assert ("k" in prune({"k": entry(**timers)}, NOW)) is live


@pytest.mark.spec("CONTEXT-1/2.i")
@pytest.mark.spec("CONTEXT-1/4.a")
def test_pruning_leaves_what_is_live_and_nothing_else() -> None:
    context = {"live": entry(), "dead": entry(turns_remaining=0), "late": entry(expires_at=NOW), "marked": None}

    assert prune(context, NOW) == {"live": entry()}
    assert context.keys() == {"live", "dead", "late", "marked"}


@pytest.mark.spec("CONTEXT-1/2.k")
def test_an_entry_without_timers_outlives_fifty_rounds() -> None:
    context: Any = {"k": entry()}
    for round_ in range(50):
        pruned = prune(context, NOW + round_ * 1e6)
        context = tick(pruned, pruned)

    assert context == {"k": entry()}


@pytest.mark.spec("CONTEXT-1/2.f")
def test_what_is_nearest_to_its_end_is_evicted_first(caplog: pytest.LogCaptureFixture) -> None:
    context = {
        "forever": entry(),
        "late": entry(expires_at=NOW + 9),
        "soon": entry(expires_at=NOW + 1),
        "three turns": entry(turns_remaining=3, expires_at=NOW),
        "one turn": entry(turns_remaining=1),
    }

    order = []
    for limit in (4, 3, 2, 1):
        kept = evict(context, limit)
        assert len(kept) == limit
        order += [key for key in context if key not in kept and key not in order]
    assert order == ["one turn", "three turns", "soon", "late"]
    assert "'one turn'" in caplog.text


@pytest.mark.spec("CONTEXT-1/2.f")
def test_the_limit_is_1024_entries() -> None:
    full = {f"k{number}": entry(turns_remaining=number) for number in range(1, 1025)}

    assert MAX_ENTRIES == 1024
    assert evict(full) is full
    assert evict({**full, "k1025": entry(turns_remaining=1025)}).keys() == full.keys() - {"k1"} | {"k1025"}


@pytest.mark.spec("CONTEXT-1/3.a")
@pytest.mark.spec("CONTEXT-1/3.1.a")
@pytest.mark.spec("CONTEXT-1/3.1.b")
@pytest.mark.spec("CONTEXT-1/3.1.c")
def test_a_gate_opens_for_the_key_of_its_own_scope_and_owner_alone() -> None:
    gates: list[tuple[str, Any, str]] = [
        ("a", "k", "a:k"),
        ("a", {"key": "k", "scope": "private"}, "a:k"),
        ("a", {"key": "k"}, "a:k"),
        ("b", "k", "b:k"),
        ("a", {"key": "k", "scope": "shared"}, "k"),
    ]
    assert private_key("a", "k") == "a:k"
    for owner, gate, opener in gates:
        for stored in ("k", "a:k", "b:k"):
            assert gate_is_open({stored: entry()}, owner, gate, NOW) is (stored == opener)


@pytest.mark.spec("CONTEXT-1/3.1.c")
def test_a_shared_gate_cannot_spell_its_way_to_a_private_entry() -> None:
    assert not gate_is_open({"a:k": entry()}, "b", {"key": "a:k", "scope": "shared"}, NOW)


@pytest.mark.spec("CONTEXT-1/2.j")
@pytest.mark.parametrize("dead", [None, entry(turns_remaining=0), entry(expires_at=NOW)])
def test_a_gate_never_opens_for_a_dead_entry(dead: ContextEntry | None) -> None:
    assert not gate_is_open({"a:k": dead}, "a", "k", NOW)


@pytest.mark.spec("CONTEXT-1/3.1.c")
@pytest.mark.parametrize("gate", [None, 7, [], {}, {"key": 7}, {"key": "k", "scope": "all"}, {"key": "k", "scope": []}])
def test_a_malformed_gate_never_opens(gate: Any) -> None:
    assert not gate_is_open({"a:k": entry(), "k": entry(), "a:": entry(), "": entry()}, "a", gate, NOW)


@pytest.mark.spec("CONTEXT-1/4.c")
def test_a_round_costs_every_entry_that_counts_turns_one_of_them() -> None:
    before = {"a:k": entry(turns_remaining=2), "k": entry(turns_remaining=5, expires_at=NOW), "other": entry()}

    assert tick(before, before) == {
        "a:k": entry(turns_remaining=1),
        "k": entry(turns_remaining=4, expires_at=NOW),
        "other": entry(),
    }


@pytest.mark.spec("CONTEXT-1/4.e")
@pytest.mark.parametrize("turns", [0, 1, 3])
def test_an_entry_with_n_turns_is_seen_by_n_rounds(turns: int) -> None:
    context: Any = {"k": entry(turns_remaining=turns)}
    seen = 0
    for _ in range(5):
        pruned = prune(context, NOW)
        seen += "k" in pruned
        context = tick(pruned, pruned)

    assert seen == turns


@pytest.mark.spec("CONTEXT-1/4.1.b")
@pytest.mark.spec("CONTEXT-1/4.1.a")
def test_what_was_written_in_this_round_is_exempt_from_its_tick() -> None:
    before = {"old": entry(turns_remaining=2), "changed": entry("was", turns_remaining=2)}
    after = {**before, "changed": entry("is", turns_remaining=2), "new": entry(turns_remaining=1)}

    assert tick(after, before) == {**after, "old": entry(turns_remaining=1)}


@pytest.mark.spec("CONTEXT-1/5.c")
def test_writing_a_key_again_replaces_the_entry_whole() -> None:
    assert apply({"k": entry("old", turns_remaining=1)}, {"k": entry("new")}) == {"k": entry("new")}


@pytest.mark.spec("CONTEXT-1/5.3.d")
@pytest.mark.spec("SESSION-2/5.1.j")
def test_an_entry_sets_null_removes_and_what_is_not_named_stays() -> None:
    stored = {"kept": entry("1"), "set": entry("2"), "removed": entry("3")}

    assert apply(stored, {"set": entry("9"), "removed": None, "new": entry("4"), "never there": None}) == {
        "kept": entry("1"),
        "set": entry("9"),
        "new": entry("4"),
    }


@pytest.mark.spec("CONTEXT-1/5.3.d")
def test_a_deletion_is_said_and_not_just_missing() -> None:
    base = {"kept": entry("1"), "changed": entry("2"), "removed": entry("3"), "by hand": entry("4")}
    now = {"kept": entry("1"), "changed": entry("5"), "new": entry("6"), "by hand": None}

    assert delta(base, now) == {"changed": entry("5"), "new": entry("6"), "removed": None, "by hand": None}
