"""Guards: rules about what may be said to the assistant, and about what it may say. Both may be `essential`."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Literal

from hark.builtin.transformers.conditions import Conditions
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
    reason: str = "policy_block"
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
        self._rules = [(rule, _compiled(rule.phrases, rule.pattern)) for rule in self.settings.rules]

    def transform(self, utterances: list[str], ctx: Ctx) -> list[str]:
        seen = [*map(_unmasked, utterances)]
        for rule, found in self._rules:
            if (found is None or any(map(found.search, seen))) and rule.fits(ctx, self.host):
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
        return text


def _unmasked(text: str) -> str:
    """`text` without what is not seen or heard: characters that print nothing, other forms of a letter."""
    if text.isascii():
        return text
    plain = unicodedata.normalize("NFKC", text)
    return "".join(one for one in plain if unicodedata.category(one) != "Cf")


def _compiled(phrases: Sequence[str], pattern: str) -> re.Pattern[str] | None:
    """What finds any of these; None for a rule about everything. Raises `Unavailable` for a wrong pattern."""
    parts = [r"(?<!\w)(?:" + r"\s+".join(map(re.escape, phrase.split())) + r")(?!\w)" for phrase in phrases]
    if pattern:
        parts.append(f"(?:{pattern})")
    if not parts:
        return None
    try:
        return re.compile("|".join(parts), re.IGNORECASE)
    except re.error as error:
        raise Unavailable(f"the pattern {pattern!r} is not a regular expression: {error}", "correct pattern") from None
