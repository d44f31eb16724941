"""Faults that misuse the host: floods, blocked loops, garbage registrations, questions asked wrongly."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Iterator
from itertools import count
from typing import Any, Final

from hark.spec import topics
from hark.testing.assistant import CLOSING
from hark.testing.faults.plugin import POINTS, CallSite, Point, behaviour, behaviours_in, turn_at

FLOOD: Final = 10_000
_NESTED: Final = 5
_FIFTY_MEGABYTES: Final = 50 * 1024 * 1024

_RUNNING: Final = tuple(point for point in POINTS if point not in ("start", "stop"))

_numbers = count(1)


@behaviour(modes=("inline", "loop"), shows="nothing", once=True)
def floods_the_bus(site: CallSite) -> Any:
    """Emits ten thousand Messages in one go."""
    for number in range(FLOOD):
        site.plugin.host.emit("faults.noise", {"number": number})
    return site.normal


@behaviour(shows="nothing")
def emits_from_another_thread(site: CallSite) -> Any:
    """Starts a thread that emits, while it goes on itself."""
    host = site.plugin.host

    def emit() -> None:
        for number in range(100):
            host.emit("faults.noise", {"number": number})

    site.switch.thread(emit)
    return site.normal


@behaviour(points=("handler",), shows="nothing")
def talks_to_itself(site: CallSite) -> Any:
    """Says things from its handler that it will be asked to handle itself, a few levels deep."""
    turn = turn_at(site)
    depth = int(turn.message.context.get("fault_depth", 0))
    if depth < _NESTED:
        nested = turn.message.forward(topics.UTTERANCE_HANDLE, {"utterances": [f"nested {next(_numbers)}"]})
        site.plugin.host.send(nested.carrying(fault_depth=depth + 1))
    return site.normal


@behaviour(points=("handler",), modes=("inline", "worker", "loop"))
def emits_until_the_stack_ends(site: CallSite) -> Any:
    """Emits at every level of a recursion that only Python ends."""
    turn = turn_at(site)

    def deeper(level: int) -> None:
        turn.emit("faults.deep", {"level": level})
        deeper(level + 1)

    deeper(0)


@behaviour(points=("listener", "timer"), modes=("inline", "loop"), shows="nothing")
def speaks_up_unasked(site: CallSite) -> Any:
    """Speaks in a session it has nothing to do with, with text that is none."""
    host = site.plugin.host
    host.speak("Here I am.")
    host.emit(topics.UTTERANCE_SPEAK, {"utterance": 7})
    host.emit(topics.UTTERANCE_SPEAK)


@behaviour(points=("handler",), shows="nothing")
def speaks_garbage(site: CallSite) -> Any:
    """Emits speech that is no text."""
    turn_at(site).emit(topics.UTTERANCE_SPEAK, {"utterance": ["not", "text"], "lang": 7})
    return site.normal


@behaviour(shows="nothing", once=True)
def allocates(site: CallSite) -> Any:
    """Takes fifty megabytes and gives them back."""
    taken = bytearray(_FIFTY_MEGABYTES)
    taken[::4096] = b"x" * len(taken[::4096])
    return site.normal


@behaviour(modes=("loop", "stream"), shows="nothing")
def leaves_tasks_behind(site: CallSite) -> Any:
    """Starts tasks and timers that no code will ever wait for."""
    host = site.plugin.host
    host.task(site.switch.wait_forever(), "for ever")
    host.task(_fails(), "for nothing")
    host.after(3600.0, lambda: None)
    return site.normal


async def _fails() -> None:
    raise SystemExit("on purpose, in a task")


# Not at start and stop: what opens or closes the assistant may well give up when it is cancelled.
@behaviour(_RUNNING, modes=("loop", "stream"), shows="nothing", diverts=True)
def cancels_every_task(site: CallSite) -> Any:
    """Cancels every task on the event loop but those of the test."""
    for task in asyncio.all_tasks():
        if task not in site.switch.spared and task.get_name() != CLOSING:
            task.cancel("on purpose")
    return site.normal


@behaviour(modes=("inline", "loop"))
def closes_the_loop(_site: CallSite) -> Any:
    """Tries to close the running event loop."""
    asyncio.get_running_loop().close()


class BrokenStream:
    """A stream nothing can be written to."""

    def write(self, _text: str) -> int:
        """Raises."""
        raise OSError("on purpose")

    flush = write


@behaviour(shows="nothing")
def replaces_stdout(site: CallSite) -> Any:
    """Puts a stream that raises in the place of standard output, until the faults are released."""
    site.switch.borrow(sys, "stdout", BrokenStream())
    return site.normal


@behaviour(points=("listener", "start"), modes=("inline", "loop"), shows="nothing")
def registers_garbage(site: CallSite) -> Any:
    """Registers intents and entities with every field of every wrong type."""
    for topic in topics.REGISTRATION:
        for payload in garbage_registrations():
            site.plugin.host.emit(topic, payload)


@behaviour(points=("listener",), modes=("inline", "loop"), shows="nothing")
def withdraws_what_others_registered(site: CallSite) -> Any:
    """Deregisters and disables what belongs to another skill."""
    host = site.plugin.host
    host.emit(topics.SKILL_DEREGISTER, {"skill_id": "control.skill"})
    host.emit(topics.SKILL_DEREGISTER, {"skill_id": ["control.skill"]})
    host.emit(topics.INTENT_DISABLE, {"skill_id": "control.skill", "intent_name": 7})


@behaviour(modes=("inline", "loop"))
def sets_timers_for_no_time(site: CallSite) -> Any:
    """Sets timers that were due a second ago, and that are due in no number of seconds at all."""
    site.plugin.host.after(-1.0, lambda: None)
    site.plugin.host.after(float("nan"), lambda: None)


@behaviour(points=("matcher",), modes=("loop",))
async def polls_with_an_end_marker(site: CallSite) -> Any:
    """Polls on the topic of the end marker."""
    if site.round is not None:
        await site.round.poll(topics.UTTERANCE_HANDLED, {"exception": "forged"}, ["control"], 0.1)


@behaviour(points=("matcher",), modes=("loop",))
async def polls_nonsense(site: CallSite) -> Any:
    """Polls on no topic, for no time."""
    if site.round is not None:
        await site.round.poll("faults.ping", {}, ["control"], 0.1, rank=lambda _answer: 1 / 0)
        await site.round.poll("faults.ping", {}, ["control"], float("nan"))
        await site.round.poll("no topic", {"a": object()}, ["control"], -1.0)


def garbage_registrations() -> Iterator[dict[str, Any]]:
    """Registration payloads of INTENT-4 with one field after the other of every wrong type, or gone."""
    sound: dict[str, Any] = {
        "skill_id": "faults.garbage",
        "intent_name": "garbage",
        "entity_name": "garbage",
        "lang": "en-US",
        "samples": ["some garbage {slot}"],
        "blacklist": ["nothing"],
        "required_slots": ["slot"],
        "required_keywords": ["garbage"],
        "slot_blacklist": {"slot": ["nothing"]},
        "requires_context": ["garbage"],
        "excludes_context": [{"key": "garbage", "scope": "shared"}],
        "required": [{"name": "a", "samples": ["a"]}],
        "optional": [{"name": "b", "samples": ["b"]}],
        "one_of": [[{"name": "c", "samples": ["c"]}]],
        "excluded": [{"name": "d", "samples": ["d"]}],
        "capabilities": ["garbage"],
    }
    wrong: tuple[Any, ...] = (None, 7, "", "some (broken [template {", [], [None], [[{}]], {"a": 7}, ["{"])
    for field in sound:
        yield {key: value for key, value in sound.items() if key != field}
        for value in wrong:
            yield {**sound, field: value}


_HANDLERS: Final[tuple[Point, ...]] = ("handler", "converse", "fallback")
_MANY: Final = 200


@behaviour(points=_HANDLERS, modes=("loop", "stream"))
async def asks_without_words(site: CallSite) -> Any:
    """Asks a number."""
    await turn_at(site).ask(7)  # type: ignore[arg-type]


@behaviour(points=_HANDLERS, modes=("loop",))
async def asks_for_a_time_that_is_none(site: CallSite) -> Any:
    """Asks and waits for a time that is neither before nor after anything."""
    await turn_at(site).ask("Yes?", timeout=float("nan"))


@behaviour(points=_HANDLERS, modes=("loop",))
async def asks_for_ever(site: CallSite) -> Any:
    """Asks and waits until the end of all time, which no session can carry."""
    await turn_at(site).ask("Yes?", timeout=float("inf"))


@behaviour(points=_HANDLERS, modes=("loop",))
async def asks_for_a_time_in_words(site: CallSite) -> Any:
    """Asks and waits for "a while"."""
    await turn_at(site).ask("Yes?", timeout="a while")  # type: ignore[arg-type]


@behaviour(points=_HANDLERS, modes=("loop", "stream"), shows="nothing")
async def asks_and_gets_no_answer(site: CallSite) -> Any:
    """Asks twice, and gets no answer."""
    await turn_at(site).ask("Well?", timeout=5.0, retries=1)
    return site.normal


@behaviour(points=_HANDLERS, modes=("loop",), shows="nothing")
async def asks_again_and_again(site: CallSite) -> Any:
    """Asks two hundred times without leaving any time for an answer."""
    await turn_at(site).ask("And now?", timeout=0.001, retries=_MANY)
    return site.normal


@behaviour(points=_HANDLERS, modes=("loop",), shows="nothing")
async def asks_several_things_at_once(site: CallSite) -> Any:
    """Asks ten questions at the same time."""
    turn = turn_at(site)
    await asyncio.gather(*(turn.ask(f"Question {number}?", timeout=2.0) for number in range(10)))
    return site.normal


@behaviour(points=_HANDLERS, modes=("loop", "inline"), shows="nothing")
def asks_behind_its_own_back(site: CallSite) -> Any:
    """Lets a task ask, and returns before the user can answer."""
    turn = turn_at(site)

    async def ask() -> None:
        await turn.ask("Still there?", timeout=3.0)

    turn.task(ask(), "asking")
    return site.normal


@behaviour(points=_HANDLERS, modes=("worker",))
def asks_on_a_loop_of_its_own(site: CallSite) -> Any:
    """Asks from a plain def, by running an event loop on its worker thread."""
    turn = turn_at(site)

    async def ask() -> str | None:
        return await turn.ask("Anybody?", timeout=3.0)

    return asyncio.run(ask()) or site.normal


@behaviour(points=_HANDLERS, modes=("loop",))
async def asks_for_a_choice_of_nothing(site: CallSite) -> Any:
    """Lets the user choose among things that are no names."""
    await turn_at(site).ask_choice([1, None], "Which?", timeout=2.0, retries=0)  # type: ignore[list-item]
    raise ValueError("no choice was made")


@behaviour(points=_HANDLERS, modes=("inline", "worker", "loop"))
def begins_what_is_no_task(site: CallSite) -> Any:
    """Hands over a number where a coroutine is due."""
    turn_at(site).task(7)  # type: ignore[arg-type]


@behaviour(points=_HANDLERS, modes=("inline", "worker", "loop"), shows="nothing")
def leaves_a_task_that_fails(site: CallSite) -> Any:
    """Begins something that raises SystemExit after the turn."""

    async def fail() -> None:
        raise SystemExit("on purpose")

    turn_at(site).task(fail(), "failing")
    return site.normal


BEHAVIOURS: Final = behaviours_in(globals())
