"""The default session as a key at the broker."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable

import pytest

from hark.bus.nats import NatsCarrier, NatsOptions, TurnStreams
from hark.model import Session
from hark.understand.stored_session import KEY, StoredSession


@pytest.fixture
async def streams(nats_options: NatsOptions) -> AsyncIterator[TurnStreams]:
    carrier = NatsCarrier(nats_options)
    await carrier.open(lambda _frame, _via: None)
    yield carrier.streams
    await carrier.streams.delete()
    await carrier.close()


class Worker:
    """One that has the session, with the lease or without."""

    def __init__(self, streams: TurnStreams, name: str, restored: Session | None = None) -> None:
        self.has_lease = True
        self.store = StoredSession(streams.session, name, restored, self._holds)

    async def _holds(self) -> bool:
        return self.has_lease

    def remembers(self, key: str) -> None:
        now = self.store.current
        context = {**now.intent_context, key: {"value": "x"}}
        self.store.bring(now, now.replace(intent_context=context))
        self.store.saved()


async def until(is_so: Callable[[], bool]) -> None:
    async with asyncio.timeout(5.0):
        while not is_so():  # noqa: ASYNC110 - the broker does not say
            await asyncio.sleep(0.005)


async def test_what_the_holder_writes_every_worker_reads(streams: TurnStreams) -> None:
    one, other = Worker(streams, "one", Session(lang="de-DE")), Worker(streams, "other")
    for worker in (one, other):
        await worker.store.load()
    await one.store.own()
    one.remembers("roses")
    one.store.apply("k" * 32)
    await one.store.written()
    await until(lambda: "roses" in other.store.current.intent_context)
    assert other.store.current.lang == "de-DE"
    assert other.store.has_applied("k" * 32)
    assert await one.store.is_current()
    for worker in (one, other):
        worker.store.close()


async def test_what_two_workers_change_at_once_is_there_in_the_end(streams: TurnStreams) -> None:
    one, other = Worker(streams, "one"), Worker(streams, "other")
    for worker in (one, other):
        await worker.store.load()
    await one.store.own()
    await until(lambda: not other.store.is_dirty)
    for number in range(5):
        one.remembers(f"one {number}")
        other.remembers(f"other {number}")
    await asyncio.gather(one.store.written(), other.store.written())
    for worker in (one, other):
        await until(lambda worker=worker: len(worker.store.current.intent_context) == 10)  # type: ignore[misc]
        worker.store.close()


async def test_a_holder_that_has_lost_its_lease_writes_nothing_more(streams: TurnStreams) -> None:
    former, now = Worker(streams, "former"), Worker(streams, "now")
    await former.store.load()
    await former.store.own()
    former.store.close()  # it does not hear what others write
    await now.store.load()
    await now.store.own()
    former.has_lease = False
    former.remembers("late")
    await former.store.written()
    assert not former.store.owned
    assert not await former.store.is_current()
    assert await now.store.is_current()
    assert now.store.current.intent_context == {}
    now.store.close()


async def test_what_was_restored_from_a_file_counts_where_the_broker_has_nothing(streams: TurnStreams) -> None:
    first = Worker(streams, "first", Session(lang="de-DE"))
    await first.store.load()
    await first.store.own()
    second = Worker(streams, "second", Session(lang="fr-FR"))
    await second.store.load()
    assert second.store.current.lang == "de-DE"
    for worker in (first, second):
        worker.store.close()


async def test_a_session_that_the_broker_has_lost_is_written_again(streams: TurnStreams) -> None:
    one = Worker(streams, "one")
    await one.store.load()
    await one.store.own()
    await streams.jetstream.ask(f"STREAM.PURGE.KV_{streams.session.bucket}", {})
    one.remembers("roses")
    await one.store.written()
    found = await streams.session.get("default")
    assert found is not None
    assert b"roses" in found.data
    one.store.close()


async def test_a_session_that_was_stored_with_routing_is_cleaned_when_it_is_read(streams: TurnStreams) -> None:
    stored = b'{"session": {"persona_id": "butler", "pipeline": ["stop_high"], "blacklisted_skills": ["x"]}}'
    await streams.session.set(KEY, stored, 0)
    one = Worker(streams, "one")
    await one.store.load()
    assert one.store.current == Session(persona_id="butler")
    one.store.close()


async def test_routing_that_an_utterance_brings_is_not_stored(streams: TurnStreams) -> None:
    one = Worker(streams, "one")
    await one.store.load()
    await one.store.own()
    working = one.store.open(Session(persona_id="butler", pipeline=["a"]))
    working = one.store.bring(working, working.replace(site_id="kitchen", pipeline=["b"]))
    await one.store.written()
    assert working == Session(persona_id="butler", site_id="kitchen", pipeline=["b"])
    again = Worker(streams, "again")
    await again.store.load()
    assert again.store.current == Session(persona_id="butler", site_id="kitchen")
    for worker in (one, again):
        worker.store.close()
