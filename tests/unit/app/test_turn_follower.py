"""Following turns by their Messages: outcome, answers, questions, nested turns."""

from __future__ import annotations

import pytest

from hark.app.turn_follower import FollowedTurns, TurnFollower, detail_of, is_question
from hark.model import MalformedMessage, Message, ResponseMode, Session
from hark.spec import topics
from hark.spec.names import CANCEL_BY, CANCEL_REASON, DECLINED, UTTERANCE_ID


class Turn:
    """A followed utterance, and the Messages that an assistant derives from it."""

    def __init__(self, turns: FollowedTurns, text: str, session: str | None = None, utterance_id: str = "u-1") -> None:
        self.turns = turns
        self.heard: list[str] = []
        self.entry, self.follower = turns.begin([text], hear=self.heard.append, session=session)
        self.utterance_id = utterance_id
        turns.saw(self.entry)

    def emit(self, topic: str, *, session: Session | None = None, utterance_id: str = "", **data: object) -> None:
        context = {**self.entry.context, UTTERANCE_ID: utterance_id or self.utterance_id}
        self.turns.saw(Message(topic, data, context, session or self.entry.session))

    def speak(self, text: str) -> None:
        self.emit(topics.UTTERANCE_SPEAK, utterance=text)

    def rendered(self, text: str) -> None:
        self.follower.hear(text)
        self.emit(topics.SPEECH_RENDERED)

    def ask(self, text: str, skill_id: str) -> None:
        waiting = Session(self.entry.session_id, response_mode=ResponseMode(skill_id, 9_999_999_999))
        self.emit(topics.UTTERANCE_SPEAK, session=waiting, utterance=text, listen=True)

    def end(self, outcome: str = topics.HANDLER_COMPLETE, **data: object) -> None:
        self.emit(outcome, **data)
        self.emit(topics.UTTERANCE_HANDLED)


@pytest.fixture
def turns() -> FollowedTurns:
    return FollowedTurns("test")


def test_a_turn_is_over_when_it_has_its_end_marker_and_its_speech_was_rendered(turns: FollowedTurns) -> None:
    turn = Turn(turns, "hello")
    turn.speak("hi")
    turn.end()
    assert turn.follower.ended.is_set()
    assert not turn.follower.over.is_set()
    assert turn.follower.is_open
    turn.rendered("hi")
    assert turn.follower.over.is_set()
    assert not turn.follower.is_open
    assert (turn.heard, turn.follower.spoken) == (["hi"], ["hi"])
    assert (turn.follower.outcome, turn.follower.utterance_id) == ("complete", "u-1")


@pytest.mark.parametrize(
    ("topic", "data", "outcome", "detail"),
    [
        (topics.INTENT_UNMATCHED, {}, "unmatched", ""),
        (topics.UTTERANCE_CANCELLED, {CANCEL_BY: "guard", CANCEL_REASON: "rude"}, "cancelled", "guard: rude"),
        (
            topics.HANDLER_ERROR,
            {"skill_id": "a.skill", "intent_name": "b", "exception": "ValueError: no"},
            "error",
            "a.skill:b: ValueError: no",
        ),
    ],
)
def test_the_outcome_is_reported_with_the_plugin_and_its_reason(
    turns: FollowedTurns, topic: str, data: dict[str, str], outcome: str, detail: str
) -> None:
    turn = Turn(turns, "hello")
    turn.end(topic, **data)
    assert (turn.follower.outcome, turn.follower.detail) == (outcome, detail)
    assert detail_of(Message(topic, data)) == detail


def test_a_response_that_is_cancelled_does_not_change_the_outcome(turns: FollowedTurns) -> None:
    turn = Turn(turns, "hello")
    cancelled = {CANCEL_BY: "censor", CANCEL_REASON: "policy"}
    turn.speak("secret")
    turn.emit(topics.UTTERANCE_CANCELLED, **cancelled)
    turn.end()
    assert (turn.follower.outcome, turn.follower.detail) == ("complete", "")
    turn.emit(topics.UTTERANCE_CANCELLED, **cancelled)  # after the end marker
    assert (turn.follower.outcome, turn.follower.detail) == ("complete", "")


