"""The context of a transformer."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from flow.chain_rig import Rig, link
from hark.model import Frozen, MalformedMessage, Message, Session, decode, encode
from hark.model.frozen import MAX_DEPTH
from hark.plugins import Ctx
from hark.spec.names import RUNTIME_KEYS


def ctx(lang: str | None = "en-US", has_lang: bool = True, **context: Any) -> Ctx:
    return Ctx(Frozen(context), Session("x"), lang, has_lang)


def test_keys_can_be_read_set_and_removed() -> None:
    made = ctx(a=1, b=2)
    made.set("c", 3)
    made.unset("a")
    assert [made.get(key) for key in "abcd"] == [None, 2, 3, None]
    assert made.get("a", "gone") == made.get("d", "gone") == "gone"
    assert list(made) == ["b", "c"]
    assert ("a" in made, "b" in made, "c" in made, "d" in made, 7 in made) == (False, True, True, False, False)


def test_a_key_can_be_removed_and_set_again() -> None:
    made = ctx(a=1)
    made.unset("a")
    made.set("a", 2)
    made.set("b", 1)
    made.unset("b")
    made.unset("never there")
    assert list(made) == ["a"]
    assert made.get("a") == 2


def test_a_value_is_copied_when_it_is_set_and_when_it_is_read() -> None:
    value = {"list": [1, 2]}
    made = ctx()
    made.set("a", value)
    value["list"].append(3)
    assert made.get("a") == {"list": [1, 2]}
    made.get("a")["list"].append(3)
    assert made.get("a") == {"list": [1, 2]}


@pytest.mark.parametrize(
    "value", [object(), {1: "a"}, float("nan"), b"bytes", "half \ud83d", {"half \ud83d": 1}, {1, 2}]
)
def test_what_json_cannot_say_is_refused(value: Any) -> None:
    made = ctx()
    with pytest.raises(MalformedMessage):
        made.set("a", value)
    assert "a" not in made


def nested(depth: int) -> Any:
    value: Any = "deep"
    for _ in range(depth):
        value = [value]
    return value


def test_a_value_may_be_as_deep_as_a_message_can_carry_and_no_deeper() -> None:
    made = ctx()
    deepest = 0
    for depth in range(1, MAX_DEPTH + 1):
        try:
            made.set("a", nested(depth))
        except MalformedMessage:
            break
        deepest = depth
        message = Message("test.note", {}, {"a": made.get("a")})
        assert decode(encode(message)) == message
    assert 0 < deepest < MAX_DEPTH
    with pytest.raises(MalformedMessage):
        made.set("a", nested(deepest + 1))


@pytest.mark.parametrize("key", sorted({*RUNTIME_KEYS, "hark_turn", "hark_capture"}))
def test_keys_of_the_frame_are_refused(key: str) -> None:
    made = ctx(**({} if key == "session" else {key: "as it was"}))
    for write in (lambda: made.set(key, "forged"), lambda: made.unset(key)):
        with pytest.raises(PermissionError, match=key):
            write()
    assert made.get(key, "as it was") == "as it was"


@pytest.mark.parametrize("key", ["", 7, None, ["a"]])
def test_a_key_is_text(key: Any) -> None:
    with pytest.raises(TypeError):
        ctx().set(key, 1)
    with pytest.raises(TypeError):
        ctx().unset(key)


def test_a_key_that_cannot_be_sent_is_refused() -> None:
    with pytest.raises(MalformedMessage):
        ctx().set("half \ud83d", 1)


@pytest.mark.parametrize("tag", ["de-DE", "pt", None])
def test_the_language_can_be_stated_and_taken_back(tag: str | None) -> None:
    made = ctx()
    made.lang = tag
    assert made.lang == tag


@pytest.mark.parametrize("tag", ["", "no tag", 7, "e", ["en"]])
def test_the_language_is_a_tag(tag: Any) -> None:
    made = ctx()
    with pytest.raises(ValueError, match="language tag"):
        made.lang = tag
    assert made.lang == "en-US"


def test_without_an_artifact_in_a_language_there_is_none_to_set() -> None:
    made = ctx(lang=None, has_lang=False)
    assert made.lang is None
    with pytest.raises(AttributeError, match="metadata and intent"):
        made.lang = "de-DE"


def test_the_session_is_replaced_as_a_whole() -> None:
    made = ctx()
    made.session = made.session.replace(persona_id="butler")
    assert made.session.persona_id == "butler"
    with pytest.raises(TypeError, match="takes a Session"):
        made.session = {"session_id": "x"}  # type: ignore[assignment]


@pytest.mark.parametrize("topic", ["", "not a topic", "some.skill:go", "a:b:c", 7])
def test_a_transformer_emits_on_topics_and_never_a_dispatch(topic: Any) -> None:
    with pytest.raises(MalformedMessage):
        ctx().emit(topic)


async def test_what_is_emitted_is_frozen_at_once() -> None:
    def emit(artifact: Any, ctx: Ctx) -> Any:
        data = {"a": [1]}
        ctx.emit("test.note", data)
        data["a"].append(2)
        with pytest.raises(MalformedMessage):
            ctx.emit("test.note", {"a": object()})
        return artifact

    rig = Rig("dialog", link("dialog", "a", emit))
    await rig.run()
    assert [(message.type, message.data) for message in rig.emitted] == [("test.note", {"a": (1,)})]


@pytest.mark.parametrize("reason", ["", None, 7, ["other"]])
async def test_a_cancellation_needs_a_reason(reason: Any) -> None:
    def cancel(artifact: Any, ctx: Ctx) -> Any:
        with pytest.raises(ValueError, match="reason"):
            ctx.cancel(reason)
        return artifact

    rig = Rig("dialog", link("dialog", "a", cancel))
    assert not (await rig.run()).cancelled


@pytest.mark.parametrize(("reasons", "counts"), [([()], "other"), ([(), ("stop_word",)], "stop_word")])
async def test_the_last_reason_counts(reasons: list[tuple[str, ...]], counts: str) -> None:
    def cancel(artifact: Any, ctx: Ctx) -> Any:
        for reason in reasons:
            ctx.cancel(*reason)
        return artifact

    rig = Rig("dialog", link("dialog", "a", cancel))
    assert (await rig.run()).context["cancel_reason"] == counts


@pytest.mark.parametrize(
    "invent", [lambda c: setattr(c, "anything", 1), lambda c: c.__dict__, lambda c: delattr(c, "session")]
)
def test_a_context_has_no_other_attributes(invent: Callable[[Ctx], Any]) -> None:
    with pytest.raises(AttributeError):
        invent(ctx())
