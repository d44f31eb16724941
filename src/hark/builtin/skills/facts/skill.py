"""The facts skill: who a person is, what something is, what a word means."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Final

from hark.builtin.skills.tables import plain, table
from hark.builtin.skills.web import NotFound, Unreachable
from hark.plugins import Answer, Session, Turn, answers, fallback
from hark.skills import Skill, intent

_NAMES: Final = Path(__file__).parent / "names"
_SURE: Final = 0.7
_PRIORITY: Final = 92
"""After fallbacks that may know an answer by other means."""
_SESSIONS: Final = 64


def _known(_skill: FactsSkill, question: str, lang: str, _session: Session) -> bool:
    return topic_of(question, lang) is not None


async def _was_unreachable(skill: FactsSkill, utterances: Sequence[str], _lang: str, session: Session) -> bool:
    return skill.failed.get(session.session_id) in utterances


def topic_of(question: str, lang: str) -> str | None:
    """What a question is about that an encyclopedia may answer: "who was X", "what is X"; None for other questions.

    Questions about the user, about sums, and about what changes from day to day are not for an encyclopedia; they
    never leave the machine.
    """
    said = plain(question.replace("'s ", " is ", 1))
    frames, leading, never = _words(lang)
    for before, after in frames:
        if said.startswith(before) and said.endswith(after) and len(said) > len(before) + len(after):
            topic = said[len(before) : len(said) - len(after)]
            for word in leading:
                topic = topic.removeprefix(f"{word} ")
            spaced = f" {topic} "
            if not topic or any(f" {word} " in spaced for word in never) or any(map(str.isdigit, topic)):
                return None
            return topic
    return None


@lru_cache(maxsize=8)
def _words(lang: str) -> tuple[tuple[tuple[str, str], ...], tuple[str, ...], tuple[str, ...]]:
    """What is said before and after a topic, the longest first; words left out before it; words it never has."""
    words = table(_NAMES, "questions", lang)
    frames = [(f"{plain(opener)} ", "") for opener in words.get("asks", ())]
    for frame in words.get("frames", ()):  # "how many * are there"
        before, _, after = frame.partition("*")
        frames.append((f"{plain(before)} ", f" {plain(after)}" if after.strip() else ""))
    frames.sort(key=lambda frame: len(frame[0]) + len(frame[1]), reverse=True)
    leading, never = (tuple(map(plain, words.get(key, ()))) for key in ("leading", "never"))
    return tuple(frames), leading, never


class FactsSkill(Skill):
    """Looks things up in Wikipedia, and words in Wiktionary, when the user asks for them."""

    id = "facts.skill"
    reads_late = True

    @dataclass(frozen=True)
    class Settings:
        wikipedia_url: str = "https://{lang}.wikipedia.org"
        """Where Wikipedia is; {lang} is the language of the question, as in "en"."""
        wiktionary_url: str = "https://en.wiktionary.org"
        """Where Wiktionary is. Only the English one has definitions at this interface, of words of every language."""
        answers_questions: bool = True
        """Whether questions such as "who was X" are looked up; else only "tell me about X" and "define X" are."""

    settings: Settings

    def __init__(self) -> None:
        self.failed: dict[str, str] = {}
        """The last question of a session that could not be looked up."""

    @intent(file="about")
    def about(self, turn: Turn) -> None:
        """The beginning of an article."""
        topic = turn.slots["topic"]
        try:
            text = self._article(topic, turn.lang)
        except Unreachable as error:
            self.host.log.info("no article: %s", error)
            turn.say("unreachable")
            return
        self._tell(turn, text, topic)

    @intent(file="define")
    def define(self, turn: Turn) -> None:
        """What a word means; what an encyclopedia says of it where there is no definition."""
        word = turn.slots["word"]
        try:
            text = self._definition(word, turn.lang) or self._article(word, turn.lang)
        except Unreachable as error:
            self.host.log.info("no definition: %s", error)
            turn.say("unreachable")
            return
        self._tell(turn, text, word)

    @answers(wants=_known)
    def know(self, question: str, lang: str, session: Session) -> Answer | None:
        """The beginning of the article about what is asked."""
        topic = topic_of(question, lang) if self.settings.answers_questions else None
        if topic is None:
            return None
        self.failed.pop(session.session_id, None)
        try:
            text = self._article(topic, lang)
        except Unreachable as error:
            self.host.log.info("no answer: %s", error)
            while len(self.failed) >= _SESSIONS:
                del self.failed[next(iter(self.failed))]
            self.failed[session.session_id] = question
            return None
        return None if text is None else Answer(text, _SURE, "Wikipedia")

    @fallback(_PRIORITY, when=_was_unreachable)
    def could_not_ask(self, turn: Turn) -> None:
        """Say that the question could not be looked up, if no other skill had an answer."""
        self.failed.pop(turn.session.session_id, None)
        turn.say("unreachable")

    def _tell(self, turn: Turn, text: str | None, topic: str) -> None:
        if text is None:
            turn.say("nothing", topic=topic)
        else:
            turn.say("found", text=text)

    def _article(self, topic: str, lang: str) -> str | None:
        from hark.builtin.skills.facts.sources import article

        try:
            return article(self.settings.wikipedia_url.replace("{lang}", lang.partition("-")[0]), topic)
        except NotFound:
            return None

    def _definition(self, word: str, lang: str) -> str | None:
        if not lang.startswith("en"):  # its definitions are in English
            return None
        from hark.builtin.skills.facts.sources import definition

        found = definition(self.settings.wiktionary_url, word, lang)
        return (
            None
            if found is None
            else self.dialogs.render("meaning", lang, {"word": word, "kind": found[0], "text": found[1]}).text
        )
