"""What a skill takes from its locale folder."""

from __future__ import annotations

import sys
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
from skill_host import begun, write

from hark.model import Session
from hark.skills import MalformedIntent, Skill, intent
from hark.spec import topics

FILES = {
    "en-US/time_in.intent": "<ask> time in {city}\n<ask> time [in {city}]",
    "en-US/ask.voc": "what is the\ntell me the",
    "en-US/time_in.blacklist": "last <ask> time",
    "en-US/time_in.required": "time\n(clock|hour)",
    "en-US/city.entity": "lisbon\n(new|old) york",
    "en-US/city.blacklist": "it\nthere",
    "en-US/time_in.dialog": "It is {time} in {city}.",
    "de-DE/deep/time_in.intent": "wie spät ist es in {date:city}",
    "de-DE/time_in.dialog": "In {city} ist es {time}.",
}


def clock(folder: Path) -> Skill:
    class Clock(Skill):
        id = "clock.skill"
        locale_dir = folder

        @intent(file="time_in")
        def tell(self, turn: Any) -> None: ...

    return Clock()


async def test_a_file_is_registered_in_every_language_with_all_that_rides_along(tmp_path: Path) -> None:
    host = await begun(clock(write(tmp_path, FILES)))
    german, english = host.of(topics.REGISTER_TEMPLATE)
    assert english == {
        "skill_id": "clock.skill",
        "intent_name": "time_in",
        "lang": "en-US",
        "samples": ("(what is the|tell me the) time in {city}", "(what is the|tell me the) time [in {city}]"),
        "blacklist": ("last (what is the|tell me the) time",),
        "required_keywords": ("time", "(clock|hour)"),
        "slot_blacklist": {"city": ("it", "there")},
    }
    assert german == {
        "skill_id": "clock.skill",
        "intent_name": "time_in",
        "lang": "de-DE",
        "samples": ("wie spät ist es in {date:city}",),
        "required_slots": ("city",),
        "slot_types": {"city": "date"},
    }
    [entity] = host.of(topics.ENTITY_REGISTER)
    assert entity == {
        "skill_id": "clock.skill",
        "entity_name": "city",
        "lang": "en-US",
        "samples": ("lisbon", "(new|old) york"),
    }
    assert host.topics.index(topics.ENTITY_REGISTER) < host.topics.index(topics.REGISTER_TEMPLATE)


async def test_a_blacklist_that_could_be_a_slots_or_an_intents_is_the_intents(tmp_path: Path) -> None:
    write(
        tmp_path, {"en-US/city.intent": "which city", "en-US/go.intent": "go to {city}", "en-US/city.blacklist": "no"}
    )

    class Travel(Skill):
        id = "travel.skill"
        locale_dir = tmp_path

        @intent(file="go")
        def go(self, turn: Any) -> None: ...

        @intent(file="city")
        def city(self, turn: Any) -> None: ...

    go, city = (await begun(Travel())).of(topics.REGISTER_TEMPLATE)
    assert "slot_blacklist" not in go
    assert city["blacklist"] == ("no",)


async def test_one_language_of_a_file_and_samples_can_be_marked(tmp_path: Path) -> None:
    write(tmp_path, {**FILES, "en-US/polite.voc": "please"})

    class Clock(Skill):
        id = "clock.skill"
        locale_dir = tmp_path

        @intent("<polite> the time in {city}", blacklist=["<polite> no"])
        @intent(file="time_in", lang="de-de")
        def tell(self, turn: Any) -> None: ...

    german, english = (await begun(Clock())).of(topics.REGISTER_TEMPLATE)
    assert german["lang"] == "de-DE"
    assert english["samples"] == ("please the time in {city}",)
    assert english["blacklist"] == ("please no", "last (what is the|tell me the) time")
    assert english["intent_name"] == "time_in"


@pytest.mark.parametrize(
    ("files", "told"),
    [
        ({"en-US/time_in.intent": "fine\n time (in"}, r"en-US/time_in\.intent:2:7: .*never closed"),
        ({"en-US/time_in.intent": "go <where>"}, r"en-US/time_in\.intent:1:4: .*<where> is not known"),
        ({"en-US/time_in.dialog": "ten|five"}, r"en-US/time_in\.dialog:1:4: "),
        ({"en-US/time_in.blacklist": "# nothing"}, r"en-US/time_in\.blacklist: the file is empty"),
        ({"en-US/sub/time_in.intent": "again"}, r"en-US/time_in\.intent: .*same name|sub/time_in\.intent: .*same name"),
        ({"no tag/time_in.intent": "again"}, "no language tag"),
    ],
)
def test_a_mistake_in_a_file_keeps_the_class_from_being_made(tmp_path: Path, files: dict[str, str], told: str) -> None:
    write(tmp_path, {**FILES, **files})
    with pytest.raises(MalformedIntent, match=told):
        clock(tmp_path)


