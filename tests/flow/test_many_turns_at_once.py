"""A thousand turns in flight at once: all end, and nobody hears what was meant for somebody else."""

from __future__ import annotations

import asyncio
from collections import defaultdict
from typing import Any

import pytest

from flow.stage import (
    MakeAssistant,
    claims,
    matcher,
    reached,
    transformer,
)
from hark.model import Match, Message, Session
from hark.plugins import Ctx, Turn
from hark.spec import topics
from hark.testing import Assistant, settle

MANY = 1_000


async def over(*hearings: Any) -> None:
    """Wait until these turns are over."""
    async with asyncio.timeout(60):
        for hearing in hearings:
            await hearing.over.wait()


def sessions_by_turn(hark: Assistant) -> dict[str | None, set[str]]:
    """The sessions in which the Messages of each turn were."""
    found: dict[str | None, set[str]] = defaultdict(set)
    for message in hark.messages:
        if message.utterance_id is not None and message.type != topics.UTTERANCE_HANDLE:
            found[message.utterance_id].add(message.session_id)
    return found


@pytest.mark.spec("SESSION-1/3.1.a")
async def test_a_thousand_sessions_with_nested_turns_among_them(assistant: MakeAssistant) -> None:
    answers: dict[str, asyncio.Future[str]] = {}
    inside = 0
    all_inside = asyncio.Event()

    async def wait_for_all() -> None:
        nonlocal inside
        inside += 1
        if inside == MANY:
            all_inside.set()
        await all_inside.wait()

    async def plain(turn: Turn) -> str:
        await wait_for_all()
        return f"heard {turn.utterance} in {turn.session.session_id}"

    async def asks(turn: Turn) -> str:
        answer = answers[turn.session.session_id] = asyncio.get_running_loop().create_future()
        await wait_for_all()
        turn.emit(topics.UTTERANCE_HANDLE, {"utterances": [f"inner {turn.utterance}"]})
        return f"heard {await answer} in {turn.session.session_id}"

    async def inner(turn: Turn) -> str:
        await asyncio.sleep(0)
        answers[turn.session.session_id].set_result(turn.utterance)
        return "noted"

    def match(utterances: Any, lang: str, session: Session) -> Match:
        word = utterances[0].split()[0]
        return Match("m", word, lang, utterances[0])

    def tag(text: str, ctx: Ctx) -> str:
        return f"{text} ({ctx.session.session_id})"

    plugins = (matcher("m", match, plain=plain, asks=asks, inner=inner), transformer("dialog", "tag", tag))
    async with assistant(*plugins, settings={"limits": {"open_turns": 2 * MANY}}) as hark:
        hearings = {n: hark.say(f"{'asks' if n % 4 == 0 else 'plain'} {n}", session=f"s{n}") for n in range(MANY)}
        await over(*hearings.values())
        for n, hearing in hearings.items():
            if n % 4 == 0:
                expected = [f"noted (s{n})", f"heard inner asks {n} in s{n} (s{n})"]
                assert sorted(hearing.spoken) == sorted(expected)
            else:
                assert hearing.spoken == [f"heard plain {n} in s{n} (s{n})"]
        assert all(len(sessions) == 1 for sessions in sessions_by_turn(hark).values())
        assert len(hark.of(topics.HANDLER_COMPLETE)) == len(hark.of(topics.UTTERANCE_HANDLED)) == MANY + MANY // 4
        assert hark.runtime.orchestrator.open_turns == 0
        assert hark.runtime.speaker.pending == 0


async def test_a_thousand_turns_end_each_in_its_own_way(assistant: MakeAssistant) -> None:
    def stop(utterances: list[str], ctx: Ctx) -> list[str]:
        if utterances[0].startswith("cancel"):
            ctx.cancel("stop_word")
        if utterances[0].startswith("fail"):
            raise ValueError("transformer")
        return utterances

    async def match(utterances: Any, lang: str, session: Session) -> Match | None:
        await asyncio.sleep(0)
        return None if utterances[0].startswith("unmatched") else Match("m", "go", lang, utterances[0])

    async def handler(turn: Turn) -> str:
        await asyncio.sleep(0)
        if turn.utterance.startswith("error"):
            raise ValueError(turn.utterance)
        return turn.utterance

    ways = ["answer", "error", "unmatched", "cancel", "fail"]
    plugins = (transformer("utterance", "stop", stop), matcher("m", match, go=handler))
    settings = {"limits": {"failures": 1_000_000}}
    async with assistant(*plugins, settings=settings) as hark:
        said = {n: hark.say(f"{ways[n % 5]} {n}", session=f"s{n}") for n in range(MANY)}
        await over(*said.values())
        for n, hearing in said.items():
            assert hearing.spoken == ([f"{ways[n % 5]} {n}"] if n % 5 in (0, 4) else [])
        each = MANY // 5
        assert len(hark.of(topics.HANDLER_COMPLETE)) == 2 * each
        assert len(hark.of(topics.HANDLER_ERROR)) == each
        assert len(hark.of(topics.INTENT_UNMATCHED)) == each
        assert len(hark.of(topics.UTTERANCE_CANCELLED)) == each
        for failed in hark.of(topics.HANDLER_ERROR):
            assert f"error {failed.session_id[1:]} " in failed.data["exception"]


