"""From text to scripts."""

from datetime import datetime
from pathlib import Path

import pytest

from hark.testing.scripts.errors import ScriptError
from hark.testing.scripts.parser import parse, read_script
from hark.testing.scripts.script import (
    AssistantRestarts,
    EventHappens,
    HarkIsSilent,
    HarkSays,
    HarkSaysMore,
    LanguageChanges,
    NeverSaid,
    ScriptHead,
    TimePasses,
    UserSays,
)


def mistakes(text: str) -> list[str]:
    with pytest.raises(ScriptError) as raised:
        parse(text, "x.talk")
    return str(raised.value).splitlines()


def test_every_kind_of_line() -> None:
    (conversation,) = parse(
        """
        User: put milk on the list
        HARK: milk is on the list   # a comment
        hark (kitchen) asks: how much?
        hark (living room): ...
        hark says nothing
        hark (kitchen) says nothing.
        happens: list.skill:add, item = milk, list = *
        never: bread
        never happens: list.skill:*
        language (kitchen): de-DE
        [5 minutes later]
        [Restart]
        user (kitchen): stop
        """
    ).conversations
    voices = [UserSays, HarkSays, HarkSays, HarkSaysMore, HarkIsSilent, HarkIsSilent]
    events = [EventHappens, NeverSaid, EventHappens, LanguageChanges, TimePasses, AssistantRestarts, UserSays]
    assert [type(step) for step in conversation.steps] == voices + events
    assert [str(step) for step in conversation.steps] == [
        "user: put milk on the list",
        "hark: milk is on the list",
        "hark (kitchen) asks: how much?",
        "hark (living room): ...",
        "hark says nothing",
        "hark (kitchen) says nothing",
        "happens: list.skill:add, item = milk, list = *",
        "never: bread",
        "never happens: list.skill:*",
        "language (kitchen): de-DE",
        "[5 minutes later]",
        "[restart]",
        "user (kitchen): stop",
    ]
    assert [step.line for step in conversation.steps] == list(range(2, 15))


def test_the_head_holds_for_every_conversation_that_has_no_other() -> None:
    first, second = parse(
        """
        language: en-US
        languages: fr-FR, it-IT
        timezone: Europe/Lisbon
        skills: timer.py, kitchen:Oven

        == One ==
        now: 2026-03-05 17:30
        settings: none
        user: hello

        == Two ==
        language: de-DE
        skills: none
        user: hallo
        language: es-ES
        user: hola
        """
    ).conversations
    common = ScriptHead("en-US", ("fr-FR", "it-IT"), "Europe/Lisbon", skills=("timer.py", "kitchen:Oven"))
    assert (first.name, first.line) == ("One", 7)
    assert first.head == ScriptHead(
        "en-US",
        common.languages,
        common.timezone,
        datetime(2026, 3, 5, 17, 30),
        common.skills,
        "none",
    )
    assert (second.name, second.head.language, second.head.skills) == ("Two", "de-DE", ())
    assert second.langs() == ("fr-FR", "it-IT", "es-ES")


def test_a_file_may_be_one_conversation_without_a_title_and_others() -> None:
    conversations = parse("language: en-US\nuser: a\n== More ==\nuser: b\n").conversations
    assert [(one.name, one.head.language) for one in conversations] == [("", "en-US"), ("More", None)]


@pytest.mark.parametrize(
    ("line", "told"),
    [
        ("harc: hello", "did you mean hark:?"),
        ("hello", "begin the line with user:"),
        ("kitchen> stop", "begin the line with user:"),
        ("user asks: hello", "only Hark asks"),
        ("hark interrupts: hello", "only a user interrupts"),
        ("user:", "user: says nothing"),
        ("user: # hello", "user: says nothing"),
        ("user (): hello", "not the name of a device"),
        ("user (a/b): hello", "not the name of a device"),
        ("never (kitchen): bread", "is not about a device"),
        ("hark: (a|b", "not closed"),
        ("user: {item}", "nothing was captured as {item}"),
        ("happens: two words", "is not a topic"),
        ("happens: a.skill:b, minutes", "write values as in"),
        ("[5 moons later]", "is not a time"),
        ("[5 minutes later", "not closed"),
        ("language: german", "not a language tag"),
        ("timezone: Mars/Olympus", "not known here"),
        ("timezone: ../../etc/passwd", "not known here"),
        ("now: noon", "is not a date and time"),
        ("skills:", "has no value"),
        ("====", "a name of its own"),
    ],
)
def test_a_mistake_is_told_with_file_line_and_remedy(line: str, told: str) -> None:
    (mistake,) = mistakes(f"\n{line}\nuser: hello\n")
    assert mistake.startswith("x.talk:2: ")
    assert told in mistake


def test_all_mistakes_are_told_at_once() -> None:
    assert [one.split(": ")[0] for one in mistakes("hello\nuser: a\nworld\n")] == ["x.talk:1", "x.talk:3"]


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("", "x.talk: the script is empty"),
        ("language: en-US\n# user: hello", "x.talk: the script is empty"),
        ("user: a\nskills: none", "x.talk:2: skills: stands in the middle"),
        ("now: 2026-01-01 10:00\nnow: 2026-01-01 11:00\nuser: a", "x.talk:2: now: is said twice"),
        ("== A ==\n== B ==\nuser: b", "x.talk:1: the conversation 'A' is empty"),
        ("== A ==\nuser: a\n== A ==\nuser: a", "x.talk:3: a conversation needs a name of its own"),
    ],
)
def test_what_is_wrong_with_a_script_as_a_whole(text: str, told: str) -> None:
    assert mistakes(text)[0].startswith(told)


def test_a_file_that_cannot_be_read(tmp_path: Path) -> None:
    (tmp_path / "latin.talk").write_bytes(b"user: hello\nhark: \xe4h\n")
    with pytest.raises(ScriptError, match=r"latin\.talk:2: this is not UTF-8"):
        read_script(tmp_path / "latin.talk")
    with pytest.raises(ScriptError, match="no such file"):
        read_script(tmp_path / "missing.talk")
    with pytest.raises(ScriptError, match="cannot be read"):
        read_script(tmp_path)


def test_a_file_from_another_system(tmp_path: Path) -> None:
    (tmp_path / "a.talk").write_bytes(b"\xef\xbb\xbfuser: hello\r\nhark: hi\r\n")
    assert [str(step) for step in read_script(tmp_path / "a.talk").conversations[0].steps] == [
        "user: hello",
        "hark: hi",
    ]
