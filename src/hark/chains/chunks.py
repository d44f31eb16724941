"""A recording on its way through the audio chain while it is being recorded."""

from __future__ import annotations

from collections import Counter

from hark.chains.chain import Chain, Flow, Members
from hark.hosting import Gate
from hark.model import Audio, Frozen
from hark.plugins import AudioTransformer
from hark.plugins.transformers import ArtifactPart
from hark.spec.names import stamp_key
from hark.trace import TurnTrace

_STAMP = stamp_key("audio")


def are_chunked(members: Members) -> bool:
    """Whether every one of these transformers can work chunk by chunk."""
    return all(isinstance(entry.plugin, AudioTransformer) and entry.plugin.chunked is True for entry in members)


class ChunkedRun:
    """Takes each chunk of a recording through a chain; the flow keeps what the transformers did besides.

    A transformer is stamped once, however many chunks it worked on, and has one step in the trace.
    """

    def __init__(self, chain: Chain, members: Members, flow: Flow, gate: Gate, recording_id: str) -> None:
        self.flow = flow
        self._chain = chain
        self._members = members
        self._gate = gate
        self._recording_id = recording_id
        self._stamped: Counter[str] = Counter()
        self._outcomes: dict[str, Counter[str]] = {}
        self._seconds: Counter[str] = Counter()
        self._detail: dict[str, str] = {}
        self._chunks = 0

    async def feed(self, chunk: Audio, *, is_last: bool) -> Audio:
        """The chunk as the chain leaves it; once the flow is cancelled, no transformer is called any more."""
        flow = self.flow
        if flow.cancelled:
            return chunk
        before = flow.context.get(_STAMP)
        flow.context = Frozen({key: value for key, value in flow.context.items() if key != _STAMP})
        flow.artifact = chunk
        flow.part = ArtifactPart(self._recording_id, self._chunks, is_last)
        self._chunks += 1
        trace = TurnTrace("", "", (), 0.0, lambda: 0.0)
        await self._gate.enter()
        try:
            await self._chain.run(flow, trace, self._members)
        finally:
            self._gate.leave()
            self._note(trace)
            self._stamped.update(flow.context.get(_STAMP, ()))
            stamps = tuple(entry.id for entry in self._members if entry.id in self._stamped) or before
            if stamps:
                flow.context = Frozen(flow.context, **{_STAMP: stamps})
        audio: Audio = flow.artifact
        return audio

    def write(self, trace: TurnTrace) -> None:
        """Add one step for each transformer."""
        for who, outcomes in self._outcomes.items():
            ranked = [how for how in ("cancelled", "late", "failed", "malformed", "changed") if how in outcomes]
            how = ranked[0] if ranked else next(iter(outcomes))
            detail = "; ".join(part for part in (f"in {self._chunks} chunks", self._detail.get(who, "")) if part)
            trace.step("audio", who, how, self._seconds[who], detail)

    def _note(self, trace: TurnTrace) -> None:
        for step in trace.steps:
            self._outcomes.setdefault(step.who, Counter())[step.outcome] += 1
            self._seconds[step.who] += step.seconds  # type: ignore[assignment]  # a Counter adds floats as well
            if step.detail and step.outcome not in ("changed", "unchanged"):
                self._detail[step.who] = step.detail
