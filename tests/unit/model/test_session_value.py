"""The snapshot of a conversation."""

from __future__ import annotations

import copy
import json
import pickle
from typing import Any

import pytest

from hark.model import ContextEntry, Frozen, Handler, Location, MalformedSession, Message, ResponseMode, Session, encode
from hark.model.session_codec import json_type


def sessions() -> list[Session]:
    read = {"session_id": "x", "lang": "pt", "intent_context": {"k": {"value": "v"}}, "x_new": {"a": [1]}}
    return [
        Session("x", lang="pt", intent_context={"k": ContextEntry("v")}, x_new={"a": [1]}),
        Session.read(read),
        Session.read({**read, "lang": 7}).replace(lang="pt"),
        Session("x").trusted(lang="pt", intent_context=Session.read(read).intent_context, x_new=Frozen({"a": (1,)})),
    ]


@pytest.mark.parametrize("session", sessions(), ids=["built", "read", "replaced", "trusted"])
def test_a_session_refuses_every_change(session: Session) -> None:
    before = session.wire()
    for name in ("lang", "session_id", "pipeline", "_fields", "_exact", "new", "__class__"):
        with pytest.raises(AttributeError):
            setattr(session, name, "x")
        with pytest.raises(AttributeError):
            delattr(session, name)
    with pytest.raises(TypeError):
        session.intent_context["k"] = None  # type: ignore[index]
    with pytest.raises(AttributeError):
        session.intent_context["k"].value = "w"  # type: ignore[union-attr, misc]
    with pytest.raises(TypeError):
        session.get("x_new")["a"] = 1
    with pytest.raises(TypeError):
        session.wire()["lang"] = "de"
    assert session.wire() == before
    assert session == sessions()[0]


def test_a_session_does_not_follow_what_it_was_made_of() -> None:
    pipeline, unknown = ["a"], {"list": [1]}
    session = Session(pipeline=pipeline, x_new=unknown)
    read = Session.read({"pipeline": pipeline, "x_new": unknown})
    pipeline.append("b")
    unknown["list"].append(2)

    assert session == read
    assert session.wire() == {"pipeline": ("a",), "x_new": {"list": (1,)}}


def test_get_finds_every_field_and_contains_and_iteration_only_the_present_ones() -> None:
    session = Session("x", lang="pt", x_new=1)

    assert session.get("lang") == session.lang == "pt"
    assert session.get("x_new") == 1
    assert session.get("pipeline") is None
    assert session.get("pipeline", ()) == ()
    assert session.get("session_id") == "x"
    assert Session().get("session_id") == "default"
    assert set(session) == {"session_id", "lang", "x_new"}
    assert set(Session()) == set()
    assert "lang" in session
    assert "pipeline" not in session


def test_present_picks_the_named_fields_that_are_there() -> None:
    assert Session(lang="pt", pipeline=["a"]).present(("lang", "site_id")) == {"lang": "pt"}


def test_typed_records_can_be_set_and_read() -> None:
    session = Session(
        active_handlers=[Handler("a", 5), {"skill_id": "b", "activated_at": 1.5}],
        response_mode=ResponseMode("a", 9),
        location=Location(tz="Europe/Lisbon"),
        intent_context={"k": ContextEntry("v"), "gone": None},
    )

    assert session.active_handlers == (Handler("a", 5), Handler("b", 1.5))
    assert session.response_mode == ResponseMode("a", 9)
    assert session.location == Location(tz="Europe/Lisbon")
    assert session.intent_context == {"k": ContextEntry("v"), "gone": None}


def test_a_whole_number_of_seconds_stays_whole_on_the_wire() -> None:
    session = Session.read({"active_handlers": [{"skill_id": "a", "activated_at": 1762300801}]})

    assert b'"activated_at":1762300801}' in encode(Message("a.b", session=session))


@pytest.mark.parametrize("at", [10**30, -(10**400)])
def test_a_time_no_float_can_hold_is_none(at: int) -> None:
    assert Session.read({"active_handlers": [{"skill_id": "a", "activated_at": at}]}) == Session()


@pytest.mark.parametrize("name", ["", "a b", "a.b", "7", "\ud800"])
def test_a_field_has_a_proper_name(name: str) -> None:
    with pytest.raises(MalformedSession, match="not a name for a session field"):
        Session(**{name: 1})


def test_an_unknown_field_may_be_anything_json_can_say_and_nothing_else() -> None:
    assert Session(x_new={"a": [1, None]}).get("x_new") == {"a": (1, None)}
    for value in ({1}, float("nan"), {1: 2}, "\ud800", object()):
        with pytest.raises(MalformedSession, match="x_new"):
            Session(x_new=value)


def test_a_session_too_deep_for_the_wire_cannot_be_made() -> None:
    value: Any = []
    for _ in range(96):
        value = [value]
    session = Session(x_new=value)

    assert json.loads(encode(Message("a.b", session=session)))
    with pytest.raises(MalformedSession, match="nested deeper"):
        session.replace(x_new=[value])


def test_without_what_is_not_there_is_the_same_session() -> None:
    session = Session("x", lang="pt")

    assert session.without("pipeline", "x_new") is session
    assert session.without("session_id") == Session(lang="pt")


def test_replacing_nothing_changes_nothing() -> None:
    session = Session("x", lang="pt")

    assert session.replace() == session.trusted() == session


def test_reading_what_is_no_json_omits_that_and_says_so(caplog: pytest.LogCaptureFixture) -> None:
    carrier: dict[Any, Any] = {"session_id": "x", "lang": "\ud800", "pipeline": {"a"}, 7: 1, "x_new": b"y", "x_old": 1}
    session = Session.read(carrier)

    assert session == Session("x", x_old=1)
    assert len(caplog.records) == 4


def test_sessions_are_equal_when_they_say_the_same() -> None:
    assert Session("x", lang="pt") == Session("x").replace(lang="pt")
    assert hash(Session("x", lang="pt")) == hash(Session("x", lang="pt"))
    assert Session("x") != Session("y")
    assert Session("x") != Session("x", lang="pt")
    assert Session("x") != "x"
    extra = {"response_mode": {"skill_id": "a", "expires_at": 1, "x": 1}}
    assert Session.read(extra) != Session.read({"response_mode": {"skill_id": "a", "expires_at": 1}})


def test_a_session_can_be_copied_pickled_and_shown() -> None:
    session = Session.read({"session_id": "x", "lang": "pt", "location": {"tz": "a", "city": "b"}})

    assert copy.copy(session) is copy.deepcopy(session) is session
    assert pickle.loads(pickle.dumps(session)) == session
    assert repr(session).startswith("Session('x', lang='pt', location=")


@pytest.mark.parametrize(
    ("value", "name"),
    [
        ("", "string"),
        (1, "number"),
        (1.5, "number"),
        (True, "boolean"),
        (None, "null"),
        ([], "array"),
        ((), "array"),
        ({}, "object"),
    ],
)
def test_a_type_is_called_what_json_calls_it(value: Any, name: str) -> None:
    assert json_type(value) == name
