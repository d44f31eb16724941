"""An assistant with a persona and a model that says what a test wants."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

from hark.builtin.persona import Persona
from hark.plugins import Plugin
from hark.testing import Assistant
from hark.testing.model_server import ModelServer

PIPELINE = ["stop", "converse", "template", "keyword", "common_query", "persona", "persona_fallback", "fallback"]


def settings(model: ModelServer, /, **persona: Any) -> dict[str, Any]:
    """Settings with a persona that asks `model`."""
    table = {"endpoint": model.url, "personas": {"hark": {}, "alice": {"prompt": "You are Alice."}}} | persona
    return {"assistant": {"pipeline": PIPELINE}, "plugins": {"persona": table}}


@asynccontextmanager
async def talking(
    *plugins: Plugin, persona: Persona | None = None, clock: Any = None, **table: Any
) -> AsyncIterator[tuple[Assistant, ModelServer]]:
    """The assistant and its model."""
    async with ModelServer() as model:
        given = (persona or Persona(), *plugins)
        async with Assistant(*given, settings=settings(model, **table), clock=clock) as assistant:
            yield assistant, model
