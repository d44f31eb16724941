"""A matcher for sentences written for Home Assistant."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from hark.builtin.hassil.sentences import Recognized, Sentences, read
from hark.intents import TemplateError, expand
from hark.model.intent_context import is_live
from hark.plugins import Declined, Match, Message, PipelinePlugin, Session, Turn, handles
from hark.spec import topics

_LONGEST: Final = 500
"""Letters of an utterance; with more, hassil takes seconds."""
_INTENT: Final = "hassil_intent"
_RESPONSE: Final = "hassil_response"


class HassilMatcher(PipelinePlugin):
    """Matches sentences written for Home Assistant with their own matcher, beside Hark's.

    It matches for the skill `skill_id` under the intent's own name, such as `my.skill:HassTurnOn`. Without a `skill_id`
    it matches what the sentences have a plain answer for, and speaks that answer itself.
    """

    id = "hassil"

    @dataclass(frozen=True)
    class Settings:
        package: tuple[str, ...] = ()
        """Languages to take from the home-assistant-intents package, such as ["en", "de"]."""
        paths: tuple[str, ...] = ()
        """Files or folders with sentences, lists and responses of your own, YAML or JSON."""
        skill_id: str = ""
        """The skill that handles what is recognised; values it registers for an entity replace the list so named."""

    settings: Settings

    def __init__(self) -> None:
        self._languages: dict[str, Sentences] = {}

    async def start(self) -> None:
        # Raises when a file or package is missing or malformed.
        if self.settings.package or self.settings.paths:
            self._languages = await asyncio.to_thread(self._compiled)
        if self.settings.skill_id:
            self.host.on(topics.ENTITY_REGISTER, self._values)

    def match(self, utterances: Sequence[str], lang: str, session: Session) -> Match | Declined:
        """The first candidate that hassil recognises and a skill can answer."""
        sentences = self._sentences(lang)
        if sentences is None:
            return Declined(f"no sentences in {lang}; [plugins.hassil] package or paths name some")
        context = self._context(session)
        reason = "hassil recognises nothing"
        for utterance in utterances:
            if len(utterance) > _LONGEST:
                continue
            found = sentences.recognize(utterance, context)
            if found is not None:
                claim = self._claim(found, sentences, utterance, lang)
                if claim is not None:
                    return claim
                reason = f"{found.intent} has no plain answer, and [plugins.hassil] skill_id names no skill"
        return Declined(reason)

    @handles("answer")
    def answer(self, turn: Turn) -> str | None:
        """Speak the plain answer of the sentences."""
        sentences = self._sentences(turn.lang)
        if sentences is None:
            return None
        return sentences.answers.text(turn.slots[_INTENT], turn.slots[_RESPONSE], turn.slots)

    def known_intents(self, session_id: str) -> Iterator[Mapping[str, str]]:  # noqa: ARG002 - the same for every session
        """Every intent the sentences have."""
        for lang, sentences in self._languages.items():
            for name in sentences.names if self.settings.skill_id else ("answer",):
                yield {"skill_id": self.settings.skill_id or self.id, "intent_name": name, "lang": lang}

    def _compiled(self) -> dict[str, Sentences]:
        data = read(self.settings.package, self.settings.paths)
        return {lang: Sentences(lang, found) for lang, found in data.items()}

    def _sentences(self, lang: str) -> Sentences | None:
        tag = lang.lower()
        return self._languages.get(tag) or self._languages.get(tag.partition("-")[0])

    def _claim(self, found: Recognized, sentences: Sentences, utterance: str, lang: str) -> Match | None:
        if self.settings.skill_id:
            return Match(self.settings.skill_id, found.intent, lang, utterance, dict(found.slots))
        if sentences.answers.text(found.intent, found.response, found.slots) is None:
            return None
        slots = {**found.slots, _INTENT: found.intent, _RESPONSE: found.response}
        return self.claim("answer", lang=lang, utterance=utterance, slots=slots)

    def _context(self, session: Session) -> dict[str, str]:
        """The context for `requires_context` in the sentences: the shared intent context, and the user's area."""
        now = self.host.clock.wall()
        shared = {
            key: entry.value or key
            for key, entry in session.intent_context.items()
            if ":" not in key and entry is not None and is_live(entry, now)
        }
        return {"area": session.site_id, **shared} if session.site_id else shared

    def _values(self, message: Message) -> None:
        data = message.data
        values, lang = data.get("samples"), data.get("lang")
        if data.get("skill_id") != self.settings.skill_id or not isinstance(values, tuple) or not isinstance(lang, str):
            return
        sentences = self._sentences(lang)
        if sentences is not None:
            sentences.set_values(str(data.get("entity_name")), [text for value in values for text in _phrases(value)])


def _phrases(value: object) -> tuple[str, ...]:
    """The phrases of a registered value; none when it is malformed, which the template matcher reports."""
    try:
        return expand(value) if isinstance(value, str) else ()
    except TemplateError:
        return ()
