"""OVOS-STOP-1: finding out what is to stop, and stopping it and nothing else."""

from __future__ import annotations

import asyncio
import logging
from typing import Any

import pytest

from flow.polling import NOON, Outsider, called, dispatched, heard, ids, last_dispatch, with_all_stages
from flow.stage import MakeAssistant, claims, echo, matcher, outcomes, silent, skill, transformer, turn_of
from hark.app.settings import settings_from
from hark.builtin.stop import Stop
from hark.builtin.stop.plugin import stop_request as what_is_heard
from hark.bus import ask
from hark.model import Match, Message, Session
from hark.plugins import Turn
from hark.skills import Skill, intent
from hark.spec import topics
from hark.testing import settle

TIERS = {
    "assistant": {"pipeline": ["stop_high", "converse", "template", "stop_low"]},
    "pipeline": {"stop_high": {"plugin": "stop"}, "stop_low": {"plugin": "stop", "mode": "loose"}},
}
TRIO = (topics.HANDLER_START, topics.HANDLER_COMPLETE, topics.HANDLER_ERROR)


@pytest.fixture
def assistant(assistant: MakeAssistant) -> MakeAssistant:
    return with_all_stages(assistant)


class Player(Skill):
    """Plays until it is stopped, in as many sessions as wanted; `turn.task` lets the frame know."""

    id = "player"
    quick = True

    def __init__(self) -> None:
        self.playing: set[str] = set()
        self.stops: list[str] = []

    @intent("play music")
    def play(self, turn: Turn) -> None:
        turn.task(self._play(turn.session.session_id))

    async def _play(self, session_id: str) -> None:
        self.playing.add(session_id)
        try:
            await asyncio.Event().wait()
        finally:
            self.playing.discard(session_id)

    def stopped(self, turn: Turn) -> None:
        self.stops.append(turn.session.session_id)


class Radio(Skill):
    """Does something in the background that only it knows of."""

    id = "radio"
    quick = True

    def __init__(self) -> None:
        self.on: set[str] = set()
        self.stops: list[str] = []

    @intent("radio on")
    def tune_in(self, turn: Turn) -> None:
        self.on.add(turn.session.session_id)

    def can_stop(self, session: Session) -> bool:
        return session.session_id in self.on

    def stopped(self, turn: Turn) -> str:
        self.on.discard(turn.session.session_id)
        self.stops.append(turn.session.session_id)
        return "silence"


class Asker(Skill):
    """Asks and waits."""

    id = "asker"

    def __init__(self) -> None:
        self.ended: list[str] = []

    @intent("ask me")
    async def ask_me(self, turn: Turn) -> None:
        try:
            await turn.ask("What is it?", timeout=1_000.0)
            self.ended.append("answered")
        finally:
            self.ended.append("over")


# §2: names.


@pytest.mark.spec("STOP-1/2.a")
@pytest.mark.spec("STOP-1/2.b")
async def test_no_intent_can_be_registered_as_stop(assistant: MakeAssistant, caplog: pytest.LogCaptureFixture) -> None:
    data = {"skill_id": "some.skill", "intent_name": "stop", "lang": "en-US", "samples": ["hold it"]}
    async with assistant() as hark:
        with caplog.at_level(logging.WARNING, "hark.understand"):
            hark.bus.emit(Message(topics.REGISTER_TEMPLATE, data))
            await settle()
        assert "stop" in caplog.text
        answer = await ask(hark.bus, hark.clock, Message(topics.INTENT_LIST))
        assert not [one for one in answer.data["intents"] if one["skill_id"] == "some.skill"]
        await hark.hears("hold it", session="x")
        assert dispatched(hark) == []
    with pytest.raises(Exception, match="stop"):
        type("Bold", (Skill,), {"id": "bold", "stop_it": intent("halt it", name="stop")(silent)})


@pytest.mark.spec("STOP-1/2.c")
async def test_anybody_may_have_a_global_stop_of_their_own(assistant: MakeAssistant) -> None:
    def match(utterances: Any, lang: str, session: Session) -> Match | None:
        return Match("other", "global_stop", lang, utterances[0]) if utterances[0] == "other" else None

    async with assistant(matcher("other", match, global_stop=echo)) as hark:
        await hark.hears("other", session=Session("x"))
        await hark.hears("stop everything", session=Session("x"))
        assert dispatched(hark) == ["other:global_stop", "stop:global_stop"]


# §3: an ordinary pipeline plugin.


