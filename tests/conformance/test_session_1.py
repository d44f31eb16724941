"""OVOS-SESSION-1: the session carrier, its fields and the language ladder, as far as they are a matter of values."""

from __future__ import annotations

import itertools
import json
import logging
import re
from typing import Any

import pytest

from hark.model import Location, MalformedMessage, MalformedSession, Message, Session, decode, encode
from hark.model.lang import resolve
from hark.model.session_codec import FIELDS
from hark.spec.names import REIMPOSED

HANDLERS = [{"skill_id": "clock.skill", "activated_at": 1762300801.25}]

WELL_FORMED: dict[str, Any] = {
    "lang": "pt-PT",
    "secondary_langs": ["en-US", "de-DE"],
    "output_lang": "en-US",
    "stt_lang": "pt-PT",
    "request_lang": "pt-BR",
    "detected_lang": "es-ES",
    "pipeline": ["stop", "template"],
    "intent_context": {"person": {"value": "Bob", "turns_remaining": 2}, "gone": None},
    "active_handlers": HANDLERS,
    "converse_handlers": HANDLERS,
    "response_mode": {"skill_id": "clock.skill", "expires_at": 1762300999},
    "fallback_handlers": ["wiki.skill"],
    "persona_id": "butler",
    "site_id": "kitchen",
    "location": {"lat": 38.7, "lon": -9, "tz": "Europe/Lisbon"},
    **{name: ["a", "b"] for name in REIMPOSED},
}

WRONG: dict[str, list[Any]] = {
    "str": [7, True, ["pt"], {"a": 1}],
    "list": ["abc", 7, False, {"a": 1}, ["a", 3], [None], [["a"]]],
    "record list": ["abc", 7, {"skill_id": "a"}, [1], [{"skill_id": "a"}], [{"skill_id": 1, "activated_at": 2}]],
    "record": ["abc", 7, [], {"skill_id": "a"}, {"skill_id": "a", "expires_at": "soon"}],
    "object": ["abc", 7, [], True],
}


def kind_of(name: str) -> str:
    if name in ("active_handlers", "converse_handlers"):
        return "record list"
    if name in ("location", "intent_context"):
        return "object"
    value = WELL_FORMED[name]
    return "record" if isinstance(value, dict) else "list" if isinstance(value, list) else "str"


WRONG_TYPED = [(name, value) for name in WELL_FORMED for value in WRONG[kind_of(name)]]
JSON_TYPES = {str: "string", int: "number", bool: "boolean", list: "array", dict: "object"}
OVERRIDE_LISTS = ["secondary_langs", "pipeline", "fallback_handlers", *REIMPOSED]


def message_with(carrier: Any) -> Message:
    return decode(json.dumps({"type": "a.b", "data": {"n": 1}, "context": {"session": carrier}}).encode())


def session_of(carrier: Any) -> Session:
    session = message_with(carrier).session
    assert session is not None
    return session


def wire_of(session: Session) -> Any:
    return json.loads(encode(Message("a.b", session=session)))["context"]["session"]


# The carrier.


@pytest.mark.spec("SESSION-1/2.a")
@pytest.mark.spec("SESSION-1/5.a")
@pytest.mark.parametrize("carrier", ["text", '{"session_id":"x"}', 7, True, [], ["a"]])
def test_a_session_that_is_no_object_cannot_be_sent(carrier: Any) -> None:
    with pytest.raises(MalformedMessage, match="session"):
        Message("a.b", {}, {"session": carrier})
    with pytest.raises(MalformedMessage, match="session"):
        Message("a.b", session=carrier)
    with pytest.raises(MalformedMessage, match="session"):
        Message("a.b").carrying(carrier)


@pytest.mark.spec("SESSION-1/2.5.a")
@pytest.mark.spec("SESSION-1/2.5.h")
@pytest.mark.parametrize(
    ("carrier", "kind"), [("text", "string"), (7, "number"), (1.5, "number"), ([], "array"), (True, "boolean")]
)
def test_a_malformed_carrier_is_noticed_and_never_becomes_the_default_session(carrier: Any, kind: str) -> None:
    message = message_with(carrier)

    assert message.malformed_session == kind
    assert message.session is None
    for same in (message, message.carrying(utterance_id="u"), message.with_data({"m": 2}), decode(encode(message))):
        assert same.malformed_session == kind
        assert json.loads(encode(same))["context"]["session"] == carrier
    assert message != message_with(None)


