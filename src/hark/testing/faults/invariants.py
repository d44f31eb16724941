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
"""How a turn may end; anything else is a fault of the house, not of a plugin."""

_WRONG: Final = frozenset({"failed", "malformed", "raised", "skipped"})
_FAULTS: Final = {
    "failed": _WRONG,
    "malformed": _WRONG,
    "late": frozenset({"late", "error", "raised", "skipped"}),
}


async def invariants(visit: FaultyAssistant, hearing: Hearing) -> None:
    """Assert that the turn kept every promise, and that the next one is answered as if nothing had been."""
    trace = turn_of(visit, hearing)
    one_end_marker(visit, trace.utterance_id)
    the_turn_ended_properly(visit, trace)
    every_plugin_was_asked(visit, trace)
    the_session_is_unharmed(visit, trace)
    the_faulty_plugins_are_named(visit, trace)
    the_bus_is_alive(visit)
    await the_next_turn_is_answered(visit)


def one_end_marker(assistant: Assistant, utterance_id: str) -> Message:
    """Exactly one, and nothing of the lifecycle after it; speech may follow, and what plugins emit late."""
    own = [message for message in assistant.messages if message.utterance_id == utterance_id]
    markers = [message for message in own if message.type == topics.UTTERANCE_HANDLED]
    assert len(markers) == 1, f"{len(markers)} end markers in {[message.type for message in own]}"
    after = [message.type for message in own[own.index(markers[0]) + 1 :]]
    late = [topic for topic in after if topic in LIFECYCLE or ":" in topic]
    assert not late, f"after the end marker: {late}"
    return markers[0]


def the_turn_ended_properly(visit: FaultyAssistant, trace: TurnTrace) -> None:
    """No animal breaks the turn itself, and none speaks for the frame."""
    if not _diverted(visit, trace):
        assert trace.outcome in ENDS, f"the turn ended {trace.outcome!r}\n{visit.why(trace.utterance_id)}"
    marker = one_end_marker(visit, trace.utterance_id)
    loaded = set(visit.runtime.ids())
    for key in STAMP_KEYS.values():
        stamps = set(marker.context.get(key, ()))
        assert stamps <= loaded, f"forged stamps: {stamps - loaded}"
    if trace.outcome != "cancelled":
        forged = [key for key in CANCEL_KEYS if key in marker.context]
        assert not forged, f"forged: {forged}"
    forgeries = [message.type for message in visit.messages if message.data.get("exception") == "forged"]
    assert not forgeries, f"forgeries got through: {forgeries}"
    unseen = [message for message in visit.messages if message.type == "zoo.unseen"]
    assert not unseen, f"what failed was emitted: {unseen}"


def every_plugin_was_asked(visit: FaultyAssistant, trace: TurnTrace) -> None:
    """Whoever comes after an animal had its turn as well."""
    if not trace.steps or _diverted(visit, trace) or trace.outcome == "cancelled":
        return
    house = visit.runtime
    seen = {(step.stage, step.who) for step in trace.steps}
    claimed = any(step.stage == "match" and step.outcome == "claimed" for step in trace.steps)
    spoke = any(step.stage == "speak" for step in trace.steps)
    for kind in CHAINS:
        if (kind == "intent" and not claimed) or (kind in ("dialog", "audio", "tts") and not spoke):
            continue
        for entry in house.transformers[kind]:  # type: ignore[index]
            assert (kind, entry.id) in seen, f"{kind} transformer {entry.id} was not asked\n{_story(trace)}"
    pipeline = house.settings.assistant.pipeline
    asked = [step.who for step in trace.steps if step.stage == "match"]
    assert asked == list(pipeline[: len(asked)]), f"asked {asked} of {pipeline}"
    assert claimed or len(asked) == len(pipeline), f"nobody claimed, and only {asked} of {pipeline} were asked"