@pytest.mark.spec("STOP-1/3.a")
async def test_a_session_may_do_without_the_stop_plugin(assistant: MakeAssistant) -> None:
    async with assistant(claims()) as hark:
        assert await hark.hears("stop", session=Session("x", blacklisted_pipelines=["stop"])) == ["stop"]
        assert outcomes(hark, "match")[0] == ("stop", "denied")


@pytest.mark.spec("STOP-1/3.a")
async def test_who_comes_before_it_wins(assistant: MakeAssistant) -> None:
    async with assistant(claims(), settings={"assistant": {"pipeline": ["claims", "stop"]}}) as hark:
        assert await hark.hears("stop", session=Session("x")) == ["stop"]


@pytest.mark.spec("STOP-1/3.1.a")
@pytest.mark.spec("STOP-1/3.1.b")
@pytest.mark.spec("STOP-1/7.b")
@pytest.mark.parametrize("text", ["stop everything", "well then please stop everything"])
async def test_however_many_entries_lead_to_it_it_is_one_plugin_and_stops_once(
    assistant: MakeAssistant, text: str
) -> None:
    async with assistant(settings=TIERS) as hark:
        await hark.hears(text, session=Session("x"))
        assert dispatched(hark) == ["stop:global_stop"]
        assert last_dispatch(hark).context["pipeline_id"] == "stop"
        assert len(hark.of(topics.STOP)) == 1


@pytest.mark.spec("STOP-1/3.1.c")
@pytest.mark.spec("STOP-1/4.3.a")
@pytest.mark.spec("STOP-1/4.2.b")
async def test_one_skill_is_stopped_by_a_dispatch_to_it_with_everything_that_goes_with_one(
    assistant: MakeAssistant,
) -> None:
    async with assistant(skill("a"), settings={"plugins": {"stop": {"answers": False}}}) as hark:
        await hark.hears(["stop it please", "stopped"], session=called("a"))
        assert dispatched(hark) == ["a:stop"]
        assert last_dispatch(hark).data == {"lang": "en-US", "utterance": "stop it please", "slots": {}}
        assert [m.type for m in turn_of(hark)] == [
            topics.UTTERANCE_HANDLE,
            topics.STOP_PING,
            topics.STOP_PONG,
            topics.INTENT_MATCHED,
            topics.HANDLER_START,
            "a:stop",
            topics.HANDLER_COMPLETE,
            topics.UTTERANCE_HANDLED,
        ][-len(turn_of(hark)) :]
        [pong] = hark.of(topics.STOP_PONG)
        assert pong.data == {"skill_id": "a", "can_handle": False}


@pytest.mark.spec("STOP-1/3.1.d")
@pytest.mark.spec("STOP-1/4.1.a")
@pytest.mark.spec("STOP-1/5.1.a")
@pytest.mark.parametrize("session", [Session("x"), called("stop")], ids=["nobody", "only itself"])
async def test_when_nobody_was_called_stop_stops_everything(assistant: MakeAssistant, session: Session) -> None:
    async with assistant() as hark:
        await hark.hears("stop", session=session)
        assert dispatched(hark) == ["stop:global_stop"]
        assert hark.of(topics.STOP_PING) == []


@pytest.mark.spec("STOP-1/3.1.e")
async def test_a_language_without_stop_words_is_left_to_others(assistant: MakeAssistant) -> None:
    async with assistant(claims(), settings={"assistant": {"langs": ["ja-JP"]}}) as hark:
        assert await hark.hears("stop", lang="ja-JP", session=called("a")) == ["stop"]
        assert outcomes(hark, "match")[0] == ("stop", "declined")


@pytest.mark.spec("STOP-1/3.1.f")
@pytest.mark.parametrize("text", ["hello", "when does the bus stop here", "stop sign", "unstoppable"])
async def test_what_says_something_else_is_left_to_others(assistant: MakeAssistant, text: str) -> None:
    async with assistant(claims(), skill("a")) as hark:
        assert await hark.hears(text, session=called("a")) == [text]
        assert hark.of(topics.STOP_PING) == []


@pytest.mark.spec("STOP-1/3.1.g")
@pytest.mark.spec("STOP-1/4.1.h")
@pytest.mark.spec("STOP-1/4.1.i")
@pytest.mark.spec("STOP-1/4.1.n")
@pytest.mark.parametrize("order", [("a", "b"), ("b", "a")])
async def test_without_a_better_answer_whoever_was_called_last_is_stopped(
    assistant: MakeAssistant, order: tuple[str, str]
) -> None:
    async with assistant(skill("a"), skill("b")) as hark:
        await hark.hears("stop", session=called(*order, converse_handlers=[{"skill_id": "c", "activated_at": NOON}]))
        assert dispatched(hark) == [f"{order[0]}:stop"]
        assert hark.of(topics.STOP) == []


