"""What `@intent` accepts, and how it says what is wrong."""

from __future__ import annotations

from typing import Any

import pytest

from hark.plugins.handlers import handlers_of
from hark.skills import MalformedIntent, Skill, intent
from hark.spec import RESERVED_INTENT_NAMES


def test_the_intent_is_called_like_the_method_unless_it_is_named() -> None:
    class Lights(Skill):
        id = "lights.skill"

        @intent("lights on")
        def light_up(self, turn: Any) -> None: ...

        @intent("lights off", name="darken")
        def go_dark(self, turn: Any) -> None: ...

    skill = Lights()
    assert set(Lights.intents) == {"light_up", "darken"}
    assert handlers_of(skill) == {"light_up": skill.light_up, "darken": skill.go_dark}


def test_a_name_holds_for_all_marks_of_a_method() -> None:
    class Lights(Skill):
        @intent("licht an", lang="de-DE")
        @intent("lights on", name="light")
        def below(self, turn: Any) -> None: ...

        @intent("licht aus", lang="de-DE", name="dark")
        @intent("lights off")
        def above(self, turn: Any) -> None: ...

    assert set(Lights.intents) == {"light", "dark"}
    assert set(handlers_of(Lights())) == {"light", "dark"}


@pytest.mark.parametrize(
    ("arguments", "options", "told"),
    [
        (("turn (on", "turn off"), {}, r"column 6 of 'turn \(on'"),
        (("{room}",), {}, "no word beside the slots"),
        (("go {a} {b}",), {}, "column 8"),
        ((), {}, "at least one sample"),
        ((5,), {}, "text"),
        (("go {x}",), {"required_slots": ["y"]}, "'y'"),
        (("go {x}",), {"required_slots": "x"}, r"required_slots=\['x'\]"),
        (("go",), {"blacklist": "no"}, r"blacklist=\['no'\]"),
        (("go",), {"blacklist": ["no {x}"]}, "column 4"),
        (("go",), {"lang": "English, please"}, "language tag"),
        (("go",), {"name": "a:b"}, "'a:b'"),
        (("go",), {"requires": [{"scope": "shared"}]}, "context key"),
        (("go",), {"excludes": ["a:b"]}, "context key"),
        (("go",), {"excludes": {"key": "a"}}, "several"),
        (("go",), {"requires": ["a"], "excludes": ["b", "a"]}, "'a' is in requires and in excludes"),
        (("go",), {"requires": ["a"], "excludes": [{"key": "a", "scope": "private"}]}, "requires and in excludes"),
        (("go",), {"file": "go"}, "not both"),
        (("go.intent",), {}, r"names a file; write @intent\(file='go'\)"),
        ((), {"file": "go"}, "there is no go.intent; looked in no folder"),
        ((), {"file": "go", "name": "went"}, "has the name of its file"),
        (("go <there>",), {}, "<there> is not known here"),
        *((("go",), {"name": name}, "reserved") for name in sorted(RESERVED_INTENT_NAMES)),
    ],
)
def test_a_mistake_is_named_with_class_method_and_place(
    arguments: tuple[Any, ...], options: dict[str, Any], told: str
) -> None:
    with pytest.raises(MalformedIntent, match=rf"Lights\.light_up: .*{told}"):

        class Lights(Skill):
            @intent(*arguments, **options)
            def light_up(self, turn: Any) -> None: ...


def test_what_one_scope_requires_another_may_exclude() -> None:
    class Lights(Skill):
        @intent("go", requires=["a"], excludes=[{"key": "a", "scope": "shared"}])
        def go(self, turn: Any) -> None: ...

    assert len(Lights.definitions) == 1


def test_marks_of_one_language_that_contradict_each_other_are_refused() -> None:
    with pytest.raises(MalformedIntent, match=r"Lights\.go: 'a' is in requires"):

        class Lights(Skill):
            @intent("go now", excludes=["a"])
            @intent("go", requires=["a"])
            def go(self, turn: Any) -> None: ...


@pytest.mark.parametrize(
    ("samples", "required"),
    [
        (("book {seat} [for {guest}]", "reserve {seat}"), ["seat"]),
        (("book {seat}", "book a table"), None),
        (("go (to {place}|home)",), None),
        (("go (to {place}|towards {place})",), ["place"]),
        (("from {a} to {b}", "to {b} from {a}"), ["a", "b"]),
        (("go",), None),
    ],
)
def test_a_slot_of_every_sentence_is_required(samples: tuple[str, ...], required: list[str] | None) -> None:
    class Tables(Skill):
        @intent(*samples)
        def book(self, turn: Any) -> None: ...

    [definition] = Tables.definitions
    assert definition.fields.get("required_slots") == required


def test_a_required_slot_can_be_added_to_those_of_every_sentence() -> None:
    class Tables(Skill):
        @intent("book {seat} [for {guest}]", required_slots=["guest"])
        def book(self, turn: Any) -> None: ...

    assert Tables.definitions[0].fields["required_slots"] == ["guest", "seat"]


def test_a_reserved_method_name_is_refused() -> None:
    with pytest.raises(MalformedIntent, match=r"Lights\.stop: .*reserved"):

        class Lights(Skill):
            @intent("lights out")
            def stop(self, turn: Any) -> None: ...  # type: ignore[override]


def test_one_method_cannot_have_two_names() -> None:
    with pytest.raises(MalformedIntent, match="one intent"):

        class Lights(Skill):
            @intent("licht an", name="licht", lang="de-DE")
            @intent("lights on", name="light")
            def on(self, turn: Any) -> None: ...


def test_two_methods_cannot_share_a_name() -> None:
    with pytest.raises(MalformedIntent, match=r"Lights\.also_on: .*'on'"):

        class Lights(Skill):
            @intent("lights on")
            def on(self, turn: Any) -> None: ...

            @intent("light up", name="on")
            def also_on(self, turn: Any) -> None: ...


def test_a_subclass_inherits_intents_and_may_change_their_handler() -> None:
    class Lights(Skill):
        id = "lights.skill"

        @intent("lights on")
        def on(self, turn: Any) -> str:
            return "on"

    class Brighter(Lights):
        def on(self, turn: Any) -> str:
            return "brighter"

        @intent("lights off")
        def off(self, turn: Any) -> None: ...

    assert set(Brighter.intents) == {"on", "off"}
    assert set(Lights.intents) == {"on"}
    assert handlers_of(Brighter())["on"](None) == "brighter"
