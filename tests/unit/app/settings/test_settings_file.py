"""Reading a settings file: every mistake is named with file, line, table, key and remedy."""

from __future__ import annotations

import inspect
import sys
from pathlib import Path

import pytest

from hark.app.settings import Settings, SettingsError, read_settings, settings_from


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "hark.toml"


def mistakes(file: Path, text: str | bytes) -> list[str]:
    """What is said about a file, without the directory it is in."""
    file.write_bytes(text if isinstance(text, bytes) else text.encode())
    with pytest.raises(SettingsError) as raised:
        read_settings(file, named=True)
    return str(raised.value).replace(f"{file.parent}/", "").splitlines()


TABLES = (
    "The tables are: assistant, bus, deny, engine, home, limits, nats, pipeline, plugins, schedule, services, trace, "
    "transformer, "
    "transformers, voice, wake"
)
DENIES = (
    "The keys are: skills, intents, pipelines, audio_transformers, utterance_transformers, metadata_transformers, "
    "intent_transformers, dialog_transformers, tts_transformers"
)
SECONDS = "is not a number of seconds above 0"
BELOW = "and its keys below it"
HANDED = "an entry may hold text, numbers, true, false, and lists and tables of these"
NO_TOML = "this is not TOML"

MISTAKES = {
    "[asistant]": f"1: [asistant]: there is no such table; did you mean [assistant]? {TABLES}",
    "\n[zoo]": f"2: [zoo]: there is no such table; t{TABLES[1:]}",
    "[assistant]\nlnag = 'de'": "2: [assistant] lnag: there is no such key; did you mean lang? "
    "The keys are: lang, langs, pipeline, protect_skills, context_topics, files, toolboxes",
    "lang = 'de'": "1: lang: a key has to be below a table; put it below [assistant]",
    "limits = 3": f"1: limits: 3 is not a table; write [limits] {BELOW}",
    '[limits]\nmatch = "ten"': f'2: [limits] match: "ten" {SECONDS}; the default is 10.0',
    "[limits]\n\n# a comment\nmatch = -1": f"4: [limits] match: -1 {SECONDS}; the default is 10.0",
    "[limits]\ngrace = nan": "2: [limits] grace: nan is not a number of seconds, 0 or more; the default is 5.0",
    "[limits]\nstart = inf": f"2: [limits] start: inf {SECONDS}; the default is 30.0",
    "[limits]\nfailures = 0": "2: [limits] failures: 0 is not a whole number, 1 or more; the default is 5",
    "[limits]\nhandler = 0": f"2: [limits] handler: 0 {SECONDS}; remove the key to leave it unset",
    "[limits.plugins]\nslow = -2": f"2: [limits.plugins] slow: -2 {SECONDS}; remove it to use the general limit",
    "[limits]\nplugins = 2": "2: [limits] plugins: 2 is not a table of seconds by plugin id such as "
    "{ template = 20.0 }; the default is {}",
    "[trace]\ndisk = 1": "2: [trace] disk: 1 is not true or false; the default is true",
    '[assistant]\nlang = "en_US"': '2: [assistant] lang: "en_US" is not a language tag such as "en-US"; '
    'did you mean "en-US"?',
    '[assistant]\nlangs = ["de", "no!"]': '2: [assistant] langs: "no!" is not a language tag such as "en-US"; '
    "the default is []",
    "[assistant]\npipeline = 'a'": '2: [assistant] pipeline: "a" is not a list of ids such as ["one", "another"]; '
    'the default is ["stop", "interrupt", "converse", "several", "correction"...',
    "[transformers]\ntts = [1]": "2: [transformers] tts: 1 is not an id in quotes; remove the key to leave it unset",
    "[transformer.speech.a]\nessential = true": "1: [transformer.speech]: there is no such chain; "
    "the chains are: audio, utterance, metadata, intent, dialog, tts",
    "[transformer.tts]\na = 1": "2: [transformer.tts] a: 1 is not a table; write [transformer.tts.a] with the id of a "
    "transformer, and its keys below it",
    "[transformer.tts.a]\nessential = 1": "2: [transformer.tts.a] essential: 1 is not true or false; "
    "the default is false",
    "[transformer.tts.a]\npriority = 1.5": "2: [transformer.tts.a] priority: 1.5 is not a whole number; "
    "remove the key to leave it unset",
    "[deny]\nskils = []": f"2: [deny] skils: there is no such key; did you mean skills? {DENIES}",
    "[pipeline]\na = 1": f"2: [pipeline] a: 1 is not a table; write [pipeline.a] {BELOW}",
    "[pipeline.a]\nplugin = 1": "2: [pipeline.a] plugin: 1 is not an id in quotes; name a pipeline plugin",
    "[pipeline.a]\nday = 2026-01-01": f"2: [pipeline.a] day: 2026-01-01 cannot be passed to a plugin; {HANDED}",
    "[plugins]\na = 1": f"2: [plugins] a: 1 is not a table; write [plugins.a] {BELOW}",
    "[a]\nb 'c'": f"2:3: {NO_TOML}: expected '=' after a key in a key/value pair; the line reads: b 'c'",
    '[a]\nb = "c': f'2: {NO_TOML}: unterminated string; the line reads: b = "c',
}


