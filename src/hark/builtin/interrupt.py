"""A clear command while a question is open is a command, not the answer."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from hark.builtin.candidates import explained_words
from hark.model import converse
from hark.plugins import Declined, Match, PipelinePlugin, Round, Session


class Interrupt(PipelinePlugin):
    """Claims what a matcher would claim as it is written, where converse would take it for the answer to a question.

    The question is withdrawn: the handler that waits gets no answer. It stands before converse. What most of its words
    are the words of a sentence of an intent is a command; "milk", "five" or "yes" stay answers.
    """

    id = "interrupt"
    quick = True

    @dataclass(frozen=True)
    class Settings:
        enabled: bool = True
        """Whether a clear command is obeyed while a question is open."""
        words: int = 2
        """How many words of the utterance have to be words of the intent's own sentence, outside its slots."""

    settings: Settings

    def match(
        self, utterances: Sequence[str], lang: str, session: Session, round: Round | None = None
    ) -> Match | Declined | None:
        """The command, with a session in which the question is closed."""
        if session.response_mode is None or round is None or not self.settings.enabled:
            return None
        if converse.waiting_skill(session, self.host.clock.wall()) is None:
            return None
        for utterance in utterances:
            found = round.would_match(utterance, strict=True)
            if found is not None and explained_words(found, lang) >= self.settings.words:
                closed = session.without("response_mode")
                return found.replace(updated_session=closed, note="a command while a question is open")
        return Declined("no clear command: it may be the answer")

    def known_intents(self, session_id: str) -> list[dict[str, str]]:  # noqa: ARG002 - the same for all
        """None of its own: it claims for others."""
        return []
