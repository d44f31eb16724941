"""A conversation: lines in, answers out."""

from __future__ import annotations

import asyncio
import io
import os
from collections.abc import Callable, Iterator

import pytest

from hark.app.local_assistant import LocalAssistant
from hark.app.plugin_set import plugins
from hark.app.settings import settings_from
from hark.app.turn_follower import TurnFollower
from hark.cli.conversation import TerminalConversation
from hark.cli.terminal import DescriptorReader, LineReader, Screen
from hark.model import SystemClock
from hark.testing import FakeClock


class Lines:
    """A reader that gives these lines, then waits for ever or ends."""

    def __init__(self, *lines: str | Exception, ends: bool = True) -> None:
        self._lines = iter(lines)
        self._ends = ends

    async def line(self) -> str | None:
        for line in self._lines:
            if isinstance(line, Exception):
                raise line
            return line
        if not self._ends:
            await asyncio.Event().wait()
        return None


def shown(*lines: str | Exception, patient: bool = True) -> list[str]:
    """What is shown for these lines."""

    async def talk() -> None:
        settings = settings_from({"limits": {"grace": 0.0}})
        async with LocalAssistant(settings, plugins(installed=False), SystemClock(), screen.show) as assistant:
            conversation = TerminalConversation(assistant.client, SystemClock(), Lines(*lines), screen, "here")  # type: ignore[arg-type]
            async with asyncio.timeout(20):
                await conversation.run(asyncio.Event(), patient=patient)

    out = io.StringIO()
    screen = Screen(out, lambda: None)
    asyncio.run(talk())
    return out.getvalue().splitlines()


def test_each_line_is_answered_before_the_next_is_taken() -> None:
    assert shown("say one", "say two", "say three") == ["one", "two", "three"]


def test_the_way_out_is_named_to_a_user_who_types_exit() -> None:
    hint = "(Ctrl-D leaves the conversation.)"
    assert shown("exit", patient=False)[-1] == hint
    assert hint not in shown("exit", "say exit", patient=True)


def test_blank_lines_say_nothing() -> None:
    assert shown("", "   ", "say hello", "\t") == ["hello"]


def test_an_unmatched_line_is_reported_with_the_command_that_explains_it() -> None:
    answer, line = shown("frobnicate the widget")
    assert "sorry" in answer.lower()
    assert line.startswith("(Details: hark why ")
    assert line.endswith(" --state here)")


def test_a_line_that_is_no_text_is_passed_over_and_said_to_be() -> None:
    bad = UnicodeDecodeError("utf-8", b"\xff", 0, 1, "invalid start byte")
    first, second, third = shown(bad, "say hello", "\udcff")
    assert first == "This line is not UTF-8; it was ignored."
    assert second == "hello"
    assert third.startswith("This cannot be said: text holds a lone surrogate")


class SlowClient:
    """A client whose answers come when the test says so."""

    def __init__(self) -> None:
        self.asked: list[str] = []
        self.answer = asyncio.Event()

    async def ask(self, text: str, hear: Callable[[str], None]) -> TurnFollower:
        self.asked.append(text)
        await self.answer.wait()
        hear(f"about {text}")
        turn = TurnFollower((), hear)
        turn.outcome = "complete"
        return turn


async def test_a_person_may_go_on_when_an_answer_takes_long() -> None:
    client, clock, out = SlowClient(), FakeClock(), io.StringIO()
    conversation = TerminalConversation(client, clock, Lines("one", "two", ends=False), Screen(out, lambda: None), None)  # type: ignore[arg-type]
    stop = asyncio.Event()
    going = asyncio.create_task(conversation.run(stop, patient=False))
    await clock.advance(4.9)
    assert client.asked == ["one"]
    await clock.advance(0.2)
    assert client.asked == ["one", "two"]
    client.answer.set()
    await clock.advance(0)
    stop.set()
    await going
    assert out.getvalue().splitlines() == ["This takes a while. You can go on meanwhile.", "about one", "about two"]


