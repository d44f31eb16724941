"""What transformers change, emit and cancel, in whole turns (rulings R16, R20, R22, R23, R24)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from flow.dialogue import in_dialogue
from flow.sounding import Sounding
from flow.stage import MakeAssistant, claims, matcher, transformer
from hark.bus import LocalBus
from hark.model import Audio, Match, Message, Session
from hark.plugins import Ctx, Turn
from hark.spec import TransformerType, topics
from hark.testing import Assistant, settle
from hark.testing.voice.assistant import VoiceAssistant
from hark.testing.voice.input import Scene


def text_kinds(kind: TransformerType, step: Callable[[Ctx], None]) -> Any:
    """A transformer of one of the kinds that a text turn passes, that does `step` and nothing else."""

    def work(*args: Any) -> Any:
        step(args[-1])
        return None if kind == "metadata" else args[0]

    return transformer(kind, "maker", work, quick=True)


TEXT: tuple[TransformerType, ...] = ("utterance", "metadata", "intent", "dialog")


# R24: what is emitted.


@pytest.mark.parametrize("session", [None, "kitchen"])
@pytest.mark.parametrize("kind", TEXT)
async def test_a_context_set_by_message_from_any_chain_is_there_in_the_next_turn(
    kind: TransformerType, session: str | None
) -> None:
    def once(ctx: Ctx) -> None:
        if not sent:
            sent.append(True)
            ctx.emit(topics.CONTEXT_SET, {"key": "mood", "value": "good", "scope": "shared"})

    sent: list[bool] = []
    seen: list[Any] = []

    def note(turn: Turn) -> str:
        seen.append(turn.session.intent_context.get("mood"))
        return "noted"

    async with Assistant(text_kinds(kind, once), claims(handler=note)) as hark:
        await hark.hears("one", session=session)
        await settle()
        if kind == "dialog" and session is not None:
            # The turn has ended: for a named session the change travels on what comes of the response.
            shown = hark.of(topics.SPEECH_RENDERED)[-1].session
            assert shown is not None
            assert shown.intent_context["mood"].value == "good"
            return
        await hark.hears("two", session=session)
        assert seen[-1].value == "good"


@pytest.mark.spec("TRANSFORM-1/7.h", "TRANSFORM-1/8.2.e", "TRANSFORM-1/9.g")
@pytest.mark.parametrize("kind", ["utterance", "metadata", "intent"])
async def test_what_was_emitted_is_neither_late_nor_undone_by_a_later_cancel(kind: TransformerType) -> None:
    def first(ctx: Ctx) -> None:
        ctx.emit("my.note", {"n": 1})
        ctx.emit(topics.CONTEXT_SET, {"key": "flag", "scope": "shared"})

    def later(*args: Any) -> Any:
        assert "flag" in args[-1].session.intent_context
        args[-1].cancel("other")
        return None if kind == "metadata" else args[0]

    late = transformer(kind, "later", later, priority=60, quick=True)
    async with Assistant(text_kinds(kind, first), late, claims()) as hark:
        await hark.hears("hello")
        seen = [topic for topic in hark.topics() if topic in ("my.note", topics.UTTERANCE_CANCELLED)]
        assert seen == ["my.note", topics.UTTERANCE_CANCELLED]
        note = hark.of("my.note")[0]
        assert note.context[f"{kind}_transformer_ids"] == ("maker",)
        assert hark.runtime.store.current.intent_context["flag"] is not None


@pytest.mark.spec("TRANSFORM-1/1.3.a")
async def test_a_reply_is_addressed_to_the_client_that_spoke() -> None:
    def answer(ctx: Ctx) -> None:
        ctx.reply("my.answer", {"ok": True})

    async with Assistant(text_kinds("utterance", answer), claims()) as hark:
        await hark.hears("hello", context={"source": "kitchen", "destination": "hark"})
        told = hark.of("my.answer")[0]
        assert (told.context["source"], told.context["destination"]) == ("hark", "kitchen")
        assert told.context["utterance_transformer_ids"] == ("maker",)


async def test_a_context_message_has_no_effect_where_the_deployer_turned_them_off() -> None:
    def tell(ctx: Ctx) -> None:
        ctx.emit(topics.CONTEXT_SET, {"key": "mood", "scope": "shared"})

    async with Assistant(
        text_kinds("utterance", tell), claims(), settings={"assistant": {"context_topics": False}}
    ) as hark:
        await hark.hears("hello")
        assert not hark.runtime.store.current.intent_context


# The intent context, as an author changes it.


@pytest.mark.parametrize("kind", TEXT)
async def test_what_a_transformer_remembers_and_forgets(kind: TransformerType) -> None:
    def step(ctx: Ctx) -> None:
        if ctx.recall("count") is None:
            ctx.remember("count", "1", turns=9)
            ctx.remember("both", shared=True)
            ctx.remember("for-it", "x", skill_id="claims", seconds=60)
        else:
            ctx.forget("count")
            ctx.forget("both", shared=True)

    async with Assistant(text_kinds(kind, step), claims()) as hark:
        await hark.hears("one")
        await settle()
        kept = hark.runtime.store.current.intent_context
        assert set(kept) == {"maker:count", "both", "claims:for-it"}
        assert kept["claims:for-it"].expires_at == pytest.approx(hark.clock.wall() + 60)
        await hark.hears("two")
        await settle()
        assert set(hark.runtime.store.current.intent_context) == {"claims:for-it"}


# R16: what holds for one turn.


@pytest.mark.parametrize("session", [None, "kitchen"])
@pytest.mark.parametrize("kind", ["utterance", "metadata", "intent"])
async def test_what_is_set_for_this_turn_is_seen_in_it_and_gone_after_it(
    kind: TransformerType, session: str | None
) -> None:
    def once(ctx: Ctx) -> None:
        if not done:
            done.append(True)
            ctx.for_this_turn(lang="es-ES", persona_id="butler", pipeline=["claims"], time_format="half")

    done: list[bool] = []
    seen: list[Any] = []

    def note(turn: Turn) -> None:
        seen.append((turn.session.lang, turn.session.persona_id, turn.session.pipeline))

    async with Assistant(text_kinds(kind, once), claims(handler=note)) as hark:
        start = Session(session or "default", lang="en-US")
        await hark.hears("one", session=start)
        marker = hark.of(topics.UTTERANCE_HANDLED)[-1].session
        assert marker is not None
        assert (marker.lang, marker.persona_id, marker.pipeline, marker.get("time_format")) == (
            "en-US",
            None,
            None,
            None,
        )
        await hark.hears("two", session=session)
        await hark.hears("three", session="another")
        assert seen[0] == ("es-ES", "butler", ("claims",))
        assert seen[1] == ("en-US", None, None)
        assert seen[2][1:] == (None, None)


async def test_what_the_handler_changes_lasts_although_it_was_set_for_the_turn() -> None:
    def once(ctx: Ctx) -> None:
        ctx.for_this_turn(persona_id="butler")

    def change(turn: Turn) -> None:
        turn.session = turn.session.replace(persona_id="pirate")

    async with Assistant(text_kinds("metadata", once), claims(handler=change)) as hark:
        await hark.hears("one")
        assert hark.runtime.store.current.persona_id == "pirate"


async def test_what_an_audio_transformer_sets_for_this_turn_is_gone_after_it() -> None:
    seen: list[Any] = []

    def once(audio: Audio, ctx: Ctx) -> Audio:
        if not seen:
            ctx.for_this_turn(persona_id="butler", time_format="half")
        return audio

    def note(turn: Turn) -> None:
        seen.append((turn.session.persona_id, turn.session.get("time_format")))

    plugins = transformer("audio", "maker", once), claims(handler=note)
    async with VoiceAssistant(*plugins, settings={"assistant": {"pipeline": ["claims"]}}, matchers=()) as house:
        await house.hears(Scene().says("one"))
        await house.hears(Scene().says("two"))
        assert seen == [("butler", "half"), (None, None)]
        assert house.runtime.store.current.persona_id is None
        assert not [message for message in house.of(topics.INTENT_MATCHED) if "hark_for_turn" in message.context]


async def test_a_lasting_change_lasts() -> None:
    def change(ctx: Ctx) -> None:
        ctx.session = ctx.session.replace(lang="de-DE")

    async with Assistant(text_kinds("metadata", change), claims()) as hark:
        await hark.hears("one")
        assert hark.runtime.store.current.lang == "de-DE"


# R22: what dialog and tts transformers change.


@pytest.mark.spec("TRANSFORM-1/3.5.b")
@pytest.mark.parametrize("layout", ["one process", "services"])
async def test_a_dialog_transformer_changes_the_session_of_the_device_for_good(layout: Any) -> None:
    seen: list[Any] = []

    def change(ctx: Ctx) -> None:
        ctx.session = ctx.session.replace(output_lang="de-DE", pipeline=["nothing"]).without("lang")
        ctx.remember("said", "yes")
        ctx.for_this_turn(voice_hint="low")

    def note(turn: Turn) -> str:
        seen.append(turn.session)
        return "noted"

    async with Assistant(text_kinds("dialog", change), claims(handler=note), layout=layout) as hark:
        await hark.hears("one", session=Session(lang="fr-FR"))
        await settle()
        await hark.hears("two")
        session = seen[-1]
        assert (session.output_lang, session.lang, session.pipeline) == ("de-DE", None, None)
        assert session.get("voice_hint") is None
        assert session.intent_context["maker:said"].value == "yes"


async def test_in_a_named_session_the_change_travels_on_what_comes_of_the_response() -> None:
    def change(ctx: Ctx) -> None:
        ctx.session = ctx.session.replace(output_lang="de-DE")

    async with Assistant(text_kinds("dialog", change), claims()) as hark:
        await hark.hears("one", session="kitchen")
        rendered = hark.of(topics.SPEECH_RENDERED)[-1].session
        assert rendered is not None
        assert rendered.output_lang == "de-DE"
        assert not hark.of(topics.SESSION_CHANGED)
        assert hark.runtime.store.current.output_lang is None


@pytest.mark.spec("TRANSFORM-1/3.6.b")
async def test_a_tts_transformer_can_do_something_once_for_each_answer(bus: LocalBus) -> None:
    calls: list[tuple[str | None, int, bool, bool, str | None]] = []
    counts: list[str | None] = []

    def look(audio: Audio, ctx: Ctx) -> Audio:
        calls.append((ctx.response_id, ctx.position, ctx.is_first, ctx.is_last, ctx.get("hark_response")))
        kept = ctx.recall("sentences")
        counts.append(None if kept is None else kept.value)
        ctx.remember("sentences", str(ctx.position))
        return audio

    async with Sounding(bus, tts=(transformer("tts", "look", look),)) as room:
        room.say("One is here. Two is there. Three is last.")
        await settle()
        room.say("Another answer.")
        await settle()
        changed = [message for message in room.messages if message.type == topics.SESSION_CHANGED]
    assert [call[1:4] for call in calls] == [(0, True, False), (1, False, False), (2, False, True), (0, True, True)]
    assert len({call[0] for call in calls[:3]}) == 1
    assert calls[0][0] != calls[3][0]
    assert counts[:3] == [None, "0", "1"], "each sentence finds the session as the last one left it"
    assert len(changed) == 4


# R23: a question that was never asked.


def asking(then: list[Any]) -> Any:
    async def ask(turn: Turn) -> str:
        then.append(await turn.listen("what is your secret?", timeout=30.0))
        await turn.speak("fine")
        await turn.listen("and now?", timeout=5.0) if then[-1] == "again" else None
        return "done"

    def match(utterances: Any, lang: str, session: Session) -> Match | None:
        if utterances[0].startswith("ask"):
            return Match("asker", "ask", lang, utterances[0])
        return Match("asker", "other", lang, utterances[0])

    def other(turn: Turn) -> str:
        return f"heard {turn.utterance}"

    return matcher("asker", match, ask=ask, other=other)


@pytest.mark.parametrize("session", [None, "kitchen"])
async def test_a_question_whose_speech_is_cancelled_is_withdrawn_at_once(
    assistant: MakeAssistant, session: str | None
) -> None:
    answers: list[Any] = []

    def guard(text: str, ctx: Ctx) -> str:
        if "secret" in text:
            ctx.cancel("policy_block")
        return text

    async with in_dialogue(assistant)(asking(answers), transformer("dialog", "guard", guard)) as hark:
        await hark.hears("ask me", session=session)
        await settle()
        assert answers == [None], "without waiting for thirty seconds"
        assert await hark.hears("turn on the light", session=session) == ["heard turn on the light"]


async def test_the_next_command_is_not_swallowed_while_the_handler_goes_on_nor_by_a_stale_client(
    assistant: MakeAssistant,
) -> None:
    def guard(text: str, ctx: Ctx) -> str:
        if "secret" in text:
            ctx.cancel("policy_block")
        return text

    async def ask(turn: Turn) -> None:
        await turn.listen("your secret?", timeout=60.0)
        await hark.clock.sleep(20.0)

    def match(utterances: Any, lang: str, session: Session) -> Match:
        return Match("asker", "ask" if utterances[0] == "ask" else "other", lang, utterances[0])

    asker = matcher("asker", match, ask=ask, other=lambda turn: f"heard {turn.utterance}")
    async with in_dialogue(assistant)(asker, transformer("dialog", "guard", guard)) as hark:
        for session_id in ("default", "kitchen"):
            turn = hark.say("ask", session=Session(session_id))
            await settle()
            question = hark.of(topics.UTTERANCE_SPEAK)[-1].session
            assert question is not None
            assert question.response_mode is not None
            # A client that took its session from the question, as clients do.
            assert await hark.hears("lights on", session=question) == ["heard lights on"]
            await hark.clock.advance(20.0)
            await turn.over.wait()


# R20: bridges.


class StandInBridge:
    """What a bridge does on the bus: it serves sessions, and gets what is said in them."""

    def __init__(self, bus: LocalBus) -> None:
        self._bus = bus
        self._sessions: set[str] = set()
        self.shown: list[Message] = []
        bus.on(topics.SPEECH_SHOWN, self._show)
        bus.on(topics.PRESENCE_ASK, lambda _message: self._report())

    def serve(self, session_id: str) -> None:
        self._sessions.add(session_id)
        self._bus.emit(Message(topics.PRESENCE, {"session_id": session_id, "here": True}))

    def leave(self, session_id: str) -> None:
        self._sessions.discard(session_id)
        self._bus.emit(Message(topics.PRESENCE, {"session_id": session_id, "here": False}))

    def _report(self) -> None:
        for session_id in self._sessions:
            self.serve(session_id)

    def _show(self, message: Message) -> None:
        if message.session_id in self._sessions:
            self.shown.append(message)


async def test_a_bridge_gets_what_the_dialog_chain_made_of_a_response_once(bus: LocalBus) -> None:
    calls: list[str] = []

    def polite(text: str, ctx: Ctx) -> str:
        calls.append(text)
        ctx.session = ctx.session.replace(output_lang="de-DE")
        return f"{text}, please"

    async with Sounding(bus, dialog=(transformer("dialog", "polite", polite),)) as room:
        bridge = StandInBridge(bus)
        bridge.serve("phone")
        room.say("wait", "phone")
        room.say("nobody serves this", "nowhere")
        await settle()
        assert calls == ["wait"], "once per response, and only where it is served"
        (shown,) = bridge.shown
        assert shown.data["utterance"] == "wait, please"
        assert isinstance(shown.data["response_id"], str)
        assert shown.session is not None
        assert shown.session.output_lang == "de-DE"
        assert room.shown == [], "nothing is shown here"
        assert room.tts.texts == [], "nor spoken"
        bridge.leave("phone")
        room.say("too late", "phone")
        await settle()
        assert calls == ["wait"]


async def test_a_response_that_is_cancelled_reaches_no_bridge(bus: LocalBus) -> None:
    def guard(text: str, ctx: Ctx) -> str:
        ctx.cancel("policy_block")
        return text

    async with Sounding(bus, dialog=(transformer("dialog", "guard", guard),)) as room:
        bridge = StandInBridge(bus)
        bridge.serve("phone")
        room.say("bad words", "phone")
        await settle()
        assert bridge.shown == []
        assert [message.type for message in room.messages if message.type == topics.UTTERANCE_CANCELLED]


async def test_a_bridge_that_was_there_before_speak_is_asked_which_sessions_it_serves(bus: LocalBus) -> None:
    bridge = StandInBridge(bus)
    bridge.serve("phone")
    async with Sounding(bus) as room:
        await settle()
        room.say("hello", "phone")
        await settle()
        assert [message.data["utterance"] for message in bridge.shown] == ["hello"]


async def test_in_a_whole_assistant_a_bridge_serves_its_clients() -> None:
    def louder(text: str, ctx: Ctx) -> str:
        return text.upper()

    async with Assistant(transformer("dialog", "louder", louder), claims()) as hark:
        bridge = StandInBridge(hark.bus)
        bridge.serve("phone")
        await hark.hears("hello", session="phone")
        assert [message.data["utterance"] for message in bridge.shown] == ["HELLO"]
        spoken = hark.of(topics.UTTERANCE_SPEAK)[-1]
        assert spoken.data["utterance"] == "hello", "a plain client reads what the handler said"
