"""OVOS-INTENT-3: what an intent is, and what the engines that ship make of its definition."""

from __future__ import annotations

import logging
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from flow.stage import MakeAssistant, silent, skill, turn_of
from hark.app.settings import settings_from
from hark.builtin import KeywordMatcher, TemplateMatcher
from hark.model import Message, Session
from hark.plugins import Match, Plugin, Turn
from hark.skills import MalformedIntent, Skill, intent, keywords
from hark.spec import topics
from hark.testing import Assistant, settle

ROBOT = "robot.demo"
IDENTITY = {"skill_id": ROBOT, "intent_name": "send_robot", "lang": "en-US"}


def voc(name: str, *samples: str) -> dict[str, Any]:
    """A vocabulary descriptor."""
    return {"name": name, "samples": list(samples or (name,))}


SEND_ROBOT = {
    **IDENTITY,
    "required": [voc("move", "move", "send", "drive"), voc("robot", "robot", "vacuum cleaner")],
    "one_of": [[voc("kitchen"), voc("hall", "hall", "front hall")]],
    "optional": [voc("soon", "now", "right now")],
    "excluded": [voc("question", "where is", "did")],
}


def robot(**handlers: Any) -> Plugin:
    """Somebody who handles what is registered by hand."""
    return skill(ROBOT, quick=True, **{"send_robot": silent, "other": silent, **handlers})


def tell(hark: Assistant, topic: str, **data: Any) -> None:
    """Put a registration on the bus, as a skill of another process would."""
    hark.bus.emit(Message(topic, data))


def keyword(hark: Assistant, **changes: Any) -> None:
    """Register the worked example of the catalogue, or what is changed of it."""
    tell(hark, topics.REGISTER_KEYWORD, **{**SEND_ROBOT, **changes})


def template(hark: Assistant, *samples: str, **changes: Any) -> None:
    """Register the same intent by templates."""
    tell(hark, topics.REGISTER_TEMPLATE, **{**IDENTITY, "samples": list(samples), **changes})


async def heard(hark: Assistant, text: str, **how: Any) -> Message | None:
    """The dispatch an utterance leads to, or None."""
    await hark.hears(text, **how)
    return next((message for message in turn_of(hark) if ":" in message.type), None)


async def slots(hark: Assistant, text: str, **how: Any) -> dict[str, str] | None:
    """The slots with which an utterance is dispatched, or None."""
    dispatch = await heard(hark, text, **how)
    return None if dispatch is None else dict(dispatch.data["slots"])


def announced(hark: Assistant, topic: str) -> list[Mapping[str, Any]]:
    """What was registered on a topic, each once: skills say it again when an assistant gets ready."""
    sent = [message.data for message in hark.of(topic)]
    return [data for place, data in enumerate(sent) if data not in sent[:place]]


def listed(hark: Assistant) -> list[tuple[str, str, str, str]]:
    """What is registered: skill, intent, language and method."""
    entries = [definition.key for definition in hark.runtime.orchestrator.manifest]
    return sorted((key.skill_id, key.intent_name, key.lang, key.method) for key in entries)


class Lamp(Skill):
    """A skill as authors write one: one intent by both methods and in two languages, and another."""

    id = "lamp.skill"
    quick = True

    @keywords(required={"on": ["(turn|switch) on"]}, one_of=[{"lamp": ["lamp"], "light": ["light"]}])
    @intent("licht an", lang="de-DE")
    @intent("let there be light", blacklist=["moon light"])
    def on(self, turn: Turn) -> str:
        return f"on {sorted(turn.slots)}"

    @intent("lamp off in {room}", "lamp off")
    def off(self, turn: Turn) -> str:
        return "off"


BOTH = {"assistant": {"lang": "en-US", "langs": ["de-DE"], "pipeline": ["keyword", "template"]}}


# §1: an intent belongs to one skill and has one handler.


@pytest.mark.spec("INTENT-3/1.a")
@pytest.mark.spec("INTENT-3/3.f")
async def test_the_same_name_in_another_skill_is_another_intent(assistant: MakeAssistant) -> None:
    async with assistant(KeywordMatcher(), robot(), skill("other.demo", quick=True, send_robot=silent)) as hark:
        keyword(hark)
        keyword(hark, skill_id="other.demo", required=[voc("drone")])
        mine, other = await heard(hark, "move robot kitchen"), await heard(hark, "drone kitchen")
    assert mine is not None
    assert other is not None
    assert (mine.type, other.type) == ("robot.demo:send_robot", "other.demo:send_robot")


