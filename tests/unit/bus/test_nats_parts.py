"""What the NATS carrier is made of: subjects, options and the outbox."""

from __future__ import annotations

import logging
import sys

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hark.bus import EVERYTHING
from hark.bus.nats import NatsCarrier, NatsOptions, NoBroker
from hark.bus.nats.carrier import Subjects
from hark.bus.nats.outgoing import Outbox


def test_a_topic_is_its_own_subject_under_the_prefix() -> None:
    subjects = Subjects("hark.")
    assert subjects.of("ovos.utterance.handle") == "hark.ovos.utterance.handle"
    assert subjects.of("clock.skill:time_here") == "hark.clock.skill:time_here"
    assert subjects.of(EVERYTHING) == subjects.everything == "hark.>"


@given(st.sets(st.text(min_size=1), min_size=2))
def test_no_two_topics_share_a_subject_and_none_is_a_wildcard(topics: set[str]) -> None:
    subjects = Subjects("hark.")
    found = [subjects.of(topic) for topic in topics - {EVERYTHING}]
    assert len(set(found)) == len(found)
    for subject in found:
        assert not set(subject) & set("*> \t\r\n")
        assert all(subject.split("."))


def test_a_topic_too_long_for_a_command_line_goes_by_its_digest() -> None:
    subjects = Subjects("hark.")
    one, other = "a" * 1_000_000, "a" * 1_000_001
    assert len(subjects.of(one)) < 100
    assert subjects.of(one) == subjects.of(one) != subjects.of(other)


@pytest.mark.parametrize("prefix", ["", "hark", ".", "hark..", "a b.", "*.", "hark.>"])
def test_a_prefix_that_makes_no_subjects_is_refused(prefix: str) -> None:
    with pytest.raises(ValueError, match="no prefix"):
        NatsOptions(prefix=prefix)


def test_a_carrier_needs_a_server() -> None:
    with pytest.raises(ValueError, match="address of a server"):
        NatsOptions(servers=())


async def test_without_the_client_it_says_how_to_get_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "nats.aio.client", None)
    monkeypatch.delitem(sys.modules, "hark.bus.nats.client", raising=False)
    with pytest.raises(NoBroker, match=r"pip install 'hark-voice\[nats\]'"):
        await NatsCarrier().open(lambda _frame, _way: None)


def test_the_outbox_drops_the_oldest_when_it_is_full_and_says_so(caplog: pytest.LogCaptureFixture) -> None:
    outbox = Outbox(limit=10)
    for n in range(2_000):
        outbox.add(b"%04d" % n, now=0.0)
    assert outbox.take(100) == [b"1998", b"1999"]
    assert outbox.report() == 1_998
    assert outbox.report() == 0
    assert [record.levelno for record in caplog.records] == [logging.ERROR] * 2


def test_what_is_larger_than_the_outbox_waits_alone() -> None:
    outbox = Outbox(limit=10)
    outbox.add(b"small", now=0.0)
    outbox.add(b"as large as it is", now=0.0)
    assert outbox.take(100) == [b"as large as it is"]


def test_the_outbox_forgets_what_is_too_old() -> None:
    outbox = Outbox(limit=100)
    for moment in range(4):
        outbox.add(b"%d" % moment, now=float(moment))
    outbox.drop_before(2.0)
    assert (len(outbox), outbox.report()) == (2, 2)
    assert outbox.take(1) == [b"2"]
    assert outbox.take(1) == [b"3"]
    assert outbox.take(1) == []