@pytest.mark.spec("SESSION-1/2.5.a")
def test_what_is_derived_from_a_malformed_carrier_omits_it() -> None:
    message = message_with("text")

    for derived in (message.forward("c.d"), message.reply("c.d"), message.response()):
        assert derived.malformed_session is None
        assert derived.session is None
        assert "context" not in json.loads(encode(derived))


@pytest.mark.spec("SESSION-1/2.5.i")
@pytest.mark.spec("SESSION-1/2.1.c")
@pytest.mark.spec("SESSION-1/2.1.e")
@pytest.mark.spec("SESSION-1/3.1.c")
@pytest.mark.spec("SESSION-1/3.1.d")
@pytest.mark.parametrize(
    "context",
    [{}, {"session": None}, {"session": {}}, {"session": {"lang": "pt"}}, {"session": {"session_id": "default"}}],
)
def test_every_way_to_name_no_session_is_the_default_session(context: dict[str, Any]) -> None:
    message = decode(json.dumps({"type": "a.b", "context": context}).encode())

    assert message.malformed_session is None
    assert message.session_id == "default"
    assert message.session is None or message.session.is_default


@pytest.mark.spec("SESSION-1/3.1.c")
def test_the_default_session_is_one_value_whichever_way_it_was_written() -> None:
    assert session_of({"session_id": "default"}) == session_of({}) == Session() == Session("default")
    assert session_of({"session_id": "x"}).replace(session_id="default") == Session()


# Fields, coming in.


@pytest.mark.spec("SESSION-1/2.b")
@pytest.mark.spec("SESSION-1/2.2.e")
@pytest.mark.parametrize("name", WELL_FORMED)
def test_any_field_may_be_missing(name: str) -> None:
    rest = {key: value for key, value in WELL_FORMED.items() if key != name}
    session = session_of(rest)

    assert name not in session
    assert wire_of(session) == rest
    assert getattr(session, name) in (None, (), {})


@pytest.mark.spec("SESSION-1/2.d")
@pytest.mark.spec("SESSION-1/3.b")
@pytest.mark.parametrize("name", WELL_FORMED)
def test_a_present_field_is_read_and_written_as_it_came(name: str) -> None:
    session = session_of({"session_id": "x", name: WELL_FORMED[name]})

    assert name in session
    assert session.get(name) == getattr(session, name)
    assert getattr(session, name) not in (None, (), {})
    assert wire_of(session) == {"session_id": "x", name: WELL_FORMED[name]}


@pytest.mark.spec("SESSION-1/2.e")
@pytest.mark.spec("SESSION-1/2.f")
@pytest.mark.spec("SESSION-1/2.g")
@pytest.mark.parametrize("name", [*WELL_FORMED, "session_id", "x_unknown"])
def test_a_null_field_counts_as_omitted_and_is_logged(name: str, caplog: pytest.LogCaptureFixture) -> None:
    session = session_of({name: None})

    assert session == Session()
    assert wire_of(session) == {}
    assert any(name in record.getMessage() and "null" in record.getMessage() for record in caplog.records)


@pytest.mark.spec("SESSION-1/2.h")
@pytest.mark.spec("SESSION-1/2.i")
@pytest.mark.spec("SESSION-1/2.j")
@pytest.mark.spec("SESSION-1/6.b")
@pytest.mark.parametrize(("name", "value"), WRONG_TYPED)
def test_a_wrong_typed_field_counts_as_omitted_with_a_warning(
    name: str, value: Any, caplog: pytest.LogCaptureFixture
) -> None:
    rest = {key: item for key, item in WELL_FORMED.items() if key != name}
    message = message_with({"session_id": "x", **rest, name: value})
    session = message.session

    assert session is not None
    assert message.data == {"n": 1}
    assert name not in session
    assert wire_of(session) == {"session_id": "x", **rest}
    (record,) = [record for record in caplog.records if record.levelno == logging.WARNING]
    assert f"field {name} " in record.getMessage()
    assert JSON_TYPES[type(value)] in record.getMessage()