@pytest.mark.spec("INTENT-3/1.b")
@pytest.mark.spec("INTENT-3/3.b")
@pytest.mark.spec("INTENT-3/8.a")
def test_two_methods_of_a_skill_cannot_have_one_intent() -> None:
    with pytest.raises(MalformedIntent, match="go"):

        class Twice(Skill):
            id = "twice.skill"

            @intent("go")
            def go(self, turn: Turn) -> None: ...

            @keywords(required={"run": ["run"]}, name="go")
            def run(self, turn: Turn) -> None: ...


@pytest.mark.spec("INTENT-3/1.c")
@pytest.mark.spec("INTENT-3/6.1.a")
@pytest.mark.spec("INTENT-3/6.1.c")
@pytest.mark.spec("INTENT-3/3.d")
@pytest.mark.spec("INTENT-3/3.e")
async def test_whatever_a_skill_registers_it_handles(assistant: MakeAssistant) -> None:
    async with assistant(Lamp(), KeywordMatcher(), settings=BOTH) as hark:
        assert listed(hark) == [
            ("lamp.skill", "off", "en-us", "template"),
            ("lamp.skill", "on", "de-de", "template"),
            ("lamp.skill", "on", "en-us", "keyword"),
            ("lamp.skill", "on", "en-us", "template"),
        ]
        said = {"switch on the lamp": "en-US", "licht an": "de-DE", "let there be light": "en-US", "lamp off": "en-US"}
        answers = [await hark.hears(text, lang=lang) for text, lang in said.items()]
    assert answers == [["on ['lamp', 'on']"], ["on []"], ["on []"], ["off"]]


@pytest.mark.spec("INTENT-3/1.d")
async def test_nobody_but_the_orchestrator_calls_a_handler(assistant: MakeAssistant) -> None:
    refused: list[str] = []

    class Meddler(Lamp):
        id = "meddler.skill"

        async def start(self) -> None:
            self.host.on("test.poke", self._poked)

        def _poked(self, _message: Message) -> None:
            try:
                self.host.emit("lamp.skill:off", {"slots": {}, "lang": "en-US", "utterance": "x"})
            except PermissionError as error:
                refused.append(str(error))

    async with assistant(Lamp(), Meddler()) as hark:
        hark.bus.emit(Message("test.poke"))
        await settle()
        assert "lamp.skill:off" not in hark.topics()
    assert len(refused) == 1


# §2: two methods.


@pytest.mark.spec("INTENT-3/2.a")
@pytest.mark.spec("INTENT-3/2.b")
@pytest.mark.spec("INTENT-3/5.5.b")
@pytest.mark.spec("INTENT-3/8.a")
async def test_a_registration_is_of_one_method_and_an_intent_may_have_one_of_each(assistant: MakeAssistant) -> None:
    async with assistant(Lamp(), settings={"assistant": {"langs": ["de-DE"]}}) as hark:
        by_keyword, by_template = announced(hark, topics.REGISTER_KEYWORD), announced(hark, topics.REGISTER_TEMPLATE)
    roles = {"required", "optional", "one_of", "excluded"}
    assert [data["intent_name"] for data in by_keyword] == ["on"]
    assert all("samples" not in data and "blacklist" not in data for data in by_keyword)
    assert all(roles.isdisjoint(data) and data["samples"] for data in by_template)
    keys = [(data["intent_name"], data["lang"]) for data in by_template]
    assert sorted(keys) == [("off", "en-US"), ("on", "de-DE"), ("on", "en-US")], "one message each"
    [english] = [data for data in by_template if (data["intent_name"], data["lang"]) == ("on", "en-US")]
    assert english["blacklist"] == ("moon light",), "with its templates"