@pytest.mark.spec("STOP-1/3.1.h")
@pytest.mark.spec("STOP-1/4.1.b")
@pytest.mark.spec("STOP-1/4.2.a")
async def test_who_is_asked_and_answers_is_on_the_bus_before_the_match(assistant: MakeAssistant) -> None:
    async with assistant(skill("a")) as hark:
        await hark.hears("stop", session=called("a"), context={"source": "mic", "destination": "hark", "k": "v"})
        seen = hark.topics()
        [ping], [pong] = hark.of(topics.STOP_PING), hark.of(topics.STOP_PONG)
        assert seen.index(topics.STOP_PING) < seen.index(topics.STOP_PONG) < seen.index(topics.INTENT_MATCHED)
        assert (ping.context["source"], ping.context["destination"]) == ("hark", "mic")
        assert (pong.context["source"], pong.context["destination"]) == ("mic", "hark")
        for message in (ping, pong):
            assert message.utterance_id == hark.of(topics.UTTERANCE_HANDLED)[0].utterance_id
            assert (message.session_id, message.context["k"]) == ("x", "v")
        assert ping.data == {}


@pytest.mark.spec("STOP-1/3.1.i")
async def test_it_claims_only_stop_and_global_stop(assistant: MakeAssistant) -> None:
    lists = [(), ("a",), ("a", "b"), ("stop",), ("stop", "b"), ("gone", "a")]
    async with assistant(skill("a"), skill("b"), settings=TIERS) as hark:
        for one in lists:
            for text in ("stop", "stop everything", "now that is enough of it stop", "hello", "cancel that", "quiet"):
                await heard(hark, text, session=called(*one))
        names = {topic.partition(":")[2] for topic in dispatched(hark)}
        assert names == {"stop", "global_stop"}
        assert {topic.partition(":")[0] for topic in dispatched(hark) if topic.endswith(":global_stop")} == {"stop"}


@pytest.mark.spec("STOP-1/3.2.a")
@pytest.mark.spec("STOP-1/5.1.a")
async def test_stop_everything_asks_nobody(assistant: MakeAssistant) -> None:
    async with assistant(skill("a")) as hark:
        await hark.hears("stop everything", session=called("a"))
        assert dispatched(hark) == ["stop:global_stop"]
        assert hark.of(topics.STOP_PING) == []


# §4.1 and §4.2: the poll.


@pytest.mark.spec("STOP-1/4.1.c")
@pytest.mark.spec("STOP-1/4.2.f")
@pytest.mark.spec("STOP-1/4.2.e")
async def test_who_keeps_silent_is_waited_for_as_long_as_the_window_and_may_still_be_stopped(
    assistant: MakeAssistant,
) -> None:
    async with assistant(settings={"plugins": {"stop": {"window": 0.3}}}) as hark:
        Outsider(hark, "far").takes("stop")
        hearing = hark.say("stop", session=called("far"))
        await hark.clock.advance(0.29)
        assert dispatched(hark) == []
        await hark.clock.advance(0.02)
        assert dispatched(hark) == ["far:stop"]
        assert hearing.over.is_set()


@pytest.mark.spec("STOP-1/4.1.d")
@pytest.mark.spec("STOP-1/4.2.o")
def test_the_window_is_half_a_second_and_within_the_limit_of_a_matcher() -> None:
    assert Stop.Settings().window == 0.5
    assert settings_from({}).limits.match >= Stop.Settings().window


@pytest.mark.spec("STOP-1/4.1.e")
@pytest.mark.spec("STOP-1/4.2.h")
@pytest.mark.parametrize("skill_id", ["stranger", None, 7, ""])
async def test_an_answer_of_nobody_who_was_called_does_not_count(assistant: MakeAssistant, skill_id: Any) -> None:
    async with assistant(skill("a"), skill("stranger")) as hark:
        Outsider(hark, "stranger").answers(topics.STOP_PING, {"skill_id": skill_id, "can_handle": True})
        await heard(hark, "stop", session=called("a"))
        assert dispatched(hark) == ["a:stop"]


