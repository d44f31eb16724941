"""Having a model reword answers."""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass, field
from typing import Annotated, Final

from msgspec import Meta

from hark.builtin.transformers.endpoints import ChatModel, ServiceFailed
from hark.plugins import Ctx, DialogTransformer

_NUMBER: Final = re.compile(r"\d+(?:[.,:]\d+)*")


class ModelTone(DialogTransformer):
    """Has a model behind an OpenAI-compatible server reword answers, in the language they are in.

    The answer stays as it is when the model takes longer than the budget, fails, drops or invents a number, or makes it
    more than twice as long.
    """

    id = "tone"
    priority = 20

    @dataclass(frozen=True)
    class Settings:
        """How answers sound."""

        url: str = "http://127.0.0.1:8080/v1"
        """The URL of the server, up to and including "/v1"."""
        model: str = ""
        """The name of the model, as the server knows it."""
        key: str = field(default="", repr=False)
        """The API key, if the server needs one."""
        style: str = "friendly and brief"
        """How the answer should sound."""
        budget: Annotated[float, Meta(gt=0, le=60)] = 1.5
        """Seconds the model may take."""
        shortest: Annotated[int, Meta(ge=0)] = 12
        """Answers with fewer characters are left alone."""

    settings: Settings

    async def start(self) -> None:
        settings = self.settings
        self._model = ChatModel(settings.url, settings.key, settings.model, settings.budget, self.host.clock)
        await self._model.service.probe()

    def transform(self, text: str, ctx: Ctx) -> str:
        if len(text) < self.settings.shortest or len(text) > 2_000:
            return text
        instruction = (
            f"Reword what a voice assistant says so that it sounds {self.settings.style}. Keep its meaning, its "
            f"language{f' ({ctx.lang})' if ctx.lang else ''}, and every number and name. "
            "Answer with the reworded text alone."
        )
        reworded = self._model.answer(instruction, text, longest=len(text)).strip('"“” \n')
        if Counter(_NUMBER.findall(reworded)) != Counter(_NUMBER.findall(text)):
            raise ServiceFailed("the model changed a number")
        if len(reworded) > 2 * len(text) + 40:
            raise ServiceFailed("the model made it too long")
        return reworded

    def problem(self) -> str:
        return self._model.service.problem
