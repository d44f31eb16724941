"""What every turn is promised, whatever plugins do."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from hark.model import Message, Session
from hark.spec import topics
from hark.spec.names import CANCEL_KEYS, DENYLISTS, STAMP_KEYS
from hark.testing.assistant import Assistant, Hearing
from hark.testing.faults.assistant import SKILL_ANSWER, SKILL_QUESTION, UNKNOWN_FIELD, FaultyAssistant, heard, turn_of
from hark.testing.faults.plugin import ASKED, BESIDE, CALLED, CHAINS, TRIGGERS, FaultyPlugin
from hark.trace import TurnTrace

LIFECYCLE: Final = frozenset(
    {
        topics.INTENT_MATCHED,
        topics.INTENT_UNMATCHED,
        topics.HANDLER_START,
        topics.HANDLER_COMPLETE,
        topics.HANDLER_ERROR,
        topics.UTTERANCE_HANDLED,
    }
)
"""What only the orchestrator emits, and never after the end marker of its turn."""

ENDS: Final = frozenset({"complete", "error", "unmatched", "cancelled"})
"""How a turn may end; anything else is a fault of Hark, not of a plugin."""

_WRONG: Final = frozenset({"failed", "malformed", "raised", "skipped"})
_FAULTS: Final = {
    "failed": _WRONG,
    "malformed": _WRONG,
    "late": frozenset({"late", "error", "raised", "skipped"}),
}


async def invariants(assistant: FaultyAssistant, hearing: Hearing) -> None:
    """Assert that the turn kept every promise, and that the next one is answered as if nothing had been."""
    trace = turn_of(assistant, hearing)
    one_end_marker(assistant, trace.utterance_id)
    the_turn_ended_properly(assistant, trace)
    every_plugin_was_asked(assistant, trace)
    the_session_is_unharmed(assistant, trace)
    the_faulty_plugins_are_named(assistant, trace)
    the_bus_is_alive(assistant)
    await the_next_turn_is_answered(assistant)


def one_end_marker(assistant: Assistant, utterance_id: str) -> Message:
    """Exactly one, and nothing of the lifecycle after it; speech may follow, and what plugins emit late."""
    own = [message for message in assistant.messages if message.utterance_id == utterance_id]
    markers = [message for message in own if message.type == topics.UTTERANCE_HANDLED]
    assert len(markers) == 1, f"{len(markers)} end markers in {[message.type for message in own]}"
    after = [message.type for message in own[own.index(markers[0]) + 1 :]]
    late = [topic for topic in after if topic in LIFECYCLE or ":" in topic]
    assert not late, f"after the end marker: {late}"
    return markers[0]


def the_turn_ended_properly(assistant: FaultyAssistant, trace: TurnTrace) -> None:
    """No faulty plugin breaks the turn itself, and none speaks for Hark."""
    if not _diverted(assistant, trace):
        assert trace.outcome in ENDS, f"the turn ended {trace.outcome!r}\n{assistant.why(trace.utterance_id)}"
    marker = one_end_marker(assistant, trace.utterance_id)
    loaded = set(assistant.runtime.ids())
    for key in STAMP_KEYS.values():
        stamps = set(marker.context.get(key, ()))
        assert stamps <= loaded, f"forged stamps: {stamps - loaded}"
    if trace.outcome != "cancelled":
        forged = [key for key in CANCEL_KEYS if key in marker.context]
        assert not forged, f"forged: {forged}"
    forgeries = [message.type for message in assistant.messages if message.data.get("exception") == "forged"]
    assert not forgeries, f"forgeries got through: {forgeries}"
    unseen = [message for message in assistant.messages if message.type == "faults.unseen"]
    assert not unseen, f"what failed was emitted: {unseen}"


def every_plugin_was_asked(assistant: FaultyAssistant, trace: TurnTrace) -> None:
    """Plugins that come after a faulty one were called as well."""
    if not trace.steps or _diverted(assistant, trace) or trace.outcome == "cancelled":
        return
    runtime = assistant.runtime
    seen = {(step.stage, step.who) for step in trace.steps}
    claimed = any(step.stage == "match" and step.outcome == "claimed" for step in trace.steps)
    spoke = any(step.stage == "speak" for step in trace.steps)
    for kind in CHAINS:
        if (kind == "intent" and not claimed) or (kind in ("dialog", "audio", "tts") and not spoke):
            continue
        for entry in runtime.transformers[kind]:  # type: ignore[index]
            assert (kind, entry.id) in seen, f"{kind} transformer {entry.id} was not asked\n{_story(trace)}"
    pipeline = runtime.settings.assistant.pipeline
    asked = [step.who for step in trace.steps if step.stage == "match"]
    assert asked == list(pipeline[: len(asked)]), f"asked {asked} of {pipeline}"
    assert claimed or len(asked) == len(pipeline), f"no plugin claimed, and only {asked} of {pipeline} were asked"


def the_session_is_unharmed(assistant: FaultyAssistant, trace: TurnTrace) -> None:
    """Denylists and unknown fields are complete, and what was said is what was heard."""
    marker = one_end_marker(assistant, trace.utterance_id)
    entry = next((m for m in assistant.of(topics.UTTERANCE_HANDLE) if _said(m) == trace.utterances), None)
    before, after = (entry.session if entry is not None else None) or Session(), marker.session or Session()
    diverted = _diverted(assistant, trace)
    for name in DENYLISTS:
        missing = set(before.get(name, ())) - set(after.get(name, ()))
        assert diverted or not missing, f"{name} lost {missing}"
    if not diverted:
        assert after.get("unknown_field") == before.get("unknown_field"), f"the session lost its unknown field: {after}"
        assert "fault_mark" not in after
        assert not [key for key in marker.context if key in ("faults.mark", "faults.late", "faults.kept")]
    stored = assistant.runtime.store.current
    assert Session.read(stored.wire()) == stored
    assert stored.get("unknown_field") is not None, f"the default session lost its unknown field: {stored}"
    assert stored.wire()["unknown_field"] == {"row": UNKNOWN_FIELD["row"], "seats": tuple(UNKNOWN_FIELD["seats"])}  # type: ignore[arg-type]
    answered_by_faulty = trace.utterances[0] in TRIGGERS.values() or any(
        faulty.point in ("handler", *CALLED) for faulty in _culprits(assistant, trace)
    )
    if trace.outcome == "complete" and not diverted and not answered_by_faulty:
        assert said(trace) == [heard(trace.utterances[0])], f"it said {said(trace)}\n{_story(trace)}"


def the_faulty_plugins_are_named(assistant: FaultyAssistant, trace: TurnTrace) -> None:
    """Plugins that misbehaved in the turn are in its trace; those that did so outside of it, in the log."""
    for faulty in _culprits(assistant, trace):
        steps = {step.outcome for step in trace.steps if step.who.partition(":")[0] == faulty.id}
        wanted = _FAULTS.get(faulty.behaviour.shows)
        named = steps if wanted is None else steps & wanted
        assert named, f"{faulty} ({faulty.does}) is not named: {sorted(steps)}\n{_story(trace)}"
    for plugin_id in {record.plugin_id for record in assistant.switch.records}:
        faulty = assistant.faulty_plugins[plugin_id]
        if faulty.point in (*BESIDE, *ASKED) and faulty.behaviour.shows != "nothing":
            assert any(plugin_id in line for line in assistant.log), (
                f"{faulty} is nowhere in the log: {assistant.log[-5:]}"
            )


def the_bus_is_alive(assistant: Assistant) -> None:
    """A Message still reaches its listeners."""
    reached: list[Message] = []
    subscription = assistant.bus.on("faults.ping", reached.append)
    assistant.bus.emit(Message("faults.ping"))
    subscription.close()
    assert len(reached) == 1, "nothing is delivered any more"


async def the_next_turn_is_answered(assistant: FaultyAssistant) -> None:
    """Once all faults are off, everything works: plugins, and skills by their registered intents."""
    text = f"are you there {len(assistant.messages)}"
    hearing = assistant.say(text, session="afterwards")
    await assistant.run_until_quiet(workers=False)
    assert said(turn_of(assistant, hearing)) == [heard(text)], assistant.why()
    hearing = assistant.say(SKILL_QUESTION)
    await assistant.run_until_quiet(workers=False)
    assert said(turn_of(assistant, hearing)) == [SKILL_ANSWER], assistant.why()


def said(trace: TurnTrace) -> list[str]:
    """What was rendered in a turn."""
    return [step.after for step in trace.steps if (step.stage, step.outcome) == ("speak", "rendered")]


def _culprits(assistant: FaultyAssistant, trace: TurnTrace) -> Iterator[FaultyPlugin]:
    own = {record.plugin_id for record in assistant.switch.records if record.utterance_id == trace.utterance_id}
    return (assistant.faulty_plugins[plugin_id] for plugin_id in sorted(own))


def _diverted(assistant: FaultyAssistant, trace: TurnTrace) -> bool:
    beside = {record.plugin_id for record in assistant.switch.records if record.utterance_id is None}
    return any(faulty.behaviour.diverts for faulty in _culprits(assistant, trace)) or any(
        assistant.faulty_plugins[plugin_id].behaviour.diverts for plugin_id in beside
    )


def _said(entry: Message) -> object:
    return entry.data.get("utterances")


def _story(trace: TurnTrace) -> str:
    return "\n".join(f"{step.stage} {step.who} {step.outcome} {step.detail[:200]}" for step in trace.steps)
