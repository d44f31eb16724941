"""Hiding personal data from handlers that need not see it."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import partial
from ipaddress import ip_address
from typing import Final, Literal

from hark.intents.speech import signs_in_addresses
from hark.plugins import Ctx, IntentTransformer, Match
from hark.plugins.engines import Unavailable

_DOT, _AT, _JOINT = (
    "|".join(sorted({*more, *(word.casefold() for sign in signs for word in signs_in_addresses()[sign])}))
    for signs, more in ((".", ()), ("@", ("at",)), ("_-", ("dash", "hyphen", "minus", "underscore")))
)
_PATTERNS: Final[Mapping[str, str]] = {
    "email": (
        r"[\w.+-]{1,64}@[\w-]{1,63}(?:\.[\w-]{1,63}){1,8}"
        # as recognisers write it: "bob dot smith at example dot org"
        rf"|(?i:\b\w{{1,64}}(?: (?:{_DOT}|{_JOINT}) \w{{1,64}}){{0,4}}"
        rf" (?:{_AT}) \w{{1,63}}(?: (?:{_DOT}) \w{{2,63}}){{0,3}}"
        rf" (?:{_DOT}) (?:[a-z]{{2,4}}|cloud|email|online|world)\b)"
    ),
    "iban": r"(?i:\b[A-Z]{2}\d{2}(?: ?[A-Z0-9]{2,4}){3,8}\b)",
    "card": r"\b\d(?:[ -]?\d){12,18}\b",
    "phone": r"(?<![\w.])[+(]{0,2}\d(?:[ ()/-]{0,2}\d){6,18}(?!\w|\.\d)|\b0\d(?:\.\d\d){4}\b",
    "address": r"\b(?:\d{1,3}\.){3}\d{1,3}\b|(?<![\w:])(?:[0-9A-Fa-f]{0,4}:){2,7}[0-9A-Fa-f]{0,4}(?![\w:])",
}
_MAY_BE_PERSONAL: Final = re.compile(rf"[\d@:]|(?i:\b(?:{_AT}) \w+ (?:{_DOT})\b)")
_MAIL: Final = re.compile(rf"@|(?i:\b(?:{_AT})\b)")
_DATE: Final = re.compile(r"\b(?:\d{4}-\d\d-\d\d|\d{1,2}([./-])\d{1,2}\1\d{4})\b")
_QUANTITY: Final = re.compile(r"[1-9]\d{0,2}(?: \d{3})* 000|[1-9]\d*0{5}|(?:19|20)\d\d[ -](?:19|20)\d\d")
"""A round number or two years, which are no phone number."""
_SPACE: Final = re.compile(" ")
_CAPITALS: Final = re.compile(r"[A-Z]{2}\d{2}(?: ?[A-Z0-9]+\b)*")
_SHORTEST_ACCOUNT: Final = 14
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
            if name == "email" and not _MAIL.search(text):  # the pattern is slow on long text without one
                continue
            text = pattern.sub(partial(_hidden, name), text)
        return text


def _hidden(kind: str, found: re.Match[str]) -> str:
    if kind == "iban":
        account = _account(found[0])
        return f"[{kind}]{found[0][len(account) :]}" if account else found[0]
    return f"[{kind}]" if _is(kind, found[0]) else found[0]


def _is(kind: str, text: str) -> bool:
    """Whether it is what it looks like: card numbers have a check digit, dates are no phone numbers."""
    if kind == "card":
        digits = [int(digit) for digit in text if digit.isdigit()]
        doubled = [sum(divmod(2 * digit, 10)) for digit in digits[-2::-2]]
        return (sum(digits[-1::-2]) + sum(doubled)) % 10 == 0
    if kind == "phone":
        return _DATE.search(text) is None and _QUANTITY.fullmatch(text) is None
    return kind != "address" or _is_address(text)


def _account(text: str) -> str:
    """The account number that a text begins with, without the words after it that look like more; empty for none."""
    ends = [found.start() for found in _SPACE.finditer(text)]
    for end in (len(text), *reversed(ends)):
        if _has_check_digits(text[:end]):
            return text[:end]
    # Misheard or mistyped, it has no check digits: what is in capitals and figures from its beginning on.
    capitals = _CAPITALS.match(text)
    return capitals[0] if capitals and len(capitals[0].replace(" ", "")) >= _SHORTEST_ACCOUNT else ""


def _has_check_digits(iban: str) -> bool:
    plain = iban.replace(" ", "")
    return int("".join(str(int(one, 36)) for one in plain[4:] + plain[:4])) % 97 == 1


def _is_address(text: str) -> bool:
    try:
        ip_address(text)
    except ValueError:
        return False
    return True