@pytest.mark.spec("STOP-1/4.1.f")
@pytest.mark.spec("STOP-1/4.1.g")
@pytest.mark.spec("STOP-1/4.1.n")
async def test_who_can_be_stopped_comes_before_who_was_called_later(assistant: MakeAssistant) -> None:
    async with assistant(skill("newest")) as hark:
        for name in ("older", "oldest"):
            Outsider(hark, name).pongs(topics.STOP_PING).takes("stop")
        await heard(hark, "stop", session=called("newest", "silent", "older", "oldest"))
        assert dispatched(hark) == ["older:stop"]


@pytest.mark.spec("STOP-1/4.1.j")
@pytest.mark.spec("STOP-1/6.3.a")
@pytest.mark.spec("STOP-1/4.2.l")
@pytest.mark.parametrize("who_denies", ["session", "deployment"])
async def test_who_is_denied_is_never_stopped_by_name(assistant: MakeAssistant, who_denies: str) -> None:
    own = {"blacklisted_skills": ["denied"]} if who_denies == "session" else {}
    deployed = {"deny": {"skills": ["denied"]}} if who_denies == "deployment" else {}
    async with assistant(skill("newer"), settings=deployed) as hark:
        Outsider(hark, "denied").pongs(topics.STOP_PING)
        Outsider(hark, "b").pongs(topics.STOP_PING).takes("stop")
        await heard(hark, "stop", session=called("denied", "newer", "b", **own))
        await heard(hark, "stop", session=called("denied", "newer", **own))
        assert dispatched(hark) == ["b:stop", "newer:stop"]


@pytest.mark.spec("STOP-1/4.1.k")
async def test_it_never_stops_itself(assistant: MakeAssistant) -> None:
    async with assistant(skill("a")) as hark:
        await hark.hears("stop", session=called("stop", "a"))
        assert dispatched(hark) == ["a:stop"]


@pytest.mark.spec("STOP-1/4.1.l")
async def test_when_nobody_is_left_the_next_stage_hears_it(assistant: MakeAssistant) -> None:
    async with assistant(claims(), skill("a")) as hark:
        assert await hark.hears("stop", session=called("a", "stop", blacklisted_skills=["a"])) == ["stop"]
        assert outcomes(hark, "match")[0] == ("stop", "declined")
        assert hark.of(topics.STOP) == []


@pytest.mark.spec("STOP-1/4.1.m")
@pytest.mark.parametrize(
    ("times", "target"), [((1.0, 3.0, 2.0), "b"), ((5.0, 5.0, 5.0), "a"), ((1.0, 7.0, 7.0), "b")], ids=str
)
async def test_the_time_of_the_call_decides_and_then_the_order_of_the_list(
    assistant: MakeAssistant, times: tuple[float, ...], target: str
) -> None:
    handlers = [{"skill_id": one, "activated_at": when} for one, when in zip("abc", times, strict=True)]
    async with assistant(skill("a"), skill("b"), skill("c")) as hark:
        await hark.hears("stop", session=Session("x", active_handlers=handlers))
        assert dispatched(hark) == [f"{target}:stop"]


@pytest.mark.spec("STOP-1/4.1.o")
@pytest.mark.spec("STOP-1/6.1.a")
@pytest.mark.spec("STOP-1/6.2.b")
@pytest.mark.spec("STOP-1/6.2.c")
@pytest.mark.parametrize("holder", ["a", "b"])
async def test_who_is_stopped_leaves_the_list_and_its_question_is_closed(assistant: MakeAssistant, holder: str) -> None:
    conversing = [{"skill_id": one, "activated_at": NOON - 5} for one in ("b", "a", "c")]
    session = called(
        "a", "b", converse_handlers=conversing, response_mode={"skill_id": holder, "expires_at": NOON + 60}
    )
    async with assistant(skill("a"), skill("b")) as hark:
        await hark.hears("stop", session=session)
        for message in (last_dispatch(hark), hark.of(topics.UTTERANCE_HANDLED)[0]):
            after = message.session
            assert ids(after) == ["b"]
            assert (after.response_mode is None) == (holder == "a")
            # Every call is stamped there, also this one (CONVERSE-1 §3.1); nobody is taken out.
            assert sorted(ids(after, "converse_handlers")) == ["a", "b", "c"]


