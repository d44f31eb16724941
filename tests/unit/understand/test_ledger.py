"""What workers know of each other's work."""

from __future__ import annotations

from hark.model import Message, Session
from hark.spec import topics
from hark.understand.ledger import Ledger, Open, key_of


def entry(text: str, session: str = "s") -> Message:
    return Message(topics.UTTERANCE_HANDLE, {"utterances": [text]}, session=Session(session))


def opened(worker: str, key: str, session: str = "s") -> Open:
    return Open(worker, 0, key, Message(topics.WORKER_OPENED, session=Session(session)))


def test_the_same_words_in_the_same_context_have_the_same_key() -> None:
    assert key_of(entry("yes")) == key_of(entry("yes"))
    assert len({key_of(entry("yes")), key_of(entry("no")), key_of(entry("yes", "t"))}) == 3


def test_of_two_utterances_alike_each_is_taken_once_in_whatever_order_one_hears_it() -> None:
    ledger = Ledger()
    ledger.hear(entry("yes"), "k", 0.0)
    ledger.taken("k", 0.0)
    ledger.taken("k", 0.0)  # the second is taken before it is heard
    assert ledger.untaken == 0
    ledger.hear(entry("yes"), "k", 1.0)
    assert ledger.untaken == 0
    ledger.hear(entry("yes"), "k", 2.0)
    assert ledger.untaken == 1


def test_what_was_said_to_be_taken_and_never_came_is_forgotten_after_a_while() -> None:
    ledger = Ledger()
    ledger.taken("k", 0.0)
    ledger.tidy(before=5.0)
    ledger.hear(entry("yes"), "k", 6.0)
    assert ledger.untaken == 1


def test_an_offer_counts_unless_it_waits_here_or_one_like_it_was_just_taken() -> None:
    ledger = Ledger()
    assert ledger.offered(entry("yes"), "k", 10.0, lately=3.0)
    assert not ledger.offered(entry("yes"), "k", 10.0, lately=3.0)
    ledger.taken("k", 10.0)
    assert not ledger.offered(entry("yes"), "k", 12.0, lately=3.0)
    assert ledger.offered(entry("yes"), "k", 14.0, lately=3.0)


def test_a_turn_that_is_over_is_not_opened_again_by_late_news() -> None:
    ledger = Ledger()
    ledger.ended("u-1")
    ledger.opened("u-1", opened("u", "k"), 0.0)
    assert len(ledger) == 0


def test_what_a_worker_does_not_have_any_more_is_over() -> None:
    ledger = Ledger()
    for number in range(3):
        ledger.opened(f"u-{number}", opened("u", f"k{number}"), 0.0)
    ledger.only("u", 0, ["u-1"])
    assert ledger.of("u", 0) == {"u-1": "k1"}
    assert ledger.at_work_on("s") == "u"
    assert list(ledger.orphans(lambda _worker, _generation: False)) == ["u-1"]
    assert (len(ledger), ledger.at_work_on("s")) == (0, None)


def test_the_latest_worker_in_a_session_has_its_next_turn() -> None:
    ledger = Ledger()
    ledger.opened("u-1", opened("u", "k1"), 0.0)
    ledger.opened("v-1", opened("v", "k2"), 1.0)
    assert ledger.at_work_on("s") == "v"
    ledger.ended("v-1")
    assert ledger.at_work_on("s") == "u"
    ledger.forget(before=0.5)
    assert ledger.at_work_on("s") is None
