"""Says that an utterance was not understood, or that a skill failed."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Final

from hark.builtin.remarks.nearest import KnownSentences
from hark.intents.locale import Locale, MissingResource, Renderer
from hark.model import Timer
from hark.model.lang import resolve
from hark.plugins import Message, Plugin, Session
from hark.spec import topics
from hark.spec.names import DECLINED, REMARK, SAID

_PENDING: Final = 1_000
"""Turns whose end marker is awaited, and languages that are remembered."""
_STOPPED: Final = frozenset({"the handler was stopped", "the assistant was shut down"})
"""Errors that are no failures: the user or the operator wanted it so."""
_PATIENCE: Final = 2.0
"""Seconds after which an end marker that has not come is not waited for."""
_SENTENCE: Final = "sentence"
"""The value of a dialog that names what can be said."""
_OF_OVOS: Final = re.compile(r"(?:ovos-skill-|skill-ovos-|skill-)(.+?)(?:\.[^.]+)?")
"""The id of a skill of OVOS: what it is for, and its author."""


@dataclass
class PendingRemark:
    """What is to be said once the turn has ended."""

    cause: Message
    """`ovos.intent.unmatched`, `ovos.intent.handler.error`, or the end of a fallback that had no answer."""
    dialog: str
    lang: str
    values: dict[str, str]
    session: Session | None = None
    """As the end marker had it."""


class Remarks(Plugin):
    """Speaks after turns that would end in silence: in the session of the utterance, after its end marker.

    It listens to `ovos.intent.unmatched` and `ovos.intent.handler.error` and changes nothing about them. An utterance
    that a fallback or a persona answered is not unmatched, so nothing is said then, unless the fallback found no answer
    when it was called (`hark_declined` in `ovos.intent.handler.complete`). Whatever it decides, a Message in the turn
    with the context key `hark_remark` says so: clients that follow turns wait for it. A sentence is named only where
    it would be matched now: skills may be denied, switched off, or in a program that is gone.
    """

    id = "remarks"
    quick = True

    @dataclass(frozen=True)
    class Settings:
        not_understood: bool = True
        """Whether the assistant says that it did not understand something."""
        suggest: bool = True
        """Whether it then names the nearest thing that can be said, if there is one."""
        failures: bool = True
        """Whether it says that a skill failed."""

    settings: Settings

    async def start(self) -> None:
        self._sentences = KnownSentences()
        self._pending: dict[str, tuple[PendingRemark, Timer]] = {}
        self._langs: dict[str, str] = {}
        """By turn: the language of an utterance that was matched in another than the assistant's own."""
        self._renderer = Renderer(_locale(), self.host.lang)
        # Not shared: what ends a turn is read by every process (a bus between processes refuses a group for it).
        self.host.on(topics.INTENT_UNMATCHED, self._unmatched)
        self.host.on(topics.HANDLER_ERROR, self._failed)
        self.host.on(topics.UTTERANCE_HANDLED, self._ended)
        if self.settings.not_understood:
            self.host.on(topics.HANDLER_COMPLETE, self._completed)
        if len(self.host.langs) > 1 and (self.settings.failures or self.settings.not_understood):
            self.host.on(topics.INTENT_MATCHED, self._matched)
        if self.settings.not_understood and self.settings.suggest:
            self.host.on(topics.REGISTRATION, self._sentences.apply)
            self.host.on(topics.INTENT_PREVIEW_RESPONSE, self._previewed)

    def _matched(self, message: Message) -> None:
        lang = message.data.get("lang")
        if lang != self.host.lang and isinstance(lang, str):
            self._langs[message.utterance_id or ""] = lang
            if len(self._langs) > _PENDING:
                del self._langs[next(iter(self._langs))]

    def _unmatched(self, message: Message) -> None:
        utterances, lang = message.data.get("utterances"), message.data.get("lang")
        remark: PendingRemark | None = None
        if self.settings.not_understood and utterances and isinstance(lang, str):
            session = message.session or Session()
            near = self._sentences.nearest(utterances, lang, session) if self.settings.suggest else None
            if near is None:
                remark = PendingRemark(message, "not_understood", lang, {})
            else:
                remark = PendingRemark(message, "not_understood_but", lang, {_SENTENCE: near})
        self._later(message, remark)

    def _completed(self, message: Message) -> None:
        if DECLINED in message.context:
            self._later(message, PendingRemark(message, "not_understood", self._lang_of(message), {}))

    def _lang_of(self, message: Message) -> str:
        """The language of a matched utterance."""
        lang = self._langs.pop(message.utterance_id or "", None)
        return lang or resolve(None, message.session or Session(), self.host.langs, self.host.lang)

    def _failed(self, message: Message) -> None:
        skill_id = str(message.data.get("skill_id", ""))
        lang = self._lang_of(message)
        remark: PendingRemark | None = None
        is_failure = message.data.get("exception") not in _STOPPED
        if self.settings.failures and is_failure and SAID not in message.context:
            remark = PendingRemark(message, "failed", lang, {"skill": _spoken_name(skill_id)})
        self._later(message, remark)

    def _later(self, cause: Message, remark: PendingRemark | None) -> None:
        """Speak when the end marker of the turn has come: nothing comes between it and its cause."""
        utterance_id = cause.utterance_id or ""
        timer = self.host.after(_PATIENCE, lambda: self._say(utterance_id))
        self._pending[utterance_id] = remark or PendingRemark(cause, "", "", {}), timer
        if len(self._pending) > _PENDING:
            self._say(next(iter(self._pending)))

    def _ended(self, marker: Message) -> None:
        utterance_id = marker.utterance_id or ""
        if utterance_id not in self._pending:
            return
        remark, _ = self._pending[utterance_id]
        remark.session = marker.session
        if _SENTENCE in remark.values:
            question = {"query": utterance_id, "utterance": remark.values[_SENTENCE], "lang": remark.lang}
            self.host.send(Message(topics.INTENT_PREVIEW, question, session=marker.session))
        else:
            self._say(utterance_id)

    def _previewed(self, answer: Message) -> None:
        self._say(str(answer.data.get("query")), is_possible="topic" in answer.data)

    def _say(self, utterance_id: str, *, is_possible: bool = False) -> None:
        """Say what is pending, once; with the sentence in it only if that `is_possible` now."""
        pending = self._pending.pop(utterance_id, None)
        if pending is None:
            return
        remark, timer = pending
        timer.cancel()
        if _SENTENCE in remark.values and not is_possible:
            remark.dialog, remark.values = "not_understood", {}
        # Not in the name of the skill that the turn was dispatched to.
        cause = remark.cause.carrying(**{REMARK: True, "skill_id": None})
        if remark.session is not None:
            cause = cause.carrying(remark.session)
        message = cause.forward(topics.REMARK_NONE)
        if remark.dialog:
            try:
                said = self._renderer.render(remark.dialog, remark.lang, remark.values)
                message = cause.forward(topics.UTTERANCE_SPEAK, {"utterance": said.text, "lang": said.lang})
            except MissingResource as missing:
                self.host.log.info("nothing is said: %s", missing)  # the start says which languages there are
        self.host.send(message)


def _spoken_name(skill_id: str) -> str:
    """The id of a skill as it is said: `my_timer.skill` is "my timer", `ovos-skill-ip.openvoiceos` is "ip"."""
    found = _OF_OVOS.fullmatch(skill_id)
    name = found[1] if found is not None else skill_id.removesuffix(".skill")
    return name.replace("_", " ").replace("-", " ").replace(".", " ")


@cache
def _locale() -> Locale:
    return Locale(Path(__file__).parent / "locale")  # when it is first needed, not when this is imported