def test_a_turn_with_nested_turns_ends_with_the_last_end_marker(turns: FollowedTurns) -> None:
    turn = Turn(turns, "good night")
    turn.emit(topics.INTENT_MATCHED)
    assert not turn.follower.is_undecided
    turn.emit(topics.UTTERANCE_HANDLE, utterance_id="u-2", utterances=["lights off"])
    assert turn.follower.is_undecided
    turn.emit(topics.INTENT_UNMATCHED, utterance_id="u-2")
    turn.emit(topics.UTTERANCE_HANDLED, utterance_id="u-2")
    assert not turn.follower.is_undecided
    assert not turn.follower.ended.is_set()
    turn.end()
    assert turn.follower.over.is_set()
    assert (turn.follower.entries, turn.follower.markers) == (2, 2)
    assert (turn.follower.outcome, turn.follower.utterance_id) == ("complete", "u-1")


def test_a_question_ends_the_wait_and_the_answer_resumes_the_turn(turns: FollowedTurns) -> None:
    asking = Turn(turns, "play a game", "kitchen", "u-1")
    asking.ask("which one?", "game.skill")
    asking.rendered("which one?")
    assert asking.follower.over.is_set()
    assert (asking.follower.outcome, asking.follower.asks) == ("asked", True)

    answer = Turn(turns, "chess", "kitchen", "u-2")
    answer.emit("game.skill:response", utterances=["chess"])
    assert answer.follower.resumed == [asking.follower]
    assert not asking.follower.asks
    assert asking.follower.has_asked
    assert not asking.follower.ended.is_set()
    answer.end()

    asking.speak("chess it is")
    asking.end()
    asking.rendered("chess it is")
    assert asking.follower.over.is_set()
    assert asking.follower.outcome == "complete"
    assert asking.heard == ["which one?"]
    assert answer.heard == ["chess it is"]
    assert asking.follower.spoken == ["which one?", "chess it is"]


def test_a_response_to_another_skill_or_in_another_session_is_no_answer(turns: FollowedTurns) -> None:
    asking = Turn(turns, "play a game", "kitchen")
    asking.ask("which one?", "game.skill")
    Turn(turns, "chess", "kitchen").emit("other.skill:response")
    Turn(turns, "chess", "bath").emit("game.skill:response")
    assert asking.follower.asks


def test_a_handler_that_no_longer_waits_makes_the_turn_open_again(turns: FollowedTurns) -> None:
    turn = Turn(turns, "play a game", "kitchen")
    turn.ask("which one?", "game.skill")
    assert turn.follower.ended.is_set()
    turn.emit(topics.HANDLER_WAITING, waits=False)
    assert not turn.follower.ended.is_set()
    turn.end()
    turn.rendered("which one?")
    assert turn.follower.over.is_set()


def test_speech_that_is_not_rendered_here_is_not_waited_for() -> None:
    turns = FollowedTurns("test", lambda session_id: session_id == "kitchen")
    here, elsewhere = Turn(turns, "hello", "kitchen"), Turn(turns, "hello", "bath")
    for turn in (here, elsewhere):
        turn.speak("hi")
        turn.end()
    assert not here.follower.over.is_set()
    assert elsewhere.follower.over.is_set()


def test_speech_without_text_is_not_waited_for(turns: FollowedTurns) -> None:
    turn = Turn(turns, "hello")
    turn.emit(topics.UTTERANCE_SPEAK, utterance=None)
    turn.end()
    assert turn.follower.over.is_set()


def test_a_turn_that_is_given_up_is_over_with_the_reason(turns: FollowedTurns) -> None:
    turn = Turn(turns, "hello")
    turn.speak("hi")
    turn.follower.give_up("the connection is lost")
    assert turn.follower.over.is_set()
    assert (turn.follower.outcome, turn.follower.detail) == ("broken", "the connection is lost")


def test_giving_up_keeps_the_outcome_of_a_turn_that_ended_or_asked(turns: FollowedTurns) -> None:
    ended, asking = Turn(turns, "hello", "kitchen"), Turn(turns, "play a game", "bath")
    ended.speak("hi")
    ended.end()
    asking.ask("which one?", "game.skill")
    for turn in (ended, asking):
        turn.follower.give_up("the connection is lost")
        assert turn.follower.over.is_set()
    assert [turn.follower.outcome for turn in (ended, asking)] == ["complete", "asked"]


