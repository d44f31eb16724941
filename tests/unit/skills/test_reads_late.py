"""Skills in many languages read the files of those that are understood, when they begin."""

from __future__ import annotations

from pathlib import Path

import pytest

from hark.app.reload.changes import apply_settings
from hark.app.reload.reloader import Reloader
from hark.intents.locale import Language
from hark.plugins import Turn
from hark.skills import MalformedIntent, Skill, intent
from hark.testing import Assistant

FILES = {
    "en-US/hello.intent": "hello [there]",
    "en-US/hello.dialog": "Hello.",
    "de-DE/hello.intent": "hallo",
    "de-DE/hello.dialog": "Hallo.",
    "pt-PT/hello.intent": "olá",
    "pt-PT/hello.dialog": "Olá.",
}


def greeter(folder: Path) -> type[Skill]:
    for name, text in FILES.items():
        path = folder / name
        path.parent.mkdir(exist_ok=True)
        path.write_text(text)

    class Greeter(Skill):
        id = "greeter.skill"
        locale_dir = folder
        reads_late = True

        @intent(file="hello")
        def hello(self, turn: Turn) -> None:
            turn.say("hello")

    return Greeter


@pytest.fixture
def read(monkeypatch: pytest.MonkeyPatch) -> set[str]:
    """The languages in which something was read."""
    seen: set[str] = set()
    lines = Language.lines

    def noting(self: Language, *resource: object) -> object:
        seen.add(self.tag)
        return lines(self, *resource)  # type: ignore[arg-type]

    monkeypatch.setattr(Language, "lines", noting)
    return seen


async def test_making_the_class_reads_nothing_and_beginning_reads_what_is_understood(
    tmp_path: Path, read: set[str]
) -> None:
    kind = greeter(tmp_path)
    assert read == set()
    async with Assistant(kind(), settings={"assistant": {"langs": ["de-DE"]}}) as hark:
        assert read == {"en-US", "de-DE"}
        assert await hark.hears("hello") == ["Hello."]
        assert await hark.hears("hallo", lang="de-DE") == ["Hallo."]


async def test_a_near_language_will_do(tmp_path: Path, read: set[str]) -> None:
    settings = {"assistant": {"lang": "pt-BR"}}
    async with Assistant(greeter(tmp_path)(), settings=settings) as hark:
        assert await hark.hears("olá") == ["Olá."]
    assert read == {"pt-PT"}


async def test_an_assistant_it_has_no_language_of_can_live_with_it(tmp_path: Path, read: set[str]) -> None:
    settings = {"assistant": {"lang": "fi-FI"}}
    async with Assistant(greeter(tmp_path)(), settings=settings) as hark:
        assert await hark.hears("hello") == []
        assert "greeter.skill" in hark.runtime.ids()
    assert not read & {"en-US", "de-DE", "pt-PT"}


def test_who_looks_at_the_definitions_of_the_class_sees_all_languages(tmp_path: Path) -> None:
    kind = greeter(tmp_path)
    assert {one.lang for one in kind.definitions} == {"en-US", "de-DE", "pt-PT"}
    assert {one.lang for one in kind().definitions} == {"en-US", "de-DE", "pt-PT"}


async def test_a_mistake_keeps_it_from_starting_in_that_language_alone(tmp_path: Path) -> None:
    (tmp_path / "de-DE").mkdir()
    kind = greeter(tmp_path)
    (tmp_path / "de-DE" / "hello.intent").write_text("hallo (du|ihr")
    async with Assistant(kind()) as hark:
        assert await hark.hears("hello") == ["Hello."]
    with pytest.raises(MalformedIntent, match=r"hello\.intent:1"):
        assert kind.definitions
    async with Assistant(kind(), settings={"assistant": {"langs": ["de-DE"]}}) as hark:
        [refusal] = hark.runtime.refusals
        assert "hello.intent:1" in refusal.reason


async def test_the_users_files_are_checked_all_the_same(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    user = tmp_path / "data" / "greeter.skill" / "locale" / "en-US"
    user.mkdir(parents=True)
    (user / "hello.dialog").write_text("(Hi")
    (tmp_path / "locale").mkdir()
    async with Assistant(greeter(tmp_path / "locale")(), data_root=tmp_path / "data") as hark:
        assert await hark.hears("hello") == ["Hello."]
    assert "hello.dialog:1" in caplog.text
    (user / "hello.dialog").write_text("Hi.")
    async with Assistant(greeter(tmp_path / "locale")(), data_root=tmp_path / "data") as hark:
        assert await hark.hears("hello") == ["Hi."]


async def test_a_language_that_is_understood_from_now_on_is_read(tmp_path: Path) -> None:
    async with Assistant(greeter(tmp_path)()) as hark:
        assert await hark.hears("hallo", lang="de-DE") == []
        settings = hark.runtime.settings.speaking("de-DE")
        await apply_settings(hark.runtime, settings, Reloader(hark.runtime), [])
        assert await hark.hears("hallo", lang="de-DE") == ["Hallo."]
        assert await hark.hears("hello", lang="en-US") == ["Hello."]