@pytest.mark.spec("SESSION-1/2.1.c")
@pytest.mark.spec("SESSION-1/2.i")
@pytest.mark.parametrize("session_id", [7, True, [], {}, ""])
def test_a_session_id_that_is_no_name_is_the_default_one_with_a_warning(
    session_id: Any, caplog: pytest.LogCaptureFixture
) -> None:
    message = message_with({"session_id": session_id, "lang": "pt-PT"})

    assert message.session_id == "default"
    assert message.session == Session(lang="pt-PT")
    assert [record.levelname for record in caplog.records] == ["WARNING"]
    assert "session_id" in caplog.text


@pytest.mark.spec("SESSION-1/3.1.b")
@pytest.mark.parametrize("session_id", ["a:b", "default ", "Default", "default.1", " ", "名前", "x" * 5000])
def test_a_session_id_is_opaque(session_id: str) -> None:
    session = session_of({"session_id": session_id})

    assert session.session_id == session_id
    assert not session.is_default
    assert wire_of(session) == {"session_id": session_id}


@pytest.mark.spec("SESSION-1/3.4.d")
@pytest.mark.spec("SESSION-1/3.4.a")
@pytest.mark.parametrize("name", OVERRIDE_LISTS)
def test_an_empty_list_on_an_override_reads_and_writes_as_omitted(name: str, caplog: pytest.LogCaptureFixture) -> None:
    for session in (session_of({name: []}), Session(**{name: []}), Session(**{name: ["a"]}).replace(**{name: ()})):
        assert session == Session()
        assert name not in session
    assert not caplog.records


@pytest.mark.spec("SESSION-1/3.4.d")
@pytest.mark.parametrize("name", ["active_handlers", "converse_handlers"])
def test_an_empty_list_of_state_is_a_real_empty_list(name: str) -> None:
    session = session_of({name: []})

    assert name in session
    assert wire_of(session) == {name: []}


@pytest.mark.spec("SESSION-1/2.1.d")
def test_an_omitted_record_of_state_reads_as_its_empty_value() -> None:
    session = Session()

    assert session.active_handlers == session.converse_handlers == ()
    assert session.intent_context == {}
    assert session.response_mode is None
    assert session.persona_id is None


@pytest.mark.spec("SESSION-1/2.4.a")
@pytest.mark.spec("SESSION-1/2.4.b")
@pytest.mark.spec("SESSION-1/4.b")
@pytest.mark.parametrize("value", [1, 1.5, 2**70, True, "", "text", [], {}, [[], {"a": [None]}], {"a": {"b": None}}])
def test_an_unknown_field_is_carried_exactly(value: Any) -> None:
    session = session_of({"session_id": "x", "x_new": value, "Odd name!": value})

    changed = session.replace(lang="en-US").without("lang").trusted(lang="de-DE").without("lang")

    assert wire_of(changed) == {"session_id": "x", "x_new": value, "Odd name!": value}
    assert session.get("x_new") == changed.get("x_new")


@pytest.mark.spec("SESSION-1/2.4.c")
@pytest.mark.spec("SESSION-1/6.c")
def test_an_unknown_field_is_logged_once_and_quietly(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.DEBUG, logger="hark.session")
    for _ in range(3):
        session_of({"x_seen_in_this_test": 1})

    assert [record.levelname for record in caplog.records] == ["DEBUG"]
    assert "x_seen_in_this_test" in caplog.text


@pytest.mark.spec("SESSION-1/2.2.b")
@pytest.mark.parametrize("turns", [1.5, 2.0, "2", True, [2]])
def test_a_number_of_turns_that_is_no_integer_counts_as_absent(turns: Any) -> None:
    entry = session_of({"intent_context": {"k": {"value": "v", "turns_remaining": turns}}}).intent_context["k"]

    assert entry is not None
    assert entry.turns_remaining is None
    assert entry.value == "v"


