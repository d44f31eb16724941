"""Hiding personal data from handlers that need not see it."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import partial
from typing import Final, Literal

from hark.plugins import Ctx, IntentTransformer, Match
from hark.plugins.engines import Unavailable

_PATTERNS: Final[Mapping[str, str]] = {
    "email": r"[\w.+-]{1,64}@[\w-]{1,63}(?:\.[\w-]{1,63}){1,8}",
    "iban": r"\b[A-Z]{2}\d{2}(?: ?[A-Z0-9]{2,4}){3,8}\b",
    "card": r"\b\d(?:[ -]?\d){12,18}\b",
    "phone": r"(?<![\w.])\+?\d(?:[ ()/-]{0,2}\d){6,14}(?![\w.])",
    "address": r"\b(?:\d{1,3}\.){3}\d{1,3}\b",
}
_MAY_BE_PERSONAL: Final = re.compile(r"[\d@]")
Personal = Literal["email", "iban", "card", "phone", "address"]


class SlotRedaction(IntentTransformer):
    """Replaces personal data in the slots and the utterance of a match by its kind: `[email]`, `[card]`.

    It runs last, so that nothing is added after it. `address` is that of a device on the network.
    """

    id = "redact"
    priority = 90
    quick = True

    @dataclass(frozen=True)
    class Settings:
        """What is hidden, and from which skills."""

        kinds: tuple[Personal, ...] = ("email", "iban", "card", "phone", "address")
        """The kinds of personal data."""
        patterns: dict[str, str] = field(default_factory=dict)
        """Further kinds, by name, as regular expressions."""
        trusted: tuple[str, ...] = ()
        """Skills that see everything."""
        slots: tuple[str, ...] = ()
        """Slots that are hidden whatever they hold, by name."""

    settings: Settings

    async def start(self) -> None:
        self._patterns: list[tuple[str, re.Pattern[str]]] = [
            (name, re.compile(_PATTERNS[name])) for name in self.settings.kinds
        ]
        for name, pattern in self.settings.patterns.items():
            try:
                self._patterns.append((name, re.compile(pattern)))
            except re.error as error:
                raise Unavailable(f"patterns {name} is not a regular expression: {error}", "correct it") from None

    def transform(self, match: Match, ctx: Ctx) -> Match:
        if match.skill_id in self.settings.trusted:
            return match
        hidden = {name: self._without(name, text) for name, text in match.slots.items()}
        utterance = self._redacted(match.utterance)
        for name in self.settings.slots:  # what is hidden in a slot is not to be read in the utterance
            if (text := match.slots.get(name)) and len(text) > 1:
                utterance = re.sub(re.escape(text), f"[{name}]", utterance, flags=re.IGNORECASE)
        if hidden == match.slots and utterance == match.utterance:
            return match
        ctx.set("redact.slots", [name for name, text in hidden.items() if text != match.slots[name]])
        return match.replace(slots=hidden, utterance=utterance)

    def _without(self, name: str, text: str) -> str:
        return f"[{name}]" if name.partition(".")[0] in self.settings.slots else self._redacted(text)

    def _redacted(self, text: str) -> str:
        if not _MAY_BE_PERSONAL.search(text) and not self.settings.patterns:
            return text
        for name, pattern in self._patterns:
            if name == "email" and "@" not in text:  # the pattern is slow on long text without one
                continue
            text = pattern.sub(partial(_hidden, name), text)
        return text


def _hidden(kind: str, found: re.Match[str]) -> str:
    return f"[{kind}]" if _is(kind, found[0]) else found[0]


def _is(kind: str, text: str) -> bool:
    """Card numbers have a check digit: without it, any long number would be one."""
    if kind != "card":
        return True
    digits = [int(digit) for digit in text if digit.isdigit()]
    doubled = [sum(divmod(2 * digit, 10)) for digit in digits[-2::-2]]
    return (sum(digits[-1::-2]) + sum(doubled)) % 10 == 0
