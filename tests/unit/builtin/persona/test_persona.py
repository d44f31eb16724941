"""A persona in conversation: what it says, what it sends, and when it ends."""

from __future__ import annotations

import asyncio
import gc
import json
import logging
import random
import tomllib
import tracemalloc
from pathlib import Path

import pytest

from hark.app.plugin_set import wanted_by
from hark.app.settings import settings_from
from hark.builtin import DEFAULT_PLUGINS
from hark.builtin.normalize import Normalize
from hark.builtin.persona import Persona
from hark.builtin.persona.settings import running_presets
from hark.builtin.remarks import Remarks
from hark.builtin.skills.smalltalk import SmallTalkSkill
from hark.plugins import Message, Session, Turn, fallback
from hark.skills import Skill, intent
from hark.spec import topics
from hark.testing import Assistant
from hark.testing.model_server import ModelReply, ModelServer
from persona_talk import PIPELINE, settings, talking


class Lamp(Skill):
    """A skill that comes before any persona."""

    id = "desk_lamp.skill"

    @intent("turn on the lamp")
    def on(self, turn: Turn) -> str:
        return "The lamp is on."


async def test_skills_come_first_and_the_model_is_told_what_they_do() -> None:
    async with talking(Lamp()) as (assistant, model):
        session = Session("x", persona_id="alice")
        assert await assistant.hears("turn on the lamp", session=session) == ["The lamp is on."]
        assert model.requests == []
        await assistant.hears("what do you think of lamps", session=session)
        assert "commands about: desk lamp." in model.requests[0]["messages"][0]["content"]


async def test_the_prompt_has_place_time_and_language() -> None:
    async with ModelServer() as model:
        table = settings(model, prompt='{persona}|{lang}|{time}|{date}|{place}|{"json": {}}', personas={})
        table["home"] = {"place": "Boston", "time_zone": "America/New_York"}
        async with Assistant(Persona(), settings=table) as assistant:
            await assistant.hears("tell me something")
        assert model.requests[0]["messages"][0]["content"] == (
            'hark|en-US|7:00 AM|Thursday, January 1st, 2026| in Boston|{"json": {}}'
        )


async def test_markup_is_not_spoken_and_stays_in_the_memory() -> None:
    async with talking() as (assistant, model):
        model.says(
            "## Whales\n",
            "1. **Blue** whale\n2. ",
            "See [this](https://example.com/a.b)\n",
            "```\nx = 1\n```\n",
            "Done.",
        )
        said = await assistant.hears("tell me about whales")
        assert said == ["Whales.", "Blue whale.", "See this.", "x = 1", "Done."]
        await assistant.hears("what else is there")
        assert "**Blue** whale" in model.requests[1]["messages"][2]["content"]


async def test_what_a_model_thinks_aloud_is_neither_said_nor_remembered() -> None:
    async with talking() as (assistant, model):
        model.says("<th", "ink>Hmm. Let me see.", " Well.</th", "ink>\n\nIt is", " blue.")
        assert await assistant.hears("which colour is the sky") == ["It is blue."]
        await assistant.hears("what else is there")
        assert model.requests[1]["messages"][2]["content"] == "It is blue."


@pytest.mark.parametrize(
    ("pieces", "said"),
    [
        (["It is 3", ".", "14 or so", "."], ["It is 3.14 or so."]),
        (["Dr", ".", " Smith", " agrees", "."], ["Dr. Smith agrees."]),
        (["He said ", '"no', ".", '"', " Then he left."], ['He said "no.', "Then he left."]),
        (["See ", "https://example", ".", "com/x now", "."], ["See example.com now."]),
        (["See ", "https://example", ".", "com/x", "?", "y=1", ".", " Good."], ["See example.com.", "Good."]),
        (["Wait", "...", " what", "?"], ["Wait... what?"]),
        (["Really", ".", ".", ".", " No", "?", "!", " Fine."], ["Really.", "No?", "Fine."]),
        (["« Oui", ".", " »", " Puis", " non."], ["« Oui.", "Puis non."]),
        (["ሰላም", "።", " ደህና", "።"], ["ሰላም።", "ደህና።"]),
        (["`x", ".", "` is it", "."], ["x. is it."]),
        (["Nothing to end it"], ["Nothing to end it"]),
    ],
)
async def test_sentences_are_cut_where_they_end(pieces: list[str], said: list[str]) -> None:
    async with talking() as (assistant, model):
        model.says(*pieces)
        assert await assistant.hears("tell me something") == said