@pytest.mark.spec("STOP-1/4.2.c")
@pytest.mark.spec("STOP-1/4.2.n")
@pytest.mark.spec("STOP-1/9.e")
async def test_a_skill_says_for_the_session_it_is_asked_in_whether_it_can_be_stopped(assistant: MakeAssistant) -> None:
    player, radio = Player(), Radio()
    async with assistant(player, radio) as hark:
        await hark.hears("play music", session=Session("other"))
        await hark.hears("radio on", session=Session("other"))
        for session_id in ("here", "other"):
            entry = Message(
                topics.STOP_PING, {}, {"utterance_id": session_id}, called("player", "radio", session_id=session_id)
            )
            hark.bus.emit(entry)
            await settle()
        told = {(m.session_id, m.data["skill_id"]): m.data["can_handle"] for m in hark.of(topics.STOP_PONG)}
        assert told == {
            ("here", "player"): False, ("here", "radio"): False, ("other", "player"): True, ("other", "radio"): True,
        }  # fmt: skip


@pytest.mark.spec("STOP-1/4.2.d")
@pytest.mark.spec("STOP-1/4.3.b")
async def test_who_says_it_can_be_stopped_stops(assistant: MakeAssistant) -> None:
    player, radio = Player(), Radio()
    async with assistant(player, radio) as hark:
        await hark.hears("play music")
        await hark.hears("radio on")
        assert await hark.hears("stop") == ["silence"]
        assert (radio.on, player.playing) == (set(), {"default"})
        await hark.hears("stop")
        assert player.playing == set()
        assert dispatched(hark)[-2:] == ["radio:stop", "player:stop"]


@pytest.mark.spec("STOP-1/4.2.g")
@pytest.mark.parametrize("can_handle", [1, "yes", "true", None, [True]], ids=repr)
async def test_what_is_not_true_is_not_a_claim(assistant: MakeAssistant, can_handle: Any) -> None:
    async with assistant(skill("a")) as hark:
        Outsider(hark, "b").pongs(topics.STOP_PING, can_handle).takes("stop")
        await heard(hark, "stop", session=called("a", "b"))
        assert dispatched(hark) == ["a:stop"]


@pytest.mark.spec("STOP-1/4.2.g")
async def test_an_answer_that_does_not_say_is_not_a_claim(assistant: MakeAssistant) -> None:
    async with assistant(skill("a")) as hark:
        Outsider(hark, "b").answers(topics.STOP_PING, {"skill_id": "b"})
        await heard(hark, "stop", session=called("a", "b"))
        assert dispatched(hark) == ["a:stop"]


@pytest.mark.spec("STOP-1/4.2.i")
@pytest.mark.parametrize(("first", "target"), [(True, "b"), (False, "a")])
async def test_the_first_answer_of_a_skill_counts(assistant: MakeAssistant, first: bool, target: str) -> None:
    async with assistant(skill("a")) as hark:
        both = [{"skill_id": "b", "can_handle": one} for one in (first, not first)]
        Outsider(hark, "b").answers(topics.STOP_PING, *both).takes("stop")
        Outsider(hark, "c")  # silent: the round goes on
        await heard(hark, "stop", session=called("a", "b", "c"))
        assert dispatched(hark) == [f"{target}:stop"]


@pytest.mark.spec("STOP-1/4.2.j")
async def test_an_answer_after_the_window_changes_nothing(assistant: MakeAssistant) -> None:
    async with assistant(skill("a")) as hark:
        Outsider(hark, "b").pongs(topics.STOP_PING, after=0.6)
        await heard(hark, "stop", session=called("a", "b"))
        await hark.clock.advance(5.0)
        assert len(hark.of(topics.STOP_PONG)) == 2
        assert dispatched(hark) == ["a:stop"]


@pytest.mark.spec("STOP-1/4.2.k")
@pytest.mark.parametrize(
    "wrong", [{"utterance_id": "another"}, {"session": Session("another")}], ids=["utterance", "session"]
)
async def test_an_answer_of_another_round_does_not_count(assistant: MakeAssistant, wrong: dict[str, Any]) -> None:
    async with assistant(skill("a")) as hark:
        Outsider(hark, "b").pongs(topics.STOP_PING, **wrong)
        await heard(hark, "stop", session=called("a", "b"))
        assert dispatched(hark) == ["a:stop"]


@pytest.mark.spec("STOP-1/4.2.m")
async def test_the_round_is_over_when_nobody_can_come_before_who_claims(assistant: MakeAssistant) -> None:
    async with assistant() as hark:
        Outsider(hark, "a").pongs(topics.STOP_PING, False)
        Outsider(hark, "b").pongs(topics.STOP_PING).takes("stop")
        hearing = hark.say("stop", session=called("a", "b", "silent"))
        await settle()
        assert dispatched(hark) == ["b:stop"]
        assert hearing.over.is_set()