@pytest.mark.spec("SESSION-1/2.4.b")
@pytest.mark.spec("SESSION-1/4.a")
@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("active_handlers", [{**HANDLERS[0], "x": [1]}, HANDLERS[0]]),
        ("converse_handlers", [{**HANDLERS[0], "x": None}]),
        ("response_mode", {"skill_id": "a", "expires_at": 5, "prompt": "which city?"}),
        ("location", {"tz": "Europe/Lisbon", "city": {"name": "Lisboa"}}),
        ("location", {"city": "Lisboa"}),
        ("intent_context", {"k": {"value": "v", "origin": "a"}, "gone": None, "plain": {"value": None}}),
    ],
)
def test_keys_nobody_listed_stay_in_a_record_until_its_field_is_changed(name: str, value: Any) -> None:
    session = session_of({"session_id": "x", name: value})

    assert wire_of(session) == {"session_id": "x", name: value}
    assert wire_of(session.replace(lang="en-US"))[name] == value
    assert wire_of(session.trusted(pipeline=("a",)).without("pipeline"))[name] == value
    assert name not in wire_of(session.without(name))


@pytest.mark.spec("SESSION-1/2.4.b")
def test_keys_nobody_listed_do_not_hide_the_ones_that_are() -> None:
    session = session_of(
        {
            "active_handlers": [{**HANDLERS[0], "x": 1}],
            "response_mode": {"skill_id": "a", "expires_at": 5, "x": 1},
            "location": {"tz": "Europe/Lisbon", "x": 1},
            "intent_context": {"k": {"value": "v", "x": 1}},
        }
    )

    assert session.active_handlers[0].skill_id == "clock.skill"
    assert session.response_mode is not None
    assert session.response_mode.expires_at == 5
    assert session.location == Location(tz="Europe/Lisbon")
    assert session.intent_context["k"] is not None
    changed = session.trusted(active_handlers=session.active_handlers[:1], location=Location(tz="Europe/Paris"))
    assert wire_of(changed)["active_handlers"] == HANDLERS
    assert wire_of(changed)["location"] == {"tz": "Europe/Paris"}
    assert wire_of(changed)["response_mode"] == {"skill_id": "a", "expires_at": 5, "x": 1}


# Fields, going out.


@pytest.mark.spec("SESSION-1/2.c")
@pytest.mark.spec("SESSION-1/2.1.a")
@pytest.mark.parametrize("name", [*WELL_FORMED, "session_id", "x_unknown"])
def test_no_field_can_be_set_to_null(name: str) -> None:
    with pytest.raises(MalformedSession, match="null"):
        Session().replace(**{name: None})
    with pytest.raises(MalformedSession, match="null"):
        Session(**{name: None})


@pytest.mark.spec("SESSION-1/2.c")
@pytest.mark.spec("SESSION-1/3.4.a")
def test_a_session_writes_only_what_was_set() -> None:
    assert wire_of(Session()) == {}
    assert wire_of(Session("x")) == {"session_id": "x"}
    assert wire_of(Session("x", lang="pt-PT").without("lang")) == {"session_id": "x"}
    assert json.loads(encode(Message("a.b", {"n": 1}))) == {"type": "a.b", "data": {"n": 1}}


@pytest.mark.spec("SESSION-1/3.a")
@pytest.mark.parametrize(("name", "value"), WRONG_TYPED)
def test_a_field_cannot_be_set_to_the_wrong_type(name: str, value: Any) -> None:
    with pytest.raises(MalformedSession, match=name):
        Session("x").replace(**{name: value})


@pytest.mark.spec("SESSION-1/3.a")
@pytest.mark.spec("SESSION-1/4.1.d")
@pytest.mark.parametrize("name", WELL_FORMED)
def test_the_origin_of_a_session_may_set_any_field(name: str) -> None:
    assert Session("x", **{name: WELL_FORMED[name]}) == session_of({"session_id": "x", name: WELL_FORMED[name]})


@pytest.mark.spec("SESSION-1/6.a")
@pytest.mark.parametrize("session_id", ["", 7, None, [], "\ud800"])
def test_a_session_id_is_text_and_not_empty(session_id: Any) -> None:
    with pytest.raises(MalformedSession, match="session_id"):
        Session(session_id)
    with pytest.raises(MalformedSession, match="session_id"):
        Session("x").replace(session_id=session_id)


@pytest.mark.spec("SESSION-1/3.2.2.a")
@pytest.mark.spec("SESSION-1/3.2.2.b")
def test_secondary_languages_hold_neither_the_first_language_nor_anything_twice() -> None:
    session = Session(lang="pt-PT", secondary_langs=["en-US", "pt-PT", "de-DE", "en-US"])

    assert session.secondary_langs == ("en-US", "de-DE")
    assert session.replace(lang="de-DE").secondary_langs == ("en-US",)
    assert Session(lang="en-US", secondary_langs=["en-US"]) == Session(lang="en-US")