async def test_a_sentence_is_said_when_its_last_piece_has_come() -> None:
    async with talking() as (assistant, model):
        gate = asyncio.Event()
        model.replies(ModelReply(["It is warm.", " Wear a hat."], gate=gate))
        turn = assistant.say("how is the weather on mars")
        first = asyncio.Event()
        assistant.bus.on(topics.UTTERANCE_SPEAK, lambda _message: first.set(), name="test")
        await asyncio.wait_for(first.wait(), 5)
        assert assistant.of(topics.UTTERANCE_SPEAK)[0].data["utterance"] == "It is warm."
        gate.set()
        await asyncio.wait_for(turn.over.wait(), 5)


# Ending.


@pytest.mark.parametrize("how", ["stop", "barge-in"])
async def test_the_connection_is_closed_in_mid_stream(how: str) -> None:
    async with talking() as (assistant, model):
        model.replies(ModelReply(["One. ", "Two."], gate=asyncio.Event()))
        first = asyncio.Event()
        assistant.bus.on(topics.UTTERANCE_SPEAK, lambda _message: first.set(), name="test")
        turn = assistant.say("count for me")
        await asyncio.wait_for(first.wait(), 5)
        if how == "stop":
            assistant.say("stop", session=assistant.of("persona:chat")[0].session)
        else:
            assistant.bus.emit(Message(topics.AUDIO_STOP, {}, {}, Session()))
        await asyncio.wait_for(model.closed(), 5)
        await asyncio.wait_for(turn.over.wait(), 5)
        (dispatch,) = assistant.of("persona:chat")
        ends = [one for one in assistant.of(topics.UTTERANCE_HANDLED) if one.utterance_id == dispatch.utterance_id]
        assert len(ends) == 1
        await assistant.hears("go on please")
        told = [said["content"] for said in model.requests[-1]["messages"][1:]]
        assert told == ["count for me", "One.", "go on please"], "what was said of it is remembered"


async def test_a_barge_in_in_one_session_leaves_the_others_alone() -> None:
    async with talking() as (assistant, model):
        gate = asyncio.Event()
        model.replies(ModelReply(["One. ", "Two."], gate=gate))
        turn = assistant.say("count for me", session="other")
        await model.asked()
        assistant.bus.emit(Message(topics.AUDIO_STOP, {}, {}, Session()))
        await assistant.hears("hello my friend")
        gate.set()
        await asyncio.wait_for(turn.over.wait(), 5)
        assert turn.spoken == ["One.", "Two."]


async def test_ten_sessions_at_once_are_not_mixed_up() -> None:
    async with talking(longest_answer=100_000) as (assistant, model):
        turns = {
            number: [
                f"session {number} turn {turn} and {random.Random(number * 9 + turn).random()}" for turn in range(5)
            ]
            for number in range(10)
        }

        async def talk(number: int) -> None:
            for text in turns[number]:
                assert await assistant.hears(text, session=f"s{number}") == [f"You said: {text}"]

        await asyncio.gather(*map(talk, turns))
        for request in model.requests:
            said = [one["content"] for one in request["messages"] if one["role"] == "user"]
            number = int(said[-1].split()[1])
            assert said == turns[number][: len(said)]


async def test_turns_with_random_faults_all_end_once_and_take_no_more_memory() -> None:
    choice = random.Random(7)
    async with talking(stall_timeout=0.02, answer_timeout=0.5, memory_turns=3) as (assistant, model):

        async def some(number: int) -> int:
            for turn in range(number):
                fault = choice.choice(["none", "none", "cut", "garbage", "hang up", "huge", "not a stream", "stall"])
                model.replies(ModelReply(["Well. ", "Go"] if fault != "none" else ["Well."], fault=fault))
                under_way = assistant.say("tell me something", session=f"s{turn % 20}")
                while not under_way.over.is_set():
                    await assistant.clock.advance(0.5)
                    await asyncio.wait((asyncio.ensure_future(asyncio.sleep(0.002)),))
                assert under_way.spoken
            await assistant.hears("that is all")
            assistant.messages.clear()
            assistant.rendered.clear()
            model.requests.clear()
            model.headers.clear()
            gc.collect()
            return tracemalloc.get_traced_memory()[0]

        await some(40)
        tracemalloc.start()
        sizes = [await some(20) for _ in range(5)]
        tracemalloc.stop()
        # At any moment the server may hold what it could not send, 2 MB: the least of some measurements is without it.
        assert min(sizes[2:]) - min(sizes[:2]) < 1_500_000, "traces of turns are kept, and nothing else"


