"""What registration messages do (INTENT-4)."""

from __future__ import annotations

from typing import Any

import pytest
from pools import ask, entity, label, register, send, slots

from hark.intents import Rejected, TemplatePool
from hark.model import Session
from hark.model.frozen import freeze_object
from hark.spec import RESERVED_INTENT_NAMES, topics

SAT_3, SAT_9 = Session("sat-3"), Session("sat-9")


@pytest.fixture
def pool() -> TemplatePool:
    return TemplatePool()


def apply(pool: TemplatePool, topic: str, scope: str = "default", **data: Any) -> Any:
    return pool.apply(topic, freeze_object(data), scope)


def test_bad_samples_are_skipped_one_by_one(pool: TemplatePool) -> None:
    skipped = register(pool, "a.b:go", "go (home", "go away", "[x]", 5, "leave")  # type: ignore[arg-type]
    assert [item for item, _ in skipped] == ["go (home", "[x]", "5"]
    assert all(reason.startswith("samples") for _, reason in skipped)
    assert label(ask(pool, "go away")) == label(ask(pool, "leave")) == "a.b:go"


def test_bad_riders_are_skipped_one_by_one(pool: TemplatePool) -> None:
    skipped = register(
        pool, "a.b:dim", "dim {room}", blacklist=["dim {x}", "dim sum"], slot_blacklist={"room": ["(it", "it"]}
    )
    assert [item for item, _ in skipped] == ["dim {x}", "(it"]
    assert label(ask(pool, "dim sum")) is None
    assert slots(ask(pool, "dim it")) == {}


GOOD = {"skill_id": "a.b", "intent_name": "go", "lang": "en-US", "samples": ["go {x}"]}


@pytest.mark.parametrize(
    ("changes", "named"),
    [
        ({"skill_id": None}, "skill_id"),
        ({"skill_id": ""}, "skill_id"),
        ({"skill_id": "a:b"}, "skill_id"),
        ({"intent_name": None}, "intent_name"),
        ({"intent_name": 5}, "intent_name"),
        ({"intent_name": "a:b"}, "intent_name"),
        ({"lang": None}, "lang"),
        ({"lang": "english!"}, "lang"),
        ({"samples": None}, "samples"),
        ({"samples": []}, "samples"),
        ({"samples": "go home"}, "samples"),
        ({"samples": ["(go"]}, "samples"),
        ({"required_slots": ["y"]}, "required_slots"),
        ({"required_slots": [["x"]]}, "required_slots"),
        ({"required_slots": "x"}, "required_slots"),
        ({"blacklist": "x"}, "blacklist"),
        ({"slot_blacklist": ["x"]}, "slot_blacklist"),
        ({"slot_blacklist": {"x": "it"}}, "x"),
        ({"requires_context": "k"}, "requires_context"),
        ({"excludes_context": {"key": "k"}}, "excludes_context"),
        *(({"intent_name": name}, name) for name in sorted(RESERVED_INTENT_NAMES)),
    ],
)
def test_a_registration_that_is_malformed_is_rejected_naming_the_field(
    pool: TemplatePool, changes: dict[str, Any], named: str
) -> None:
    data = {key: value for key, value in {**GOOD, **changes}.items() if value is not None}
    with pytest.raises(Rejected, match=named):
        pool.apply(topics.REGISTER_TEMPLATE, freeze_object(data), "default")
    assert label(ask(pool, "go home")) is None


def test_unknown_fields_are_ignored(pool: TemplatePool) -> None:
    assert register(pool, "a.b:go", "go home", foo=1, excluded=["home"]) == []
    assert label(ask(pool, "go home")) == "a.b:go"


def test_registering_again_replaces(pool: TemplatePool) -> None:
    register(pool, "a.b:go", "go home", "go {x}")
    register(pool, "a.b:go", "leave now")
    assert label(ask(pool, "leave now")) == "a.b:go"
    assert label(ask(pool, "go home")) is None
    assert len(list(pool.intents("default"))) == 1


def test_a_bad_replacement_keeps_the_old_one(pool: TemplatePool) -> None:
    register(pool, "a.b:go", "go home")
    with pytest.raises(Rejected):
        register(pool, "a.b:go", "(leave")
    assert label(ask(pool, "go home")) == "a.b:go"


def test_a_replacement_leaves_other_languages_sessions_and_intents_alone(pool: TemplatePool) -> None:
    register(pool, "a.b:go", "go home")
    register(pool, "a.b:go", "geh heim", lang="de-DE")
    register(pool, "a.b:go", "go back", scope="sat-3")
    register(pool, "a.b:stay", "go home not")
    register(pool, "a.b:go", "leave now")
    assert label(ask(pool, "geh heim", lang="de-DE")) == "a.b:go"
    assert label(ask(pool, "go back", SAT_3)) == "a.b:go"
    assert label(ask(pool, "go home not")) == "a.b:stay"