def test_messages_of_other_clients_and_of_forgotten_turns_are_ignored(turns: FollowedTurns) -> None:
    turn = Turn(turns, "hello")
    other, _ = FollowedTurns("other").begin(["hello"])
    assert turns.saw(other) is None
    assert turns.of(Message(topics.UTTERANCE_HANDLE)) is None
    assert turn.follower in turns
    assert list(turns) == [turn.follower]
    turns.forget(turn.follower)
    assert turn.follower not in turns
    turn.end()
    assert turn.follower.outcome == "broken"


def test_an_answer_after_its_turn_was_forgotten_resumes_nothing(turns: FollowedTurns) -> None:
    asking = Turn(turns, "play a game", "kitchen")
    asking.ask("which one?", "game.skill")
    turns.forget(asking.follower)
    answer = Turn(turns, "chess", "kitchen")
    answer.emit("game.skill:response")
    assert answer.follower.resumed == []


def test_a_named_session_is_sent_as_it_was_last_reported() -> None:
    turns = FollowedTurns("test", remembered=2)
    for number, name in enumerate(("kitchen", "bath", "hall")):
        turn = Turn(turns, "hello", name)
        turn.emit(topics.UTTERANCE_HANDLED, session=Session(name, lang=f"l{number}-XX"))
    sent = {name: turns.begin(["hello"], session=name)[0].session for name in ("kitchen", "bath", "hall")}
    assert sent["kitchen"] == Session("kitchen")  # only the last two are remembered
    assert [sent[name].lang for name in ("bath", "hall")] == ["l1-XX", "l2-XX"]  # type: ignore[union-attr]


def test_the_default_session_is_not_remembered(turns: FollowedTurns) -> None:
    turn = Turn(turns, "hello")
    turn.emit(topics.UTTERANCE_HANDLED, session=Session(lang="de-DE"))
    assert turns.begin(["hello"], session="default")[0].session == Session("default")


def test_language_and_context_are_sent_with_the_utterance(turns: FollowedTurns) -> None:
    message, follower = turns.begin(["hello", "hallo"], lang="de-DE", context={"source": "desk"})
    assert message.data == {"utterances": ("hello", "hallo"), "lang": "de-DE"}
    assert message.context["source"] == "desk"
    assert follower.utterances == ("hello", "hallo")


def test_text_that_is_not_unicode_is_refused_and_not_followed(turns: FollowedTurns) -> None:
    with pytest.raises(MalformedMessage):
        turns.begin(["\ud800"])
    assert list(turns) == []


WAITING = Session("x", response_mode=ResponseMode("game.skill", 9_999_999_999))


@pytest.mark.parametrize(
    ("listen", "session", "expected"),
    [(True, WAITING, True), (True, Session("x"), False), (True, None, False), (False, WAITING, False)],
)
def test_speech_is_a_question_if_a_skill_waits_for_the_answer(
    listen: bool, session: Session | None, expected: bool
) -> None:
    data = {"utterance": "which one?", "listen": listen}
    assert is_question(Message(topics.UTTERANCE_SPEAK, data, session=session)) is expected
    assert not is_question(Message(topics.UTTERANCE_HANDLED, data, session=session))


def test_a_follower_without_listener_keeps_what_was_said() -> None:
    follower = TurnFollower(("hello",))
    follower.hear("hi")
    assert follower.spoken == ["hi"]


@pytest.mark.parametrize("declined", [True, False])
def test_a_remark_is_awaited_after_a_fallback_that_found_no_answer(declined: bool) -> None:
    turns = FollowedTurns("test", remarks=lambda: True)
    turn = Turn(turns, "blah bleh")
    context = {**turn.entry.context, UTTERANCE_ID: "u-1", **({DECLINED: True} if declined else {})}
    turns.saw(Message(topics.HANDLER_COMPLETE, {}, context, turn.entry.session))
    turn.emit(topics.UTTERANCE_HANDLED)
    assert turn.follower.awaits_remark is declined
