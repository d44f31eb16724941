"""OVOS-INTENT-2: locale folders, as the loader reads them, skills use them, and `hark lint` looks them over."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from random import Random
from typing import Any

import pytest

from flow.stage import MakeAssistant, turn_of
from hark.app.runtime import Runtime, Storage
from hark.app.settings import settings_from
from hark.builtin.transformers.intent.defaults import SessionDefaults
from hark.builtin.transformers.intent.entities import EntityLookup
from hark.builtin.transformers.intent.keywords import TemplateKeywords
from hark.bus import LocalBus
from hark.intents.locale import (
    Language,
    Locale,
    MalformedResource,
    MissingResource,
    Renderer,
    Role,
    UnfilledSlot,
    read_lines,
)
from hark.plugins import Match, PipelinePlugin, Session, Turn
from hark.skills import MalformedIntent, Skill, intent
from hark.spec import topics
from hark.testing import Assistant, FakeClock
from hark.tools.lint import LintCode, LintFinding, Severity, check

Files = Mapping[str, str | bytes]


def write(folder: Path, files: Files) -> Path:
    for name, content in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return folder


def english(folder: Path, files: Files) -> Language:
    """The files as the English of a skill."""
    write(folder / "skill" / "locale" / "en-US", files)
    return Locale(folder / "skill" / "locale").language("en-US")


def linted(folder: Path, files: Files) -> list[LintFinding]:
    """What lint has to say about a skill with these files."""
    write(folder / "skill" / "locale", files)
    return check([folder / "skill"]).findings


def codes(findings: list[LintFinding]) -> set[LintCode]:
    return {finding.code for finding in findings}


def skill_of(folder: Path, files: Files, *intents: str) -> Skill:
    """A skill that says which slots each of its intents was called with."""

    def told(self: Skill, turn: Turn) -> str:
        return f"{turn.intent_name} {dict(turn.slots)}"

    write(folder, files)
    members: dict[str, Any] = {"id": "test.skill", "locale_dir": folder}
    for name in intents:

        def method(self: Skill, turn: Turn) -> str:
            return told(self, turn)

        members[f"on_{name}"] = intent(file=name)(method)
    made: Skill = type("Made", (Skill,), members)()
    return made


async def matched(hark: Assistant, text: str) -> str | None:
    """The intent an utterance leads to, or None."""
    await hark.hears(text)
    return next((message.type.partition(":")[2] for message in turn_of(hark) if ":" in message.type), None)


# §§1, 2: roles and places.


@pytest.mark.spec("INTENT-2/1.a")
@pytest.mark.spec("INTENT-2/5.7")
def test_what_has_another_extension_is_never_read(tmp_path: Path) -> None:
    language = english(tmp_path, {"a.rx": "(unclosed", "b.value": b"\xff", "c.voc": "yes", "hassil.json": "{"})
    language.check()
    assert [str(resource) for resource in language.files] == ["c.voc"]
    assert {role.value for role in Role} == {
        *(".intent", ".dialog", ".entity", ".voc", ".blacklist", ".required", ".prompt"),
    }


@pytest.mark.spec("INTENT-2/2.a")
def test_a_file_outside_every_language_is_not_loaded_and_lint_tells(tmp_path: Path) -> None:
    [finding] = linted(tmp_path, {"x.voc": "lost", "en-US/y.voc": "found"})
    assert (finding.code, finding.path.name) == (LintCode.MISPLACED, "x.voc")
    assert Locale(tmp_path / "skill" / "locale").languages == ("en-US",)


@pytest.mark.spec("INTENT-2/2.b")
@pytest.mark.spec("INTENT-2/2.c")
def test_folders_between_mean_nothing(tmp_path: Path) -> None:
    here = english(tmp_path / "1", {"x.voc": "yes"})
    there = english(tmp_path / "2", {"a/b/x.voc": "yes"})
    assert here.samples(Role.VOCABULARY, "x") == there.samples(Role.VOCABULARY, "x") == ("yes",)


@pytest.mark.spec("INTENT-2/2.d")
def test_one_name_can_have_several_roles(tmp_path: Path) -> None:
    language = english(tmp_path, {"confirm.intent": "go on", "confirm.dialog": "All right."})
    assert language.samples(Role.INTENT, "confirm") == ("go on",)
    assert language.samples(Role.DIALOG, "confirm") == ("All right.",)


@pytest.mark.spec("INTENT-2/2.e")
@pytest.mark.spec("INTENT-2/2.f")
def test_one_role_cannot_have_a_name_twice(tmp_path: Path) -> None:
    files = {"en-US/play.intent": "play", "en-US/sub/play.intent": "play it"}
    assert LintCode.FILE_TWICE in codes(linted(tmp_path, files))
    with pytest.raises(MalformedResource, match=r"play\.intent: .*same name"):
        Locale(tmp_path / "skill" / "locale")
    with pytest.raises(MalformedIntent, match="same name"):
        skill_of(tmp_path / "other", files, "play")


@pytest.mark.spec("INTENT-2/2.g")
@pytest.mark.parametrize("name", ["Bad.voc", "bad-name.voc", "bad name.voc", "bäd.voc", "bad.Voc"])
def test_a_name_has_small_letters_digits_and_underscores(tmp_path: Path, name: str) -> None:
    assert LintCode.FILE_NAME in codes(linted(tmp_path, {f"en-US/{name}": "yes"}))
    with pytest.raises(MalformedResource):
        Locale(tmp_path / "skill" / "locale")


@pytest.mark.spec("INTENT-2/2.h")
def test_what_names_a_slot_begins_with_no_digit(tmp_path: Path) -> None:
    assert LintCode.FILE_NAME in codes(linted(tmp_path, {"en-US/2bad.entity": "yes"}))
    with pytest.raises(MalformedResource, match="digit"):
        Locale(tmp_path / "skill" / "locale")
    english(tmp_path / "fine", {"2nd.voc": "second", "good2.entity": "yes"}).check()


@pytest.mark.spec("INTENT-2/2.i")
def test_a_folder_is_named_by_a_language_tag(tmp_path: Path) -> None:
    assert LintCode.LANGUAGE_NAME in codes(linted(tmp_path, {"in_english/x.voc": "yes"}))
    with pytest.raises(MalformedResource, match="no language tag"):
        Locale(tmp_path / "skill" / "locale")


@pytest.mark.spec("INTENT-2/2.j")
def test_tags_are_compared_without_regard_to_case(tmp_path: Path) -> None:
    locale = Locale(write(tmp_path, {"en-us/x.voc": "yes", "PT-br/x.voc": "sim"}))
    assert set(locale.languages) == {"en-US", "pt-BR"}
    for tag in ("en-US", "EN-us"):
        assert locale.language(tag).samples(Role.VOCABULARY, "x") == ("yes",)


# §2.1: whose file counts.


@pytest.mark.spec("INTENT-2/2.1.a")
@pytest.mark.spec("INTENT-2/4.4.g")
@pytest.mark.spec("INTENT-2/5.2")
@pytest.mark.parametrize("role", Role)
def test_the_user_comes_before_the_skill_and_the_skill_before_the_core(tmp_path: Path, role: Role) -> None:
    roots = {name: tmp_path / name for name in ("user", "skill", "core")}
    for name, root in roots.items():
        write(root, {f"en-US/{name}/x{role.value}": f"from {name}"})

    def found() -> str:
        language = Locale(roots["skill"], user=roots["user"], core=roots["core"]).language("en-US")
        return language.lines(role, "x")[0].text if role.has_lines else language.prompt("x")

    for name, root in roots.items():
        assert found() == f"from {name}"
        (root / "en-US" / name / f"x{role.value}").unlink()


@pytest.mark.spec("INTENT-2/2.1.b")
def test_a_file_is_replaced_as_a_whole(tmp_path: Path) -> None:
    write(tmp_path, {"skill/en-US/x.voc": "a\nb\nc\nd\ne", "user/en-US/x.voc": "z"})
    locale = Locale(tmp_path / "skill", user=tmp_path / "user")
    assert locale.language("en-US").samples(Role.VOCABULARY, "x") == ("z",)


@pytest.mark.spec("INTENT-2/2.1.c")
async def test_the_users_files_are_under_the_skills_data_directory(tmp_path: Path) -> None:
    skill = skill_of(tmp_path / "skill", {"en-US/go.intent": "go"}, "go")
    write(tmp_path / "data", {"test.skill/locale/en-US/go.intent": "leave"})
    bus = LocalBus()
    seen: list[Any] = []
    bus.on(topics.REGISTER_TEMPLATE, lambda message: seen.append(message.data["samples"]))
    settings = settings_from({"assistant": {"pipeline": []}})
    runtime = Runtime(settings, bus, FakeClock(), (skill,), storage=Storage(data_root=tmp_path / "data"))
    await runtime.start()
    await runtime.stop()
    await bus.close()
    assert set(seen) == {("leave",)}
    core = write(tmp_path / "core", {"locale/en-US/x.voc": "core"})
    assert Locale(core=core / "locale").language("en-US").samples(Role.VOCABULARY, "x") == ("core",)


# §2.2: near languages.


@pytest.mark.spec("INTENT-2/2.2.a")
@pytest.mark.spec("INTENT-2/2.2.b")
@pytest.mark.spec("INTENT-2/5.6")
def test_a_near_language_serves_where_the_exact_one_is_missing_unless_that_is_switched_off(tmp_path: Path) -> None:
    folder = write(tmp_path, {"en-US/x.dialog": "exact", "en-GB/x.dialog": "near", "en-US/y.dialog": "here"})
    assert Locale(folder).find(Role.DIALOG, "x", "en-US").tag == "en-US"
    assert Locale(folder).find(Role.DIALOG, "y", "en-AU").tag == "en-US"
    for wanted in ("en-AU", "de-DE"):
        with pytest.raises(MissingResource):
            Locale(folder, near=wanted == "de-DE").find(Role.DIALOG, "x", wanted)
    locale = Locale(folder)
    assert locale.language("en-US").lines(Role.DIALOG, "x") == locale.language("en-US").lines(Role.DIALOG, "x")


# §2.3: the same in every language.

ALIKE: Files = {
    "en-US/play.intent": "play {song}",
    "en-US/done.dialog": "Playing {song}.",
    "en-US/bands.voc": "abba",
    "pt-PT/play.intent": "toca {song}",
    "pt-PT/done.dialog": "A tocar {song}.",
    "pt-PT/bands.voc": "abba",
}


def without(*names: str) -> Files:
    return {name: content for name, content in ALIKE.items() if name not in names}


@pytest.mark.spec("INTENT-2/2.3.a")
@pytest.mark.spec("INTENT-2/2.3.c")
@pytest.mark.spec("INTENT-2/2.3.f")
@pytest.mark.parametrize("missing", ["done.dialog", "bands.voc", "play.intent"])
def test_what_one_language_has_and_another_lacks_is_told_by_role_and_name(tmp_path: Path, missing: str) -> None:
    assert linted(tmp_path / "whole", ALIKE) == []
    [finding] = linted(tmp_path, without(f"pt-PT/{missing}"))
    assert finding.code is LintCode.MISSING_FILE
    assert finding.message.startswith(f"{missing} is missing")
    assert finding.path.name == "pt-PT"


@pytest.mark.spec("INTENT-2/2.3.b")
def test_a_blacklist_or_a_prompt_of_one_language_is_no_gap(tmp_path: Path) -> None:
    assert linted(tmp_path, {**ALIKE, "en-US/play.blacklist": "ball", "en-US/x.prompt": "Be brief."}) == []


@pytest.mark.spec("INTENT-2/2.3.d")
@pytest.mark.spec("INTENT-2/2.3.g")
def test_an_intent_that_lacks_its_vocabulary_is_malformed_and_that_is_no_gap(tmp_path: Path) -> None:
    files = {"en-US/play.intent": "play <bands>", "pt-PT/play.intent": "toca <bands>", "en-US/bands.voc": "abba"}
    [finding] = linted(tmp_path, files)
    assert finding.code is LintCode.UNDEFINED_VOCABULARY
    assert not finding.code.is_parity
    assert finding.path.name == "play.intent"
    with pytest.raises(MalformedIntent, match=r"pt-PT/play\.intent:1:6: the vocabulary <bands>"):
        skill_of(tmp_path / "other", files, "play")


@pytest.mark.spec("INTENT-2/2.3.e")
@pytest.mark.spec("INTENT-2/2.3.f")
def test_slots_have_the_same_names_in_every_language(tmp_path: Path) -> None:
    findings = linted(tmp_path, {**ALIKE, "pt-PT/play.intent": "toca {musica}", "pt-PT/done.dialog": "A tocar {song}."})
    assert codes(findings) == {LintCode.MISSING_SLOT}
    assert all("'play'" in finding.message and finding.code.is_parity for finding in findings)


@pytest.mark.spec("INTENT-2/2.3.g")
def test_a_gap_makes_no_file_malformed(tmp_path: Path) -> None:
    files = without("pt-PT/done.dialog")
    assert all(finding.code.is_parity for finding in linted(tmp_path, files))
    assert {one.lang for one in skill_of(tmp_path / "other", files, "play").definitions} == {"en-US", "pt-PT"}


# §3: how files are read.


@pytest.mark.spec("INTENT-2/3.a")
def test_a_file_is_utf_8(tmp_path: Path) -> None:
    assert english(tmp_path / "1", {"x.voc": "olá"}).samples(Role.VOCABULARY, "x") == ("olá",)
    with pytest.raises(MalformedResource, match=r"x\.voc:1:3: the byte 0xe1 is no UTF-8"):
        english(tmp_path / "2", {"x.voc": "olá".encode("latin-1")}).lines(Role.VOCABULARY, "x")


@pytest.mark.spec("INTENT-2/3.b")
@pytest.mark.spec("INTENT-2/3.c")
def test_a_byte_order_mark_is_dropped_and_lint_tells(tmp_path: Path) -> None:
    assert codes(linted(tmp_path, {"en-US/x.voc": "\ufeffyes"})) == {LintCode.BYTE_ORDER_MARK}
    locale = Locale(tmp_path / "skill" / "locale")
    assert locale.language("en-US").samples(Role.VOCABULARY, "x") == ("yes",)


@pytest.mark.spec("INTENT-2/3.d")
@pytest.mark.spec("INTENT-2/3.e")
@pytest.mark.spec("INTENT-2/3.f")
@pytest.mark.spec("INTENT-2/3.g")
@pytest.mark.parametrize("end", ["\n", "\r\n"])
def test_lines_are_stripped_and_blank_ones_and_comments_skipped(tmp_path: Path, end: str) -> None:
    write(tmp_path, {"x.voc": end.join(["# a", "  yes  ", "", "   # c", "no # x", "\t", "maybe"])})
    assert [line.text for line in read_lines(tmp_path / "x.voc")] == ["yes", "no # x", "maybe"]


# §4.1 and §4.2: intents and dialogs.


@pytest.mark.spec("INTENT-2/4.1.a")
@pytest.mark.spec("INTENT-2/4.1.b")
async def test_an_intent_is_the_union_of_its_lines_and_is_called_like_its_file(
    assistant: MakeAssistant, tmp_path: Path
) -> None:
    files = {"en-US/dim.intent": "(dim|lower) {room}\ndim {room} to {level}\ndarker\ndim {room}"}
    skill = skill_of(tmp_path, files, "dim")
    samples = skill.locale.language("en-US").samples(Role.INTENT, "dim")
    assert samples == ("dim {room}", "lower {room}", "dim {room} to {level}", "darker")
    async with assistant(skill) as hark:
        assert await hark.hears("dim hall to half") == ["dim {'room': 'hall', 'level': 'half'}"]
        assert await hark.hears("darker") == ["dim {}"]


@pytest.mark.spec("INTENT-2/4.2.a")
def test_a_dialog_may_have_capitals_and_punctuation(tmp_path: Path) -> None:
    assert linted(tmp_path, {"en-US/x.dialog": "It's OK!"}) == []


class Teller(Skill):
    """Says a dialog without all its values."""

    id = "teller.skill"

    @intent("tell me")
    def tell(self, turn: Turn) -> None:
        turn.say("x", a="one")


@pytest.mark.spec("INTENT-2/4.2.b")
@pytest.mark.spec("INTENT-2/4.2.c")
async def test_a_phrase_with_an_empty_slot_is_never_said(assistant: MakeAssistant, tmp_path: Path) -> None:
    folder = write(tmp_path, {"en-US/x.dialog": "{a} and {b}"})
    renderer = Renderer(Locale(folder))
    with pytest.raises(UnfilledSlot, match=r"x\.dialog:1: the slot \{b\} has no value"):
        renderer.render("x", "en-US", {"a": "one"})
    skill = Teller()
    skill.dialogs = renderer
    async with assistant(skill) as hark:
        assert await hark.hears("tell me") == []
        assert not hark.of(topics.UTTERANCE_SPEAK)
        [error] = hark.of(topics.HANDLER_ERROR)
        assert "{b}" in error.data["exception"]


@pytest.mark.spec("INTENT-2/4.2.d")
def test_the_phrases_of_a_dialog_have_the_same_slots(tmp_path: Path) -> None:
    assert codes(linted(tmp_path, {"en-US/x.dialog": "Hi {a}\nBye"})) == {LintCode.DIALOG_SLOTS}
    with pytest.raises(MalformedResource, match=r"x\.dialog:2:1"):
        Locale(tmp_path / "skill" / "locale").language("en-US").check()


@pytest.mark.spec("INTENT-2/4.2.e")
def test_an_entity_fills_no_slot_of_a_dialog(tmp_path: Path) -> None:
    english(tmp_path, {"x.dialog": "Hi {a}", "a.entity": "anna"})
    with pytest.raises(UnfilledSlot):
        Renderer(Locale(tmp_path / "skill" / "locale")).render("x", "en-US")


@pytest.mark.spec("INTENT-2/4.2.f")
@pytest.mark.parametrize("text", ["a|b", "a )", "[ a", "a { b"])
def test_a_sign_of_the_grammar_is_never_spoken_as_it_is(tmp_path: Path, text: str) -> None:
    findings = linted(tmp_path, {"en-US/x.dialog": text})
    assert [finding.code.severity for finding in findings] == [Severity.ERROR]
    with pytest.raises(MalformedResource):
        Locale(tmp_path / "skill" / "locale").language("en-US").check()


@pytest.mark.spec("INTENT-2/4.2.g")
def test_one_brace_and_two_are_the_same_slot(tmp_path: Path) -> None:
    english(tmp_path, {"x.dialog": "{n} or {{m}}"})
    rendered = Renderer(Locale(tmp_path / "skill" / "locale")).render("x", "en-US", {"n": 1, "m": 2})
    assert rendered.text == "1 or 2"


@pytest.mark.spec("INTENT-2/4.2.h")
@pytest.mark.spec("INTENT-2/4.2.i")
def test_a_dialog_is_expanded_when_it_is_said_and_values_are_said_as_they_are(tmp_path: Path) -> None:
    language = english(tmp_path, {"x.dialog": "(Hi|Hello) {who}[!]\n{who}, (good|fine) day"})
    assert [line.text for line in language.lines(Role.DIALOG, "x")] == [
        "(Hi|Hello) {who}[!]",
        "{who}, (good|fine) day",
    ]
    renderer = Renderer(Locale(tmp_path / "skill" / "locale"), random=Random(1))
    said = {renderer.render("x", "en-US", {"who": "(a|b)"}).text for _ in range(100)}
    assert said == {
        *("Hi (a|b)", "Hello (a|b)", "Hi (a|b)!", "Hello (a|b)!"),
        *("(a|b), good day", "(a|b), fine day"),
    }


# §4.3: entities, vocabularies, blacklists.

FREE = [Role.ENTITY, Role.VOCABULARY, Role.BLACKLIST]


@pytest.mark.spec("INTENT-2/4.3.a")
@pytest.mark.spec("INTENT-2/4.3.b")
@pytest.mark.parametrize("role", FREE)
def test_the_roles_without_slots_load_alike(tmp_path: Path, role: Role) -> None:
    language = english(tmp_path, {f"day{role.value}": "monday\n(tues|wednes)day", f"bad{role.value}": "one {slot}"})
    assert language.samples(role, "day") == ("monday", "tuesday", "wednesday")
    with pytest.raises(MalformedResource, match=r":1:5: "):
        language.samples(role, "bad")


@pytest.mark.spec("INTENT-2/4.3.d")
def test_a_slot_without_entity_is_no_defect(tmp_path: Path) -> None:
    files = {"en-US/play.intent": "play {song} on {engine}"}
    assert linted(tmp_path, files) == []
    assert len(skill_of(tmp_path / "other", files, "play").definitions) == 1


@pytest.mark.spec("INTENT-2/4.3.e")
def test_a_vocabulary_can_be_referred_to(tmp_path: Path) -> None:
    files = {"a.voc": "red\nblue", "b.voc": "dark <a>", "go.intent": "paint it <b>", "go.blacklist": "never <a>"}
    language = english(tmp_path, files)
    assert language.samples(Role.INTENT, "go") == ("paint it dark red", "paint it dark blue")
    assert language.samples(Role.BLACKLIST, "go") == ("never red", "never blue")


@pytest.mark.spec("INTENT-2/4.3.f")
@pytest.mark.spec("INTENT-2/4.3.g")
@pytest.mark.spec("INTENT-2/4.3.h")
async def test_a_blacklist_rules_out_its_own_intent_by_whole_words(assistant: MakeAssistant, tmp_path: Path) -> None:
    files = {
        "en-US/play.intent": "play {thing}",
        "en-US/play.blacklist": "(movie|film) trailer\nart",
        "en-US/show.intent": "show {thing}",
    }
    async with assistant(skill_of(tmp_path, files, "play", "show")) as hark:
        assert await matched(hark, "play film trailer") is None
        assert await matched(hark, "play the film trailer now") is None
        assert await matched(hark, "play film") == "play"
        assert await matched(hark, "play start") == "play"
        assert await matched(hark, "play modern art") is None
        assert await matched(hark, "show film trailer") == "show"


@pytest.mark.spec("INTENT-2/4.3.i")
async def test_a_blacklist_both_could_own_is_the_intents(assistant: MakeAssistant, tmp_path: Path) -> None:
    files = {
        "en-US/city.intent": "which city [then]",
        "en-US/go.intent": "book a flight to {city}",
        "en-US/city.entity": "faro",
        "en-US/city.blacklist": "then",
    }
    async with assistant(skill_of(tmp_path, files, "city", "go")) as hark:
        assert await matched(hark, "which city then") is None
        assert await hark.hears("book a flight to then") == ["go {'city': 'then'}"]


@pytest.mark.spec("INTENT-2/4.3.j")
async def test_a_barred_value_leaves_its_slot_empty(assistant: MakeAssistant, tmp_path: Path) -> None:
    files = {"en-US/tall.intent": "how tall is {person}\nwho is tall", "en-US/person.blacklist": "he\nshe"}
    async with assistant(skill_of(tmp_path, files, "tall")) as hark:
        assert await hark.hears("how tall is he") == ["tall {}"]
        assert await hark.hears("how tall is anna") == ["tall {'person': 'anna'}"]
        assert await hark.hears("how tall is he man") == ["tall {'person': 'he man'}"]


@pytest.mark.spec("INTENT-2/4.3.k")
@pytest.mark.parametrize("filled_by", ["keywords", "entities", "defaults"])
async def test_transformers_that_fill_slots_keep_to_what_is_barred(tmp_path: Path, filled_by: str) -> None:
    files = {"en-US/tall.intent": "how tall is {person}\nwho is tall", "en-US/person.blacklist": "(he|she)"}
    names = tmp_path / "entities" / "entities"
    names.mkdir(parents=True)
    (names / "person.txt").write_text("he\nanna\n")

    class Classifier(PipelinePlugin):
        id = "classifier"

        def match(self, utterances: Sequence[str], lang: str, session: Session) -> Match:
            return Match("test.skill", "tall", lang, utterances[0])

    fillers = {"keywords": TemplateKeywords, "entities": EntityLookup, "defaults": SessionDefaults}
    settings = {"plugins": {"defaults": {"slots": {"person": "site_id"}}}}
    plugins = (Classifier(), fillers[filled_by](), skill_of(tmp_path / "locale", files, "tall"))
    async with Assistant(*plugins, settings=settings, data_root=tmp_path) as hark:
        for person, slots in (("anna", {"person": "anna"}), ("he", {})):
            said = "who is tall" if filled_by == "defaults" else f"how tall is {person}"
            assert await hark.hears(said, session=Session("x", site_id=person)) == [f"tall {slots}"]


# §4.4: prompts.

PROMPT = '# Ask\r\n{{city}} {city} {{day}} {"a":{{city}}}\n<!-- {} -->\n```\n{{city}}\n```\n\n'


@pytest.mark.spec("INTENT-2/4.4.a")
@pytest.mark.spec("INTENT-2/4.4.b")
@pytest.mark.spec("INTENT-2/4.4.c")
@pytest.mark.spec("INTENT-2/4.4.d")
@pytest.mark.spec("INTENT-2/4.4.e")
def test_a_prompt_is_read_as_it_is_and_filled_only_where_a_value_was_given(tmp_path: Path) -> None:
    language = english(tmp_path, {"x.prompt": f"\ufeff{PROMPT}"})
    assert language.prompt("x") == PROMPT
    renderer = Renderer(Locale(tmp_path / "skill" / "locale"))
    filled = '# Ask\r\nFaro {city} {{day}} {"a":Faro}\n<!-- {} -->\n```\nFaro\n```\n\n'
    assert renderer.prompt("x", "en-US", {"city": "Faro"}) == filled
    assert renderer.prompt("x", "en-US") == PROMPT


@pytest.mark.spec("INTENT-2/4.4.f")
def test_an_empty_prompt_is_malformed_and_one_of_comments_is_not(tmp_path: Path) -> None:
    language = english(tmp_path, {"a.prompt": "", "b.prompt": " \n\t\n", "c.prompt": "# nothing but this"})
    for name in "ab":
        with pytest.raises(MalformedResource, match="empty"):
            language.prompt(name)
    assert language.prompt("c") == "# nothing but this"


# §4.5: required keywords.


@pytest.mark.spec("INTENT-2/4.5.d")
@pytest.mark.spec("INTENT-2/4.5.e")
async def test_one_of_the_required_keywords_has_to_occur(assistant: MakeAssistant, tmp_path: Path) -> None:
    files = {
        "en-US/about.intent": "tell me about {person}",
        "en-US/about.required": "(mister|miss)\ndoctor",
        "en-US/any.intent": "who is {person}",
    }
    skill = skill_of(tmp_path, files, "about", "any")
    assert skill.locale.language("en-US").samples(Role.REQUIRED, "about") == ("mister", "miss", "doctor")
    async with assistant(skill) as hark:
        assert await matched(hark, "tell me about anna") is None
        assert await matched(hark, "tell me about miss anna") == "about"
        assert await matched(hark, "who is anna") == "any"
    with pytest.raises(MalformedIntent, match=r"about\.required:1:7: "):
        skill_of(tmp_path / "other", {**files, "en-US/about.required": "about {p}"}, "about", "any")


@pytest.mark.spec("INTENT-2/4.5.f")
def test_a_sample_that_can_never_match_is_worth_a_warning(tmp_path: Path) -> None:
    findings = linted(tmp_path, {"en-US/a.intent": "tell me\ntell doctor", "en-US/a.required": "doctor"})
    assert codes(findings) == {LintCode.LACKS_REQUIRED}
    assert findings[0].line == 1
    assert findings[0].code.severity is Severity.WARNING


@pytest.mark.spec("INTENT-2/4.5.g")
def test_required_keywords_belong_to_an_intent(tmp_path: Path) -> None:
    findings = linted(tmp_path, {"en-US/a.required": "doctor"})
    assert codes(findings) == {LintCode.REQUIRED_WITHOUT_INTENT}
    assert findings[0].code.severity is Severity.WARNING


# §5: the loader.


@pytest.mark.spec("INTENT-2/5.1")
def test_languages_are_found_by_looking(tmp_path: Path) -> None:
    assert set(Locale(write(tmp_path, {"en-US/a.voc": "a", "pt-PT/a.voc": "a"})).languages) == {"en-US", "pt-PT"}


@pytest.mark.spec("INTENT-2/5.3")
@pytest.mark.spec("INTENT-2/5.4")
def test_each_role_is_read_in_its_own_way(tmp_path: Path) -> None:
    text = "# note\n(a|b) c\n"
    language = english(tmp_path, {f"x{role.value}": text for role in Role})
    for role in Role:
        if role is Role.PROMPT:
            assert language.prompt("x") == text
        elif role is Role.DIALOG:
            assert [line.text for line in language.lines(role, "x")] == ["(a|b) c"]
        else:
            assert language.samples(role, "x") == ("a c", "b c")


@pytest.mark.spec("INTENT-2/5.5")
@pytest.mark.parametrize("role", [role for role in Role if role.has_lines])
@pytest.mark.parametrize("text", ["", "\n\n", "# only this\n"])
def test_a_file_without_templates_is_malformed(tmp_path: Path, role: Role, text: str) -> None:
    with pytest.raises(MalformedResource, match="empty"):
        english(tmp_path, {f"x{role.value}": text}).lines(role, "x")
