"""Which engines the settings stand for."""

from __future__ import annotations

from importlib import metadata
from typing import Any

import pytest

from hark.app.settings import settings_from
from hark.app.voice.engines import ChosenEngine, EngineFactory
from hark.builtin.engines.files import FileMicrophone, NullPlayer
from hark.hosting import Refusal
from hark.plugins.engines import WakeWord


def factory(**tables: Any) -> EngineFactory:
    return EngineFactory(settings_from(tables), installed=False)


def test_engines_come_in_the_order_of_the_settings() -> None:
    found = list(factory(voice={"player": ["null", "recorder"]}).of("player"))
    assert [one.engine.id for one in found if isinstance(one, ChosenEngine)] == ["null", "recorder"]
    assert isinstance(found[0], ChosenEngine)
    assert isinstance(found[0].engine, NullPlayer)


def test_a_table_gives_an_engine_another_name_and_settings() -> None:
    tables: dict[str, Any] = {"voice": {"microphone": ["door"]}}
    tables["engine"] = {"door": {"engine": "file", "path": "door.wav"}}
    [door] = factory(**tables).of("microphone")
    assert isinstance(door, ChosenEngine)
    assert isinstance(door.engine, FileMicrophone)
    assert (door.engine.id, door.settings) == ("door", {"path": "door.wav"})
    assert FileMicrophone.id == "file"


def test_a_table_of_the_engines_own_name_needs_no_engine_key() -> None:
    tables: dict[str, Any] = {"voice": {"microphone": ["file"]}, "engine": {"file": {"path": "a.wav"}}}
    [found] = factory(**tables).of("microphone")
    assert isinstance(found, ChosenEngine)
    assert found.settings == {"path": "a.wav"}


def test_a_missing_engine_is_refused_with_a_list_of_the_present_ones() -> None:
    found = list(factory(voice={"player": ["trumpet", "null"]}).of("player"))
    assert isinstance(found[0], Refusal)
    assert found[0].reason == "there is no player engine 'trumpet'"
    assert "null, recorder, sounddevice" in found[0].remedy
    assert isinstance(found[1], ChosenEngine)


def test_the_default_wake_word_is_hey_jarvis() -> None:
    assert factory().wake_words() == [WakeWord("jarvis", "hey jarvis")]


def test_wake_words_are_those_of_the_settings() -> None:
    tables = {"german": {"phrase": "hallo haus", "lang": "de-DE", "threshold": 0.7}}
    assert factory(wake=tables).wake_words() == [WakeWord("german", "hallo haus", lang="de-DE", threshold=0.7)]


def offering(monkeypatch: pytest.MonkeyPatch, *points: tuple[str, str]) -> None:
    """As with packages that offer these players by entry points."""
    group = "hark.engine.player"
    made = tuple(metadata.EntryPoint(name, value, group) for name, value in points)
    monkeypatch.setattr(metadata, "entry_points", lambda *, group: made)


def installed(name: str) -> EngineFactory:
    return EngineFactory(settings_from({"voice": {"player": [name]}}), installed=True)


def test_an_installed_engine_is_found_by_its_entry_point(monkeypatch: pytest.MonkeyPatch) -> None:
    offering(monkeypatch, ("other", "nowhere:Other"), ("trumpet", "hark.builtin.engines.files:NullPlayer"))
    [found] = installed("trumpet").of("player")
    assert isinstance(found, ChosenEngine)
    assert isinstance(found.engine, NullPlayer)
    assert found.engine.id == "trumpet"


def test_an_installed_engine_that_cannot_be_imported_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    offering(monkeypatch, ("trumpet", "nowhere:Trumpet"))
    [found] = installed("trumpet").of("player")
    assert isinstance(found, Refusal)
    assert "nowhere" in found.reason


def test_an_installed_engine_of_another_kind_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    offering(monkeypatch, ("trumpet", "hark.builtin.engines.files:FileMicrophone"))
    [found] = installed("trumpet").of("player")
    assert isinstance(found, Refusal)


def test_packages_that_cannot_be_read_are_reported(monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(*, group: str) -> Any:
        raise OSError("disk error")

    monkeypatch.setattr(metadata, "entry_points", broken)
    [found] = installed("trumpet").of("player")
    assert isinstance(found, Refusal)
    assert "disk error" in found.reason
