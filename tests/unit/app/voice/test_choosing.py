"""Which engines the settings stand for."""

from __future__ import annotations

from typing import Any

from hark.app.settings import settings_from
from hark.app.voice.engines import ChosenEngine, EngineFactory
from hark.builtin.engines.files import FileMicrophone, NullPlayer
from hark.hosting import Refusal
from hark.plugins.engines import WakeWord


def choice(**tables: Any) -> EngineFactory:
    return EngineFactory(settings_from(tables), installed=False)


def test_engines_come_in_the_order_of_the_settings() -> None:
    found = list(choice(voice={"player": ["null", "recorder"]}).of("player"))
    assert [one.engine.id for one in found if isinstance(one, ChosenEngine)] == ["null", "recorder"]
    assert isinstance(found[0], ChosenEngine)
    assert isinstance(found[0].engine, NullPlayer)


def test_a_table_gives_an_engine_another_name_and_settings() -> None:
    tables: dict[str, Any] = {"voice": {"microphone": ["door"]}}
    tables["engine"] = {"door": {"engine": "file", "path": "door.wav"}}
    [door] = choice(**tables).of("microphone")
    assert isinstance(door, ChosenEngine)
    assert isinstance(door.engine, FileMicrophone)
    assert (door.engine.id, door.settings) == ("door", {"path": "door.wav"})
    assert FileMicrophone.id == "file"


def test_a_table_of_the_engines_own_name_needs_no_engine_key() -> None:
    tables: dict[str, Any] = {"voice": {"microphone": ["file"]}, "engine": {"file": {"path": "a.wav"}}}
    [found] = choice(**tables).of("microphone")
    assert isinstance(found, ChosenEngine)
    assert found.settings == {"path": "a.wav"}


def test_an_engine_that_is_not_there_is_told_with_those_that_are() -> None:
    found = list(choice(voice={"player": ["trumpet", "null"]}).of("player"))
    assert isinstance(found[0], Refusal)
    assert found[0].reason == "there is no player engine 'trumpet'"
    assert "null, recorder, sounddevice" in found[0].remedy
    assert isinstance(found[1], ChosenEngine)


def test_somebody_who_names_no_wake_word_has_the_usual_one() -> None:
    assert choice().wake_words() == [WakeWord("jarvis", "hey jarvis")]


def test_wake_words_are_those_of_the_settings() -> None:
    tables = {"german": {"phrase": "hallo haus", "lang": "de-DE", "threshold": 0.7}}
    assert choice(wake=tables).wake_words() == [WakeWord("german", "hallo haus", lang="de-DE", threshold=0.7)]