@pytest.mark.spec("STOP-1/4.2.p")
@pytest.mark.spec("STOP-1/5.3.d")
@pytest.mark.spec("STOP-1/5.3.e")
async def test_neither_poll_nor_broadcast_is_a_call(assistant: MakeAssistant) -> None:
    async with assistant(skill("a"), skill("b")) as hark:
        await hark.hears("stop", session=called("a", "b"))
        await hark.hears("stop everything", session=called("a", "b"))
        calls = [m.data["intent_name"] for m in hark.messages if m.type == topics.HANDLER_START]
        assert calls == ["stop", "global_stop"]
        assert ids(hark.of(topics.UTTERANCE_HANDLED)[0].session) == ["b"]
        assert {m.type for m in hark.messages if m.type.startswith("ovos.stop")} == {
            topics.STOP, topics.STOP_PING, topics.STOP_PONG,
        }  # fmt: skip


# §4.3, §4.4: stopping one.


@pytest.mark.spec("STOP-1/4.3.c")
@pytest.mark.spec("STOP-1/9.d")
@pytest.mark.parametrize("second", ["player:stop", topics.STOP])
async def test_a_second_stop_while_the_first_is_under_way_does_nothing(assistant: MakeAssistant, second: str) -> None:
    began, go_on = asyncio.Event(), asyncio.Event()

    class Slow(Player):
        async def stopped(self, turn: Turn) -> None:  # type: ignore[override]
            super().stopped(turn)
            began.set()
            await go_on.wait()

    player = Slow()
    async with assistant(player) as hark:
        await hark.hears("play music", session=Session("x"))
        first = hark.say("stop", session=called("player"))
        await began.wait()
        dispatch = last_dispatch(hark)
        hark.bus.emit(dispatch if second == "player:stop" else dispatch.forward(topics.STOP, {}))
        await settle()
        go_on.set()
        await first.over.wait()
        assert player.stops == ["x"]
        assert outcomes(hark, "handler")[-1] == ("player:stop", "returned")


@pytest.mark.spec("STOP-1/9.d")
async def test_stopping_what_is_stopped_does_nothing(assistant: MakeAssistant) -> None:
    player, radio = Player(), Radio()
    async with assistant(player, radio) as hark:
        await hark.hears("play music")
        await hark.hears("radio on")
        for _ in range(3):
            await hark.hears("stop everything")
        await settle()
        assert (player.stops, radio.stops) == (["default"], ["default"])


@pytest.mark.spec("STOP-1/4.3.d")
@pytest.mark.spec("STOP-1/5.3.c")
@pytest.mark.parametrize("text", ["stop", "stop everything"])
async def test_what_goes_on_in_another_session_goes_on(assistant: MakeAssistant, text: str) -> None:
    player, radio = Player(), Radio()
    async with assistant(player, radio) as hark:
        for session_id in ("kitchen", "bath"):
            await hark.hears("radio on", session=Session(session_id))
            await hark.hears("play music", session=Session(session_id))
        await heard(hark, text, session=called("player", session_id="kitchen"))
        await settle()
        assert player.playing == {"bath"}
        assert radio.on == ({"kitchen", "bath"} if text == "stop" else {"bath"})


@pytest.mark.spec("STOP-1/4.3.e")
async def test_a_skill_that_fails_to_stop_stays_off_the_list(assistant: MakeAssistant) -> None:
    class Broken(Player):
        def stopped(self, turn: Turn) -> None:
            raise RuntimeError("jammed")

    async with assistant(Broken()) as hark:
        await hark.hears("play music")
        await hark.hears("stop")
        assert hark.of(topics.HANDLER_ERROR)[-1].data["intent_name"] == "stop"
        assert ids(hark.runtime.store.current) == []


@pytest.mark.spec("STOP-1/4.4.a")
async def test_who_cannot_be_stopped_takes_itself_out(assistant: MakeAssistant) -> None:
    def leave(turn: Turn) -> None:
        others = [one for one in turn.session.active_handlers if one.skill_id != turn.skill_id]
        turn.session = turn.session.replace(active_handlers=others)

    async with assistant(claims("quick", leave), skill("a")) as hark:
        await hark.hears("hello", session=called("a"))
        after = hark.of(topics.UTTERANCE_HANDLED)[0].session
        assert ids(after) == ["a"]
        await hark.hears("stop", session=after)
        assert dispatched(hark)[-1] == "a:stop"


# §5: stopping everything.