@pytest.mark.spec("INTENT-3/2.c")
@pytest.mark.spec("INTENT-3/6.2.a")
@pytest.mark.spec("INTENT-3/6.2.c")
@pytest.mark.parametrize(("engine", "method"), [(KeywordMatcher, "keyword"), (TemplateMatcher, "template")])
async def test_an_engine_takes_definitions_of_its_method_and_no_others(
    assistant: MakeAssistant, engine: type[Any], method: str, caplog: pytest.LogCaptureFixture
) -> None:
    settings = {"assistant": {"pipeline": [engine.id]}}
    with caplog.at_level(logging.INFO, f"hark.plugin.{method}"):
        async with assistant(KeywordMatcher(), robot(), settings=settings) as hark:
            keyword(hark)
            template(hark, "move robot kitchen", intent_name="other")
            dispatch = await heard(hark, "move robot kitchen")
            hark.bus.emit(Message(topics.pipeline_intents_list(engine.id)))
            await settle()
            [answer] = hark.of(f"{topics.pipeline_intents_list(engine.id)}.response")
    assert engine.method == method
    assert f"accepts {method} registrations and no others" in caplog.text
    assert dispatch is not None
    assert dispatch.type == ("robot.demo:send_robot" if method == "keyword" else "robot.demo:other")
    assert [f"{ROBOT}:{one['intent_name']}" for one in answer.data["intents"]] == [dispatch.type]


# §3: identity.


@pytest.mark.spec("INTENT-3/3.a")
async def test_two_skills_cannot_have_one_id(assistant: MakeAssistant) -> None:
    async with assistant(Lamp(), Lamp()) as hark:
        [refusal] = hark.runtime.refusals
        assert "'lamp.skill' already" in str(refusal)


@pytest.mark.spec("INTENT-3/3.b")
@pytest.mark.spec("INTENT-3/6.1.d")
async def test_a_second_definition_replaces_the_first_of_its_method_wholly(assistant: MakeAssistant) -> None:
    async with assistant(KeywordMatcher(), robot(), settings=BOTH) as hark:
        keyword(hark)
        template(hark, "robot away")
        keyword(hark, required=[voc("drone")], one_of=[], excluded=[])
        assert await slots(hark, "where is the drone") == {"drone": "drone"}
        assert await slots(hark, "move robot kitchen") is None
        assert await slots(hark, "robot away") == {}
        template(hark, "robot gone")
        assert await slots(hark, "robot away") is None
        assert await slots(hark, "drone") == {"drone": "drone"}
        assert len(listed(hark)) == 2


@pytest.mark.spec("INTENT-3/3.c")
@pytest.mark.parametrize("changes", [{"skill_id": "a:b"}, {"intent_name": "a:b"}])
async def test_a_colon_in_a_name_is_rejected(
    assistant: MakeAssistant, changes: dict[str, str], caplog: pytest.LogCaptureFixture
) -> None:
    async with assistant(KeywordMatcher(), robot(), settings=BOTH) as hark:
        with caplog.at_level(logging.WARNING, "hark.plugin"):
            keyword(hark, **changes)
            template(hark, "move robot kitchen", **changes)
        assert await heard(hark, "move robot kitchen") is None
    assert len([record for record in caplog.records if "malformed" in record.getMessage()]) == 2


@pytest.mark.spec("INTENT-3/3.c")
def test_the_kit_refuses_a_colon_in_a_name() -> None:
    with pytest.raises(MalformedIntent):
        keywords(required={"a": ["a"]}, name="a:b")(lambda self, turn: None)


@pytest.mark.spec("INTENT-3/3.d")
async def test_a_registration_says_whose_intent_it_is_and_in_which_language(assistant: MakeAssistant) -> None:
    async with assistant(Lamp()) as hark:
        sent = [*announced(hark, topics.REGISTER_KEYWORD), *announced(hark, topics.REGISTER_TEMPLATE)]
    assert len(sent) == 4
    for data in sent:
        assert data["skill_id"] == "lamp.skill"
        assert data["intent_name"] in ("on", "off")
        assert data["lang"] in ("en-US", "de-DE")


# §4: keywords.


def write(folder: Path, files: Mapping[str, str]) -> Path:
    for name, text in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text, "utf-8")
    return folder


@pytest.mark.spec("INTENT-3/4.1.a")
async def test_a_vocabulary_is_the_same_from_a_file_and_inline(assistant: MakeAssistant, tmp_path: Path) -> None:
    class FromFile(Skill):
        id = "file.skill"
        locale_dir = write(tmp_path, {"en-US/on.voc": "(turn|switch) on\nignite\n"})

        @keywords(required=["on"])
        def go(self, turn: Turn) -> None: ...

    class Inline(Skill):
        id = "inline.skill"

        @keywords(required={"on": ["(turn|switch) on", "ignite"]})
        def go(self, turn: Turn) -> None: ...

    async with assistant(FromFile(), Inline()) as hark:
        first, second = announced(hark, topics.REGISTER_KEYWORD)
    assert first["required"] == second["required"]


