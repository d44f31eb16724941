"""The stop plugin (STOP-1): whoever was called last and has something to stop is stopped."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from hark.builtin.candidates import is_decided, is_denied, is_denied_skill, willing
from hark.builtin.stop.hearing import Kind, heard
from hark.model import converse
from hark.model.session_codec import Handler, Handlers
from hark.plugins import Declined, Later, Match, PipelinePlugin, Round, Session, Turn, handles
from hark.plugins.pipeline import ANY_LANGUAGE
from hark.spec import topics

_STOP = "stop"
_GLOBAL = "global_stop"


class Stop(PipelinePlugin):
    """Recognises that the user wants something to end, and finds out what.

    A pipeline entry says how sure it has to be: `mode = "exact"` (the default) takes only what says nothing else,
    `mode = "loose"` also what begins or ends with it.
    """

    id = "stop"
    quick = True

    @dataclass(frozen=True)
    class Settings:
        """What a deployer may set."""

        window: float = 0.5
        """Seconds that skills have to say whether they have something to stop; more than 1 is too long to wait."""

    settings: Settings

    def match(
        self, utterances: Sequence[str], lang: str, session: Session, round: Round | None = None
    ) -> Match | Declined | Later | None:
        """As promised by `PipelinePlugin`: a stop of one skill, or of everything in the session."""
        exact = round is None or _is_exact(round)
        kind: Kind | None = None
        said = ""
        for said in utterances:
            kind = heard(said, lang, exact)
            if kind is not None:
                break
        if kind is None:
            return None
        running = tuple(one for one in session.active_handlers if one.skill_id != self.id)
        if kind == "everything" or not running:
            return self._stop_everything(said, lang, session, round)
        if round is None:
            allowed = [one for one in converse.by_recency(running) if not is_denied(session, one.skill_id, _STOP)]
            return self._stop_one(allowed, said, lang, session)
        return Later(lambda: self._ask(round, converse.by_recency(running), said, lang, session))

    @handles(_GLOBAL)
    def everything(self, turn: Turn) -> None:
        """Tell everybody to stop what they do in this session."""
        turn.emit(topics.STOP)

    async def _ask(self, round: Round, running: Handlers, said: str, lang: str, session: Session) -> Match | Declined:
        """Stop the most recent of those who say they can be stopped; when nobody does, the most recent of all."""
        asked = [one.skill_id for one in running if not is_denied_skill(session, one.skill_id, round)]
        allowed = [one for one in running if not is_denied(session, one.skill_id, _STOP, round)]
        order = [one.skill_id for one in allowed]
        answers = await round.poll(
            topics.STOP_PING,
            {},
            asked,
            self.settings.window,
            enough=lambda so_far: is_decided(order, so_far),
            look_after=None if order else 0.0,  # asked as ever, but there is nobody to wait for
        )
        busy = willing(answers)
        return self._stop_one([one for one in allowed if one.skill_id in busy] or allowed, said, lang, session)

    def _stop_one(self, running: Sequence[Handler], said: str, lang: str, session: Session) -> Match | Declined:
        if not running:
            return Declined("nobody who could be stopped may be, in this session")
        target = running[0].skill_id
        left = [other for other in session.active_handlers if other.skill_id != target]
        updated = session.trusted(active_handlers=tuple(left))
        mode = session.response_mode
        if mode is not None and mode.skill_id == target:
            updated = updated.without("response_mode")
        return Match(target, _STOP, lang, said, updated_session=updated)

    def _stop_everything(self, said: str, lang: str, session: Session, round: Round | None) -> Match | Declined:
        if is_denied(session, self.id, _GLOBAL, round):
            return Declined("this session may not stop everything")
        updated = session.without("active_handlers", "converse_handlers", "response_mode")
        return Match(self.id, _GLOBAL, lang, said, updated_session=updated)

    def known_intents(self, session_id: str) -> list[dict[str, str]]:  # noqa: ARG002 - the same for all
        """As promised by `PipelinePlugin`; whose `stop` it is is decided when something is said."""
        return [{"skill_id": self.id, "intent_name": name, "lang": ANY_LANGUAGE} for name in (_STOP, _GLOBAL)]


def _is_exact(round: Round) -> bool:
    mode = round.config.get("mode", "exact")
    if mode not in ("exact", "loose"):
        raise ValueError(f'[pipeline.{round.entry}] mode is "exact" or "loose", not {mode!r}')
    return bool(mode == "exact")
