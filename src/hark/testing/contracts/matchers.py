"""The contract of pipeline plugins."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping, Sequence
from functools import partial
from typing import Any, Final

from hark.app.runtime import Runtime
from hark.hosting import Loaded, wants_round
from hark.model import Match, Message, Session
from hark.model.frozen import EMPTY
from hark.plugins import Declined, Later, PipelinePlugin, Round
from hark.plugins.handlers import handlers_of
from hark.testing.contracts.clause import COMMON, Clause, clause, test_of
from hark.testing.contracts.samples import LANGUAGES, NONSENSE, ORDINARY, UTTERANCES
from hark.testing.contracts.subject import Make, Subject, input_and_output, loaded

_AT_ONCE: Final = 50


async def _no_answers(*_arguments: Any, **_how: Any) -> list[Message]:
    return []


async def _asked(runtime: Runtime, plugin: PipelinePlugin, utterances: tuple[str, ...], lang: str = "en-US",
                 session: Session | None = None) -> Match | None:  # fmt: skip
    """What the plugin claims of these utterances, looked at as the frame would."""
    entry, session = loaded(runtime, plugin), session or Session("x")
    around = Round(plugin.id, EMPTY, Message("contract.origin", {}, {"utterance_id": "x"}, session), _no_answers)
    arguments = (utterances, lang, session, around) if wants_round(entry.call) else (utterances, lang, session)
    outcome = await runtime.runner.call(entry, *arguments)
    if type(outcome.value) is Later:
        look = outcome.value.look
        outcome = await runtime.runner.call(Loaded(plugin, partial(_looked_at, look), limit=entry.limit))
    assert outcome.error is None, f"it failed on {utterances[0][:60]!r}: {outcome.failure}"
    found = outcome.value
    if found is None or type(found) is Declined:
        return None
    assert type(found) is Match, f"match() returned a {type(found).__name__}: it returns a Match, Declined or None"
    defect = found.defect()
    assert defect is None, f"its claim of {utterances[0][:60]!r} is malformed: {defect}"
    assert found.utterance in utterances, f"it claims {found.utterance!r}, which was not among {utterances}"
    return found


async def _looked_at(look: Callable[[], Awaitable[object]]) -> object:
    return await look()


@clause
async def it_declines_nonsense(subject: Subject) -> None:
    """No utterance without meaning is claimed; a matcher of last resort says so with `claims_everything=True`."""
    async with subject.runtime() as (runtime, plugin):
        for text in NONSENSE:
            claim = await _asked(runtime, plugin, (text,))
            if not subject.options["claims_everything"]:
                assert claim is None, f"it claims {text!r} for {claim.topic if claim else ''}"


@clause
async def its_claims_are_well_formed(subject: Subject) -> None:
    """Whatever it claims, of the examples it was given or of anything else, can be dispatched."""
    async with subject.runtime() as (runtime, plugin):
        for text in subject.options["examples"]:
            claim = await _asked(runtime, plugin, (text,))
            assert claim is not None, f"it does not claim its own example {text!r}"
            later = await _asked(runtime, plugin, ("flibber wozzle", text))
            assert later is not None, f"it claims {text!r} only as the first candidate"
        for utterances in UTTERANCES.values():
            await _asked(runtime, plugin, utterances)


@clause
async def what_it_claims_for_itself_it_can_handle(subject: Subject) -> None:
    """A claim for one of its own intents has a method under `@handles`."""
    async with subject.runtime() as (runtime, plugin):
        for text in (*subject.options["examples"], *NONSENSE, ORDINARY):
            claim = await _asked(runtime, plugin, (text,))
            if claim is not None and claim.skill_id == plugin.id:
                assert claim.intent_name in handlers_of(plugin), f"no handler for {claim.topic}"


@clause
async def it_works_in_languages_it_does_not_know(subject: Subject) -> None:
    """An unknown language is no reason to fail."""
    async with subject.runtime() as (runtime, plugin):
        for lang in LANGUAGES:
            await _asked(runtime, plugin, (ORDINARY,), lang)


@clause
async def it_needs_nothing_of_the_session(subject: Subject) -> None:
    """A session may carry nothing at all, or fields that no specification has."""
    async with subject.runtime() as (runtime, plugin):
        for session in (Session(), Session("x", lang="de-DE", site_id="kitchen", something={"not": ["known"]})):
            await _asked(runtime, plugin, (ORDINARY,), session=session)


@clause
async def fifty_calls_at_once_do_not_get_mixed_up(subject: Subject) -> None:
    """Turns run side by side: each gets the claim it would have got alone."""
    async with subject.runtime() as (runtime, plugin):
        said = (*subject.options["examples"], *NONSENSE, ORDINARY)
        some = [said[number % len(said)] for number in range(_AT_ONCE)]
        alone = [await _asked(runtime, plugin, (text,)) for text in some]
        together = await asyncio.gather(*(_asked(runtime, plugin, (text,)) for text in some))
        for text, before, now in zip(some, alone, together, strict=True):
            assert _topic(before) == _topic(now), f"{text!r}: alone {before}, at once with others {now}"


@clause
async def it_reads_and_writes_nothing_if_it_is_quick(subject: Subject) -> None:
    """`quick` is a promise: no files, no network, no waiting, for everything else stands still meanwhile."""
    async with subject.runtime() as (runtime, plugin):
        if not plugin.quick:
            return
        for text in (*subject.options["examples"], *NONSENSE, ORDINARY):
            await _asked(runtime, plugin, (text,))  # what is imported or cached the first time does not count
            with input_and_output() as calls:
                await _asked(runtime, plugin, (text,))
            assert not calls, f"it is declared quick, but does: {', '.join(calls)}"


def _topic(claim: Match | None) -> str | None:
    return None if claim is None else claim.topic


_CLAUSES: Final[tuple[Clause, ...]] = (
    *COMMON,
    it_declines_nonsense,
    its_claims_are_well_formed,
    what_it_claims_for_itself_it_can_handle,
    it_works_in_languages_it_does_not_know,
    it_needs_nothing_of_the_session,
    fifty_calls_at_once_do_not_get_mixed_up,
    it_reads_and_writes_nothing_if_it_is_quick,
)


def matcher_contract(
    make: Make,
    *,
    settings: Mapping[str, Any] | None = None,
    examples: Sequence[str] = (),
    claims_everything: bool = False,
) -> Callable[..., None]:
    """The contract of a pipeline plugin: `test_contract = matcher_contract(MyMatcher, examples=["say hello"])`.

    `examples` are utterances it is to claim by itself; one that claims whatever no other did `claims_everything`.
    """
    return test_of(_CLAUSES, make, settings or {}, examples=tuple(examples), claims_everything=claims_everything)