WORKED = [
    ("send the vacuum cleaner to the front hall right now",
     {"move": "send", "robot": "vacuum cleaner", "hall": "front hall", "soon": "right now"}),
    ("robot kitchen move", {"move": "move", "robot": "robot", "kitchen": "kitchen"}),
    ("kitchen move", None),
    ("where is the robot move kitchen", None),
    ("move the robot", None),
    ("send the vacuum to the hall", None),
]  # fmt: skip
"""The worked examples of the catalogue, and the second without its robot."""


@pytest.mark.spec("INTENT-3/4.1.d")
@pytest.mark.spec("INTENT-3/4.2.a")
@pytest.mark.spec("INTENT-3/4.2.b")
@pytest.mark.spec("INTENT-3/4.2.c")
@pytest.mark.spec("INTENT-3/4.3.a")
@pytest.mark.spec("INTENT-3/4.3.b")
@pytest.mark.spec("INTENT-3/4.3.c")
@pytest.mark.spec("INTENT-3/7.a")
@pytest.mark.parametrize(("text", "expected"), WORKED)
async def test_the_worked_examples(assistant: MakeAssistant, text: str, expected: dict[str, str] | None) -> None:
    async with assistant(KeywordMatcher(), robot()) as hark:
        keyword(hark)
        assert await slots(hark, text) == expected


@pytest.mark.spec("INTENT-3/4.1.b")
@pytest.mark.spec("INTENT-3/4.2.e")
@pytest.mark.spec("INTENT-3/4.2.f")
@pytest.mark.parametrize(
    "roles",
    [
        {"required": [voc("move", "{x}")]},
        {"optional": [voc("move")]},
        {"excluded": [voc("move")]},
        {"required": [voc("move")], "excluded": [voc("move")]},
        {"required": [voc("move")], "optional": [voc("move")]},
        {"required": [voc("move")], "one_of": [[voc("move")]]},
        {"required": [voc("move")], "one_of": [[]]},
    ],
)
async def test_a_malformed_definition_is_neither_indexed_nor_written(
    assistant: MakeAssistant, roles: dict[str, Any], caplog: pytest.LogCaptureFixture
) -> None:
    def by_name(found: list[Any]) -> dict[str, list[str]]:
        return {one["name"]: one["samples"] for one in found}

    async with assistant(KeywordMatcher(), robot()) as hark:
        with caplog.at_level(logging.WARNING, "hark.plugin.keyword"):
            tell(hark, topics.REGISTER_KEYWORD, **IDENTITY, **roles)
        assert await heard(hark, "move") is None
    assert any("rejected" in record.getMessage() for record in caplog.records)
    written: dict[str, Any] = {
        role: [by_name(group) for group in found] if role == "one_of" else by_name(found)
        for role, found in roles.items()
    }
    with pytest.raises(MalformedIntent):
        keywords(**written)(lambda self, turn: None)


@pytest.mark.spec("INTENT-3/4.1.c")
@pytest.mark.spec("INTENT-3/8.b")
async def test_a_vocabulary_is_everything_its_entries_stand_for(assistant: MakeAssistant) -> None:
    async with assistant(KeywordMatcher(), robot()) as hark:
        keyword(hark, required=[voc("greet", "(hi|hey) [you]", "hello")], one_of=[])
        for text in ("hi", "hey you", "hello"):
            assert await slots(hark, text) == {"greet": text}
        assert await slots(hark, "you") is None


@pytest.mark.spec("INTENT-3/4.2.d")
async def test_a_satisfied_intent_may_lose_or_be_passed_over(assistant: MakeAssistant) -> None:
    async with assistant(KeywordMatcher(), robot()) as hark:
        keyword(hark, required=[voc("light")], one_of=[])
        keyword(hark, intent_name="other", required=[voc("light", "big light")], one_of=[])
        better = await heard(hark, "the big light")
        assert better is not None
        assert better.type == "robot.demo:other"
        assert await heard(hark, "a light heart lives long and does not worry about tomorrow") is None


@pytest.mark.spec("INTENT-3/4.2.g")
async def test_every_group_has_to_be_satisfied(assistant: MakeAssistant) -> None:
    async with assistant(KeywordMatcher(), robot()) as hark:
        keyword(hark, required=[], one_of=[[voc("a"), voc("b")], [voc("c"), voc("d")]])
        assert [await slots(hark, text) is not None for text in ("a c", "d b", "a b", "c d", "a")] == [
            True, True, False, False, False,
        ]  # fmt: skip


