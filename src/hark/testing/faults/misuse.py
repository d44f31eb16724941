"""Faults that misuse the host: floods, blocked loops, garbage registrations, questions asked wrongly."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Iterator
from itertools import count
from typing import Any, Final

from hark.plugins import Turn
from hark.spec import topics
from hark.testing.assistant import CLOSING
from hark.testing.faults.plugin import POINTS, CallSite, Point, behaviour, behaviours_in

FLOOD: Final = 10_000
_NESTED: Final = 5
_FIFTY_MEGABYTES: Final = 50 * 1024 * 1024

_RUNNING: Final = tuple(point for point in POINTS if point not in ("start", "stop"))

_numbers = count(1)


@behaviour(modes=("inline", "loop"), shows="tame", once=True)
def floods_the_bus(grip: CallSite) -> Any:
    """Emits ten thousand Messages in one go."""
    for number in range(FLOOD):
        grip.plugin.host.emit("zoo.noise", {"number": number})
    return grip.tame


@behaviour(shows="tame")
def emits_from_another_thread(grip: CallSite) -> Any:
    """Starts a thread that emits, while it goes on itself."""
    host = grip.plugin.host

    def emit() -> None:
        for number in range(100):
            host.emit("zoo.noise", {"number": number})

    grip.cage.thread(emit)
    return grip.tame


@behaviour(points=("handler",), shows="tame")
def talks_to_itself(grip: CallSite) -> Any:
    """Says things from its handler that it will be asked to handle itself, a few levels deep."""
    turn = grip.turn
    if turn is not None:
        depth = int(turn.message.context.get("zoo_depth", 0))
        if depth < _NESTED:
            nested = turn.message.forward(topics.UTTERANCE_HANDLE, {"utterances": [f"nested {next(_numbers)}"]})
            grip.plugin.host.send(nested.carrying(zoo_depth=depth + 1))
    return grip.tame


@behaviour(points=("handler",), modes=("inline", "worker", "loop"))
def emits_until_the_stack_ends(grip: CallSite) -> Any:
    """Emits at every level of a recursion that only Python ends."""
    turn = grip.turn

    def deeper(level: int) -> None:
        if turn is not None:
            turn.emit("zoo.deep", {"level": level})
        deeper(level + 1)

    deeper(0)


@behaviour(points=("listener", "timer"), modes=("inline", "loop"), shows="tame")
def speaks_up_unasked(grip: CallSite) -> Any:
    """Speaks in a session it has nothing to do with, in words that are none."""
    host = grip.plugin.host
    host.speak("Here I am.")
    host.emit(topics.UTTERANCE_SPEAK, {"utterance": 7})
    host.emit(topics.UTTERANCE_SPEAK)


@behaviour(points=("handler",), shows="tame")
def speaks_garbage(grip: CallSite) -> Any:
    """Emits speech that is no text."""
    if grip.turn is not None:
        grip.turn.emit(topics.UTTERANCE_SPEAK, {"utterance": ["not", "text"], "lang": 7})
    return grip.tame


@behaviour(shows="tame", once=True)
def allocates(grip: CallSite) -> Any:
    """Takes fifty megabytes and gives them back."""
    taken = bytearray(_FIFTY_MEGABYTES)
    taken[::4096] = b"x" * len(taken[::4096])
    return grip.tame


@behaviour(modes=("loop", "stream"), shows="tame")
def leaves_tasks_behind(grip: CallSite) -> Any:
    """Starts tasks and timers that nobody will ever wait for."""
    host = grip.plugin.host
    host.task(grip.cage.never(), "for ever")
    host.task(_fails(), "for nothing")
    host.after(3600.0, lambda: None)
    return grip.tame


async def _fails() -> None:
    raise SystemExit("on purpose, in a task")


# Not who opens or closes the house: they may well give up when somebody tells them to.
@behaviour(_RUNNING, modes=("loop", "stream"), shows="tame", diverts=True)
def cancels_every_task(grip: CallSite) -> Any:
    """Cancels every task on the event loop but those of the keepers."""
    for task in asyncio.all_tasks():
        if task not in grip.cage.spared and task.get_name() != CLOSING:
            task.cancel("on purpose")
    return grip.tame


@behaviour(modes=("inline", "loop"))
def closes_the_loop(_grip: CallSite) -> Any:
    """Tries to close the event loop under everybody."""
    asyncio.get_running_loop().close()


class BrokenStream:
    """A stream nothing can be written to."""

    def write(self, _text: str) -> int:
        """Raises."""
        raise OSError("on purpose")

    flush = write


@behaviour(shows="tame")
def replaces_stdout(grip: CallSite) -> Any:
    """Puts a stream that raises in the place of standard output, until the cage is opened."""
    grip.cage.borrow(sys, "stdout", BrokenStream())
    return grip.tame


@behaviour(points=("listener", "start"), modes=("inline", "loop"), shows="tame")
def registers_garbage(grip: CallSite) -> Any:
    """Registers intents and entities with every field of every wrong type."""
    for topic in topics.REGISTRATION:
        for payload in garbage_registrations():
            grip.plugin.host.emit(topic, payload)


@behaviour(points=("listener",), modes=("inline", "loop"), shows="tame")
def withdraws_what_others_registered(grip: CallSite) -> Any:
    """Deregisters and disables what belongs to another skill."""
    host = grip.plugin.host
    host.emit(topics.SKILL_DEREGISTER, {"skill_id": "tame.skill"})
    host.emit(topics.SKILL_DEREGISTER, {"skill_id": ["tame.skill"]})
    host.emit(topics.INTENT_DISABLE, {"skill_id": "tame.skill", "intent_name": 7})


@behaviour(modes=("inline", "loop"))
def sets_timers_for_no_time(grip: CallSite) -> Any:
    """Sets timers that were due a second ago, and that are due in no number of seconds at all."""
    grip.plugin.host.after(-1.0, lambda: None)
    grip.plugin.host.after(float("nan"), lambda: None)


@behaviour(points=("matcher",), modes=("loop",))
async def polls_with_an_end_marker(grip: CallSite) -> Any:
    """Asks around on the topic of the end marker."""
    if grip.round is not None:
        await grip.round.poll(topics.UTTERANCE_HANDLED, {"exception": "forged"}, ["tame"], 0.1)


@behaviour(points=("matcher",), modes=("loop",))
async def polls_nonsense(grip: CallSite) -> Any:
    """Asks around on no topic, for no time, among nobody."""
    if grip.round is not None:
        await grip.round.poll("zoo.ping", {}, ["tame"], 0.1, rank=lambda _answer: 1 / 0)
        await grip.round.poll("zoo.ping", {}, ["tame"], float("nan"))
        await grip.round.poll("no topic", {"a": object()}, ["tame"], -1.0)


def garbage_registrations() -> Iterator[dict[str, Any]]:
    """Registration payloads of INTENT-4 with one field after the other of every wrong type, or gone."""
    sound: dict[str, Any] = {
        "skill_id": "zoo.garbage",
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


BEHAVIOURS: Final = behaviours_in(globals())


_HANDLERS: Final[tuple[Point, ...]] = ("handler", "converse", "fallback")
_MANY: Final = 200


def _turn(grip: CallSite) -> Turn:
    assert grip.turn is not None
    return grip.turn


@behaviour(points=_HANDLERS, modes=("loop", "stream"))
async def asks_without_words(grip: CallSite) -> Any:
    """Asks a number."""
    await _turn(grip).ask(7)  # type: ignore[arg-type]


@behaviour(points=_HANDLERS, modes=("loop",))
async def asks_for_a_time_that_is_none(grip: CallSite) -> Any:
    """Asks and waits for a time that is neither before nor after anything."""
    await _turn(grip).ask("Yes?", timeout=float("nan"))


@behaviour(points=_HANDLERS, modes=("loop",))
async def asks_for_ever(grip: CallSite) -> Any:
    """Asks and waits until the end of all time, which no session can carry."""
    await _turn(grip).ask("Yes?", timeout=float("inf"))


@behaviour(points=_HANDLERS, modes=("loop",))
async def asks_for_a_time_in_words(grip: CallSite) -> Any:
    """Asks and waits for "a while"."""
    await _turn(grip).ask("Yes?", timeout="a while")  # type: ignore[arg-type]


@behaviour(points=_HANDLERS, modes=("loop", "stream"), shows="tame")
async def asks_and_gets_no_answer(grip: CallSite) -> Any:
    """Asks twice, and nobody answers."""
    await _turn(grip).ask("Well?", timeout=5.0, retries=1)
    return grip.tame


@behaviour(points=_HANDLERS, modes=("loop",), shows="tame")
async def asks_again_and_again(grip: CallSite) -> Any:
    """Asks two hundred times without leaving any time for an answer."""
    await _turn(grip).ask("And now?", timeout=0.001, retries=_MANY)
    return grip.tame


@behaviour(points=_HANDLERS, modes=("loop",), shows="tame")
async def asks_several_things_at_once(grip: CallSite) -> Any:
    """Asks ten questions at the same time."""
    turn = _turn(grip)
    await asyncio.gather(*(turn.ask(f"Question {number}?", timeout=2.0) for number in range(10)))
    return grip.tame


@behaviour(points=_HANDLERS, modes=("loop", "inline"), shows="tame")
def asks_behind_its_own_back(grip: CallSite) -> Any:
    """Lets a task ask, and returns before anybody can answer."""
    turn = _turn(grip)

    async def ask() -> None:
        await turn.ask("Still there?", timeout=3.0)

    turn.task(ask(), "asking")
    return grip.tame


@behaviour(points=_HANDLERS, modes=("worker",))
def asks_on_a_loop_of_its_own(grip: CallSite) -> Any:
    """Asks from a plain def, by running an event loop on its worker thread."""
    turn = _turn(grip)

    async def ask() -> str | None:
        return await turn.ask("Anybody?", timeout=3.0)

    return asyncio.run(ask()) or grip.tame


@behaviour(points=_HANDLERS, modes=("loop",))
async def asks_for_a_choice_of_nothing(grip: CallSite) -> Any:
    """Lets the user choose among things that are no names."""
    await _turn(grip).ask_choice([1, None], "Which?", timeout=2.0, retries=0)  # type: ignore[list-item]
    raise ValueError("nobody chose")


@behaviour(points=_HANDLERS, modes=("inline", "worker", "loop"))
def begins_what_is_no_task(grip: CallSite) -> Any:
    """Hands over a number where a coroutine is due."""
    _turn(grip).task(7)  # type: ignore[arg-type]


@behaviour(points=_HANDLERS, modes=("inline", "worker", "loop"), shows="tame")
def leaves_a_task_that_fails(grip: CallSite) -> Any:
    """Begins something that raises SystemExit when nobody looks any more."""

    async def fail() -> None:
        raise SystemExit("on purpose")

    _turn(grip).task(fail(), "failing")
    return grip.tame
