"""Every clause of every contract can be broken, and says so: a contract nobody can break is none."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from hark.plugins import (
    Ctx,
    Declined,
    DialogTransformer,
    Match,
    MetadataTransformer,
    PipelinePlugin,
    Plugin,
    Round,
    Session,
    Turn,
    UtteranceTransformer,
    handles,
)
from hark.skills import Skill, intent
from hark.testing.contracts import Clause, contract, matcher_contract, skill_contract


def clauses_of(test: Callable[..., None]) -> dict[str, Clause]:
    [mark] = test.pytestmark  # type: ignore[attr-defined]
    return {clause.name: clause for clause in mark.args[1]}


def broken(test: Callable[..., None]) -> dict[str, str]:
    """The clauses a plugin does not keep, with what they say."""
    said = {}
    for name, clause in clauses_of(test).items():
        try:
            test(clause)
        except AssertionError as error:
            said[name] = str(error)
    return said


class Fine(UtteranceTransformer):
    id = "fine"
    quick = True

    def transform(self, utterances: list[str], ctx: Ctx) -> list[str]:
        return utterances


def test_a_plugin_that_does_nothing_wrong_breaks_nothing() -> None:
    assert broken(contract(Fine)) == {}


def test_ids_of_the_tests_read_as_sentences() -> None:
    names = list(clauses_of(contract(Fine)))
    assert "it_copes_with_unicode" in names
    assert "fifty_calls_at_once_do_not_get_mixed_up" in names
    assert len(names) == len(set(names))


def test_a_plugin_is_made_by_anything_that_makes_one() -> None:
    assert broken(contract(lambda: Fine())) == {}


def test_what_is_no_plugin_of_any_kind_has_no_contract() -> None:
    with pytest.raises(TypeError, match="is no transformer"):
        contract(Plugin)


# Transformers.


class Crooked(Fine):
    id = "not an id"


class Demanding(Fine):
    id = "demanding"

    @dataclass(frozen=True)
    class Settings:
        key: str


class Only(Fine):
    id = "only"
    _one: Any = None

    def __new__(cls) -> Only:
        cls._one = cls._one or super().__new__(cls)
        return cls._one  # type: ignore[no-any-return]


class Restless(Fine):
    id = "restless"

    async def start(self) -> None:
        self.task = asyncio.get_running_loop().create_task(asyncio.Event().wait())


class Plain(Fine):
    id = "plain"

    def transform(self, utterances: list[str], ctx: Ctx) -> list[str]:
        return [text.encode("ascii").decode() for text in utterances]


class Brief(Fine):
    id = "brief"

    def transform(self, utterances: list[str], ctx: Ctx) -> Any:
        return utterances if len(utterances[0]) < 1_000 else utterances[0]


class Tidy(Fine):
    id = "tidy"

    def transform(self, utterances: list[str], ctx: Ctx) -> list[str]:
        tidied = [text.strip() for text in utterances]
        utterances.clear()
        return tidied


class Polyglot(Fine):
    id = "polyglot"

    def transform(self, utterances: list[str], ctx: Ctx) -> list[str]:
        assert ctx.lang is not None
        return [f"{text} ({ {'en-US': 'English', 'de-DE': 'German'}[ctx.lang] })" for text in utterances]


class Forgetful(DialogTransformer):
    """Keeps what it works on in the plugin, where the next call finds it."""

    id = "forgetful"

    async def transform(self, text: str, ctx: Ctx) -> str:
        self.text = text
        await asyncio.sleep(0)
        return self.text


class Mover(MetadataTransformer):
    id = "mover"
    quick = True

    def transform(self, ctx: Ctx) -> None:
        ctx.session = Session("somebody-else")


class Reader(Fine):
    id = "reader"

    def transform(self, utterances: list[str], ctx: Ctx) -> list[str]:
        Path(__file__).read_text()
        return utterances


TRANSFORMERS: list[tuple[type[Plugin], str, str]] = [
    (Crooked, "it_is_accepted", "its id is 'not an id'"),
    (Demanding, "its_settings_have_defaults", "missing required field `key`"),
    (Only, "it_can_be_made_twice", "the same object again"),
    (Restless, "it_starts_and_stops_and_leaves_no_task_behind", "Event.wait"),
    (Plain, "it_copes_with_unicode", "UnicodeEncodeError"),
    (Brief, "it_copes_with_very_long", "must return a list of texts, not str"),
    (Tidy, "it_changes_nothing_behind_the_frames_back", "changed the list it was given"),
    (Polyglot, "it_works_without_a_language", "AssertionError"),
    (Polyglot, "it_works_in_languages_it_does_not_know", "KeyError"),
    (Forgetful, "fifty_calls_at_once_do_not_get_mixed_up", "at once with others"),
    (Mover, "fifty_calls_at_once_do_not_get_mixed_up", "mixed up two sessions"),
    (Reader, "it_reads_and_writes_nothing_if_it_is_quick", "open"),
]


@pytest.mark.parametrize(("kind", "clause", "words"), TRANSFORMERS, ids=lambda value: getattr(value, "__name__", None))
def test_a_transformer_that_breaks_a_clause_is_told_so(kind: type[Plugin], clause: str, words: str) -> None:
    assert words in broken(contract(kind))[clause]


# Matchers.


class Parrot(PipelinePlugin):
    id = "parrot"
    quick = True

    def match(self, utterances: Sequence[str], lang: str, session: Session) -> Match | Declined | None:
        for text in utterances:
            if text.startswith("say "):
                return self.claim("say", lang=lang, utterance=text, slots={"text": text[4:]})
        return Declined("it does not begin with 'say'")

    @handles("say")
    def say(self, turn: Turn) -> str:
        return turn.slots["text"]


def test_a_matcher_that_does_nothing_wrong_breaks_nothing() -> None:
    assert broken(matcher_contract(Parrot, examples=["say hello"])) == {}


def test_one_that_claims_everything_may_say_so() -> None:
    class Last(Parrot):
        def match(self, utterances: Sequence[str], lang: str, session: Session) -> Match:
            return self.claim("say", lang=lang, utterance=utterances[0])

    assert "it claims 'flibber wozzle grunt' for parrot:say" in broken(matcher_contract(Last))["it_declines_nonsense"]
    assert broken(matcher_contract(Last, claims_everything=True)) == {}


def match_with(match: Callable[..., Any]) -> type[PipelinePlugin]:
    return type("Made", (Parrot,), {"match": match})


def malformed(self: Any, utterances: Sequence[str], lang: str, session: Session) -> Any:
    return Match("parrot", "say", lang, utterances[0], {"text": 7})  # type: ignore[dict-item]


def elsewhere(self: Any, utterances: Sequence[str], lang: str, session: Session) -> Any:
    return self.claim("say", lang=lang, utterance="something nobody said")


def first_only(self: Any, utterances: Sequence[str], lang: str, session: Session) -> Any:
    return Parrot.match(self, utterances[:1], lang, session)


def unhandled(self: Any, utterances: Sequence[str], lang: str, session: Session) -> Any:
    return self.claim("sing", lang=lang, utterance=utterances[0])


def fussy(self: Any, utterances: Sequence[str], lang: str, session: Session) -> Any:
    return {"en-US": None}[lang]


def curious(self: Any, utterances: Sequence[str], lang: str, session: Session) -> Any:
    return None if session.site_id else session.lang.upper()  # type: ignore[union-attr]


def wordy(self: Any, utterances: Sequence[str], lang: str, session: Session, round: Round) -> Any:
    return "no"


def counting(self: Any, utterances: Sequence[str], lang: str, session: Session) -> Any:
    self.calls = getattr(self, "calls", 0) + 1
    return self.claim("say", lang=lang, utterance=utterances[0]) if self.calls > 60 else None


def reading(self: Any, utterances: Sequence[str], lang: str, session: Session) -> Any:
    Path(__file__).read_text()


@pytest.mark.parametrize(
    ("match", "clause", "words"),
    [
        (malformed, "its_claims_are_well_formed", "slot 'text' must be text, not int"),
        (elsewhere, "its_claims_are_well_formed", "which was not among"),
        (first_only, "its_claims_are_well_formed", "only as the first candidate"),
        (fussy, "its_claims_are_well_formed", "does not claim its own example"),
        (wordy, "it_declines_nonsense", "returned a str"),
        (unhandled, "what_it_claims_for_itself_it_can_handle", "no handler for parrot:sing"),
        (fussy, "it_works_in_languages_it_does_not_know", "KeyError"),
        (curious, "it_needs_nothing_of_the_session", "AttributeError"),
        (counting, "fifty_calls_at_once_do_not_get_mixed_up", "at once with others"),
        (reading, "it_reads_and_writes_nothing_if_it_is_quick", "open"),
    ],
)
def test_a_matcher_that_breaks_a_clause_is_told_so(match: Callable[..., Any], clause: str, words: str) -> None:
    assert words in broken(matcher_contract(match_with(match), examples=["say hello"]))[clause]


# Skills.


class Light(Skill):
    id = "light.skill"

    @intent("turn (on|off) [the] {room} light", required_slots=["room"])
    @intent("mach das Licht an", lang="de-DE")
    def switch(self, turn: Turn) -> str:
        return "Done."


def test_a_skill_that_does_nothing_wrong_breaks_nothing() -> None:
    assert broken(skill_contract(Light)) == {}


class Mute(Skill):
    id = "mute.skill"


class Handless(Light):
    switch = None  # type: ignore[assignment]
    intents = Light.intents


class Silent(Light):
    async def begin(self) -> None:
        await self.start()


class Staying(Light):
    async def end(self) -> None:
        await self.stop()


class Torn(Light):
    @intent("turn on the kitchen light")
    def cook(self, turn: Turn) -> None: ...


class Crossed(Light):
    @intent("turn on the {thing} light", name="another")
    def cook(self, turn: Turn) -> None: ...


@pytest.mark.parametrize(
    ("kind", "clause", "words"),
    [
        (Mute, "it_understands_something", "no method has an @intent"),
        (Handless, "every_intent_has_a_handler", "no handler for ['switch']"),
        (Silent, "it_registers_what_it_understands", ""),
        (Silent, "its_samples_lead_to_it", "no matcher claims"),
        (Staying, "it_is_withdrawn_when_it_stops", "no skill"),
        (Crossed, "its_samples_lead_to_it", "leads to"),
    ],
)
def test_a_skill_that_breaks_a_clause_is_told_so(kind: type[Skill], clause: str, words: str) -> None:
    assert words in broken(skill_contract(kind))[clause]


def test_a_more_exact_sample_may_stand_beside_a_general_one() -> None:
    assert broken(skill_contract(Torn)) == {}


# The contract leaves nothing behind either.


def test_a_contract_leaves_no_thread_behind() -> None:
    class Slow(Fine):
        id = "slow"
        quick = False

    before = set(threading.enumerate())
    assert broken(contract(Slow)) == {}
    for thread in set(threading.enumerate()) - before:
        thread.join(20)
        assert not thread.is_alive(), thread
