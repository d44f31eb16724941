"""The tools of a persona: which there are, and which of them the user is asked about."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from fnmatch import fnmatchcase
from typing import Any, Final

from hark.builtin.persona.answers import AwaitedAnswers
from hark.builtin.persona.intent_tools import IntentTools
from hark.builtin.persona.look_up import FactSources
from hark.builtin.persona.toolboxes import Toolboxes
from hark.builtin.persona.tools import (
    LONGEST_NAME,
    Arguments,
    OfferedTools,
    ToolDefinition,
    ToolError,
    ToolLimits,
    ToolOffer,
    shown,
)
from hark.intents.locale import Renderer
from hark.model import MalformedMessage
from hark.plugins import Host, Session, Turn

_LONGEST_SPOKEN: Final = 400
"""Characters of what is said about a dangerous call: a user has to understand it, so what needs more is not done."""


class Toolset:
    """Everything a model may call. See `ToolSource`.

    Whether a call is dangerous, and what the user is asked about it, is decided here: no text that the model has read,
    from whichever tool, page or skill, has any part in it.
    """

    def __init__(self, host: Host, limits: ToolLimits, dialogs: Renderer, private: Sequence[str]) -> None:
        self._host = host
        self._limits = limits
        self._dialogs = dialogs
        answers, hidden = AwaitedAnswers(host), frozenset(private)
        self._kinds: list[OfferedTools] = [Toolboxes(host, answers)]
        if limits.sources:
            self._kinds.append(FactSources(host, answers, hidden))
        if limits.intents:
            self._kinds.append(IntentTools(host, answers, hidden))
        self._reported = False
        """Whether it was reported that there are more tools than are offered."""

    def offered(self, session: Session, lang: str) -> Sequence[ToolDefinition]:
        """The tools of this moment, within the limits."""
        return [offer.definition for offer in self._offers(session, lang).values()]

    async def call(self, name: str, arguments: Arguments, turn: Turn) -> str:
        """Call a tool, a dangerous one only after the user said yes."""
        offer = self._offers(turn.session, turn.lang).get(name)
        if offer is None:
            raise ToolError(f"there is no tool {name}")
        dangerous = offer.dangerous or _is_one_of(offer.full_name, self._limits.confirm)
        if dangerous and not await self._confirmed(offer, arguments, turn):
            raise ToolError("the user did not agree; it was not done. Do not try again.")
        try:
            return await offer.call(arguments, turn)
        except MalformedMessage as error:  # such as arguments that are nested too deep
            raise ToolError(f"the arguments do not fit: {error}") from None

    async def _confirmed(self, offer: ToolOffer, arguments: Arguments, turn: Turn) -> bool:
        what = shown(offer.described(arguments))
        if len(what) > _LONGEST_SPOKEN:
            raise ToolError("it needs the consent of the user, and has too many arguments to ask about")
        said_yes = await turn.ask_yes_no(self._dialogs.render("confirm_tool", turn.lang, {"what": what}).text)
        turn.note(f"{offer.full_name} is dangerous: {'the user agreed' if said_yes else 'the user did not agree'}")
        return said_yes is True

    def _offers(self, session: Session, lang: str) -> dict[str, ToolOffer]:
        """What is offered, by the name that the model uses."""
        every = [offer for kind in self._kinds for offer in kind.offers(session, lang)]
        allowed = [offer for offer in every if self._is_allowed(offer.full_name)]
        if len(allowed) > self._limits.most and not self._reported:
            self._reported = True
            self._host.log.warning(
                "%d of %d tools are offered to the model; choose by only and never in [plugins.persona.tools], "
                "or set most higher",
                self._limits.most,
                len(allowed),
            )
        named: dict[str, ToolOffer] = {}
        for offer in allowed[: self._limits.most]:
            name = _free_name(offer.definition.name, named)
            named[name] = replace(offer, definition=replace(offer.definition, name=name))
        return named

    def _is_allowed(self, full_name: str) -> bool:
        only, never = self._limits.only, self._limits.never
        return (not only or _is_one_of(full_name, only)) and not _is_one_of(full_name, never)


def _is_one_of(full_name: str, patterns: Sequence[str]) -> bool:
    return any(fnmatchcase(full_name, pattern) for pattern in patterns)


def _free_name(name: str, taken: Mapping[str, Any]) -> str:
    """A name that no other tool has: two may be alike once they are cut."""
    others = (f"{name[: LONGEST_NAME - 4]}_{number}" for number in range(2, 1_000))
    return name if name not in taken else next(one for one in others if one not in taken)