@pytest.mark.spec("INTENT-3/4.2.h")
async def test_a_blacklist_means_nothing_to_a_keyword_intent(assistant: MakeAssistant) -> None:
    async with assistant(KeywordMatcher(), robot()) as hark:
        keyword(hark, blacklist=["move robot"])
        assert await slots(hark, "move robot kitchen") is not None


@pytest.mark.spec("INTENT-3/4.4.a")
@pytest.mark.parametrize("said", ["kitchen", "moving", "m.*"])
async def test_there_are_no_regular_expressions(assistant: MakeAssistant, said: str) -> None:
    async with assistant(KeywordMatcher(), robot()) as hark:
        keyword(hark, required=[voc("move", "m.*", "mov[e]")], regex=["m.*"], one_of=[], excluded=[])
        assert (await slots(hark, said) is not None) is (said == "m.*")


@pytest.mark.spec("INTENT-3/4.4.b")
async def test_values_of_slots_are_not_words_of_a_vocabulary(assistant: MakeAssistant) -> None:
    async with assistant(KeywordMatcher(), robot()) as hark:
        keyword(hark)
        hint = {"skill_id": ROBOT, "entity_name": "robot", "lang": "en-US", "samples": ["hoover"]}
        tell(hark, topics.ENTITY_REGISTER, **hint)
        assert await slots(hark, "move hoover kitchen") is None
        assert await slots(hark, "move robot kitchen") is not None


# §5: templates.


@pytest.mark.spec("INTENT-3/5.1.a")
async def test_templates_are_the_same_from_a_file_and_inline(assistant: MakeAssistant, tmp_path: Path) -> None:
    class FromFile(Skill):
        id = "file.skill"
        locale_dir = write(tmp_path, {"en-US/dim.intent": "(dim|lower) {room}\ndim {room} now\n"})

        @intent(file="dim")
        def dim(self, turn: Turn) -> None: ...

    class Inline(Skill):
        id = "inline.skill"

        @intent("(dim|lower) {room}", "dim {room} now")
        def dim(self, turn: Turn) -> None: ...

    async with assistant(FromFile(), Inline()) as hark:
        first, second = announced(hark, topics.REGISTER_TEMPLATE)
    differing = {key for key in (*first, *second) if first.get(key) != second.get(key)}
    assert differing == {"skill_id"}


@pytest.mark.spec("INTENT-3/5.1.b")
@pytest.mark.spec("INTENT-3/5.1.c")
@pytest.mark.spec("INTENT-3/5.2.a")
@pytest.mark.spec("INTENT-3/5.3.a")
@pytest.mark.spec("INTENT-3/7.c")
async def test_the_slots_are_those_of_the_template_that_fits(assistant: MakeAssistant) -> None:
    async with assistant(robot()) as hark:
        template(hark, "play {query}", "wake me at {time} with {song}", "silence please")
        assert await slots(hark, "play jazz") == {"query": "jazz"}
        assert await slots(hark, "wake me at seven with jazz") == {"time": "seven", "song": "jazz"}
        assert await slots(hark, "silence please") == {}


@pytest.mark.spec("INTENT-3/5.2.b")
@pytest.mark.spec("INTENT-3/5.2.c")
async def test_known_values_help_and_shut_nobody_out(assistant: MakeAssistant) -> None:
    async with assistant(robot()) as hark:
        template(hark, "play {query} in the kitchen")
        assert await slots(hark, "play jazz in the kitchen") == {"query": "jazz"}
        hint = {"skill_id": ROBOT, "entity_name": "query", "lang": "en-US", "samples": ["jazz"]}
        tell(hark, topics.ENTITY_REGISTER, **hint)
        assert await slots(hark, "play jazz in the kitchen") == {"query": "jazz"}
        assert await slots(hark, "play fado in the kitchen") == {"query": "fado"}


@pytest.mark.spec("INTENT-3/5.3.b")
@pytest.mark.spec("INTENT-3/5.3.c")
async def test_a_required_slot_has_to_be_filled_by_whichever_template(assistant: MakeAssistant) -> None:
    async with assistant(robot()) as hark:
        template(hark, "dim it", "dim hall", "dim {room}", required_slots=["room"], slot_blacklist={"room": ["it"]})
        assert await slots(hark, "dim it") is None
        assert await slots(hark, "dim hall") == {"room": "hall"}


