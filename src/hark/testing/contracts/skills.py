"""The contract of skills."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from typing import Any, Final

from hark.app.runtime import Runtime
from hark.intents import sentences
from hark.intents.grammar import is_slot
from hark.model import Match, Session
from hark.plugins.handlers import handlers_of
from hark.skills import Skill
from hark.skills.definitions import SkillDefinition
from hark.spec import dispatch_topic, topics
from hark.testing.contracts.clause import COMMON, Clause, clause, test_of
from hark.testing.contracts.subject import Make, Subject

_NUMBER: Final = re.compile(r"\{number:(\w+)\}")
_FEW: Final = 20
"""Sentences of one sample that are tried; alternatives multiply."""


def _registered(runtime: Runtime, skill: Skill) -> set[tuple[str, str]]:
    keys = (definition.key for definition in runtime.orchestrator.manifest)
    return {(key.intent_name, key.lang) for key in keys if key.skill_id == skill.id}


def _declared(skill: Skill) -> set[tuple[str, str]]:
    return {(one.name, one.lang.casefold()) for one in skill.definitions if one.method != "entity"}


@clause
async def it_understands_something(subject: Subject) -> None:
    """At least one method says what it answers to."""
    skill: Any = subject.make()
    assert skill.intents or handlers_of(skill), "no method has an @intent"


@clause
async def every_intent_has_a_handler(subject: Subject) -> None:
    """What it registers, it can answer."""
    skill: Any = subject.make()
    handlers = handlers_of(skill)
    missing = [name for name in skill.intents if not callable(handlers.get(name))]
    assert not missing, f"no handler for {missing}"


@clause
async def its_samples_can_be_read(subject: Subject) -> None:
    """Every sample is a template, and stands for at least one sentence."""
    skill: Any = subject.make()
    for one in _templates(skill):
        for sample in one.fields["samples"]:
            assert sentences(sample, one.lang), f"{one.name}: {sample!r} stands for no sentence"


@clause
async def it_registers_what_it_understands(subject: Subject) -> None:
    """Once it has started, every matcher knows its intents."""
    async with subject.runtime() as (runtime, skill):
        assert _registered(runtime, skill) == _declared(skill)


@clause
async def it_is_withdrawn_when_it_stops(subject: Subject) -> None:
    """When it stops it says so, and no matcher matches it any more."""
    said: list[object] = []
    async with subject.runtime() as (runtime, skill):
        runtime.bus.on(topics.SKILL_DEREGISTER, lambda message: said.append(message.data.get("skill_id")))
    assert said == [skill.id], f"withdrawn when it stopped: {said or 'no skill'}; does it override end()?"


@clause
async def its_samples_lead_to_it(subject: Subject) -> None:
    """What a sample says is claimed for the intent it stands under, and not for another of the skill's own."""
    async with subject.runtime() as (runtime, skill):
        matcher: Any = next(iter(runtime.pipeline)).plugin
        for one in _templates(skill):
            if not one.fields.keys().isdisjoint(("requires_context", "excludes_context", "required_keywords")):
                continue  # depends on more than the sample
            for sentence in _sentences(one):
                found = matcher.match((sentence,), one.lang, Session("x"))
                assert type(found) is Match, f"no matcher claims {sentence!r}: {getattr(found, 'reason', '')}"
                wanted = dispatch_topic(skill.id, one.name)
                assert found.topic == wanted, f"{sentence!r} leads to {found.topic}, not to {wanted}"


def _templates(skill: Skill) -> Iterator[SkillDefinition]:
    return (one for one in skill.definitions if one.method == "template")


def _sentences(definition: SkillDefinition) -> Iterator[str]:
    """Some sentences of each sample, with a word in the place of each slot, or a number where one belongs."""
    for sample in definition.fields["samples"]:
        numbers = {f"{{{slot}}}" for slot in _NUMBER.findall(sample)}
        for sentence in sentences(sample, definition.lang)[:_FEW]:
            if {f"{{{slot}}}" for slot in definition.fields.get("required_slots", ())} <= set(sentence):
                filled = ("5" if word in numbers else "whatnot" if is_slot(word) else word for word in sentence)
                yield " ".join(filled)


_CLAUSES: Final[tuple[Clause, ...]] = (
    *COMMON,
    it_understands_something,
    every_intent_has_a_handler,
    its_samples_can_be_read,
    it_registers_what_it_understands,
    it_is_withdrawn_when_it_stops,
    its_samples_lead_to_it,
)


def skill_contract(make: Make, *, settings: Mapping[str, Any] | None = None) -> Callable[..., None]:
    """The contract of a skill: `test_contract = skill_contract(MySkill)`. No handler is called."""
    return test_of(_CLAUSES, make, settings or {})