# Privacy.


async def test_what_is_asked_during_an_answer_is_answered_after_it() -> None:
    async with talking() as (assistant, model):
        rest = asyncio.Event()
        model.replies(ModelReply(["One. ", "Two."], gate=rest), ModelReply(["Three."]))
        first, second = assistant.say("tell me the first two"), assistant.say("and the third")
        await model.asked()
        rest.set()
        await first.over.wait()
        await second.over.wait()
        assert [spoken.text for spoken in assistant.rendered] == ["One.", "Two.", "Three."]
        assert [said["content"] for said in model.requests[1]["messages"][1:]] == [
            "tell me the first two",
            "One. Two.",
            "and the third",
        ]


async def test_stop_ends_the_answer_and_those_that_wait_for_it() -> None:
    async with talking() as (assistant, model):
        model.replies(ModelReply(["One. ", "Two."], gate=asyncio.Event()))
        turns = [assistant.say("tell me something"), assistant.say("and more")]
        await model.asked()
        await assistant.hears("stop")
        for turn in turns:
            await turn.over.wait()
        assert len(model.requests) == 1
        assert await assistant.hears("hello there") == ["You said: hello there"]


@pytest.mark.parametrize("name", ["Dr. Who", "C-3PO", "weather", "Stop", "Ana María", "{x}"])
async def test_a_persona_may_have_any_name_that_can_be_said(name: str) -> None:
    async with talking(personas={"hark": {}, name: {}}) as (assistant, _model):
        spoken = name.strip("{}").lower().replace(".", "")
        assert await assistant.hears(f"ask {spoken} why Ada left", session="a") == ["You said: why Ada left"]
        await assistant.hears(f"talk to {spoken}", session="a")
        assert assistant.of(topics.PERSONA_ACTIVATED)[-1].data["persona_id"] == name
        await assistant.hears(f"goodbye {spoken}", session="a")
        assert assistant.of(topics.PERSONA_DISMISSED)[-1].data["persona_id"] == name


async def test_why_shows_what_left_the_device() -> None:
    async with talking(model="small") as (assistant, model):
        await assistant.hears("my name is bo indeed")
        await assistant.hears("what is my name again")
        size = sum(len(said["content"]) for said in model.requests[1]["messages"])
        place = model.url.removesuffix("/v1")
        assert f"sent to {place}, small: {size} characters, 1 earlier exchange" in assistant.why()


async def test_a_session_can_deny_personas() -> None:
    async with talking() as (assistant, model):
        for active in (None, "alice"):
            session = Session("x", blacklisted_pipelines=("persona",))
            session = session if active is None else session.replace(persona_id=active)
            assert await assistant.hears("tell me something", session=session) == []
        assert model.requests == []


async def test_nothing_of_a_private_skill_is_sent() -> None:
    async with talking(Lamp(), private_skills=["desk_lamp.skill"]) as (assistant, model):
        await assistant.hears("turn on the lamp")
        await assistant.hears("tell me something")
        assert "lamp" not in str(model.requests)


