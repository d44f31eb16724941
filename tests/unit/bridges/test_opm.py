"""Plugins in the shapes of both lines of OVOS, run by Hark."""

from __future__ import annotations

import json
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from hark.app.plugin_set import plugins as all_plugins
from hark.bridges import opm
from hark.bridges.opm import engines, mycroft_conf
from hark.bridges.opm.facade import is_plain, translated
from hark.builtin.persona import Persona
from hark.bus import ask
from hark.model import Session
from hark.model.frozen import EMPTY
from hark.plugins import Audio, Ctx, Message, Plugin, handles
from hark.plugins.engines import Unavailable, WakeWord
from hark.skills import Skill, intent
from hark.testing import Assistant, ModelServer

DATA = Path(__file__).parents[2] / "data" / "opm"
ENTRY_POINTS = {
    "opm.transformer.utterance": {"to-english": "ToEnglish"},
    "opm.transformer.text": {"new-reverse": "NewReverse", "broken": "Broken", "old-upper": "NewReverse"},
    "neon.plugin.text": {"old-upper-text": "OldUpper", "new-reverse": "OldUpper"},
    "ovos.utterance.transformer": {"cancel-plugin": "Cancel"},
    "opm.transformer.metadata": {"seen": "Metadata"},
    "opm.transformer.intent": {"names": "Entities"},
    "opm.transformer.dialog": {"shout": "Shout"},
    "opm.transformer.tts": {"shorten": "Shorten", "nothing": "Nothing"},
    "neon.plugin.audio": {"quiet": "Quiet"},
    "opm.pipeline": {"ovos-fake-pipeline.plugin": "Matcher"},
    "opm.stt": {"fake-stt": "Recogniser", "fake-stt.config": "Recogniser"},
    "mycroft.plugin.stt": {"old-stt": "OldRecogniser"},
    "mycroft.plugin.tts": {"old-tts": "Voice"},
    "opm.VAD": {"fake-vad": "Activity"},
    "opm.wake_word": {"fake-ww": "Hotword"},
    "mycroft.plugin.wake_word": {"old-ww": "OldHotword"},
    "opm.agents.chat": {"new-chat": "Chat"},
    "opm.agents.retrieval": {"new-books": "Books", "both": "Books"},
    "neon.plugin.solver": {"old.solver": "OldSolver", "both": "OldSolver"},
    "opm.solver.question": {"solver": "Solver"},
    "opm.agents.toolbox": {"new-tools": "Tools"},
    "opm.skill": {"fake-skill.someone": "Skill"},
    "opm.phal": {"fake-leds": "Leds"},
}
MATCHER = "ovos-fake-pipeline-plugin"


