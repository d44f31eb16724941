"""OVOS-SESSION-2: conversation state lives in the session, and the session comes with what is worked on."""

from __future__ import annotations

import json
from typing import Any

import pytest

from flow.stage import MakeAssistant, claims, transformer, turn_of
from hark.builtin import ClockSkill
from hark.model import Message, Session, encode
from hark.plugins import Ctx, Turn
from hark.testing import Assistant


def carrier_of(message: Message) -> Any:
    """The session of a Message as it is on the wire."""
    return json.loads(encode(message)).get("context", {}).get("session")


@pytest.mark.spec("SESSION-2/2.4.a")
@pytest.mark.spec("SESSION-2/6.3.a")
async def test_a_conversation_goes_on_in_another_process(assistant: MakeAssistant) -> None:
    def handler(turn: Turn) -> str:
        known = turn.session.intent_context.get("claims:name")
        turn.remember("name", turn.utterance)
        return f"you were {known.value}" if known else "hello"

    async def said(text: str, session: Session) -> tuple[list[str], Session]:
        hark: Assistant
        async with assistant(claims(handler=handler)) as hark:
            answer = await hark.hears(text, session=session)
            left = turn_of(hark)[-1].session
            assert left is not None
            return answer, left

    first, session = await said("Ada", Session("x"))
    second, session = await said("Bob", session)
    third, _ = await said("Cy", session)
    assert [first, second, third] == [["hello"], ["you were Ada"], ["you were Bob"]]


@pytest.mark.spec("SESSION-2/2.7.b")
async def test_nobody_asks_for_a_session_at_the_start(assistant: MakeAssistant) -> None:
    plugins = (claims(), transformer("dialog", "d", lambda text, ctx: text), ClockSkill())
    async with assistant(*plugins) as hark:
        started = list(hark.messages)
        assert started
        assert all(not carrier_of(message) for message in started)
        assert not [m for m in started if m.type.startswith("ovos.session.")]
        assert hark.runtime.store.current == Session()


@pytest.mark.spec("SESSION-2/2.7.c")
async def test_the_output_layer_goes_by_the_session_of_what_it_renders(assistant: MakeAssistant) -> None:
    seen: list[str | None] = []

    def note(text: str, ctx: Ctx) -> str:
        seen.append(ctx.session.persona_id)
        return text

    plugins = (claims(), transformer("dialog", "d", note), transformer("dialog", "unwanted", lambda text, ctx: "no"))
    async with assistant(*plugins) as hark:
        denied = ["unwanted"]
        session = Session(persona_id="butler", blacklisted_dialog_transformers=denied)
        assert await hark.hears("hello", session=session) == ["hello"]
        assert await hark.hears("hello", session=Session(persona_id="pirate")) == ["hello"]
        assert await hark.hears("hello", session=Session("x")) == ["no"]
    assert seen == ["butler", "pirate", None]