class BrokenClient:
    """A client whose connection is gone."""

    async def ask(self, text: str, hear: Callable[[str], None]) -> TurnFollower:
        raise LookupError("not connected")


async def test_a_client_that_fails_is_reported(caplog: pytest.LogCaptureFixture) -> None:
    out = io.StringIO()
    conversation = TerminalConversation(
        BrokenClient(), FakeClock(), Lines("one", "two"), Screen(out, lambda: None), None
    )  # type: ignore[arg-type]
    await conversation.run(asyncio.Event(), patient=True)
    assert out.getvalue().splitlines() == ["This turn failed: LookupError: not connected"] * 2
    assert "an utterance could not be sent to the assistant" in caplog.text


async def test_a_pipe_waits_for_each_answer_however_long_it_takes_unless_stopped() -> None:
    client, clock = SlowClient(), FakeClock()
    conversation = TerminalConversation(client, clock, Lines("one", "two"), Screen(io.StringIO(), lambda: None), None)  # type: ignore[arg-type]
    stop = asyncio.Event()
    going = asyncio.create_task(conversation.run(stop, patient=True))
    await clock.advance(10_000)
    assert client.asked == ["one"]
    stop.set()
    await going
    assert asyncio.all_tasks() == {asyncio.current_task()}


@pytest.fixture
def pipe() -> Iterator[tuple[int, int]]:
    reading, writing = os.pipe()
    yield reading, writing
    os.close(reading)


async def test_lines_are_read_whole_however_they_arrive(pipe: tuple[int, int]) -> None:
    reading, writing = pipe
    reader = LineReader(DescriptorReader(reading))
    os.write(writing, b"one\ntw")
    assert await reader.line() == "one"
    second = asyncio.create_task(reader.line())
    os.write(writing, "o\n\nä".encode())
    assert await second == "two"
    assert await reader.line() == ""
    os.close(writing)
    assert await reader.line() == "ä"
    assert await reader.line() is None
    assert await reader.line() is None


async def test_a_line_that_is_not_utf8_costs_no_other(pipe: tuple[int, int]) -> None:
    reading, writing = pipe
    reader = LineReader(DescriptorReader(reading))
    os.write(writing, b"\xff\nfine\n")
    os.close(writing)
    with pytest.raises(UnicodeDecodeError):
        await reader.line()
    assert await reader.line() == "fine"


async def test_a_descriptor_that_fails_is_as_good_as_ended() -> None:
    def broken() -> str:
        raise OSError("gone")

    assert await LineReader(broken).line() is None


class Gone(io.StringIO):
    """An output without a reader."""

    def write(self, _text: str) -> int:
        raise BrokenPipeError


def test_an_output_without_reader_is_reported_once() -> None:
    calls: list[str] = []
    screen = Screen(Gone(), lambda: calls.append("gone"))
    screen.show("one")
    screen.show("two")
    assert calls == ["gone"]


def test_what_the_terminal_cannot_show_is_shown_as_far_as_possible() -> None:
    octets = io.BytesIO()
    screen = Screen(io.TextIOWrapper(octets, "ascii"), lambda: None)
    screen.show("naïve")
    assert octets.getvalue() == b"na?ve\n"


def test_speech_that_comes_while_the_user_types_does_not_garble_the_prompt() -> None:
    out = io.StringIO()
    screen = Screen(out, lambda: None, prompts=True)
    screen.show("before")
    screen.prompting = True
    screen.show("the egg is done")
    assert out.getvalue() == "before\n\r\x1b[Kthe egg is done\n> "


def test_a_terminal_gets_lines_that_fit(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "20")
    out = io.StringIO()
    out.isatty = lambda: True  # type: ignore[method-assign]
    Screen(out, lambda: None).show("It is five minutes past eight-thirty.")
    assert out.getvalue() == "It is five minutes\npast eight-thirty.\n"