def test_a_required_slot_no_line_of_the_file_has_is_refused(tmp_path: Path) -> None:
    write(tmp_path, FILES)
    with pytest.raises(MalformedIntent, match=r"Clock\.tell: required_slots names 'hour'"):

        class Clock(Skill):
            locale_dir = tmp_path

            @intent(file="time_in", required_slots=["hour"])
            def tell(self, turn: Any) -> None: ...


def test_a_file_that_is_in_no_language_is_refused(tmp_path: Path) -> None:
    write(tmp_path, {"en-US/other.intent": "hello"})
    with pytest.raises(MalformedIntent, match=rf"no time_in\.intent; looked in {tmp_path}"):
        clock(tmp_path)


async def test_the_users_files_take_the_place_of_the_skills(tmp_path: Path) -> None:
    skill = clock(write(tmp_path / "skill", FILES))
    write(
        tmp_path / "data" / "locale",
        {"en-US/ask.voc": "say the", "fr-FR/time_in.intent": "quelle heure est-il à {city}"},
    )
    host = await begun(skill, tmp_path / "data")
    by_lang = {payload["lang"]: payload["samples"] for payload in host.of(topics.REGISTER_TEMPLATE)}
    assert by_lang["en-US"] == ("say the time in {city}", "say the time [in {city}]")
    assert set(by_lang) == {"en-US", "de-DE", "fr-FR"}
    # Nobody else's skill is changed by that.
    assert {payload["lang"] for payload in (await begun(type(skill)())).of(topics.REGISTER_TEMPLATE)} == {
        "en-US",
        "de-DE",
    }


async def test_a_mistake_in_a_users_file_is_logged_and_the_skill_goes_on_without_it(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    skill = clock(write(tmp_path / "skill", FILES))
    write(tmp_path / "data" / "locale", {"en-US/ask.voc": "say (the", "en-US/time_in.dialog": "{time} {city}"})
    host = await begun(skill, tmp_path / "data")
    assert "data/locale/en-US/ask.voc:1:5: '(' is never closed" in caplog.text
    assert {payload["lang"] for payload in host.of(topics.REGISTER_TEMPLATE)} == {"en-US", "de-DE"}
    assert skill.dialogs.render("time_in", "en-US", {"time": 1, "city": "x"}).text == "It is 1 in x."


def test_the_folder_is_beside_the_module_unless_it_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write(tmp_path / "pack", {"locale/en-US/time_in.intent": "hello", "__init__.py": ""})
    module = ModuleType("pack")
    module.__file__ = str(tmp_path / "pack" / "__init__.py")
    monkeypatch.setitem(sys.modules, "pack", module)

    class Clock(Skill):
        __module__ = "pack"

        @intent(file="time_in")
        def tell(self, turn: Any) -> None: ...

    class Derived(Clock):
        """Of a module without folder."""

    assert Clock.locale_dir == Derived.locale_dir == tmp_path / "pack" / "locale"
    assert [one.fields["samples"] for one in Derived.definitions] == [["hello"]]


async def test_a_dialog_is_said_outside_a_turn_in_the_language_of_the_session(tmp_path: Path) -> None:
    skill = clock(write(tmp_path, FILES))
    host = await begun(skill)
    sessions = (None, Session("x"), Session("y", lang="de-AT"), Session("z", lang="fr-FR"))
    for session in sessions:
        skill.say_dialog("time_in", {"time": "noon"}, session=session, city="Faro")
    skill.say_dialog("time_in", lang="de-DE", time="12", city="Faro")
    english, german = "It is noon in Faro.", "In Faro ist es noon."
    assert host.spoken == [
        (english, "en-US", None),
        (english, "en-US", sessions[1]),
        (german, "de-DE", sessions[2]),
        (english, "en-US", sessions[3]),
        ("In Faro ist es 12.", "de-DE", None),
    ]
