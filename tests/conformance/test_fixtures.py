"""The published fixtures, against Hark. conformance/README.md says what each file holds."""

from __future__ import annotations

import asyncio
import base64
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from flow.chain_rig import SIX, Rig, link
from flow.stage import MakeAssistant, claims, declines, matcher, silent, skill, transformer, turn_of
from hark.model import MalformedMessage, Match, Message, Session, decode, encode
from hark.model.frozen import thaw
from hark.model.lang import resolve
from hark.model.session_merge import Denials
from hark.plugins import Ctx, Plugin, Turn
from hark.spec import TransformerType, topics
from hark.testing import Assistant, settle
from hark.understand import TurnOptions

FIXTURES = Path(__file__).parent.parent.parent / "conformance" / "messages"

Case = dict[str, Any]


def cases(name: str) -> pytest.MarkDecorator:
    """The cases of one file as parameters, each with the rows it shows."""
    lines = (FIXTURES / f"{name}.jsonl").read_text("utf-8").splitlines()
    read = [json.loads(line) for line in lines]
    marked = [
        pytest.param(case, id=case["name"], marks=[pytest.mark.spec(row) for row in case["rows"]]) for case in read
    ]
    return pytest.mark.parametrize("case", marked)


def wire(message: Message) -> dict[str, Any]:
    """A Message as other implementations see it, with nothing left out."""
    return {"data": {}, "context": {}, **json.loads(encode(message))}


def received(message: dict[str, Any]) -> Message:
    return decode(json.dumps(message).encode())


# Values.


@cases("envelope")
def test_envelope(case: Case) -> None:
    frame = base64.b64decode(case["frame_base64"]) if "frame_base64" in case else case["frame"].encode()
    if case["outcome"] == "malformed":
        with pytest.raises(MalformedMessage):
            decode(frame)
        return
    message = decode(frame)
    assert {"type": message.type, "data": thaw(message.data), "context": thaw(message.context)} == case["message"]
    assert wire(message) == case["message"]


@cases("derivations")
def test_derivation(case: Case) -> None:
    message = received(case["message"])
    before = encode(message)
    derive: Callable[..., Message] = getattr(message, case["call"])
    arguments = (case["data"],) if case["call"] == "response" else (case["type"], case["data"])
    if case["outcome"] == "refused":
        with pytest.raises(ValueError):
            derive(*arguments)
    else:
        assert wire(derive(*arguments)) == case["result"]
    assert encode(message) == before, "deriving leaves the Message as it was"


@cases("session-carriers")
def test_session_carrier(case: Case) -> None:
    message = received({"type": "a.b", "context": case["context"]})
    if case["outcome"] == "malformed":
        assert message.malformed_session is not None
        assert message.session is None
        return
    assert message.malformed_session is None
    assert message.session_id == case["session_id"]
    session = message.session or Session()
    carried = thaw(session.wire())
    for name, value in case.get("effective", {}).items():
        assert name in session
        assert carried[name] == value
    for name in case.get("omitted", ()):
        assert name not in session
        assert getattr(session, name) == getattr(Session(), name)
    if "passed_on" in case:
        for derived in (message.forward("c.d"), message.reply("c.d"), message.response()):
            assert wire(derived)["context"]["session"] == case["passed_on"]


@cases("languages")
def test_language(case: Case) -> None:
    session = Session.read(case["session"])
    deployment = case["deployment"]
    found = resolve(case.get("data_lang"), session, frozenset(deployment["langs"]), deployment["lang"])
    assert found == case["lang"]


@cases("languages")
async def test_language_of_a_turn(assistant: MakeAssistant, case: Case) -> None:
    seen: list[Any] = []
    settings = {"assistant": {**case["deployment"], "pipeline": ["one", "two"]}}
    async with assistant(declines("one", seen), declines("two", seen), settings=settings) as hark:
        data = {"utterances": ["hello"], **({"lang": case["data_lang"]} if "data_lang" in case else {})}
        entry = {"type": topics.UTTERANCE_HANDLE, "data": data, "context": {"session": case["session"]}}
        hark.bus.emit(received(entry))
        await settle()
    assert [lang for _, lang, _ in seen] == [case["lang"]] * 2


# Claims.


def claiming(fields: dict[str, Any]) -> Callable[[Any, str, Session], Match]:
    """A `match` that returns what a case holds."""

    def match(utterances: Any, lang: str, session: Session) -> Match:
        made = dict(fields)
        if "updated_session" in made:
            made["updated_session"] = Session.read(made["updated_session"])
        if "slots" not in made:
            raise TypeError("slots have a default here, which a claim on the wire has not")
        return Match(**made)

    return match


@cases("matches")
async def test_match(assistant: MakeAssistant, case: Case) -> None:
    fields = case["match"]
    plugins: list[Plugin] = [matcher("first", claiming(fields)), claims("second")]
    if case["outcome"] == "claim":
        plugins.append(skill(fields["skill_id"], **{fields["intent_name"]: silent}))
    async with assistant(*plugins) as hark:
        await hark.hears("hello", session=Session("x", site_id="here"))
        [dispatch] = [message for message in turn_of(hark) if ":" in message.type]
    if case["outcome"] == "decline":
        assert dispatch.type == "second:go"
        assert dispatch.session.persona_id is None
        return
    assert {"type": dispatch.type, "data": wire(dispatch)["data"]} == case["dispatch"]
    carried = wire(dispatch)["context"]["session"]
    for name, value in case.get("session", {}).items():
        assert carried[name] == value


