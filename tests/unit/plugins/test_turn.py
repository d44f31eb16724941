"""What a handler holds."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from hark.intents.locale import Locale, Renderer, UnfilledSlot
from hark.model import Message, Session
from hark.plugins import PipelinePlugin, Plugin, Turn, handles
from hark.plugins.handlers import handlers_of
from hark.spec import topics
from hark.testing import FakeClock


class Held:
    """A turn, and what came of it."""

    def __init__(self, session: Session | None = None, plugin: Plugin | None = None) -> None:
        self.clock = FakeClock()
        self.emitted: list[Message] = []
        self.answers: list[str] = []
        """What the user says when asked."""
        self.said: list[tuple[Message, bool]] = []
        data = {"lang": "en-US", "utterance": "what time is it", "slots": {"city": "Rome"}}
        context = {"utterance_id": "u1", "skill_id": "clock.skill", "source": "a", "destination": "b"}
        self.dispatch = Message("clock.skill:time", data, context, session or Session("x"))

        self.turn = Turn(self.dispatch, self, plugin)

    def emit(self, message: Message) -> None:
        self.emitted.append(message)

    async def say(self, message: Message, wait: bool) -> None:
        self.said.append((message, wait))

    async def listen(self, turn: Turn, question: str, timeout: float, lang: str | None) -> str | None:
        await self.say(turn.derive(topics.UTTERANCE_SPEAK, {"utterance": question, "lang": lang or turn.lang}), False)
        return self.answers.pop(0) if self.answers else None

    def note(self, turn: Turn, text: str) -> None: ...

    def task(self, turn: Turn, work: Any, name: str) -> None:
        work.close()


def test_a_turn_says_what_it_is_about() -> None:
    turn = Held().turn
    assert (turn.skill_id, turn.intent_name) == ("clock.skill", "time")
    assert (turn.utterance, turn.lang, turn.slots) == ("what time is it", "en-US", {"city": "Rome"})
    assert turn.session == Session("x")


def test_a_dispatch_without_a_session_belongs_to_the_device() -> None:
    held = Held()
    turn = Turn(held.dispatch.carrying(None), held)
    assert turn.session == Session()


async def test_speech_is_derived_from_the_dispatch() -> None:
    held = Held()
    await held.turn.speak("it is noon")
    await held.turn.speak("es ist Mittag", lang="de-DE", listen=True, wait=True)
    (first, waited_first), (second, waited_second) = held.said
    assert (first.type, first.data) == (topics.UTTERANCE_SPEAK, {"utterance": "it is noon", "lang": "en-US"})
    assert second.data == {"utterance": "es ist Mittag", "lang": "de-DE", "listen": True}
    assert (waited_first, waited_second) == (False, True)
    assert first.context == held.dispatch.context
    assert first.session == held.dispatch.session


@pytest.mark.parametrize("text", [None, 7, b"noon", ["noon"]])
async def test_speech_is_text(text: Any) -> None:
    held = Held()
    with pytest.raises(TypeError, match="speak takes text"):
        await held.turn.speak(text)
    assert held.said == []


def test_what_a_turn_emits_is_forwarded_with_the_session_of_that_moment() -> None:
    held = Held()
    held.turn.emit("test.note", {"a": 1})
    held.turn.session = held.turn.session.replace(persona_id="butler")
    held.turn.emit("test.note")
    before, after = held.emitted
    assert (before.data, before.session.persona_id) == ({"a": 1}, None)
    assert after.session.persona_id == "butler"
    assert before.context == after.context == held.dispatch.context


def test_what_is_remembered_is_the_skills_own_unless_it_is_shared() -> None:
    held = Held(Session("x", intent_context={"other": {"value": "kept"}}))
    held.turn.remember("city", "Rome", turns=2)
    held.turn.remember("person", "Bob", shared=True, seconds=60.0)
    held.turn.remember("flag")
    found = held.turn.session.intent_context
    assert {key: entry.value for key, entry in found.items()} == {
        "other": "kept",
        "clock.skill:city": "Rome",
        "person": "Bob",
        "clock.skill:flag": None,
    }
    assert found["clock.skill:city"].turns_remaining == 2
    assert found["person"].expires_at == held.clock.wall() + 60.0


def test_what_is_forgotten_is_gone_and_nothing_else() -> None:
    before = {"clock.skill:city": {"value": "Rome"}, "city": {"value": "Lisbon"}, "other:city": {"value": "Paris"}}
    held = Held(Session("x", intent_context=before))
    held.turn.forget("city")
    assert set(held.turn.session.intent_context) == {"city", "other:city"}
    held.turn.forget("city", shared=True)
    held.turn.forget("city", shared=True)
    assert set(held.turn.session.intent_context) == {"other:city"}


@pytest.mark.parametrize("key", ["", "a:b", ":"])
def test_a_key_to_remember_by_is_a_word_without_colon(key: str) -> None:
    held = Held()
    with pytest.raises(ValueError, match="without colon"):
        held.turn.remember(key, "x")
    assert held.turn.session == Session("x")


@pytest.mark.parametrize("wrong", [{"value": 7}, {"value": "x", "turns": "two"}, {"value": "x", "turns": True}])
def test_what_cannot_be_remembered_is_refused_at_once(wrong: dict[str, Any]) -> None:
    held = Held()
    with pytest.raises(ValueError, match="intent_context"):
        held.turn.remember("city", **wrong)
    assert held.turn.session == Session("x")


def test_the_session_can_be_replaced_but_not_swapped() -> None:
    held = Held()
    with pytest.raises(TypeError, match="takes a Session"):
        held.turn.session = {"session_id": "x"}  # type: ignore[assignment]
    with pytest.raises(ValueError, match="another session"):
        held.turn.session = Session("y")
    assert held.turn.session == Session("x")


# Marking handlers.


class Parent(PipelinePlugin):
    id = "parent"

    @handles("greet")
    def greet(self, turn: Turn) -> str:
        return "hello from parent"

    @handles("bye")
    def bye(self, turn: Turn) -> str:
        return "bye"


class Child(Parent):
    @handles("greet")
    def greet(self, turn: Turn) -> str:
        return "hello from child"

    @handles("more")
    async def another(self, turn: Turn) -> str:
        return "more"


def test_handlers_are_found_by_intent_name_and_inherited() -> None:
    child = Child()
    found = handlers_of(child)
    assert set(found) == {"greet", "bye", "more"}
    assert found["greet"](None) == "hello from child"
    assert found["bye"].__self__ is child  # type: ignore[attr-defined]


def test_a_plugin_claims_for_its_own_handlers() -> None:
    claim = Parent().claim("greet", lang="en-US", utterance="hello", slots={"a": "b"})
    assert (claim.topic, claim.lang, claim.utterance, claim.slots) == ("parent:greet", "en-US", "hello", {"a": "b"})
    assert claim.defect() is None
    assert Parent().claim("greet", lang="en-US", utterance="hello").slots == {}


class Speaking(Plugin):
    """A plugin with dialogs."""

    id = "clock.skill"

    def __init__(self, folder: Path) -> None:
        for lang, text in {"en-US": "It is {time}[ in {city}].", "de-DE": "Es ist {time}[ in {city}]."}.items():
            (folder / lang).mkdir()
            (folder / lang / "time.dialog").write_text(text)
        self.dialogs = Renderer(Locale(folder), "en-US")


async def test_a_dialog_is_said_in_the_language_of_the_turn_whether_or_not_it_is_awaited(tmp_path: Path) -> None:
    held = Held(plugin=Speaking(tmp_path))
    held.turn.say("time", {"time": "noon"}, city=None)
    await held.turn.say("time", time="six", city=None, listen=True)
    assert [(message.type, message.data) for message in held.emitted] == [
        (topics.UTTERANCE_SPEAK, {"utterance": "It is noon.", "lang": "en-US"}),
        (topics.UTTERANCE_SPEAK, {"utterance": "It is six.", "lang": "en-US", "listen": True}),
    ]
    assert held.emitted[0].utterance_id == "u1"
    assert held.said == []


async def test_saying_a_dialog_can_wait_until_it_was_rendered(tmp_path: Path) -> None:
    held = Held(plugin=Speaking(tmp_path))
    await held.turn.say("time", time="noon", city=None, wait=True)
    [(message, wait)] = held.said
    assert (message.data["utterance"], wait) == ("It is noon.", True)
    assert held.emitted == []


def test_a_dialog_can_be_rendered_without_being_said(tmp_path: Path) -> None:
    held = Held(plugin=Speaking(tmp_path))
    assert held.turn.render("time", time="noon", city=None) == "It is noon."
    with pytest.raises(UnfilledSlot, match=r"time\.dialog:1: the slot \{city\}"):
        held.turn.render("time", {"time": "noon"})
    assert (held.emitted, held.said) == ([], [])


def test_without_dialogs_the_error_says_where_they_belong() -> None:
    for plugin in (None, Plugin()):
        with pytest.raises(LookupError, match=r"clock\.skill has no dialogs; put time\.dialog into a locale folder"):
            Held(plugin=plugin).turn.render("time")
