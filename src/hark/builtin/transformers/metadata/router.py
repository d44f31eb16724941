"""Choosing pipeline, persona and language of a turn by where it comes from."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from hark.builtin.transformers.conditions import Conditions, check_tags
from hark.plugins import Ctx, MetadataTransformer


@dataclass(frozen=True)
class Route(Conditions):
    """What holds for a turn, where its conditions are true. What is left empty stays as it is."""

    pipeline: tuple[str, ...] = ()
    """Pipeline entries to ask, in order."""
    persona: str = ""
    """The persona that answers."""
    lang: str = ""
    """The language, for utterances that state none."""
    deny_skills: tuple[str, ...] = ()
    """Skills that are not asked."""
    deny_intents: tuple[str, ...] = ()
    """Intents that are not matched, however they are asked for: "lock.skill:unlock"."""

    def __post_init__(self) -> None:
        super().__post_init__()
        check_tags([self.lang])


class Router(MetadataTransformer):
    """Chooses pipeline, persona and language of a turn by device, time of day, language and wake word.

    It decides about this turn alone: the next one is decided anew.
    """

    id = "router"
    priority = 50
    quick = True

    @dataclass(frozen=True)
    class Settings:
        """Where turns go."""

        routes: tuple[Route, ...] = field(default=())
        """The routes, as [[plugins.router.routes]]; the first one whose conditions are true is taken."""

    settings: Settings

    def transform(self, ctx: Ctx) -> None:
        session = ctx.session
        for number, route in enumerate(self.settings.routes, 1):
            if not route.fits(ctx, self.host):
                continue
            changes: dict[str, Any] = {}
            if route.pipeline:
                changes["pipeline"] = route.pipeline
            if route.persona:
                changes["persona_id"] = route.persona
            if route.lang:
                changes["request_lang"] = route.lang
            if route.deny_skills:
                changes["blacklisted_skills"] = tuple({*(session.blacklisted_skills or ()), *route.deny_skills})
            if route.deny_intents:
                changes["blacklisted_intents"] = tuple({*(session.blacklisted_intents or ()), *route.deny_intents})
            if changes:
                ctx.for_this_turn(**changes)
            ctx.set("router.route", number)
            return