def the_session_is_unharmed(visit: FaultyAssistant, trace: TurnTrace) -> None:
    """Denylists are whole, fields nobody knows are there, and what was said is what was heard."""
    marker = one_end_marker(visit, trace.utterance_id)
    entry = next((m for m in visit.of(topics.UTTERANCE_HANDLE) if _said(m) == trace.utterances), None)
    before, after = (entry.session if entry is not None else None) or Session(), marker.session or Session()
    diverted = _diverted(visit, trace)
    for name in DENYLISTS:
        missing = set(before.get(name, ())) - set(after.get(name, ()))
        assert diverted or not missing, f"{name} lost {missing}"
    if not diverted:
        assert after.get("zoo_ticket") == before.get("zoo_ticket"), f"the session lost its ticket: {after}"
        assert "zoo_mark" not in after
        assert not [key for key in marker.context if key in ("zoo.mark", "zoo.late", "zoo.kept")]
    stored = visit.runtime.store.current
    assert Session.read(stored.wire()) == stored
    assert stored.get("zoo_ticket") is not None, f"the default session lost its ticket: {stored}"
    assert stored.wire()["zoo_ticket"] == {"row": UNKNOWN_FIELD["row"], "seats": tuple(UNKNOWN_FIELD["seats"])}  # type: ignore[arg-type]
    answered_by_an_animal = trace.utterances[0] in TRIGGERS.values() or any(
        animal.point in ("handler", *CALLED) for animal in _culprits(visit, trace)
    )
    if trace.outcome == "complete" and not diverted and not answered_by_an_animal:
        assert said(trace) == [heard(trace.utterances[0])], f"it said {said(trace)}\n{_story(trace)}"


def the_faulty_plugins_are_named(visit: FaultyAssistant, trace: TurnTrace) -> None:
    """Who misbehaved in the turn is in its trace; who did so beside it, in the log or among the refusals."""
    for animal in _culprits(visit, trace):
        steps = {step.outcome for step in trace.steps if step.who.partition(":")[0] == animal.id}
        wanted = _FAULTS.get(animal.behaviour.shows)
        named = steps if wanted is None else steps & wanted
        assert named, f"{animal} ({animal.does}) is not named: {sorted(steps)}\n{_story(trace)}"
    for animal_id in {misdeed.animal_id for misdeed in visit.cage.misdeeds}:
        animal = visit.animals[animal_id]
        if animal.point in (*BESIDE, *ASKED) and animal.behaviour.shows != "tame":
            assert any(animal_id in line for line in visit.log), f"{animal} is nowhere in the log: {visit.log[-5:]}"


def the_bus_is_alive(assistant: Assistant) -> None:
    """A Message still reaches who listens."""
    reached: list[Message] = []
    subscription = assistant.bus.on("zoo.ping", reached.append)
    assistant.bus.emit(Message("zoo.ping"))
    subscription.close()
    assert len(reached) == 1, "nothing is delivered any more"


async def the_next_turn_is_answered(visit: FaultyAssistant) -> None:
    """Once the animals are calm, everything works: plugins, and skills by their registered intents."""
    text = f"are you there {len(visit.messages)}"
    hearing = visit.say(text, session="afterwards")
    await visit.see_out(idlers=False)
    assert said(turn_of(visit, hearing)) == [heard(text)], visit.why()
    hearing = visit.say(SKILL_QUESTION)
    await visit.see_out(idlers=False)
    assert said(turn_of(visit, hearing)) == [SKILL_ANSWER], visit.why()


def said(trace: TurnTrace) -> list[str]:
    """What was rendered in a turn."""
    return [step.after for step in trace.steps if (step.stage, step.outcome) == ("speak", "rendered")]


def _culprits(visit: FaultyAssistant, trace: TurnTrace) -> Iterator[FaultyPlugin]:
    own = {misdeed.animal_id for misdeed in visit.cage.misdeeds if misdeed.utterance_id == trace.utterance_id}
    return (visit.animals[animal_id] for animal_id in sorted(own))


def _diverted(visit: FaultyAssistant, trace: TurnTrace) -> bool:
    beside = {misdeed.animal_id for misdeed in visit.cage.misdeeds if misdeed.utterance_id is None}
    return any(animal.behaviour.diverts for animal in _culprits(visit, trace)) or any(
        visit.animals[animal_id].behaviour.diverts for animal_id in beside
    )


def _said(entry: Message) -> object:
    return entry.data.get("utterances")


def _story(trace: TurnTrace) -> str:
    return "\n".join(f"{step.stage} {step.who} {step.outcome} {step.detail[:200]}" for step in trace.steps)