@pytest.mark.spec("STOP-1/5.2.a")
@pytest.mark.spec("STOP-1/5.2.b")
@pytest.mark.spec("STOP-1/6.1.b")
async def test_stopping_everything_empties_the_session(assistant: MakeAssistant) -> None:
    mode = {"skill_id": "a", "expires_at": NOON + 60}
    conversing = [{"skill_id": "a", "activated_at": NOON}]
    session = called("a", "b", converse_handlers=conversing, response_mode=mode, persona_id="butler")
    claim = Stop().match(["stop everything"], "en-US", session)
    async with assistant() as hark:
        await hark.hears("stop everything", session=session)
        after = hark.of(topics.UTTERANCE_HANDLED)[0].session
        assert ids(after) == ids(after, "converse_handlers") == ["stop"]
        assert after.response_mode is None
        assert after.persona_id == "butler"
    assert isinstance(claim, Match)
    assert ids(claim.updated_session) == ids(claim.updated_session, "converse_handlers") == []
    assert claim.updated_session is not None
    assert claim.updated_session.response_mode is None


@pytest.mark.spec("STOP-1/5.2.c")
async def test_stopping_again_stops_everything_again(assistant: MakeAssistant) -> None:
    async with assistant() as hark:
        for _ in range(3):
            await hark.hears("stop")
        assert dispatched(hark) == ["stop:global_stop"] * 3
        assert len(hark.of(topics.STOP)) == 3


@pytest.mark.spec("STOP-1/5.3.a")
async def test_the_broadcast_comes_from_the_plugins_own_handler(assistant: MakeAssistant) -> None:
    async with assistant() as hark:
        await hark.hears("stop everything", session=Session("x"), context={"source": "mic"})
        [broadcast], dispatch = hark.of(topics.STOP), last_dispatch(hark)
        assert dispatch.type == "stop:global_stop"
        assert broadcast.data == {}
        assert broadcast.session == dispatch.session
        assert broadcast.context["destination"] == dispatch.context["destination"] == "mic"
        assert broadcast.utterance_id == dispatch.utterance_id


@pytest.mark.spec("STOP-1/5.3.b")
@pytest.mark.spec("STOP-1/5.3.c")
@pytest.mark.parametrize("text", ["stop", "stop everything"])
async def test_what_was_still_to_be_said_is_not_said_any_more(assistant: MakeAssistant, text: str) -> None:
    gate = asyncio.Event()

    async def dawdle(said: str, ctx: Any) -> str:
        await gate.wait()
        return said

    async def chatter(turn: Turn) -> None:
        for number in range(3):
            await turn.speak(f"{turn.session.session_id} {number}")

    def match(utterances: Any, lang: str, session: Session) -> Match | None:
        return Match("chatty", "go", lang, utterances[0]) if utterances[0] == "talk" else None

    async with assistant(transformer("dialog", "slow", dawdle), matcher("chatty", match, go=chatter)) as hark:
        here = hark.say("talk", session=Session("here"))
        there = hark.say("talk", session=Session("there"))
        await settle()
        stopping = hark.say(text, session=called("chatty", session_id="here"))
        await settle()
        gate.set()
        for hearing in (here, there, stopping):
            await hearing.over.wait()
        assert here.spoken == []
        assert there.spoken == ["there 0", "there 1", "there 2"]


@pytest.mark.spec("STOP-1/9.b")
@pytest.mark.spec("STOP-1/9.c")
async def test_everything_a_skill_does_in_the_session_is_stopped_by_either(assistant: MakeAssistant) -> None:
    for text in ("stop", "stop everything"):
        player = Player()
        async with assistant(player) as hark:
            for _ in range(2):
                await hark.hears("play music")
            assert player.playing
            await hark.hears(text)
            await settle()
            assert not player.playing
            assert player.stops == ["default"]


async def test_a_skill_that_takes_its_time_to_stop_keeps_nobody_else_going(assistant: MakeAssistant) -> None:
    class Sluggish(Player):
        id = "a-sluggish"

        @intent("play slowly")
        def play(self, turn: Turn) -> None:
            super().play(turn)

        async def stopped(self, turn: Turn) -> None:  # type: ignore[override]
            await asyncio.Event().wait()

    player = Player()
    async with assistant(Sluggish(), player) as hark:
        await hark.hears("play slowly")
        await hark.hears("play music")
        await hark.hears("stop everything")
        await settle()
        assert player.stops == ["default"]


# §6: the session.


