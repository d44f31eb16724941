"""The order of public messages in turns of every kind, the same on every bus, compared with what was recorded.

The record is `tests/surface/turns.json`: topics without ids and times; private topics and registrations are left out.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from pathlib import Path
from typing import Any

import pytest

from flow.polling import heard
from flow.stage import MakeAssistant, claim_of, matcher, transformer
from hark.builtin import Cancel, CommonQuery, Converse, Fallback, KeywordMatcher, Stop, TemplateMatcher
from hark.model import decode
from hark.plugins import Answer, Ctx, Match, Message, Plugin, Session, Turn, answers, fallback
from hark.skills import Skill, intent, keywords
from hark.spec import TRANSFORMER_TYPES, topics
from hark.testing import Assistant, settle
from surface.pinned import check_entry

RECORD = Path(__file__).parent.parent / "surface" / "turns.json"

AT_START_AND_END = frozenset(
    {
        *topics.REGISTRATION,
        topics.FALLBACK_REGISTER,
        topics.FALLBACK_DEREGISTER,
        topics.INTENTS_READY,
        topics.SCHEDULER_READY,
        *(f"ovos.transformer.{kind}.list.response" for kind in TRANSFORMER_TYPES),
    }
)
"""What plugins announce. In which order depends on the process they are in, and turns do not wait for it."""

Play = Callable[[MakeAssistant], Awaitable[Assistant]]
TURNS: dict[str, Play] = {}


def turn(play: Play) -> Play:
    """Name what is played by its function."""
    TURNS[play.__name__] = play
    return play


SIDE_BY_SIDE = ("a_handler_begins_a_nested_turn",)
"""Two turns at once, of which another worker may take the second. On NATS there is no order between them: the utterance
that a handler emits before it asks a question may be taken in after the question, and is then its answer.
"""


@pytest.mark.parametrize("name", TURNS)
async def test_a_turn_sends_its_messages_in_the_recorded_order(
    assistant: MakeAssistant, request: pytest.FixtureRequest, name: str
) -> None:
    def made(*plugins: Plugin, **more: Any) -> Assistant:
        stages = (TemplateMatcher(), KeywordMatcher(), CommonQuery(), Fallback())
        return assistant(Stop(), Converse(), *plugins, *stages, **more)

    hark = await TURNS[name](made)
    public = [topic for topic in hark.topics() if topic not in AT_START_AND_END]
    layout = request.node.callspec.params["assistant"]
    if layout == "nats" and name in SIDE_BY_SIDE:
        assert public.count(topics.UTTERANCE_HANDLED) == public.count(topics.UTTERANCE_HANDLE)
        return
    # One record for all buses: it is taken on the local one, and the others have to agree with it.
    check_entry(RECORD, name, public, may_rewrite=layout == "local")


def test_the_record_holds_no_turn_that_is_not_played() -> None:
    assert set(json.loads(RECORD.read_text("utf-8"))) == set(TURNS)


class Lamp(Skill):
    """A skill with a handler of each usual kind."""

    id = "lamp.skill"
    quick = True

    @intent("turn on the {room} lamp")
    def on(self, turn: Turn) -> str:
        return f"{turn.slots['room']} is lit"

    @intent("be quiet about it")
    def silent(self, turn: Turn) -> None:
        return None

    @intent("count to three")
    async def count(self, turn: Turn) -> AsyncIterator[str]:
        for number in ("one", "two", "three"):
            yield number

    @intent("break the lamp")
    def broken(self, turn: Turn) -> str:
        raise ValueError("on purpose")

    @intent("speak then break")
    async def breaks_later(self, turn: Turn) -> None:
        await turn.speak("so far so good")
        raise ValueError("on purpose")

    @intent("ask me")
    async def asks(self, turn: Turn) -> str:
        return f"got {await turn.ask('which lamp?', timeout=10.0)}"

    @intent("are you sure")
    async def sure(self, turn: Turn) -> str:
        return f"got {await turn.ask_yes_no('really?', again='yes or no?')}"

    @intent("shine forever")
    async def forever(self, turn: Turn) -> None:
        await asyncio.Event().wait()

    @intent("do both")
    async def nests(self, turn: Turn) -> str:
        turn.emit(topics.UTTERANCE_HANDLE, {"utterances": ["be quiet about it"]})
        return f"and got {await turn.ask('done?', timeout=10.0)}"

    @intent("remember the lamp")
    def remembers(self, turn: Turn) -> str:
        turn.remember("lamp", "the red one")
        return "I will"

    @intent("which one was it", requires=["lamp"])
    def tells(self, turn: Turn) -> str:
        return "the red one"

    @intent("note the lamp")
    def notes(self, turn: Turn) -> None:
        turn.emit(topics.CONTEXT_SET, {"key": "lamp", "value": "the red one"})

    @intent("forget the lamp")
    def forgets(self, turn: Turn) -> str:
        turn.forget("lamp")
        return "forgotten"

    @keywords(required={"dim": ["dim", "darker"], "lamp": ["lamp", "light"]})
    def dims(self, turn: Turn) -> str:
        return "dimmed"


class Chatty(Skill):
    """Wants whatever is said next, unless it is about lamps."""

    id = "chatty.skill"
    quick = True

    @intent("let us chat")
    def begin_chat(self, turn: Turn) -> str:
        return "what about?"

    def can_converse(self, utterances: Sequence[str], lang: str, session: Session) -> bool:
        return "lamp" not in utterances[0]

    def converse(self, turn: Turn) -> str:
        return f"I see: {turn.utterance}"


class Knows(Skill):
    """Answers questions, and takes what no intent claims."""

    id = "knows.skill"
    quick = True

    @answers(wants=lambda self, question, lang, session: "tower" in question)
    def know(self, question: str, lang: str, session: Session) -> Answer:
        return Answer("330 metres", 0.9)

    @fallback(50, when=lambda self, utterances, lang, session: "please" in utterances[0])
    def last(self, turn: Turn) -> str:
        return "as you wish"


# Matched and unmatched.


async def _heard(made: MakeAssistant, *texts: str, plugins: Sequence[Plugin] = (), **how: Any) -> Assistant:
    settings = how.pop("settings", None)
    async with made(*plugins, Lamp(), settings=settings) as hark:
        for text in texts:
            await heard(hark, text, **how)
    return hark


@turn
async def a_sentence_with_a_slot(made: MakeAssistant) -> Assistant:
    return await _heard(made, "turn on the kitchen lamp")


@turn
async def keywords_in_any_order(made: MakeAssistant) -> Assistant:
    return await _heard(made, "could the light be darker")


@turn
async def a_pipeline_plugin_claims_for_itself(made: MakeAssistant) -> Assistant:
    own = matcher("own", claim_of("own:go"), go=lambda turn: "gone")
    return await _heard(made, "whatever", plugins=[own])


@turn
async def a_handler_that_says_nothing(made: MakeAssistant) -> Assistant:
    return await _heard(made, "be quiet about it")


@turn
async def a_handler_that_speaks_piece_by_piece(made: MakeAssistant) -> Assistant:
    return await _heard(made, "count to three")


@turn
async def no_skill_understands(made: MakeAssistant) -> Assistant:
    return await _heard(made, "gibberish all over")


@turn
async def an_utterance_without_text(made: MakeAssistant) -> Assistant:
    async with made(Lamp()) as hark:
        hark.bus.emit(Message(topics.UTTERANCE_HANDLE, {"utterances": []}))
        await settle()
    return hark


@turn
async def a_skill_the_session_denies(made: MakeAssistant) -> Assistant:
    return await _heard(made, "be quiet about it", session=Session("x", blacklisted_skills=("lamp.skill",)))


@turn
async def a_matcher_fails_and_the_next_one_claims(made: MakeAssistant) -> Assistant:
    def match(utterances: Any, lang: str, session: Session) -> Match:
        raise ValueError("on purpose")

    return await _heard(made, "be quiet about it", plugins=[matcher("fails", match)])


@turn
async def a_claim_for_a_handler_that_does_not_exist(made: MakeAssistant) -> Assistant:
    return await _heard(made, "whatever", plugins=[matcher("ghosts", claim_of("ghost.skill:go"))])


@turn
async def a_handler_that_fails(made: MakeAssistant) -> Assistant:
    return await _heard(made, "break the lamp", "be quiet about it")


@turn
async def a_handler_that_fails_after_speaking(made: MakeAssistant) -> Assistant:
    return await _heard(made, "speak then break")


@turn
async def a_handler_that_takes_too_long(made: MakeAssistant) -> Assistant:
    return await _heard(made, "shine forever", settings={"limits": {"handler": 5.0}})


# Transformers.


def cancels(artifact: Any, ctx: Ctx) -> Any:
    ctx.cancel("policy_block")
    return artifact


@turn
async def cancelled_by_the_user(made: MakeAssistant) -> Assistant:
    return await _heard(made, "turn on the kitchen lamp never mind", plugins=[Cancel()])


@turn
async def cancelled_in_the_utterance_chain(made: MakeAssistant) -> Assistant:
    return await _heard(made, "be quiet about it", plugins=[transformer("utterance", "no", cancels)])


@turn
async def cancelled_in_the_metadata_chain(made: MakeAssistant) -> Assistant:
    def no(ctx: Ctx) -> None:
        ctx.cancel("policy_block")

    return await _heard(made, "be quiet about it", plugins=[transformer("metadata", "no", no)])


@turn
async def cancelled_in_the_intent_chain(made: MakeAssistant) -> Assistant:
    return await _heard(made, "be quiet about it", plugins=[transformer("intent", "no", cancels)])


@turn
async def cancelled_in_the_dialog_chain(made: MakeAssistant) -> Assistant:
    return await _heard(made, "count to three", plugins=[transformer("dialog", "no", cancels)])


@turn
async def a_transformer_in_each_text_chain(made: MakeAssistant) -> Assistant:
    def replaced(utterances: list[str], ctx: Ctx) -> list[str]:
        ctx.emit("test.noted", {"chain": "utterance"})
        return ["turn on the kitchen lamp"]

    def metadata(ctx: Ctx) -> None:
        ctx.set("mood", "good")
        ctx.emit("test.noted", {"chain": "metadata"})

    def slots(match: Match, ctx: Ctx) -> Match:
        ctx.emit("test.noted", {"chain": "intent"})
        return match.with_slots(room="hall")

    def louder(text: str, ctx: Ctx) -> str:
        return text.upper()

    works = {"utterance": replaced, "metadata": metadata, "intent": slots, "dialog": louder}
    chain = [transformer(kind, f"{kind}-one", work) for kind, work in works.items()]
    return await _heard(made, "what was really said", plugins=chain)


@turn
async def a_transformer_that_fails_in_each_text_chain(made: MakeAssistant) -> Assistant:
    def fails(artifact: Any, ctx: Ctx) -> Any:
        raise ValueError("on purpose")

    def metadata_fails(ctx: Ctx) -> None:
        raise ValueError("on purpose")

    works = {"utterance": fails, "metadata": metadata_fails, "intent": fails, "dialog": fails}
    chain = [transformer(kind, f"{kind}-one", work) for kind, work in works.items()]
    return await _heard(made, "turn on the kitchen lamp", plugins=chain)


# Polls.


@turn
async def a_fallback_answers(made: MakeAssistant) -> Assistant:
    return await _heard(made, "do something please", plugins=[Knows()])


@turn
async def no_fallback_wants_it(made: MakeAssistant) -> Assistant:
    return await _heard(made, "do something", plugins=[Knows()])


@turn
async def a_question_that_a_skill_can_answer(made: MakeAssistant) -> Assistant:
    return await _heard(made, "how tall is the eiffel tower", plugins=[Knows()])


@turn
async def a_question_that_no_skill_can_answer(made: MakeAssistant) -> Assistant:
    return await _heard(made, "how tall is the giant", plugins=[Knows()])


@turn
async def a_skill_converses(made: MakeAssistant) -> Assistant:
    return await _heard(made, "let us chat", "the weather", plugins=[Chatty()], session="kitchen")


@turn
async def a_skill_does_not_want_to_converse(made: MakeAssistant) -> Assistant:
    return await _heard(made, "let us chat", "turn on the kitchen lamp", plugins=[Chatty()], session="kitchen")


# Questions.


@turn
async def a_question_with_an_answer(made: MakeAssistant) -> Assistant:
    return await _heard(made, "ask me", "the red one", session="kitchen")


@turn
async def a_question_with_an_answer_in_the_default_session(made: MakeAssistant) -> Assistant:
    return await _heard(made, "ask me", "the red one")


@turn
async def a_question_that_is_asked_again(made: MakeAssistant) -> Assistant:
    return await _heard(made, "are you sure", "perhaps", "yes")


@turn
async def a_question_that_times_out(made: MakeAssistant) -> Assistant:
    async with made(Lamp()) as hark:
        await hark.hears("ask me")
        await hark.clock.advance(10.0)
        await heard(hark, "be quiet about it")
    return hark


@turn
async def a_question_that_is_stopped(made: MakeAssistant) -> Assistant:
    return await _heard(made, "ask me", "stop")


# Stop, nested turns, sessions.


@turn
async def stop_while_a_handler_is_busy(made: MakeAssistant) -> Assistant:
    async with made(Lamp()) as hark:
        busy = hark.say("shine forever")
        await settle()
        await heard(hark, "stop")
        await busy.over.wait()
    return hark


@turn
async def stop_while_nothing_is_running(made: MakeAssistant) -> Assistant:
    return await _heard(made, "stop")


@turn
async def a_handler_begins_a_nested_turn(made: MakeAssistant) -> Assistant:
    async with made(Lamp()) as hark:
        hark.say("do both")
        await settle()
        await heard(hark, "yes indeed")
    return hark


@turn
async def two_sessions_with_a_question_each(made: MakeAssistant) -> Assistant:
    async with made(Lamp()) as hark:
        for text, session in (("ask me", "kitchen"), ("ask me", "bath"), ("red", "bath"), ("blue", "kitchen")):
            await heard(hark, text, session=session)
    return hark


@turn
async def the_default_session_between_turns_of_a_named_one(made: MakeAssistant) -> Assistant:
    async with made(Lamp()) as hark:
        for text, session in (
            ("remember the lamp", "kitchen"),
            ("which one was it", None),
            ("which one was it", "kitchen"),
            ("remember the lamp", None),
            ("which one was it", None),
        ):
            await heard(hark, text, session=session)
    return hark


@turn
async def something_remembered_and_forgotten(made: MakeAssistant) -> Assistant:
    wanted = "which one was it"
    return await _heard(made, wanted, "remember the lamp", wanted, "forget the lamp", wanted, session="kitchen")


@turn
async def context_set_over_the_bus(made: MakeAssistant) -> Assistant:
    return await _heard(made, "which one was it", "note the lamp", "which one was it")


@turn
async def a_malformed_session(made: MakeAssistant) -> Assistant:
    broken = {"type": topics.UTTERANCE_HANDLE, "data": {"utterances": ["hello"]}, "context": {"session": "kitchen"}}
    async with made(Lamp()) as hark:
        hark.bus.emit(decode(json.dumps(broken).encode()))
        await settle()
        await heard(hark, "be quiet about it")
    return hark


@turn
async def queries_between_turns(made: MakeAssistant) -> Assistant:
    async with made(Lamp()) as hark:
        for topic in (topics.INTENT_LIST, topics.SKILLS_LIST, topics.CONVERSE_ACTIVE_LIST):
            hark.bus.emit(Message(topic))
            await settle()
        await heard(hark, "be quiet about it")
    return hark