async def test_two_hundred_turns_on_the_default_session_do_not_undo_each_other(assistant: MakeAssistant) -> None:
    count = 200
    inside = 0
    all_inside = asyncio.Event()

    async def handler(turn: Turn) -> str:
        nonlocal inside
        inside += 1
        if inside == count:
            all_inside.set()
        await all_inside.wait()
        turn.remember(turn.utterance.replace(" ", "-"), turn.utterance)
        turn.forget("shared", shared=True)
        return turn.utterance

    async with assistant(claims(handler=handler)) as hark:
        first = Session(intent_context={"shared": {"value": "x"}, "kept": {"value": "y"}})
        said = [hark.say(f"note {n}", session=first if n == 0 else None) for n in range(count)]
        await over(*said)
        remembered = hark.runtime.store.current.intent_context
        assert [hearing.spoken for hearing in said] == [[f"note {n}"] for n in range(count)]
    assert set(remembered) == {"kept", *(f"claims:note-{n}" for n in range(count))}


async def test_three_hundred_blocking_handlers_wait_their_turn_for_a_thread(assistant: MakeAssistant) -> None:
    import threading

    first, go_on = threading.Event(), threading.Event()

    def handler(turn: Turn) -> str:
        first.set()
        assert go_on.wait(30)
        return turn.utterance

    async with assistant(claims(handler=handler, quick=False)) as hark:
        said = [hark.say(f"turn {n}", session=f"s{n}") for n in range(300)]
        await reached(first)
        go_on.set()
        await over(*said)
        assert [hearing.spoken for hearing in said] == [[f"turn {n}"] for n in range(300)]


@pytest.mark.one_worker  # the limit is for each of them
async def test_beyond_the_limit_all_still_end(assistant: MakeAssistant) -> None:
    go_on = asyncio.Event()

    async def handler(turn: Turn) -> str:
        await go_on.wait()
        return turn.utterance

    async with assistant(claims(handler=handler), settings={"limits": {"open_turns": 100}}) as hark:
        said = [hark.say(f"turn {n}", session=f"s{n}") for n in range(150)]
        await settle()
        assert [hearing.over.is_set() for hearing in said] == [False] * 100 + [True] * 50
        go_on.set()
        await over(*said)
        assert [hearing.spoken for hearing in said] == [[f"turn {n}"] for n in range(100)] + [[]] * 50


@pytest.mark.parametrize("depth", [20])
async def test_turns_within_turns_within_turns(assistant: MakeAssistant, depth: int) -> None:
    waiting: dict[str, asyncio.Event] = {}

    async def handler(turn: Turn) -> str:
        left = int(turn.utterance)
        if left:
            done = waiting[turn.session.session_id + str(left - 1)] = asyncio.Event()
            turn.emit(topics.UTTERANCE_HANDLE, {"utterances": [str(left - 1)]})
            await done.wait()
        event = waiting.get(turn.session.session_id + str(left))
        if event is not None:
            event.set()
        return turn.utterance

    async with assistant(claims(handler=handler)) as hark:
        said = [hark.say(str(depth), session=f"s{n}") for n in range(5)]
        await over(*said)
        for hearing in said:
            assert sorted(map(int, hearing.spoken)) == list(range(depth + 1))


async def test_a_thousand_utterances_of_one_burst_from_another_thread(assistant: MakeAssistant) -> None:
    async with assistant(claims()) as hark:

        def flood() -> None:
            for n in range(MANY):
                entry = Message(topics.UTTERANCE_HANDLE, {"utterances": [f"text {n}"]}, session=Session(f"s{n}"))
                hark.bus.emit(entry)

        await asyncio.to_thread(flood)
        async with asyncio.timeout(60):
            while len(hark.of(topics.UTTERANCE_HANDLED)) < MANY:
                await settle()
        for speak in hark.of(topics.UTTERANCE_SPEAK):
            assert speak.data["utterance"] == f"text {speak.session_id[1:]}"
        assert len(hark.of(topics.UTTERANCE_SPEAK)) == MANY


async def test_two_hundred_turns_through_plugins_on_worker_threads_stay_unmixed(assistant: MakeAssistant) -> None:
    def mark(utterances: list[str], ctx: Ctx) -> list[str]:
        ctx.set("mark.who", ctx.session.session_id)
        return [f"{text} by {ctx.session.session_id}" for text in utterances]

    def sometimes(utterances: list[str], ctx: Ctx) -> list[str]:
        if int(ctx.session.session_id[1:]) % 3 == 0:
            ctx.set("mark.who", "nobody")
            raise ValueError("on purpose")
        return utterances

    def check(ctx: Ctx) -> None:
        assert ctx.get("mark.who") == ctx.session.session_id

    def match(utterances: Any, lang: str, session: Session) -> Match:
        return Match("m", "go", lang, utterances[0], {"who": session.session_id})

    def handler(turn: Turn) -> str:
        return f"{turn.utterance} for {turn.slots['who']}"

    plugins = (
        transformer("utterance", "mark", mark, quick=False, priority=1),
        transformer("utterance", "sometimes", sometimes, quick=False, priority=2),
        transformer("metadata", "check", check, quick=False),
        transformer("dialog", "same", lambda text, ctx: f"{text} ({ctx.get('mark.who')})", quick=False),
        matcher("m", match, quick=False, go=handler),
    )
    async with assistant(*plugins, settings={"limits": {"failures": 1_000_000}}) as hark:
        said = {n: hark.say(f"text {n}", session=f"s{n}") for n in range(200)}
        await over(*said.values())
        for n, hearing in said.items():
            assert hearing.spoken == [f"text {n} by s{n} for s{n} (s{n})"]