@pytest.mark.spec("STOP-1/6.2.a")
async def test_the_session_changes_by_the_claim_alone(assistant: MakeAssistant) -> None:
    before = called("a", "b")
    async with assistant(skill("a"), skill("b")) as hark:
        await hark.hears("stop", session=before)
        lists = [(m.type, ids(m.session)) for m in turn_of(hark) if m.type != topics.UTTERANCE_HANDLE]
        assert [found for topic, found in lists if topic in (topics.STOP_PING, topics.STOP_PONG)] == [["a", "b"]] * 3
        assert {tuple(found) for topic, found in lists if not topic.startswith("ovos.stop")} == {("b",)}


@pytest.mark.spec("STOP-1/6.3.b")
@pytest.mark.parametrize("who_denies", ["session", "deployment"])
async def test_an_intent_that_is_denied_is_not_claimed(assistant: MakeAssistant, who_denies: str) -> None:
    denied = ["a:stop", "stop:global_stop"]
    own = {"blacklisted_intents": denied} if who_denies == "session" else {}
    deployed = {"deny": {"intents": denied}} if who_denies == "deployment" else {}
    async with assistant(claims(), skill("a"), skill("b"), settings=deployed) as hark:
        await hark.hears("stop", session=called("a", "b", **own))
        assert dispatched(hark) == ["b:stop"]
        assert await hark.hears("stop", session=called("a", **own)) == ["stop"]
        assert await hark.hears("stop everything", session=called("a", **own)) == ["stop everything"]
        assert hark.of(topics.STOP) == []


@pytest.mark.spec("STOP-1/6.3.c")
async def test_a_bare_name_or_another_pair_denies_nothing(assistant: MakeAssistant) -> None:
    denied = ["stop", "global_stop", "stop:stop", "b:stop"]
    async with assistant(skill("a")) as hark:
        await hark.hears("stop", session=called("a", blacklisted_intents=denied))
        await hark.hears("stop", session=Session("x", blacklisted_intents=denied))
        assert dispatched(hark) == ["a:stop", "stop:global_stop"]


@pytest.mark.spec("STOP-1/6.3.d")
@pytest.mark.parametrize("active", [("a",), ("a", "b")])
async def test_the_poll_is_the_same_whatever_intents_are_denied(
    assistant: MakeAssistant, active: tuple[str, ...]
) -> None:
    async with assistant(skill("a"), skill("b")) as hark:
        await hark.hears("stop", session=called(*active))
        await heard(hark, "stop", session=called(*active, blacklisted_intents=["a:stop"]), within=0.1)
        plain, denied = hark.of(topics.STOP_PING)
        assert plain.data == denied.data
        assert ids(plain.session) == ids(denied.session)


@pytest.mark.spec("STOP-1/6.3.d")
async def test_nobody_is_waited_for_who_may_not_be_stopped(assistant: MakeAssistant) -> None:
    async with assistant(claims()) as hark:
        # "far" keeps silent, and could not be chosen anyway.
        session = called("far", blacklisted_intents=["far:stop"])
        assert (await heard(hark, "stop", session=session, within=0.1)).spoken == ["stop"]
        assert len(hark.of(topics.STOP_PING)) == 1


# §7, §9: the deployment, and those who write skills.


@pytest.mark.spec("STOP-1/7.a")
def test_stop_comes_first_unless_the_deployer_says_otherwise() -> None:
    assert settings_from({}).assistant.pipeline[0] == "stop"


@pytest.mark.spec("STOP-1/9.a")
@pytest.mark.parametrize("lang", ["en-US", "de-DE", "es-ES", "fr-FR", "it-IT", "pt-PT"])
def test_every_language_in_which_hark_speaks_has_words_for_it(lang: str) -> None:
    word = {"en": "stop", "de": "halt", "es": "para", "fr": "arrête", "it": "basta", "pt": "para"}[lang[:2]]
    assert what_is_heard(word, lang) == "something"


@pytest.mark.spec("STOP-1/9.f")
@pytest.mark.parametrize("text", ["stop", "stop everything", "cancel"])
async def test_who_waits_for_an_answer_is_let_go_when_it_is_stopped(assistant: MakeAssistant, text: str) -> None:
    asker = Asker()
    async with assistant(asker) as hark:
        asking = hark.say("ask me")
        await settle()
        assert hark.runtime.store.current.response_mode is not None
        hark.say(text)
        await settle()
        assert asker.ended == ["over"]
        assert asking.markers == 1
        assert hark.runtime.store.current.response_mode is None
        assert await hark.hears("something else") == []
        assert hark.of(topics.INTENT_UNMATCHED)