def test_a_session_reaches_its_own_registrations_and_the_shared_ones(pool: TemplatePool) -> None:
    register(pool, "a.b:go", "go home")
    register(pool, "sat.skill:dim", "dim {room}", scope="sat-3")
    assert label(ask(pool, "go home", SAT_3)) == "a.b:go"
    assert label(ask(pool, "dim hall", SAT_3)) == "sat.skill:dim"
    assert label(ask(pool, "dim hall", SAT_9)) is None
    assert label(ask(pool, "dim hall")) is None


def test_the_best_of_both_scopes_wins(pool: TemplatePool) -> None:
    register(pool, "sat.skill:any", "dim {room}", scope="sat-3")
    register(pool, "a.b:hall", "dim the hall")
    register(pool, "a.b:any", "dim {room}")
    assert label(ask(pool, "dim the hall", SAT_3)) == "a.b:hall"
    assert label(ask(pool, "dim it", SAT_3)) == "sat.skill:any"


def test_a_forged_session_id_in_the_payload_has_no_effect(pool: TemplatePool) -> None:
    register(pool, "a.b:go", "go home", scope="sat-3", session_id="default")
    assert label(ask(pool, "go home")) is None


def test_deregistering_removes_one_language_or_all_in_its_session_only(pool: TemplatePool) -> None:
    register(pool, "a.b:go", "go home")
    register(pool, "a.b:go", "geh heim", lang="de-DE")
    register(pool, "a.b:go", "go home", scope="sat-3")
    send(pool, topics.INTENT_DEREGISTER, "a.b:go", lang="DE-de")
    assert label(ask(pool, "geh heim", lang="de-DE")) is None
    assert label(ask(pool, "go home")) == "a.b:go"
    send(pool, topics.INTENT_DEREGISTER, "a.b:go")
    send(pool, topics.INTENT_DEREGISTER, "a.b:go")
    assert label(ask(pool, "go home")) is None
    assert label(ask(pool, "go home", SAT_3)) == "a.b:go"
    send(pool, topics.INTENT_DEREGISTER, "a.b:go", scope="sat-3")
    assert label(ask(pool, "go home", SAT_3)) is None


def test_deregistering_a_skill_removes_everything_it_has_in_that_session(pool: TemplatePool) -> None:
    register(pool, "a.b:go", "go home")
    register(pool, "a.b:play", "play {x} on {y}")
    register(pool, "a.bc:stay", "stay here")
    entity(pool, "a.b", "x", "z on z")
    register(pool, "a.b:go", "go home", scope="sat-3")
    apply(pool, topics.SKILL_DEREGISTER, skill_id="a.b")
    apply(pool, topics.SKILL_DEREGISTER, skill_id="a.b")
    assert label(ask(pool, "go home")) is None
    assert label(ask(pool, "stay here")) == "a.bc:stay"
    assert label(ask(pool, "go home", SAT_3)) == "a.b:go"


def test_removing_everything_leaves_nothing_behind(pool: TemplatePool) -> None:
    register(pool, "a.b:go", "go [right] home", "go {x} please", scope="sat-3")
    entity(pool, "a.b", "x", "now", scope="sat-3")
    send(pool, topics.INTENT_DISABLE, "a.b:go", scope="sat-3")
    apply(pool, topics.SKILL_DEREGISTER, "sat-3", skill_id="a.b")
    assert pool.scope("sat-3").is_empty
    assert not pool.scope("sat-3").roots


def test_a_disabled_intent_is_not_matched_until_it_is_enabled(pool: TemplatePool) -> None:
    register(pool, "a.b:go", "go home")
    send(pool, topics.INTENT_DISABLE, "a.b:go")
    send(pool, topics.INTENT_DISABLE, "a.b:go")
    assert ask(pool, "go home") == "a.b:go fits but is disabled"
    register(pool, "a.b:go", "go home", "leave now")
    assert label(ask(pool, "leave now")) is None
    send(pool, topics.INTENT_ENABLE, "a.b:go")
    send(pool, topics.INTENT_ENABLE, "a.b:go")
    assert label(ask(pool, "leave now")) == "a.b:go"


def test_disabling_names_one_language_or_means_all(pool: TemplatePool) -> None:
    register(pool, "a.b:go", "go home")
    register(pool, "a.b:go", "go home then", lang="en-GB")
    send(pool, topics.INTENT_DISABLE, "a.b:go", lang="EN-us")
    assert label(ask(pool, "go home")) is None
    assert label(ask(pool, "go home then", lang="en-GB")) == "a.b:go"
    send(pool, topics.INTENT_DISABLE, "a.b:go")
    assert label(ask(pool, "go home then", lang="en-GB")) is None
    send(pool, topics.INTENT_ENABLE, "a.b:go")
    assert label(ask(pool, "go home")) == "a.b:go"


