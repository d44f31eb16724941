"""What `@keywords` accepts, what it registers, and how it says what is wrong."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from skill_host import begun, write

from hark.plugins.handlers import handlers_of
from hark.skills import MalformedIntent, Skill, intent, keywords
from hark.spec import topics

FILES = {
    "en-US/move.voc": "move\nsend",
    "en-US/robot.voc": "robot\n<brand> cleaner",
    "en-US/brand.voc": "vacuum",
    "en-US/question.voc": "where is",
    "de-DE/move.voc": "schick",
    "de-DE/robot.voc": "roboter",
    "de-DE/question.voc": "wo ist",
    "fr-FR/move.voc": "envoie",
}


async def test_vocabularies_from_files_are_registered_in_every_language_that_has_them_all(tmp_path: Path) -> None:
    write(tmp_path, FILES)

    class Robot(Skill):
        id = "robot.skill"
        locale_dir = tmp_path

        @keywords(required=["move", "robot"], excluded=["question"], requires=["awake"])
        def send(self, turn: Any) -> None: ...

    german, english = (await begun(Robot())).of(topics.REGISTER_KEYWORD)
    assert english == {
        "skill_id": "robot.skill",
        "intent_name": "send",
        "lang": "en-US",
        "required": (
            {"name": "move", "samples": ("move", "send")},
            {"name": "robot", "samples": ("robot", "vacuum cleaner")},
        ),
        "excluded": ({"name": "question", "samples": ("where is",)},),
        "requires_context": ("awake",),
    }
    assert german["lang"] == "de-DE"


async def test_vocabularies_can_be_written_inline_and_mixed_with_files(tmp_path: Path) -> None:
    write(tmp_path, FILES)

    class Robot(Skill):
        id = "robot.skill"
        locale_dir = tmp_path

        @keywords(
            required=["move", {"robot": ["robot", "<brand> (cleaner|sweeper)"]}],
            one_of=[{"kitchen": ["kitchen"], "hall": ["hall", "front hall"]}, ["brand"]],
            optional={"soon": ["now"]},
            name="send_robot",
        )
        def send(self, turn: Any) -> None: ...

    assert set(handlers_of(Robot())) == {"send_robot"}
    [payload] = (await begun(Robot())).of(topics.REGISTER_KEYWORD)
    assert payload["lang"] == "en-US"
    assert payload["required"][1] == {"name": "robot", "samples": ("robot", "vacuum (cleaner|sweeper)")}
    assert [[one["name"] for one in group] for group in payload["one_of"]] == [["kitchen", "hall"], ["brand"]]
    assert payload["optional"] == ({"name": "soon", "samples": ("now",)},)
    assert "excluded" not in payload


async def test_one_method_can_be_reached_by_both_ways() -> None:
    class Robot(Skill):
        id = "robot.skill"

        @intent("send the robot")
        @keywords(required={"robot": ["robot"]})
        @keywords(required={"robot": ["roboter"]}, lang="de-DE")
        def send(self, turn: Any) -> None: ...

    host = await begun(Robot())
    assert [payload["intent_name"] for payload in host.of(topics.REGISTER_TEMPLATE)] == ["send"]
    assert [payload["lang"] for payload in host.of(topics.REGISTER_KEYWORD)] == ["de-DE", "en-US"]


@pytest.mark.parametrize(
    ("options", "told"),
    [
        ({}, "needs something in required or one_of"),
        ({"optional": {"a": ["x"]}, "excluded": {"b": ["y"]}}, "needs something in required or one_of"),
        ({"required": {"a": ["x"]}, "excluded": {"a": ["x"]}}, "'a' is in required and in excluded"),
        ({"one_of": [{"a": ["x"]}], "optional": {"a": ["x"]}}, "'a' is in optional and in one_of"),
        ({"one_of": [[]]}, "a group of one_of is empty"),
        ({"one_of": {"a": ["x"]}}, "one_of takes groups"),
        ({"one_of": ["a", "b"]}, "one_of takes groups"),
        ({"required": "a"}, r"write required=\['a'\]"),
        ({"required": {"a": "x"}}, "takes several phrases"),
        ({"required": {"a": []}}, "at least one"),
        ({"required": {"a": ["x {slot}"]}}, "'a' in required: .*slot"),
        ({"required": {"a": ["(x"]}}, "never closed"),
        ({"required": {"a": [7]}}, "text"),
        ({"required": {"A b": ["x"]}}, "no name of a vocabulary"),
        ({"required": [7]}, "no name of a vocabulary"),
        ({"required": {"a": ["<b>"]}}, "<b> is not known here"),
        ({"required": ["a"]}, "there is no a.voc; looked in no folder"),
        ({"required": {"a": ["x"]}, "lang": "English!"}, "language tag"),
        ({"required": {"a": ["x"]}, "requires": ["k"], "excludes": ["k"]}, "requires and in excludes"),
    ],
)
def test_a_mistake_is_named_with_class_and_method(options: dict[str, Any], told: str) -> None:
    with pytest.raises(MalformedIntent, match=rf"Robot\.send: .*{told}"):

        class Robot(Skill):
            @keywords(**options)
            def send(self, turn: Any) -> None: ...


def test_a_vocabulary_may_be_in_two_groups() -> None:
    class Robot(Skill):
        @keywords(one_of=[{"a": ["x"], "b": ["y"]}, {"a": ["x"]}])
        def send(self, turn: Any) -> None: ...

    assert len(Robot.definitions[0].fields["one_of"]) == 2


def test_one_language_has_one_set_of_keywords() -> None:
    with pytest.raises(MalformedIntent, match="a @keywords for en-US already"):

        class Robot(Skill):
            @keywords(required={"robot": ["robot"]})
            @keywords(required={"robot": ["bot"]}, lang="en-us")
            def send(self, turn: Any) -> None: ...


def test_files_no_language_has_together_are_refused(tmp_path: Path) -> None:
    write(tmp_path, {"en-US/move.voc": "move", "de-DE/robot.voc": "roboter"})
    with pytest.raises(MalformedIntent, match="no language has all of move, robot"):

        class Robot(Skill):
            locale_dir = tmp_path

            @keywords(required=["move", "robot"])
            def send(self, turn: Any) -> None: ...