# Chains.


@cases("chains")
@pytest.mark.parametrize("kind", SIX)
async def test_chain(kind: TransformerType, case: Case) -> None:
    called: list[str] = []

    def noting(name: str) -> Callable[[Any, Ctx], Any]:
        def step(artifact: Any, ctx: Ctx) -> Any:
            called.append(name)
            return artifact

        return step

    members = [link(kind, name, noting(name), priority=priority) for name, priority in case["loaded"].items()]
    order = tuple(case["configured"]) if "configured" in case else None
    rig = Rig(kind, *members, order=order)
    denylist = f"blacklisted_{kind}_transformers"
    carrier = {"session_id": "x"}
    carrier |= {f"{kind}_transformers": case["preferred"]} if "preferred" in case else {}
    carrier |= {denylist: case["denied"]} if "denied" in case else {}
    session = Session.read(carrier)
    deployment = TurnOptions(
        denylists={denylist: tuple(case["deployment_denies"])} if "deployment_denies" in case else {}
    )
    flow = rig.flow(session=session)
    flow.denials = deployment.denials_for(session)
    assert isinstance(flow.denials, Denials)
    await rig.chain.run(flow, rig.trace)
    assert called == case["chain"]
    if not case["chain"]:
        assert flow.artifact == rig.flow().artifact


# Turns.


def made_transformer(number: int, spec: dict[str, Any]) -> Plugin:
    does, kind = spec["does"], spec["type"]

    def work(artifact: Any, ctx: Ctx) -> Any:
        if does == "raise":
            raise RuntimeError("as the case says")
        if "cancel" in does:
            ctx.cancel(spec["reason"])
        return [] if "empty" in does else artifact

    if kind == "metadata":
        return transformer(kind, f"transformer-{number}", lambda ctx: work(None, ctx))
    return transformer(kind, f"transformer-{number}", lambda artifact, ctx: work(artifact, ctx))


def made_matcher(number: int, spec: dict[str, Any]) -> Plugin:
    def match(utterances: Any, lang: str, session: Session) -> Match | None:
        if spec["does"] == "raise":
            raise RuntimeError("as the case says")
        if spec["does"] == "decline":
            return None
        return Match(
            **{
                "skill_id": "some.skill",
                "intent_name": "go",
                "lang": lang,
                "utterance": utterances[0],
                **spec.get("with", {}),
            }
        )

    return matcher(f"matcher-{number}", match)


def made_handler(spec: dict[str, Any]) -> Plugin:
    async def handler(turn: Turn) -> None:
        for text in spec.get("texts", ()):
            await turn.speak(text)
        if spec["does"] == "raise":
            raise RuntimeError("as the case says")
        if spec["does"] == "hang":
            await asyncio.Event().wait()

    return skill("some.skill", go=handler)


async def played(hark: Assistant, case: Case) -> list[Message]:
    """The public Messages that follow the entry."""
    await settle()  # what is announced at the start may still be on its way
    hark.messages.clear()
    hark.bus.emit(received({"type": topics.UTTERANCE_HANDLE, **case["entry"]}))
    await settle()
    await hark.clock.advance(2 * case.get("handler", {}).get("bound_seconds", 0))
    return [m for m in hark.messages[1:] if not m.type.startswith("hark.")]


def in_order(expected: list[Any], seen: list[str]) -> bool:
    """Whether the topics came as a case says; a step may be several topics in any order."""
    at = 0
    for step in expected:
        topics_of_step = step["any_order"] if isinstance(step, dict) else [step]
        if sorted(seen[at : at + len(topics_of_step)]) != sorted(topics_of_step):
            return False
        at += len(topics_of_step)
    return at == len(seen)


@cases("turns")
async def test_turn(assistant: MakeAssistant, case: Case) -> None:
    plugins = [made_transformer(number, spec) for number, spec in enumerate(case.get("transformers", ()), 1)]
    plugins += [made_matcher(number, spec) for number, spec in enumerate(case["matchers"], 1)]
    handler = case.get("handler", {"does": "return"})
    settings: dict[str, Any] = {
        "assistant": {"pipeline": [f"matcher-{number}" for number in range(1, len(case["matchers"]) + 1)]}
    }
    if "bound_seconds" in handler:
        settings["limits"] = {"handler": handler["bound_seconds"]}
    async with assistant(*plugins, made_handler(handler), settings=settings) as hark:
        messages = await played(hark, case)
        # Time goes on: nothing may follow the end.
        await hark.clock.advance(60)
        assert len([m for m in hark.messages if m.type == topics.UTTERANCE_HANDLED]) == 1
    apart = case.get("apart", [])
    optional = case.get("may", [])
    seen = ["<dispatch>" if ":" in m.type else m.type for m in messages]
    assert [topic for topic in seen if topic in apart] == apart
    assert in_order(case["messages"], [topic for topic in seen if topic not in (*apart, *optional)]), seen
    for message in messages:
        assert set(case.get("has", {}).get(message.type, ())) <= message.data.keys()
        assert message.data.keys().isdisjoint(case.get("lacks", {}).get(message.type, ()))
    if len(case["messages"]) > 1:
        assert {m.utterance_id for m in messages} == {messages[0].utterance_id}