def test_a_disabled_language_is_not_replaced_by_its_sister(pool: TemplatePool) -> None:
    register(pool, "a.b:go", "go home")
    register(pool, "a.b:go", "go home", lang="en-GB")
    send(pool, topics.INTENT_DISABLE, "a.b:go", lang="en-GB")
    assert label(ask(pool, "go home", lang="en-GB")) is None


def test_disabling_for_one_session_leaves_the_others_and_for_the_device_all(pool: TemplatePool) -> None:
    register(pool, "a.b:go", "go home")
    register(pool, "s.t:go", "go back", scope="sat-3")
    send(pool, topics.INTENT_DISABLE, "a.b:go", scope="sat-3")
    assert label(ask(pool, "go home", SAT_3)) is None
    assert label(ask(pool, "go home", SAT_9)) == "a.b:go"
    send(pool, topics.INTENT_ENABLE, "a.b:go")
    assert label(ask(pool, "go home", SAT_3)) is None
    send(pool, topics.INTENT_ENABLE, "a.b:go", scope="sat-3")
    assert label(ask(pool, "go home", SAT_3)) == "a.b:go"
    send(pool, topics.INTENT_DISABLE, "s.t:go")
    assert label(ask(pool, "go back", SAT_3)) is None


def test_switching_what_is_not_there_has_no_effect(pool: TemplatePool) -> None:
    send(pool, topics.INTENT_DISABLE, "a.b:go")
    send(pool, topics.INTENT_ENABLE, "a.b:go", scope="sat-3")
    register(pool, "a.b:go", "go home")
    assert label(ask(pool, "go home")) == "a.b:go"


def test_who_was_deregistered_starts_enabled(pool: TemplatePool) -> None:
    register(pool, "a.b:go", "go home")
    send(pool, topics.INTENT_DISABLE, "a.b:go")
    send(pool, topics.INTENT_DISABLE, "a.b:go", scope="sat-3")
    send(pool, topics.INTENT_DEREGISTER, "a.b:go")
    register(pool, "a.b:go", "go home")
    assert label(ask(pool, "go home")) == "a.b:go"
    assert label(ask(pool, "go home", SAT_3)) == "a.b:go"


@pytest.mark.parametrize(
    ("topic", "name"),
    [
        (topics.INTENT_DEREGISTER, "intent_name"),
        (topics.INTENT_ENABLE, "intent_name"),
        (topics.INTENT_DISABLE, "intent_name"),
        (topics.ENTITY_DEREGISTER, "entity_name"),
    ],
)
def test_messages_without_their_identity_are_rejected(pool: TemplatePool, topic: str, name: str) -> None:
    with pytest.raises(Rejected, match="skill_id is missing"):
        apply(pool, topic, **{name: "x"})
    with pytest.raises(Rejected, match=f"{name} is missing"):
        apply(pool, topic, skill_id="a.b")
    with pytest.raises(Rejected, match="lang"):
        apply(pool, topic, skill_id="a.b", **{name: "x"}, lang=None)
    with pytest.raises(Rejected, match="skill_id is missing"):
        apply(pool, topics.SKILL_DEREGISTER)


def test_an_entity_needs_language_and_values(pool: TemplatePool) -> None:
    data: dict[str, Any] = {"skill_id": "a.b", "entity_name": "engine", "lang": "en-US"}
    for bad, named in (({"samples": ["x"], "lang": ""}, "lang"), ({"samples": []}, "samples"), ({}, "samples")):
        with pytest.raises(Rejected, match=named):
            apply(pool, topics.ENTITY_REGISTER, **{**data, **bad})
    with pytest.raises(Rejected, match="samples"):
        apply(pool, topics.ENTITY_REGISTER, **data, samples=["[x]", "{y}"])
    skipped = apply(pool, topics.ENTITY_REGISTER, **data, samples=["spotify", "(a"])
    assert [item for item, _ in skipped] == ["(a"]


def test_an_entity_is_deregistered_by_language_or_in_all(pool: TemplatePool) -> None:
    for lang in ("en-US", "de-DE"):
        entity(pool, "a.b", "x", "one", lang=lang)
    apply(pool, topics.ENTITY_DEREGISTER, skill_id="a.b", entity_name="x", lang="de-de")
    assert list(pool.scope("default").entities) == [("a.b", "x", "en-us")]
    apply(pool, topics.ENTITY_DEREGISTER, skill_id="a.b", entity_name="x")
    apply(pool, topics.ENTITY_DEREGISTER, skill_id="a.b", entity_name="x")
    assert not pool.scope("default").entities