@pytest.mark.spec("SESSION-1/3.2.2.a")
def test_secondary_languages_of_somebody_else_are_passed_on_as_they_came() -> None:
    carrier = {"lang": "pt-PT", "secondary_langs": ["pt-PT", "en-US", "en-US"]}

    assert wire_of(session_of(carrier).replace(pipeline=["a"])) == {**carrier, "pipeline": ["a"]}


@pytest.mark.spec("SESSION-1/3.5.a")
@pytest.mark.parametrize(
    "location",
    [
        {"lat": 90.1},
        {"lat": -91},
        {"lon": 180.5},
        {"lon": -181},
        {"lat": "38"},
        {"tz": 1},
        {"city": "x"},
        {"lat": True},
    ],
)
def test_a_location_out_of_its_bounds_cannot_be_set(location: dict[str, Any]) -> None:
    with pytest.raises(MalformedSession, match="location"):
        Session(location=location)


@pytest.mark.spec("SESSION-1/3.5.a")
def test_a_typed_location_is_checked_like_any_other() -> None:
    with pytest.raises(MalformedSession, match="location"):
        Session(location=Location(lat=90.1))
    assert wire_of(Session(location=Location(lat=90, lon=-180.0))) == {"location": {"lat": 90, "lon": -180.0}}
    assert Session(location=Location()) == Session(location={}) == Session()


@pytest.mark.spec("SESSION-1/3.5.b")
@pytest.mark.parametrize(
    ("location", "kept"),
    [
        ({"lat": "x", "tz": "Europe/Lisbon"}, {"tz": "Europe/Lisbon"}),
        ({"lat": 91, "lon": 1.5}, {"lon": 1.5}),
        ({"lat": 1, "lon": [], "tz": 7}, {"lat": 1}),
        ({"tz": "Europe/Lisbon", "lat": {}, "city": "Lisboa"}, {"tz": "Europe/Lisbon", "city": "Lisboa"}),
    ],
)
def test_a_bad_key_of_a_location_is_dropped_alone(
    location: dict[str, Any], kept: dict[str, Any], caplog: pytest.LogCaptureFixture
) -> None:
    session = session_of({"location": location})

    assert wire_of(session) == {"location": kept}
    assert session.location == Location(**{key: kept[key] for key in ("lat", "lon", "tz") if key in kept})
    for key in location.keys() - kept.keys():
        assert f"location.{key}" in caplog.text


@pytest.mark.spec("SESSION-1/3.5.b")
@pytest.mark.parametrize("location", [{}, {"lat": "x"}, {"lat": None}])
def test_a_location_without_any_of_its_keys_counts_as_omitted(location: dict[str, Any]) -> None:
    assert session_of({"location": location}) == Session()


# Propagation.


@pytest.mark.spec("SESSION-1/4.a")
@pytest.mark.spec("SESSION-1/4.1.a")
@pytest.mark.spec("SESSION-1/4.1.b")
@pytest.mark.parametrize("carrier", [{"session_id": "x"}, {"session_id": "x", **WELL_FORMED}, {"lang": "pt-PT"}])
def test_deriving_neither_adds_to_a_session_nor_takes_from_it(carrier: dict[str, Any]) -> None:
    message = message_with(carrier)
    assert message.session is not None

    for derived in (message.forward("c.d"), message.reply("c.d"), message.response(), message.with_data({})):
        assert json.loads(encode(derived))["context"]["session"] == carrier
        assert derived.session == message.session


@pytest.mark.spec("SESSION-1/5.b")
def test_the_order_of_fields_means_nothing() -> None:
    assert session_of(WELL_FORMED) == session_of(dict(reversed(WELL_FORMED.items())))


@pytest.mark.spec("SESSION-1/3.4.c")
def test_a_session_of_a_megabyte_is_read() -> None:
    carrier = {**WELL_FORMED, "session_id": "x", "pipeline": ["p" * 100] * 5_000, "x_new": ["n" * 100] * 5_000}
    session = session_of(carrier)

    assert session.pipeline is not None
    assert len(session.pipeline) == 5_000
    assert wire_of(session) == carrier


# The table of fields.