@pytest.fixture(autouse=True)
def installed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A package with all of them, and a home without a `mycroft.conf`."""
    info = tmp_path / "site" / "fake_ovos_plugins-1.2.dist-info"
    info.mkdir(parents=True)
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: fake-ovos-plugins\nVersion: 1.2\n")
    groups = (
        "\n".join([f"[{group}]", *(f"{name} = plugins_of_ovos:{cls}" for name, cls in points.items())])
        for group, points in ENTRY_POINTS.items()
    )
    (info / "entry_points.txt").write_text("\n".join(groups))
    monkeypatch.syspath_prepend(str(info.parent))
    monkeypatch.syspath_prepend(str(DATA))
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    for name in ("MYCROFT_SYSTEM_CONFIG", "OVOS_DISTRIBUTION_CONFIG", "XDG_CONFIG_DIRS"):
        monkeypatch.setenv(name, str(tmp_path / name.lower()))
    return info.parent


def user_file(home: Path) -> Path:
    return home / "config" / "mycroft" / "mycroft.conf"


def conf(home: Path, **tree: Any) -> None:
    file = user_file(home)
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(f"// a comment\n{json.dumps(tree)}\n")


class Echo(Skill):
    id = "echo.skill"

    @intent("hello there")
    def hello(self, turn: Any) -> str:
        return "hi"


class Registers(Plugin):
    """Registers sentences and keywords as any program does."""

    id = "registers.skill"

    async def start(self) -> None:
        common = {"skill_id": self.id, "lang": "en-US"}
        lights = {**common, "intent_name": "on", "samples": ["lights on", "lights <vocabulary>"]}
        self.host.emit("ovos.intent.register.template", lights)
        self.host.emit("ovos.entity.register", {**common, "entity_name": "city", "samples": ["lisbon"]})
        robot, room = ({"name": name, "samples": [name]} for name in ("robot", "kitchen"))
        self.host.emit("ovos.intent.register.keyword", {**common, "intent_name": "clean", "required": [robot, room]})

    @handles("on")
    def on(self, turn: Any) -> str:
        return f"on {dict(turn.slots)}"

    @handles("clean")
    def clean(self, turn: Any) -> str:
        return f"clean {dict(turn.slots)}"


def unmatched(assistant: Assistant) -> Any:
    return assistant.of("ovos.intent.unmatched")[-1]


async def test_each_plugin_is_found_once_and_from_its_newest_group() -> None:
    found = {(one.kind, one.id): one for one in opm.found() if one.package == "fake-ovos-plugins"}
    assert found["utterance", "new-reverse"].group == "opm.transformer.text"
    assert found["utterance", "new-reverse"].place == "plugins_of_ovos:NewReverse"
    assert found["pipeline", MATCHER].name == "ovos-fake-pipeline.plugin"
    assert ("stt", "fake-stt.config") not in found
    assert found["audio", "quiet"].version == "1.2"


async def test_nothing_of_them_runs_until_the_settings_name_it() -> None:
    ids = [one.id for one in all_plugins(installed=True) if isinstance(one, Plugin)]
    assert "new-reverse" not in ids
    named = [one.id for one in all_plugins(installed=True, wanted=("new-reverse",)) if isinstance(one, Plugin)]
    assert [*ids, "new-reverse"] == named


async def test_the_oldest_shape_is_given_language_and_settings_and_cannot_forge_the_frame() -> None:
    settings = {"plugins": {"old-upper-text": {"suffix": "mine"}}}
    async with Assistant(*opm.plugins(["old-upper-text"]), settings=settings) as assistant:
        await assistant.hears("anything")
        message = unmatched(assistant)
        assert message.data["utterances"] == ("ANYTHING",)
        assert message.context["old.lang"] == "en-US"
        assert message.context["old.suffix"] == "mine"
        assert "old.object" not in message.context
        assert message.context.get("source") != "forged"
        assert message.session_id != "forged"


async def test_the_language_of_a_session_that_a_plugin_returns_is_the_language_of_the_text() -> None:
    async with Assistant(Echo(), *opm.plugins(["to-english"])) as assistant:
        assert await assistant.hears("hola", lang="es-ES") == ["hi"]
        [matched] = assistant.of("ovos.intent.matched")
        assert matched.data["lang"] == "en-US"


async def test_the_order_is_that_of_the_settings() -> None:
    for names, expected in ((("old-upper-text", "new-reverse"), "CBA"), (("new-reverse", "old-upper-text"), "CBA")):
        made = list(opm.plugins(names))
        assert [one.id for one in made] == list(names)
        async with Assistant(*made) as assistant:
            await assistant.hears("abc")
            assert unmatched(assistant).data["utterances"] == (expected,)


async def test_the_order_of_mycroft_conf_comes_first(tmp_path: Path) -> None:
    conf(tmp_path, utterance_transformers={"new-reverse": {}, "old-upper-text": {"suffix": "theirs"}})
    made = list(opm.plugins(["old-upper-text", "new-reverse"]))
    assert [one.id for one in made] == ["new-reverse", "old-upper-text"]
    async with Assistant(*made) as assistant:
        await assistant.hears("abc")
        assert unmatched(assistant).context["old.suffix"] == "theirs"


async def test_a_cancellation_without_reason_is_a_stop_word() -> None:
    async with Assistant(*opm.plugins(["cancel-plugin"])) as assistant:
        await assistant.hears("lights on forget it")
        [message] = assistant.of("ovos.utterance.cancelled")
        assert message.context["cancel_reason"] == "stop_word"
        assert message.context["cancel_by"] == "cancel-plugin"
        assert message.context["cancel_word"] == "forget it"
        assert len(assistant.of("ovos.utterance.handled")) == 1


async def test_a_plugin_that_cannot_be_created_is_refused_with_the_reason() -> None:
    async with Assistant(*opm.plugins(["broken"]), Echo()) as assistant:
        [refusal] = assistant.runtime.refusals
        assert "RuntimeError: the model is missing" in refusal.reason
        assert "fake-ovos-plugins" in refusal.remedy
        assert await assistant.hears("hello there") == ["hi"]


async def test_metadata_and_dialog_transformers_work() -> None:
    async with Assistant(*opm.plugins(["seen", "shout"]), Echo()) as assistant:
        assert await assistant.hears("hello there") == ["hi!"]
        assert assistant.of("ovos.intent.matched")[0].context["seen.by"] == "metadata"


async def test_an_intent_transformer_hears_of_entities_and_adds_slots_that_are_text() -> None:
    class Asked(Skill):
        id = "asked.skill"

        @intent("is lisbon nice")
        def nice(self, turn: Any) -> str:
            return str(sorted(turn.slots.items()))

    async with Assistant(*opm.plugins(["names"]), Registers(), Asked()) as assistant:
        assert await assistant.hears("is lisbon nice") == ["[('city', 'lisbon'), ('count', '3')]"]


def context() -> Ctx:
    return Ctx(EMPTY, Session("default"), "en-US", True)


async def test_a_tts_transformer_works_on_a_file_and_one_that_returns_none_changes_nothing() -> None:
    audio = Audio(bytes(range(200)), 16_000)
    shorten, nothing = opm.plugins(["shorten", "nothing"])
    async with Assistant(shorten, nothing):
        assert shorten.transform(audio, context()) == Audio(audio.samples[:100], 16_000)  # type: ignore[attr-defined]
        assert nothing.transform(audio, context()) == audio  # type: ignore[attr-defined]


async def test_an_audio_transformer_gets_raw_samples_and_can_name_the_language() -> None:
    [quiet] = opm.plugins(["audio.quiet"])
    async with Assistant(quiet):
        ctx = context()
        audio = quiet.transform(Audio(b"\1\2\3\4", 16_000), ctx)  # type: ignore[attr-defined]
        assert audio == Audio(bytes(4), 16_000)
        assert ctx.lang == "de-DE"
        assert ctx.get("quiet.rate") == 16_000


def matching(**more: Any) -> Assistant:
    settings = {"assistant": {"pipeline": ["fake"]}, "pipeline": {"fake": {"plugin": MATCHER, **more}}}
    return Assistant(*opm.plugins([MATCHER]), Registers(), settings=settings)


async def test_a_matcher_learns_sentences_and_keywords_by_the_legacy_registration() -> None:
    async with matching() as assistant:
        assert await assistant.hears("lights on") == ["on {'lang_of_message': 'en-US'}"]
        answer = await assistant.hears("robot to the kitchen")
        assert answer == ["clean {'robot': 'robot', 'kitchen': 'kitchen'}"]


async def test_a_level_of_confidence_is_chosen_by_the_entry_and_low_is_never_the_default() -> None:
    async with matching(level="high") as assistant:
        assert await assistant.hears("lights on")
        await assistant.hears("robot to the kitchen")
        assert "matched nothing" in assistant.why()
    async with matching() as assistant:
        await assistant.hears("who knows")
        assert unmatched(assistant)


async def test_a_match_for_a_listener_of_the_plugin_calls_it_and_says_what_it_says() -> None:
    async with matching() as assistant:
        assert await assistant.hears("answer me please") == ["answered the topic"]
        assert len(assistant.of("ovos.utterance.handled")) == 1


async def test_a_match_that_is_no_dispatch_topic_is_declined_with_the_reason() -> None:
    async with matching() as assistant:
        await assistant.hears("nonsense")
        assert "no dispatch topic" in assistant.why()


async def test_a_skill_that_leaves_is_forgotten() -> None:
    async with matching() as assistant:
        assert await assistant.hears("lights on")
        assistant.bus.emit(Message("ovos.skill.deregister", {"skill_id": "registers.skill"}))
        await assistant.bus.settled()
        await assistant.hears("lights on")
        assert "matched nothing" in assistant.why()


def test_templates_that_only_hark_can_expand_are_not_told() -> None:
    assert is_plain("(turn|switch) [the] {lamp} on")
    assert not is_plain("turn <lamps> on")
    assert not is_plain("set {number:int}")
    message = Message("ovos.intent.register.template", {"skill_id": "a.b", "intent_name": "c", "samples": ["<x>"]})
    assert list(translated(message)) == []


def made(kind: Any, name: str, **settings: Any) -> Any:
    engine = engines.engine(kind, name)
    assert engine is not None
    engine.settings = settings
    engine.load()
    return engine


def test_recognisers_of_both_shapes_recognise(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(engines, "audio_data", lambda audio: audio)
    new = made("stt", "fake-stt")
    transcript = new.transcribe(Audio(bytes(4), 16_000), "en-US")
    assert transcript.utterances == ("what time is it", "what dime is it")
    assert transcript.confidence == 0.8
    assert new.serves("de-DE")
    assert not new.serves("fr-FR")
    old = made("stt", "old-stt", word="ears")
    assert old.transcribe(Audio(bytes(4), 16_000), "de-DE").utterances == ("heard ears in de-DE",)


def test_a_voice_of_the_oldest_shape_speaks() -> None:
    audio = made("tts", "old-tts", rate=8_000).synthesize("hello", "en-US")
    assert (audio.seconds, audio.sample_rate) == (1.0, 8_000)


def test_voice_activity_and_wake_words_are_heard_each_stream_for_itself() -> None:
    vad = made("vad", "fake-vad")
    assert vad.detector().probability(b"\0\1") == 1.0
    assert vad.detector().probability(b"\0\0") == 0.0
    words = made("wakeword", "fake-ww")
    one, other = (words.detector(WakeWord("a", "Hey There")) for _ in range(2))
    assert [one.hears(b"hey "), one.hears(b"there"), other.hears(b"there")] == [False, True, False]
    assert made("wakeword", "old-ww").detector(WakeWord("a", "hey")).hears(b"hey")


@pytest.mark.parametrize(
    ("name", "answer"),
    [
        ("old-solver", "old: why? in en-US"),
        ("solver", "why? in en-US, imperial"),
        ("new-chat", "chat: why? in en-US"),
        ("new-books", "1. why?\n2. why?\n3. why?"),
        ("both", "1. why?\n2. why?\n3. why?"),
    ],
)
async def test_a_solver_of_every_generation_is_a_tool_that_answers(name: str, answer: str) -> None:
    async with Assistant(*opm.plugins([name]), settings={"home": {"units": "imperial"}}) as assistant:
        call = {"toolbox_id": name, "name": "answer", "kwargs": {"question": "why?"}}
        found = await ask(assistant.bus, assistant.clock, Message("ovos.persona.tools.call", call))
        assert found.data["result"] == answer
        call["kwargs"] = {"question": "silence"}
        unknown = await ask(assistant.bus, assistant.clock, Message("ovos.persona.tools.call", call))
        assert unknown.data["result"] == "It knows no answer."


async def test_a_persona_asks_a_solver() -> None:
    async with ModelServer() as model:
        settings = {
            "assistant": {"pipeline": ["persona_fallback"]},
            "plugins": {"persona": {"endpoint": model.url}},
        }
        async with Assistant(Persona(), *opm.plugins(["solver"]), settings=settings) as assistant:
            model.wants("solver-answer", question="why?")
            model.says("Because.")
            assert await assistant.hears("tell me why") == ["Because."]
            assert "why? in en-US" in json.dumps(model.requests[1]["messages"])


async def test_the_tools_of_a_toolbox_of_ovos_are_checked_and_called() -> None:
    async with Assistant(*opm.plugins(["new-tools"])) as assistant:
        listed = await ask(assistant.bus, assistant.clock, Message("ovos.tools.list"))
        [shown] = [one for one in listed.data["tools"] if one["toolbox_id"] == "new-tools"]
        assert (shown["name"], shown["argument_schema"]["required"]) == ("double", ("number",))
        for arguments, key, value in (({"number": 4}, "result", {"number": 8}), ({}, "error", None)):
            invoke = Message("ovos.tools.invoke", {"name": "double", "args": arguments})
            answer = await ask(assistant.bus, assistant.clock, invoke)
            assert key in answer.data
            assert value is None or answer.data[key] == value


def test_without_the_plugin_manager_the_extra_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("hark.bridges.opm.catalogue.find_spec", lambda _name: None)
    engine: Any = engines.engine("stt", "fake-stt")
    engine.settings = {}
    with pytest.raises(Unavailable) as refused:
        engine.load()
    assert "opm" in refused.value.remedy


def test_a_malformed_mycroft_conf_is_named(tmp_path: Path) -> None:
    conf(tmp_path)
    for text, complaint in (
        ('{\n// a comment\n"lang": nonsense}', "is no JSON: .*line 3 column 9"),
        ('["lang"]', "is no JSON object"),
    ):
        user_file(tmp_path).write_text(text)
        with pytest.raises(mycroft_conf.MalformedConfig, match=complaint):
            mycroft_conf.read()


def test_parts_of_the_wrong_shape_count_as_missing_and_are_named(tmp_path: Path) -> None:
    conf(tmp_path, intents={"pipeline": "adapt"}, skills={"blacklisted_skills": "x"}, hotwords=[], stt=None, tts=3)
    read = mycroft_conf.read()
    assert (read.pipeline, read.denied_skills, read.wake_words(), read.modules("stt")) == ((), (), {}, [])
    assert read.modules("tts") == []
    assert set(read.ignored) == {"intents.pipeline", "skills.blacklisted_skills", "hotwords", "tts"}
    user_file(tmp_path).write_text("// nothing but a comment\n")
    assert mycroft_conf.read().tree == {}


def test_layers_of_mycroft_conf_are_merged(tmp_path: Path) -> None:
    below, above = tmp_path / "below.conf", tmp_path / "above.conf"
    below.write_text('{"stt": {"module": "a", "a": {"x": 1}}, "intents": {"pipeline": ["one", "two"]}}')
    above.write_text('\ufeff# mine\n{"stt": {"a": {"y": 2}, "fallback_module": "b"}, "intents": {"pipeline": ["two"]}}')
    read = mycroft_conf.read([below, above, tmp_path / "absent.conf"])
    assert read.modules("stt") == ["a", "b"]
    assert read.config(SimpleNamespace(kind="stt", name="a")) == {"x": 1, "y": 2}  # type: ignore[arg-type]
    assert read.pipeline == ("two",)


def test_the_layers_are_those_of_ovos_the_users_last(tmp_path: Path) -> None:
    conf(tmp_path, lang="pt-PT")
    layers = {
        "ovos_distribution_config": {"lang": "en-US", "one": 1, "two": 1, "three": 1, "four": 1},
        "mycroft_system_config": {"lang": "de-DE", "two": 2, "three": 2, "four": 2},
        "config/mycroft/runtime.conf": {"lang": "fr-FR", "three": 3, "four": 3},
        "xdg_config_dirs/mycroft/mycroft.conf": {"lang": "es-ES", "four": 4},
    }
    for place, tree in layers.items():
        (tmp_path / place).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / place).write_text(json.dumps(tree))
    assert mycroft_conf.read().tree == {"lang": "pt-PT", "one": 1, "two": 2, "three": 3, "four": 4}


@pytest.mark.parametrize(
    ("listener", "words", "on"),
    [
        ({}, {"hey_mycroft": {}, "hey_you": {}}, ["hey_mycroft"]),
        ({"wake_word": "hey you"}, {"hey_mycroft": {"listen": True}, "hey_you": {}}, ["hey_you"]),
        ({"wake_word": "computer"}, {}, ["computer"]),
        ({"wake_word": "a"}, {"a": {}, "b": {"active": True, "listen": True}, "c": {"active": True}}, ["a", "b"]),
        ({"wake_word": "a"}, {"a": {"active": False}, "wake_up": {"active": True, "wakeup": True}}, []),
    ],
)
def test_wake_words_are_those_that_begin_to_listen(
    listener: dict[str, Any], words: dict[str, Any], on: list[str], tmp_path: Path
) -> None:
    conf(tmp_path, listener=listener, hotwords=words)
    assert list(mycroft_conf.read().wake_words()) == on
