"""Guards: rules about what may be said to the assistant, and about what it may say. Both may be `essential`."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Annotated, Final, Literal, NamedTuple

from msgspec import Meta

from hark.builtin.transformers.conditions import Conditions
from hark.intents.text import UNSPACED, is_unspaced, without_accents
from hark.plugins import Ctx, DialogTransformer, UtteranceTransformer
from hark.plugins.engines import Unavailable
from hark.spec import topics


@dataclass(frozen=True)
class PolicyRule(Conditions):
    """Refuses utterances, where its conditions are true."""

    phrases: tuple[str, ...] = ()
    """Words and phrases; an utterance that has one of them is refused. Without phrases and pattern, every one is."""
    pattern: str = ""
    """A regular expression, which capitals do not matter to."""
    reason: Annotated[str, Meta(min_length=1)] = "policy_block"
    """The reason of the cancellation, such as "parental_control"."""
    say: str = ""
    """What to answer; empty: nothing."""


@dataclass(frozen=True)
class ContentRule(Conditions):
    """Keeps words out of answers, where its conditions are true."""

    phrases: tuple[str, ...] = ()
    """Words and phrases that are not to be said."""
    pattern: str = ""
    """A regular expression, which capitals do not matter to."""
    action: Literal["mask", "replace", "cancel"] = "mask"
    """`mask` drops the words, `replace` says `say` instead of the answer, `cancel` says nothing."""
    say: str = ""
    """The answer of `replace`, or what `mask` puts in the place of the words."""


class PolicyGuard(UtteranceTransformer):
    """Cancels utterances that a rule forbids; any candidate counts, for another stage may choose it."""

    id = "policy"
    priority = 40
    quick = True

    @dataclass(frozen=True)
    class Settings:
        """What is refused."""

        rules: tuple[PolicyRule, ...] = field(default=())
        """The rules, as [[plugins.policy.rules]]; the first one that applies decides."""

    settings: Settings

    async def start(self) -> None:
        self._rules = [(rule, _forbidden(rule.phrases, rule.pattern)) for rule in self.settings.rules]

    def transform(self, utterances: list[str], ctx: Ctx) -> list[str]:
        seen = [*map(_readings, utterances)]
        for rule, forbidden in self._rules:
            if (forbidden is None or any(map(forbidden.are_in, seen))) and rule.fits(ctx, self.host):
                if rule.say:
                    ctx.reply(
                        topics.UTTERANCE_SPEAK, {"utterance": rule.say, **({"lang": ctx.lang} if ctx.lang else {})}
                    )
                ctx.cancel(rule.reason)
                break
        return utterances


class ContentGuard(DialogTransformer):
    """Masks, replaces or cancels answers that a rule forbids."""

    id = "content"
    priority = 40
    quick = True

    @dataclass(frozen=True)
    class Settings:
        """What is not said."""

        rules: tuple[ContentRule, ...] = field(default=())
        """The rules, as [[plugins.content.rules]]; all that apply are applied, in order."""

    settings: Settings

    async def start(self) -> None:
        self._rules = []
        for number, rule in enumerate(self.settings.rules, 1):
            found = _compiled(rule.phrases, rule.pattern)
            if found is None:
                raise Unavailable(f"rule {number} names neither phrases nor a pattern", "set phrases or pattern")
            self._rules.append((rule, found))

    def transform(self, text: str, ctx: Ctx) -> str:
        for rule, found in self._rules:
            seen = text if found.search(text) else _unmasked(text)
            if found.search(seen) is None or not rule.fits(ctx, self.host):
                continue
            if rule.action == "cancel":
                ctx.cancel("policy_block")
                return text
            if rule.action == "replace":
                return rule.say
            text = " ".join(found.sub(rule.say.replace("\\", "\\\\"), seen).split())
            text = text if rule.say else _without_gaps(text)
        return text


_STRAY: Final = re.compile(r"[,;:]?\s*(?:[,;:]\s*)*([,;:.!?\u2026]+)(?=\s|$)")
_LED: Final = re.compile(r"^[\s,;:.!?]+")
_SIGNS: Final = re.compile(r"[^\w\s'\u2019.,;:!?()\"-]")
"""Signs without which a phrase would be another one, such as those of "c++" and "$100"."""
_SPACES: Final = {code: " " for code in range(128) if not chr(code).isalnum()}
_NOTHING: Final = {code: "" if sign != " " or not chr(code).isspace() else " " for code, sign in _SPACES.items()}


class Readings(NamedTuple):
    """A text as it is, and as matchers may understand it: with its signs as spaces, and without them."""

    plain: str
    spaced: str
    joined: str


class ForbiddenPhrases(NamedTuple):
    """What finds phrases in each reading of a text; the plain one is for phrases with signs, and the pattern."""

    plain: re.Pattern[str] | None
    spaced: re.Pattern[str] | None
    joined: re.Pattern[str] | None

    def are_in(self, text: Readings) -> bool:
        return any(found is not None and found.search(part) for found, part in zip(self, text, strict=True))


def _readings(text: str) -> Readings:
    plain = _unmasked(text)
    bare = plain.lower() if plain.isascii() else without_accents(plain.casefold())
    if bare.isascii():
        return Readings(plain, bare.translate(_SPACES), bare.translate(_NOTHING))
    spaced = "".join(one if one.isalnum() else " " for one in bare)
    return Readings(plain, spaced, "".join(one if one.isspace() else one * one.isalnum() for one in bare))


def _forbidden(phrases: Sequence[str], pattern: str) -> ForbiddenPhrases | None:
    """What finds any of these; None for a rule about everything. Raises `Unavailable` for a wrong pattern."""
    worded = [_readings(phrase) for phrase in phrases if not _SIGNS.search(phrase)]
    if any(not phrase.joined.strip() for phrase in worded):
        raise Unavailable("a phrase has no letters and no figures", "correct phrases")
    plain = _compiled([phrase for phrase in phrases if _SIGNS.search(phrase)], pattern)
    spaced = _compiled([phrase.spaced for phrase in worded], "")
    return ForbiddenPhrases(plain, spaced, _compiled([one.joined for one in worded], "")) if plain or spaced else None


def _unmasked(text: str) -> str:
    """`text` without what is not seen or heard: characters that print nothing, other forms of a letter."""
    if text.isascii() and text.isprintable():
        return text
    plain = unicodedata.normalize("NFKC", text)
    return "".join(one for one in plain if one.isspace() or not _is_unseen(one))


def _is_unseen(character: str) -> bool:
    """Whether it prints nothing: controls, formats, and the marks that select how the letter before them looks."""
    return unicodedata.category(character) in ("Cf", "Cc") or (
        character in "\u034f\u180b\u180c\u180d\u180f" or "\ufe00" <= character <= "\ufe0f" or character >= "\U000e0100"
    )


def _whole(phrase: str) -> str:
    """A pattern for whole words; in scripts without spaces a phrase begins and ends anywhere."""
    begin, end = (
        "" if is_unspaced(edge) else f"{ahead}[^\\W{UNSPACED}])"
        for edge, ahead in ((phrase.strip()[0], "(?<!"), (phrase.strip()[-1], "(?!"))
    )
    return begin + "(?:" + r"\s+".join(map(re.escape, phrase.split())) + ")" + end


def _without_gaps(text: str) -> str:
    """`text` without the punctuation that the words between it have left alone."""
    return _STRAY.sub(r"\1", _LED.sub("", text)).strip()


def _compiled(phrases: Sequence[str], pattern: str) -> re.Pattern[str] | None:
    """What finds any of these; None for a rule about everything. Raises `Unavailable` for a wrong pattern."""
    if not all(map(str.strip, phrases)):
        raise Unavailable("a phrase is empty", "correct phrases")
    parts = [_whole(phrase) for phrase in phrases]
    if pattern:
        parts.append(f"(?:{pattern})")
    if not parts:
        return None
    try:
        return re.compile("|".join(parts), re.IGNORECASE)
    except re.error as error:
        raise Unavailable(f"the pattern {pattern!r} is not a regular expression: {error}", "correct pattern") from None
