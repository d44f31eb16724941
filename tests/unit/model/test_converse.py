"""Who may be offered the next utterance, and who waits for it."""

from __future__ import annotations

import pytest

from hark.model import Handler, ResponseMode, Session, converse
from hark.model.session_merge import SessionChanges

NOW = 1_000.0


def session(*handlers: tuple[str, float], waits: str | None = None, until: float = NOW + 1) -> Session:
    listed = tuple(Handler(skill_id, at) for skill_id, at in handlers)
    made = Session("x", converse_handlers=listed)
    return made if waits is None else made.replace(response_mode=ResponseMode(waits, until))


def ids(handlers: tuple[Handler, ...]) -> list[str]:
    return [one.skill_id for one in handlers]


@pytest.mark.parametrize(("until", "who"), [(NOW + 0.1, "a"), (NOW, None), (NOW - 1, None)])
def test_a_skill_waits_until_its_question_expires(until: float, who: str | None) -> None:
    assert converse.waiting_skill(session(waits="a", until=until), NOW) == who
    assert converse.waiting_skill(Session(), NOW) is None


def test_the_most_recent_comes_first_and_between_equals_the_order_stays() -> None:
    unsorted = session(("a", 1), ("b", 3), ("c", 3.0), ("d", 2)).converse_handlers
    assert ids(converse.by_recency(unsorted)) == ["b", "c", "d", "a"]
    one = session(("a", 1)).converse_handlers
    assert converse.by_recency(one) is one
    assert converse.by_recency(()) == ()


def test_who_is_called_goes_to_the_head_with_a_new_stamp() -> None:
    stamped = converse.with_activated(session(("a", 1), ("b", 2), ("c", 3)), "b", NOW)
    assert ids(stamped) == ["b", "a", "c"]
    assert stamped[0] == Handler("b", NOW)


@pytest.mark.parametrize(
    ("waits", "until", "kept"),
    [
        (None, NOW + 1, ["new", "a", "b"]),
        ("c", NOW + 1, ["new", "a", "c"]),
        ("b", NOW + 1, ["new", "a", "b"]),
        ("c", NOW, ["new", "a", "b"]),
        ("absent", NOW + 1, ["new", "a", "b"]),
    ],
)
def test_beyond_the_cap_the_last_goes_unless_it_waits(waits: str | None, until: float, kept: list[str]) -> None:
    before = session(("a", 3), ("b", 2), ("c", 1), waits=waits, until=until)
    assert ids(converse.with_activated(before, "new", NOW, cap=3)) == kept


def test_with_a_cap_of_one_both_the_called_and_the_waiting_stay() -> None:
    before = session(("a", 3), ("b", 2), waits="b")
    assert ids(converse.with_activated(before, "new", NOW, cap=1)) == ["new", "b"]


def test_far_too_many_are_brought_down_to_the_cap() -> None:
    many = session(*((f"s{number}", -float(number)) for number in range(50)))
    assert ids(converse.with_activated(many, "new", NOW)) == [
        "new",
        *(f"s{number}" for number in range(converse.CAP - 1)),
    ]


def test_skills_called_too_long_ago_are_removed_except_one_that_waits() -> None:
    old = session(("a", NOW - 10), ("b", NOW - 10.1), ("c", NOW - 99), waits="c")
    assert ids(converse.pruned(old, NOW, 10.0).converse_handlers) == ["a", "c"]
    assert ids(converse.pruned(old, NOW + 2, 12.5).converse_handlers) == ["a", "b"], "it waits no more"


def test_the_session_is_the_same_when_no_skill_is_removed() -> None:
    kept = session(("a", NOW - 1), ("b", NOW + 99))
    assert converse.pruned(kept, NOW, 10.0) is kept
    assert converse.pruned(kept, NOW + 10_000, None) is kept
    assert converse.pruned(Session(), NOW) == Session()


def test_a_handler_closes_its_own_question_and_no_other() -> None:
    mine, theirs = ResponseMode("a", NOW), ResponseMode("b", NOW)
    asked = session(waits="a", until=NOW)
    writes = SessionChanges.between(asked, asked.without("response_mode"), "a")
    assert writes is not None
    assert writes.applied_to(Session("x", response_mode=mine)).response_mode is None
    assert writes.applied_to(Session("x", response_mode=theirs)).response_mode == theirs
    assert writes.applied_to(Session("x")).response_mode is None