@pytest.mark.spec("INTENT-3/5.3.d")
@pytest.mark.spec("INTENT-3/5.3.e")
async def test_a_slot_that_no_template_has_cannot_be_required(
    assistant: MakeAssistant, caplog: pytest.LogCaptureFixture
) -> None:
    async with assistant(robot()) as hark:
        with caplog.at_level(logging.WARNING, "hark.plugin.template"):
            template(hark, "dim {room}", required_slots=["z"])
        assert await slots(hark, "dim hall") is None
    assert any("'z'" in record.getMessage() for record in caplog.records)
    with pytest.raises(MalformedIntent, match="'z'"):
        intent("dim {room}", required_slots=["z"])(lambda self, turn: None)


@pytest.mark.spec("INTENT-3/5.3.f")
async def test_a_slot_in_every_sample_is_required(assistant: MakeAssistant) -> None:
    class Seats(Skill):
        id = "seats.skill"

        @intent("book {seat} [for {guest}]", "reserve {seat}")
        def always(self, turn: Turn) -> None: ...

        @intent("book {seat}", "book a table")
        def sometimes(self, turn: Turn) -> None: ...

    async with assistant(Seats()) as hark:
        sent = announced(hark, topics.REGISTER_TEMPLATE)
        required = {data["intent_name"]: data.get("required_slots", ()) for data in sent}
    assert required == {"always": ("seat",), "sometimes": ()}


@pytest.mark.spec("INTENT-3/5.5.a")
@pytest.mark.spec("INTENT-3/8.c")
async def test_a_blacklisted_phrase_rules_out_the_best_fit(assistant: MakeAssistant) -> None:
    async with assistant(robot()) as hark:
        template(hark, "play the film trailer", "play {query}", blacklist=["(film|movie) trailer"])
        assert await slots(hark, "play the film trailer") is None
        assert await slots(hark, "play the film") == {"query": "the film"}


# §§6, 7: registration, matching, routing.


@pytest.mark.spec("INTENT-3/6.1.b")
@pytest.mark.spec("INTENT-3/6.2.d")
@pytest.mark.spec("INTENT-3/7.a")
async def test_an_engine_reports_one_intent_and_calls_nobody(assistant: MakeAssistant) -> None:
    ran: list[Turn] = []
    engine = KeywordMatcher()
    async with assistant(engine, robot(send_robot=ran.append, other=ran.append)) as hark:
        keyword(hark)
        keyword(hark, intent_name="other")
        await settle()
        claim = engine.match(["send robot hall"], "en-US", Session())
        nothing = engine.match(["hello"], "en-US", Session())
        assert ran == []
    assert isinstance(claim, Match)
    assert not isinstance(nothing, Match)
    assert all(type(text) is str for pair in claim.slots.items() for text in pair)


@pytest.mark.spec("INTENT-3/7.b")
@pytest.mark.spec("INTENT-3/6.1.c")
async def test_a_match_runs_its_one_handler(assistant: MakeAssistant) -> None:
    ran: list[str] = []

    def note(turn: Turn) -> None:
        ran.append(turn.message.type)

    async with assistant(KeywordMatcher(), robot(send_robot=note, other=note)) as hark:
        keyword(hark)
        keyword(hark, intent_name="other")
        await hark.hears("send robot hall")
    assert ran == ["robot.demo:send_robot"]


@pytest.mark.spec("INTENT-3/6.1.e")
async def test_what_is_deregistered_is_not_dispatched(assistant: MakeAssistant) -> None:
    async with assistant(KeywordMatcher(), robot(), settings=BOTH) as hark:
        keyword(hark)
        template(hark, "robot away")
        tell(hark, topics.INTENT_DEREGISTER, skill_id=ROBOT, intent_name="send_robot")
        assert await heard(hark, "send robot hall") is None
        assert await heard(hark, "robot away") is None


@pytest.mark.spec("INTENT-3/6.1.f")
async def test_a_skill_that_stops_takes_all_its_intents_along(assistant: MakeAssistant) -> None:
    lamp = Lamp()
    async with assistant(lamp, KeywordMatcher(), settings=BOTH) as hark:
        assert len(listed(hark)) == 4
        await lamp.end()
        await settle()
        assert listed(hark) == []
        assert await heard(hark, "switch on the lamp") is None


def test_the_default_pipeline_has_an_engine_for_each_method() -> None:
    assert {"template", "keyword"} <= set(settings_from({}).assistant.pipeline)