async def test_a_key_is_sent_and_never_shown(
    tmp_path: Path, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    caplog.set_level(logging.DEBUG)
    key = "sk-secret-0123456789"
    monkeypatch.setenv("MODEL_KEY", key)
    (tmp_path / "key").write_text(f"{key}\n")
    for table in ({"key_file": str(tmp_path / "key")}, {"key_variable": "MODEL_KEY"}):
        async with talking(**table) as (assistant, model):
            await assistant.hears("tell me something")
            model.replies(ModelReply([f"the key {key} is wrong"], status=401))
            await assistant.hears("tell me something")
            assert model.headers[0]["authorization"] == f"Bearer {key}"
            shown = [assistant.why(), caplog.text, str(assistant.messages)]
            shown.append(str(await _problem(assistant)))
            assert not any(key in text for text in shown)


async def _problem(assistant: Assistant) -> str:
    return next(one.plugin.problem() for one in assistant.runtime.pipeline if one.id == "persona")


@pytest.mark.parametrize(
    ("table", "reason"),
    [
        ({"key_file": "/does/not/exist"}, "the key file /does/not/exist cannot be read: No such file"),
        ({"key_variable": "HARK_NO_SUCH_KEY"}, "the environment variable HARK_NO_SUCH_KEY holds no key"),
        ({"endpoint": "not a url"}, "is not the URL of an endpoint"),
        ({"endpoint": "http://user:pass@127.0.0.1/v1"}, "holds a password"),
        ({"endpoint": ""}, "no endpoint is configured"),
        ({"personas": {"x": {"prompt": 3}}}, "its settings are wrong"),
    ],
)
async def test_settings_that_cannot_work_are_refused_with_the_reason(
    table: dict[str, object], reason: str, caplog: pytest.LogCaptureFixture
) -> None:
    async with talking(**table):
        assert reason in caplog.text
        assert "pass@" not in caplog.text


async def test_a_key_never_goes_over_the_network_unencrypted(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setenv("MODEL_KEY", "sk-secret")
    async with talking(endpoint="http://models.example.com/v1", key_variable="MODEL_KEY"):
        assert "would be sent unencrypted over the network; use an https URL" in caplog.text


# In the product.


async def test_an_answered_utterance_needs_no_remark() -> None:
    async with talking(Remarks()) as (assistant, model):
        assert await assistant.hears("tell me something") == ["You said: tell me something"]
        model.fails(401)
        assert await assistant.hears("tell me something") == ["My language model does not accept my key."]


async def test_a_fallback_skill_that_can_help_comes_before_the_model() -> None:
    class Sums(Skill):
        id = "sums.skill"

        @fallback(40, when=lambda _self, said, _lang, _session: "divide" in said[0])
        def divide(self, turn: Turn) -> str:
            return "That is 28."

    class Limits(Skill):
        id = "limits.skill"

        @fallback(96)
        def refuse(self, turn: Turn) -> str:
            return "I cannot do that."

    async with ModelServer() as model:
        given = settings_from({"plugins": {"persona": {"endpoint": model.url}}})
        plugins = [plugin() for plugin in DEFAULT_PLUGINS if not issubclass(plugin, Skill)]
        async with Assistant(*plugins, Persona(), Sums(), Limits(), settings=given) as assistant:
            assert await assistant.hears("divide that by three") == ["That is 28."]
            assert await assistant.hears("multiply that") == ["You said: multiply that"]


@pytest.mark.parametrize(
    ("tree", "has"),
    [
        ({}, ()),
        ({"plugins": {"persona": {"endpoint": "ollama"}}}, ("persona", "persona_fallback")),
        ({"plugins": {"persona": {"endpoint": "ollama", "answers_the_rest": False}}}, ("persona",)),
        ({"plugins": {"persona": {"endpoint": "ollama"}}, "assistant": {"pipeline": ["stop", "fallback"]}}, ()),
        ({"plugins": {"persona": {"default": "hark"}}}, ()),
    ],
)
def test_personas_are_in_the_default_pipeline_where_there_is_an_endpoint(
    tree: dict[str, object], has: tuple[str, ...]
) -> None:
    found = settings_from(tree)
    assert tuple(name for name in found.understanding().pipeline if "persona" in name) == has
    assert ("persona" in wanted_by(found)) == bool(has)


@pytest.mark.parametrize(
    ("name", "is_fallback"),
    [
        ("persona_high", False),
        ("persona_low", True),
        ("ovos-persona-pipeline-plugin-high", False),
        ("ovos-persona-pipeline-plugin-low", True),
        ("persona_fallback", True),
    ],
)
def test_the_names_of_ovos_lead_to_the_same_plugin(name: str, is_fallback: bool) -> None:
    entry = settings_from({}).understanding().entry(name)
    assert entry.plugin == "persona"
    assert (entry.config.get("fallback") is True) == is_fallback


async def test_a_server_without_a_model_name_is_asked_for_its_first_model() -> None:
    async with talking() as (assistant, model):
        await assistant.hears("tell me something")
        assert model.requests[0]["model"] == "test-model"
        assert await _problem(assistant) == ""


@pytest.mark.parametrize("end", ["/v1", "/v1/", "/v1/chat/completions", "", "/", "/v1 "])
async def test_an_endpoint_is_found_however_its_url_ends(end: str) -> None:
    async with ModelServer() as model:
        persona = Persona()
        table = settings(model, endpoint=model.url.removesuffix("/v1") + end)
        async with Assistant(persona, settings=table) as assistant:
            assert await assistant.hears("hello there") == ["You said: hello there"]
            assert persona.problem() == ""


async def test_a_long_list_of_models_is_read() -> None:
    names = [f"vendor/a-model-with-a-long-name-{number}" for number in range(2_000)]
    body = json.dumps({"data": [{"id": name} for name in names]}).encode()

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        writer.write(b"HTTP/1.0 200 OK\r\nContent-Type: application/json\r\n\r\n" + body)
        await writer.drain()
        writer.close()

    async with await asyncio.start_server(serve, "127.0.0.1", 0) as server:
        url = f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}/v1"
        persona = Persona()
        table = {"assistant": {"pipeline": PIPELINE}, "plugins": {"persona": {"endpoint": url, "model": names[-1]}}}
        async with Assistant(persona, settings=table):
            assert persona.problem() == ""


async def test_doctor_says_which_models_there_are_and_that_a_server_does_not_answer() -> None:
    async with talking(model="large") as (assistant, _):
        assert "has no model 'large'; it has: test-model" in await _problem(assistant)
    async with ModelServer() as model:
        table = settings(model)
    async with Assistant(Persona(), settings=table) as assistant:
        assert "is the server running?" in await _problem(assistant)


def test_local_servers_that_run_are_found(monkeypatch: pytest.MonkeyPatch) -> None:
    async def look() -> dict[str, list[str]]:
        async with ModelServer() as model:
            presets = {"ollama": model.url, "vllm": "http://127.0.0.1:9/v1"}
            monkeypatch.setattr("hark.builtin.persona.settings.PRESETS", presets)
            return await asyncio.to_thread(running_presets, 5.0)

    assert asyncio.run(look()) == {"ollama": ["test-model"]}


COMMANDS = tomllib.loads((Path(__file__).parents[3] / "data" / "persona_commands.toml").read_text())


@pytest.mark.parametrize("lang", COMMANDS)
async def test_commands_are_understood(lang: str) -> None:
    async with ModelServer() as model:
        table = settings(model)
        table["assistant"] = {"pipeline": PIPELINE, "lang": lang}
        async with Assistant(Persona(), Normalize(), settings=table) as assistant:
            for number, (text, command) in enumerate(COMMANDS[lang].items()):
                said = text.removeprefix("* ")
                session = Session(f"s{number}").replace(persona_id="" if said == text else "alice")
                await assistant.hears(said, session=session)
                done = [message.type for message in assistant.messages if message.type.startswith("persona:")]
                assert (text, done[number:]) == (text, [f"persona:{command}"])
            announced = {command: list(COMMANDS[lang].values()).count(command) for command in ("summon", "release")}
            assert len(assistant.of(topics.PERSONA_ACTIVATED)) == announced["summon"]
            assert len(assistant.of(topics.PERSONA_DISMISSED)) == announced["release"]


async def test_who_is_talking_is_the_persona_that_was_summoned() -> None:
    async with talking(SmallTalkSkill()) as (assistant, _model):
        await assistant.hears("talk to alice")
        assert "alice" in (await assistant.hears("who am I talking to"))[0]
        await assistant.hears("goodbye alice")
        assert "alice" not in (await assistant.hears("who am I talking to"))[0]


async def test_the_model_reads_what_was_said_with_its_courtesy() -> None:
    async with talking(Normalize()) as (assistant, model):
        await assistant.hears("hello, could you please tell me about whales")
        assert model.requests[0]["messages"][-1]["content"] == "hello, could you please tell me about whales"
