"""Finding keyword intents."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest
from keyword_pools import HERE, NOW, SEND_ROBOT, ask, label, register, send, slots, voc

from hark.intents.keyword import KeywordPool, Occurrences, PhraseAssignment, Spotted, best_assignment
from hark.model import ContextEntry, Session
from hark.spec import topics


@pytest.fixture
def pool() -> KeywordPool:
    return KeywordPool()


def remembering(**entries: Any) -> Session:
    """A session that remembers; `__` stands for the colon after an owner, and the owner is `a.b`."""
    context = {
        key.replace("mine__", "a.b:").replace("theirs__", "x.y:"): entry if isinstance(entry, ContextEntry)
        else ContextEntry(entry) for key, entry in entries.items()
    }  # fmt: skip
    return Session("x", intent_context=context)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (
            "send the vacuum cleaner to the front hall right now",
            {"move": "send", "robot": "vacuum cleaner", "hall": "front hall", "soon": "right now"},
        ),
        ("robot kitchen move", {"move": "move", "robot": "robot", "kitchen": "kitchen"}),
        ("where is the robot move kitchen", None),
        ("move the robot", None),
        ("send the vacuum to the hall", None),
        ("send the cleaner vacuum to the hall", None),
        ("drive kitchen", None),
        ("move the robots to the kitchen", None),
        ("Move the ROBOT, to the kitchen and the hall!", {"move": "move", "robot": "robot", "kitchen": "kitchen",
                                                         "hall": "hall"}),
    ],
)  # fmt: skip
def test_the_worked_example(pool: KeywordPool, text: str, expected: dict[str, str] | None) -> None:
    register(pool, "robot.demo:send_robot", **SEND_ROBOT)
    found = ask(pool, text)
    assert (found.slots if isinstance(found, Spotted) else None) == expected


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("move the robot", "robot.demo:send needs 'kitchen or hall', which was not said"),
        ("robot", "robot.demo:send needs 'move', which was not said"),
        ("move to the kitchen now", "not enough for any intent: 'move', 'kitchen', 'now'"),
        ("did the robot move to the hall", "robot.demo:send fits but 'question' was said, which rules it out"),
        ("hello there", "no keyword was said"),
        ("...", "no keyword was said"),
        ("", "no keyword was said"),
        (
            "please move " + "dear " * 11 + "robot hall",
            "robot.demo:send fits but explains only 3 of 15 words of what was said",
        ),
    ],
)
def test_a_decline_says_what_was_in_the_way(pool: KeywordPool, text: str, told: str) -> None:
    register(pool, "robot.demo:send", **SEND_ROBOT)
    assert ask(pool, text, floor=0.21) == told


def test_the_slots_are_as_people_write_them(pool: KeywordPool) -> None:
    register(pool, "a.b:i", lang="de-DE", required=[voc("ort", "große straße")])
    assert slots(ask(pool, "GROSSE Straße", lang="de-DE")) == {"ort": "grosse straße"}


def test_an_excluded_phrase_rules_out_even_where_others_use_its_words(pool: KeywordPool) -> None:
    register(pool, "a.b:i", required=[voc("off", "turn off")], excluded=[voc("late", "off now")])
    assert label(ask(pool, "turn off")) == "a.b:i"
    assert label(ask(pool, "turn off now")) is None


def test_the_intent_that_explains_most_words_is_meant(pool: KeywordPool) -> None:
    register(pool, "a.b:light", required=[voc("on", "turn on"), voc("light")])
    register(pool, "a.b:bright", required=[voc("on", "turn on"), voc("light")], optional=[voc("bright", "very bright")])
    register(pool, "a.b:lamp", required=[voc("light", "light", "big light")])
    assert label(ask(pool, "turn on the light very bright")) == "a.b:bright"
    assert label(ask(pool, "turn on the light")) == "a.b:light", "of two that explain the same, who has less unused"
    assert label(ask(pool, "the big light")) == "a.b:lamp"


def test_a_group_counts_as_one_role_and_memory_as_unused(pool: KeywordPool) -> None:
    rooms = [voc(name) for name in ("kitchen", "hall", "bath")]
    register(pool, "a.b:spare", required=[voc("light")], optional=[voc("soon", "now"), voc("later")])
    register(pool, "a.b:room", required=[voc("light")], one_of=[rooms])
    assert label(ask(pool, "light", remembering(mine__hall="hall"))) == "a.b:room"
    register(pool, "a.b:plain", required=[voc("light")])
    assert label(ask(pool, "light", remembering(mine__hall="hall"))) == "a.b:plain"


def test_among_equals_the_first_registered_wins_even_after_a_replacement(pool: KeywordPool) -> None:
    register(pool, "a.b:first", required=[voc("light", "light")])
    register(pool, "c.d:second", required=[voc("lamp", "light")])
    assert label(ask(pool, "light")) == "a.b:first"
    register(pool, "a.b:first", required=[voc("light", "light", "lights")])
    assert label(ask(pool, "light")) == "a.b:first"


@pytest.mark.parametrize(("count", "matches"), [(4, True), (5, False)])
def test_one_keyword_in_a_long_sentence_is_not_enough(pool: KeywordPool, count: int, matches: bool) -> None:
    register(pool, "a.b:i", required=[voc("light")])
    text = "light " + "word " * count
    assert (label(ask(pool, text)) is not None) is matches
    assert label(ask(pool, text, floor=0)) == "a.b:i"


def test_the_score_is_the_share_of_the_words(pool: KeywordPool) -> None:
    register(pool, "a.b:i", required=[voc("on", "turn on")], optional=[voc("both", "on the light")])
    found = ask(pool, "turn on the light now")
    assert isinstance(found, Spotted)
    assert found.score == 4 / 5, "a word that stands for two counts once"
    assert found.slots == {"on": "turn on", "both": "on the light"}
    whole = ask(pool, "turn on")
    assert isinstance(whole, Spotted)
    assert whole.score == 1.0


# Context (CONTEXT-1 §§6, 7).


def test_what_is_remembered_stands_in_for_what_is_not_said(pool: KeywordPool) -> None:
    register(pool, "a.b:tall", required=[voc("tall", "how tall"), voc("person", "alice", "bob")])
    assert label(ask(pool, "how tall is he")) is None
    found = ask(pool, "how tall is he", remembering(person="Carol Ann"))
    assert slots(found) == {"tall": "how tall", "person": "Carol Ann"}
    assert slots(ask(pool, "how tall is alice", remembering(person="Carol Ann"))) == {
        "tall": "how tall",
        "person": "alice",
    }
    private = remembering(person="shared", mine__person="private")
    assert slots(ask(pool, "how tall is he", private))["person"] == "private"
    assert label(ask(pool, "how tall is he", remembering(theirs__person="nobody's business"))) is None


@pytest.mark.parametrize(
    "entry",
    [ContextEntry(None), ContextEntry("x", expires_at=NOW), ContextEntry("x", turns_remaining=0)],
)
def test_flags_and_what_is_dead_stand_in_for_nothing(pool: KeywordPool, entry: ContextEntry) -> None:
    register(pool, "a.b:tall", required=[voc("tall", "how tall"), voc("person", "alice", "bob")])
    assert label(ask(pool, "how tall", remembering(person=entry))) is None


def test_memory_alone_means_nothing(pool: KeywordPool) -> None:
    register(pool, "a.b:who", required=[voc("person", "alice")])
    register(pool, "a.b:which", one_of=[[voc("person", "alice"), voc("thing")]])
    assert ask(pool, "good morning", remembering(person="alice"), floor=0) == "nothing of a.b:who was said"


def test_a_remembered_member_satisfies_its_group_and_optional_ones_are_filled(pool: KeywordPool) -> None:
    register(pool, "robot.demo:send", **SEND_ROBOT)
    session = Session("x", intent_context={"hall": ContextEntry("hall"), "robot.demo:soon": ContextEntry("at once")})
    found = slots(ask(pool, "move the robot", session))
    assert found == {"move": "move", "robot": "robot", "hall": "hall", "soon": "at once"}


def test_an_excluded_vocabulary_is_not_about_memory(pool: KeywordPool) -> None:
    register(pool, "robot.demo:send", **SEND_ROBOT)
    session = Session("x", intent_context={"question": ContextEntry("did")})
    assert "question" not in slots(ask(pool, "move the robot to the hall", session))


def test_gates_are_kept(pool: KeywordPool) -> None:
    register(pool, "a.b:more", required=[voc("more")], requires_context=["asked"], excludes_context=["done"])
    assert ask(pool, "more") == "a.b:more fits but needs the context 'asked'"
    assert label(ask(pool, "more", remembering(mine__asked=None))) == "a.b:more"
    assert label(ask(pool, "more", remembering(asked=None))) is None
    assert label(ask(pool, "more", remembering(mine__asked=None, mine__done="x"))) is None


# Who may reach what.


def test_switches_denials_and_scopes_hold(pool: KeywordPool) -> None:
    register(pool, "a.b:i", required=[voc("light")])
    register(pool, "sat.skill:i", required=[voc("lamp")], scope="sat-3")
    assert label(ask(pool, "light", Session("sat-3"))) == "a.b:i"
    assert label(ask(pool, "lamp", Session("sat-3"))) == "sat.skill:i"
    assert label(ask(pool, "lamp", Session("sat-9"))) is None
    assert label(ask(pool, "lamp")) is None
    assert label(ask(pool, "light", Session("x", blacklisted_skills=["a.b"]))) is None
    assert label(ask(pool, "light", Session("x", blacklisted_intents=["a.b:i"]))) is None
    send(pool, topics.INTENT_DISABLE, "a.b:i", "sat-3")
    assert label(ask(pool, "light", Session("sat-3"))) is None
    assert label(ask(pool, "light")) == "a.b:i"
    send(pool, topics.INTENT_DISABLE, "a.b:i")
    assert ask(pool, "light") == "a.b:i fits but is disabled"
    register(pool, "a.b:i", required=[voc("light"), voc("more")])
    assert label(ask(pool, "more light")) is None, "a replacement stays switched off"
    send(pool, topics.INTENT_ENABLE, "a.b:i")
    assert label(ask(pool, "more light")) == "a.b:i"


def test_a_denied_intent_makes_way_for_another(pool: KeywordPool) -> None:
    register(pool, "a.b:long", required=[voc("light", "big light")])
    register(pool, "c.d:short", required=[voc("light")])
    assert label(ask(pool, "big light")) == "a.b:long"
    assert label(ask(pool, "big light", Session("x", blacklisted_intents=["a.b:long"]))) == "c.d:short"


def test_an_intent_is_looked_up_in_its_nearest_language(pool: KeywordPool) -> None:
    register(pool, "a.b:i", lang="en-GB", required=[voc("lift")])
    register(pool, "a.b:j", lang="en-GB", required=[voc("queue")])
    register(pool, "a.b:j", lang="en-US", required=[voc("line")])
    assert label(ask(pool, "lift", lang="en-US")) == "a.b:i"
    assert label(ask(pool, "queue", lang="en-US")) is None, "it has words of its own in this language"
    assert label(ask(pool, "line", lang="EN-us")) == "a.b:j"
    assert ask(pool, "lift", lang="de-DE") == "no keywords in de-DE"


def test_what_is_deregistered_is_gone(pool: KeywordPool) -> None:
    register(pool, "a.b:i", required=[voc("light", "big light")])
    register(pool, "a.b:j", required=[voc("lamp", "big lamp")])
    send(pool, topics.INTENT_DEREGISTER, "a.b:i")
    assert label(ask(pool, "big light")) is None
    assert label(ask(pool, "big lamp")) == "a.b:j"
    send(pool, topics.SKILL_DEREGISTER, "a.b:whatever")
    assert label(ask(pool, "big lamp")) is None
    assert pool.scope("default").roots == {}


def test_templates_and_entities_are_none_of_its_business(pool: KeywordPool) -> None:
    assert topics.REGISTER_TEMPLATE not in pool.consumed
    assert topics.ENTITY_REGISTER not in pool.consumed
    assert ask(pool, "anything", HERE) == "no keywords in en-US"


def test_of_intents_that_ask_for_the_same_one_is_weighed(monkeypatch: pytest.MonkeyPatch) -> None:
    weighed: list[int] = []

    def counted(vocabularies: Sequence[Occurrences]) -> PhraseAssignment:
        weighed.append(len(vocabularies))
        return best_assignment(vocabularies)

    monkeypatch.setattr("hark.intents.keyword.matching.best_assignment", counted)
    pool = KeywordPool()
    for number in range(300):
        room = voc(f"room{number}", f"room {number}", "hall")
        register(pool, f"s{number}.skill:i", required=[voc("turn"), voc("light")], optional=[room])
    found = ask(pool, "turn on the hall light")
    assert label(found) == "s0.skill:i"
    assert slots(found) == {"turn": "turn", "light": "light", "room0": "hall"}
    assert len(weighed) == 1
    assert label(ask(pool, "turn on room 7 light")) == "s7.skill:i", "one that explains more is another matter"
    denied = Session(blacklisted_skills=["s0.skill", "s1.skill"])
    second = ask(pool, "turn on the hall light", denied)
    assert label(second) == "s2.skill:i"
    assert slots(second) == {"turn": "turn", "light": "light", "room2": "hall"}