@pytest.mark.parametrize("text", MISTAKES)
def test_each_mistake_is_named_with_its_place_and_its_remedy(file: Path, text: str) -> None:
    assert mistakes(file, text) == [f"hark.toml:{MISTAKES[text]}"]


def test_all_mistakes_are_reported_at_once(file: Path) -> None:
    found = mistakes(file, "[assistant]\nlang = 1\n[limits]\nmatch = 0\nnope = 1\n[zoo]\n")
    assert [line.partition(": ")[0] for line in found] == [f"hark.toml:{line}" for line in (2, 4, 5, 6)]


def test_a_file_that_is_not_utf8_is_refused_with_the_line(file: Path) -> None:
    found = mistakes(file, b"[assistant]\nlang = '\xff'\n")
    assert found == ["hark.toml:2: this is not UTF-8; save the file in UTF-8"]


def test_a_file_nested_beyond_reason_is_refused(file: Path) -> None:
    limit = sys.getrecursionlimit()
    sys.setrecursionlimit(len(inspect.stack()) + 500)  # a test runner may have raised it
    try:
        assert mistakes(file, "a = " + "[" * 5_000) == ["hark.toml: this is nested too deep to be read"]
    finally:
        sys.setrecursionlimit(limit)


def test_a_byte_order_mark_does_no_harm(file: Path) -> None:
    file.write_bytes(b'\xef\xbb\xbf[assistant]\nlang = "de"\n')
    assert read_settings(file, named=True).assistant.lang == "de"


def test_a_missing_file_is_a_mistake_only_when_it_was_named(file: Path) -> None:
    assert read_settings(file, named=False) == Settings()
    with pytest.raises(SettingsError, match="there is no such file"):
        read_settings(file, named=True)


def test_a_file_that_cannot_be_read_is_a_mistake_in_any_case(tmp_path: Path) -> None:
    with pytest.raises(SettingsError, match="it cannot be read: Is a directory"):
        read_settings(tmp_path, named=False)


def test_what_is_set_arrives(file: Path) -> None:
    file.write_text(
        """
        [assistant]
        lang = "de-at"
        langs = ["en-US"]
        pipeline = ["strict", "template"]
        [transformers]
        utterance = []
        [limits]
        match = 3
        plugins = { slow = 7 }
        [trace]
        disk = false
        [deny]
        tts_transformers = ["loud"]
        [pipeline.strict]
        plugin = "template"
        distance = 3
        [plugins."dotted.name"]
        anything = [1, { goes = "here" }]
        """
    )
    settings = read_settings(file, named=True)
    assert settings.limits.match == 3.0
    assert settings.limits.plugins == {"slow": 7.0}
    assert settings.transformers.order("utterance") == ()
    assert settings.transformers.order("dialog") is None
    assert settings.plugins == {"dotted.name": {"anything": [1, {"goes": "here"}]}}
    options = settings.understanding()
    assert options.lang == "de-AT"
    assert options.langs == {"de-AT", "en-US"}
    assert options.pipeline == ("strict", "template")
    assert options.entry("strict").plugin == "template"
    assert options.entry("strict").config == {"distance": 3}
    assert options.denylists == {"blacklisted_tts_transformers": ("loud",)}


def test_a_tree_is_checked_as_a_file_is_but_has_no_place() -> None:
    with pytest.raises(SettingsError) as raised:
        settings_from({"limits": {"match": -1}})
    assert str(raised.value) == "[limits] match: -1 is not a number of seconds above 0; the default is 10.0"


def test_another_main_language_does_not_make_the_first_one_unknown() -> None:
    settings = settings_from({"assistant": {"lang": "en-GB", "langs": ["fr"]}}).speaking("de-DE")
    assert settings.understanding().lang == "de-DE"
    assert settings.understanding().langs == {"de-DE", "en-GB", "fr"}


def test_a_table_is_still_read_by_its_old_name() -> None:
    assert settings_from({"rooms": {"stalled": 9.0}}).services.stalled == 9.0
    assert settings_from({"rooms": {"stalled": 9.0}, "services": {"stalled": 8.0}}).services.stalled == 8.0
    with pytest.raises(SettingsError, match=r"\[rooms\] stall"):
        settings_from({"rooms": {"stall": 9.0}})
