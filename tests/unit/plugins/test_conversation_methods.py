"""What a plugin may do beside its intents: declared by methods and marks."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import wraps
from typing import Any

import pytest

from hark.model import Message, Session
from hark.plugins import Answer, Plugin, Turn, answers, fallback
from hark.plugins.handlers import (
    ConversationPlugin,
    answer_methods_of,
    capabilities_of,
    converses,
    fallbacks_of,
)


def wrapped(method: Callable[..., Any]) -> Callable[..., Any]:
    @wraps(method)
    def inner(*arguments: Any) -> Any:
        return method(*arguments)

    inner.__name__ = "inner"
    return inner


class Plain(ConversationPlugin):
    id = "plain"


class Everything(ConversationPlugin):
    id = "everything"

    def can_converse(self, utterances: Sequence[str], lang: str, session: Session) -> bool:
        return True

    @fallback(90)
    def last(self, turn: Turn) -> None:
        pass

    @wrapped
    @fallback(10, when=lambda plugin, utterances, lang, session: True)
    def first(self, turn: Turn) -> None:
        pass

    @answers()
    def know(self, question: str, lang: str, session: Session) -> Answer:
        return Answer("yes")


def test_by_default_a_plugin_does_nothing_beside_its_intents() -> None:
    plain, turn = Plain(), Turn(Message("plain:go", {}), None)  # type: ignore[arg-type]
    assert plain.can_converse(["hello"], "en-US", Session()) is False
    assert plain.can_stop(Session()) is False
    assert plain.converse(turn) is plain.stopped(turn) is None
    assert capabilities_of(plain) == ("stop",)
    assert capabilities_of(Plugin()) == ()


def test_what_it_declares_is_found() -> None:
    plugin = Everything()
    assert converses(plugin)
    assert capabilities_of(plugin) == ("converse", "stop", "fallback", "common_query")
    assert [one.method for one in answer_methods_of(plugin)] == ["know"]


def test_fallbacks_are_sorted_by_priority_and_named_as_in_the_class() -> None:
    found = fallbacks_of(Everything())
    assert [(one.method, one.priority) for one in found] == [("first", 10), ("last", 90)]
    assert found[0].when is not None


@pytest.mark.parametrize("priority", [1.5, True, "50", None])
def test_the_priority_of_a_fallback_is_a_whole_number(priority: Any) -> None:
    with pytest.raises(TypeError, match="whole number"):
        fallback(priority)