@pytest.mark.spec("SESSION-1/2.2.a")
@pytest.mark.spec("SESSION-1/2.2.d")
def test_every_claimed_name_is_short_snake_case_and_claimed_once() -> None:
    for name in FIELDS:
        assert re.fullmatch(r"[a-z][a-z0-9_]*", name)
    assert FIELDS.keys() == WELL_FORMED.keys()
    assert "session_id" not in FIELDS


@pytest.mark.spec("SESSION-1/2.2.c")
@pytest.mark.spec("SESSION-1/2.1.d")
def test_every_field_says_what_its_omission_means() -> None:
    by_class: dict[str, set[str]] = {"override": set(), "state": set(), "identity": set()}
    for name, field in FIELDS.items():
        by_class[field.resolution].add(name)

    assert by_class["identity"] == {"site_id"}
    assert by_class["state"] == {
        *("intent_context", "active_handlers", "converse_handlers", "response_mode", "persona_id"),
    }
    assert {name for name, field in FIELDS.items() if field.omits_empty} == set(OVERRIDE_LISTS) <= by_class["override"]


@pytest.mark.spec("SESSION-1/3.4.e")
def test_the_override_class_holds_the_denylists_of_all_six_transformer_types() -> None:
    kinds = ("audio", "utterance", "metadata", "intent", "dialog", "tts")

    assert len(REIMPOSED) == len(set(REIMPOSED)) == 15
    assert {f"blacklisted_{kind}_transformers" for kind in kinds} <= set(REIMPOSED)
    assert not {"pipeline", "site_id"} & set(REIMPOSED)


# The language of an utterance.

RUNGS = ("data.lang", "stt_lang", "detected_lang", "request_lang", "lang")
ENABLED = frozenset(f"a{letter}-XX" for letter in "abcde")
DEFAULT = "zz-ZZ"


@pytest.mark.spec("SESSION-1/3.2.7.a")
@pytest.mark.spec("SESSION-1/3.2.7.b")
@pytest.mark.spec("SESSION-1/3.2.7.g")
@pytest.mark.spec("SESSION-1/3.2.7.h")
@pytest.mark.spec("SESSION-1/3.2.5.a")
def test_the_first_enabled_rung_decides_the_language_in_all_combinations() -> None:
    own = dict(zip(RUNGS, sorted(ENABLED), strict=True))
    for states in itertools.product(("enabled", "foreign", "empty", "absent"), repeat=len(RUNGS)):
        by_rung = dict(zip(RUNGS, states, strict=True))
        said = {"enabled": own, "foreign": dict.fromkeys(RUNGS, "xx"), "empty": dict.fromkeys(RUNGS, "")}
        values = {rung: said[state][rung] for rung, state in by_rung.items() if state in said}
        expected = next((own[rung] for rung in RUNGS if by_rung[rung] == "enabled"), DEFAULT)
        stated = values.pop("data.lang", None)
        session = Session("x", **values)

        assert resolve(stated, session, ENABLED, DEFAULT) == expected, by_rung
        assert session == Session("x", **values)


@pytest.mark.spec("SESSION-1/3.2.7.b")
@pytest.mark.parametrize("stated", [None, "", 7, True, ["aa-XX"], {"lang": "aa-XX"}, "not a tag", "aa_XX", "\ud800"])
def test_whatever_stands_in_data_lang_costs_only_its_rung(stated: Any) -> None:
    assert resolve(stated, Session(lang="ab-XX"), ENABLED, DEFAULT) == "ab-XX"


@pytest.mark.spec("SESSION-1/3.2.7.c")
def test_the_default_language_needs_no_permission_and_nothing_else_goes_without() -> None:
    session = session_of({"lang": "ab-XX", "stt_lang": "ac-XX", "valid_langs": ["ab-XX", "ac-XX"]})

    assert resolve("aa-XX", session, frozenset(), DEFAULT) == DEFAULT


@pytest.mark.spec("SESSION-1/3.2.7.b")
def test_the_case_of_a_tag_means_nothing() -> None:
    enabled = frozenset({"pt-BR", "zh-Hant-TW"})

    assert resolve("PT-br", Session(), enabled, DEFAULT) == "pt-BR"
    assert resolve(None, Session(lang="ZH-HANT-tw"), enabled, DEFAULT) == "zh-Hant-TW"
