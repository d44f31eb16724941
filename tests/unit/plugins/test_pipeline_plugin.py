"""A pipeline plugin answers which intents it can claim (PIPELINE-1 §10)."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

import pytest

from hark.model import Match, Message, Session
from hark.plugins import PipelinePlugin, Turn, handles


class Matcher(PipelinePlugin):
    id = "matcher"
    started = False

    def match(self, utterances: Sequence[str], lang: str, session: Session) -> Match | None:
        return None

    async def start(self) -> None:
        self.started = True

    @handles("go")
    def go(self, turn: Turn) -> None:
        pass


class Skilled(Matcher):
    id = "skilled"

    def known_intents(self, session_id: str) -> Iterable[Mapping[str, str]]:
        for skill_id, lang in (("a.skill", "en-US"), ("b.skill", "pt-BR"), ("b.skill", "und")):
            yield {"skill_id": skill_id, "intent_name": "go", "lang": lang, "session_id": session_id}


class RecordingHost:
    """Delivers a query to the listener of the plugin, and records what the plugin sends."""

    def __init__(self) -> None:
        self.listeners: dict[str, tuple[Callable[[Message], None], bool]] = {}
        self.sent: list[Message] = []

    def on(self, topic: str, listener: Callable[[Message], None], *, shared: bool = False) -> None:
        self.listeners[topic] = listener, shared

    def send(self, message: Message) -> None:
        self.sent.append(message)


async def answer(plugin: Matcher, **query: Any) -> Mapping[str, Any]:
    host = RecordingHost()
    plugin.host = host  # type: ignore[assignment]
    await plugin.begin()
    assert plugin.started
    topic = f"ovos.pipeline.{plugin.id}.intents.list"
    listener, shared = host.listeners[topic]
    assert shared, "one process answers"
    listener(Message(topic, query, session=Session("x")))
    [response] = host.sent
    assert response.type == f"{topic}.response"
    assert response.data["pipeline_id"] == plugin.id
    return response.data


async def test_by_default_it_lists_its_own_handlers_in_any_language() -> None:
    listed = await answer(Matcher(), lang="de-DE")
    assert listed["intents"] == ({"skill_id": "matcher", "intent_name": "go", "lang": "und"},)


@pytest.mark.parametrize(
    ("query", "found"),
    [
        ({}, [("a.skill", "en-US"), ("b.skill", "pt-BR"), ("b.skill", "und")]),
        ({"skill_id": "a.skill"}, [("a.skill", "en-US")]),
        ({"lang": "pt-br"}, [("b.skill", "pt-BR"), ("b.skill", "und")]),
        ({"lang": "en-US", "skill_id": "b.skill"}, [("b.skill", "und")]),
        ({"lang": "no tag"}, [("b.skill", "und")]),
        ({"lang": 7}, [("b.skill", "und")]),
        ({"skill_id": "c.skill"}, []),
    ],
)
async def test_a_query_may_name_a_skill_and_a_language(query: dict[str, Any], found: list[tuple[str, str]]) -> None:
    listed = await answer(Skilled(), **query)
    assert [(one["skill_id"], one["lang"]) for one in listed["intents"]] == found
    assert all(one["session_id"] == "x" for one in listed["intents"])


def test_a_claim_is_for_a_handler_of_its_own() -> None:
    assert Matcher().claim("go", lang="en-US", utterance="go on", slots={"a": "b"}) == Match(
        "matcher", "go", "en-US", "go on", {"a": "b"}
    )
    assert Matcher().claim("go", lang="en-US", utterance="go on").slots == {}
