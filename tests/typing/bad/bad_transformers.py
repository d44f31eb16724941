"""Mistakes of transformer authors that a type checker finds."""

from __future__ import annotations

from hark.plugins import Ctx, DialogTransformer, Match, UtteranceTransformer


class OneText(UtteranceTransformer):
    id = "one_text"

    def transform(self, utterances: list[str], ctx: Ctx) -> str:  # E: override
        return utterances[0]


class NothingBack(DialogTransformer):
    id = "nothing_back"

    def transform(self, text: str, ctx: Ctx) -> None:  # E: override
        ctx.set("nothing_back.text", text)


class NoCtx(DialogTransformer):
    id = "no_ctx"

    def transform(self, text: str) -> str:  # E: override
        return text


class Unfinished(DialogTransformer):
    id = "unfinished"


unfinished = Unfinished()  # E: abstract


class WrongId(DialogTransformer):
    id = 7  # E: assignment

    def transform(self, text: str, ctx: Ctx) -> str:
        ctx.lang = 5  # E: assignment
        ctx.session = None  # E: assignment
        ctx.cancel(3)  # E: arg-type
        return text


def edit(match: Match) -> None:
    match.skill_id = "somebody.else"  # E: misc
