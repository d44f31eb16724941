"""Which intent an utterance means."""

from __future__ import annotations

import pytest
from pools import NOW, ask, entity, label, register, send, slots

from hark.intents import STRICT, TemplatePool
from hark.model import ContextEntry, Session
from hark.spec import topics


@pytest.fixture
def pool() -> TemplatePool:
    return TemplatePool()


def test_a_sentence_is_found_whatever_its_case_and_punctuation(pool: TemplatePool) -> None:
    register(pool, "clock.skill:time", "what time is it", "tell me the time")
    assert label(ask(pool, "What TIME is it?")) == "clock.skill:time"
    assert label(ask(pool, "tell me, the time!")) == "clock.skill:time"
    assert label(ask(pool, "tell me the times", floor=STRICT)) is None
    assert label(ask(pool, "")) is None


def test_contractions_are_the_same_as_what_they_are_short_for(pool: TemplatePool) -> None:
    register(pool, "clock.skill:date", "what's the date")
    assert label(ask(pool, "what is the date")) == "clock.skill:date"
    register(pool, "clock.skill:time", "what is the time")
    assert label(ask(pool, "what\u2019s the time")) == "clock.skill:time"


def test_slots_hold_what_was_said_in_lower_case(pool: TemplatePool) -> None:
    register(pool, "a.b:go", "drive [quickly] to {place}")
    assert slots(ask(pool, "Drive to: Große Straße 5!")) == {"place": "große straße 5"}
    assert slots(ask(pool, "drive quickly to work")) == {"place": "work"}
    assert isinstance(ask(pool, "drive to"), str)


def test_a_slot_that_was_left_out_is_not_there(pool: TemplatePool) -> None:
    register(pool, "a.b:play", "play {query} [on {engine}]")
    assert slots(ask(pool, "play jazz")) == {"query": "jazz"}
    assert slots(ask(pool, "play jazz on the radio")) == {"query": "jazz", "engine": "the radio"}


def test_a_type_prefix_is_dropped(pool: TemplatePool) -> None:
    register(pool, "a.b:wait", "wait {duration:span} minutes", slot_types={"span": "duration"})
    assert slots(ask(pool, "wait forty two minutes")) == {"span": "forty two"}


def test_a_sentence_without_slots_comes_before_one_with(pool: TemplatePool) -> None:
    register(pool, "a.b:any", "play {x}")
    register(pool, "a.b:news", "play the news")
    assert label(ask(pool, "play the news")) == "a.b:news"


def test_more_literal_words_come_first_then_the_order_of_registration(pool: TemplatePool) -> None:
    register(pool, "a.b:any", "play {x}")
    register(pool, "a.b:music", "play {x} music")
    register(pool, "a.b:twin", "play {y} music")
    register(pool, "a.b:early", "{x} music now")
    register(pool, "a.b:late", "play {x} now")
    assert label(ask(pool, "play loud music")) == "a.b:music"
    assert label(ask(pool, "play loud music now")) == "a.b:early"


def test_announcing_again_does_not_change_the_order(pool: TemplatePool) -> None:
    register(pool, "a.b:first", "hello there")
    register(pool, "a.b:second", "hello there")
    register(pool, "a.b:first", "hello there", "good day")
    assert label(ask(pool, "hello there")) == "a.b:first"


def test_known_values_are_preferred_and_others_still_match(pool: TemplatePool) -> None:
    register(pool, "a.b:play", "play {song} on {engine}")
    entity(pool, "a.b", "engine", "(my|the) radio on wheels")
    entity(pool, "other.skill", "engine", "wheels")
    assert slots(ask(pool, "play jazz on my radio on wheels")) == {"song": "jazz", "engine": "my radio on wheels"}
    assert slots(ask(pool, "play jazz on tidal")) == {"song": "jazz", "engine": "tidal"}


def test_a_phrase_of_the_blacklist_rules_an_intent_out(pool: TemplatePool) -> None:
    register(pool, "a.b:dim", "dim {x}", blacklist=["dim (sum|some)", "art"])
    register(pool, "a.b:any", "{x} sum")
    assert label(ask(pool, "dim the start")) == "a.b:dim"
    assert label(ask(pool, "dim some art")) is None
    assert label(ask(pool, "dim sum")) == "a.b:any"


def test_one_of_the_required_keywords_has_to_occur(pool: TemplatePool) -> None:
    register(pool, "a.b:dim", "dim {x}", required_keywords=["light", "big lamp"])
    register(pool, "a.b:free", "free {x}", required_keywords=[])
    assert label(ask(pool, "dim the big lamp")) == "a.b:dim"
    assert label(ask(pool, "dim the lamp")) is None
    assert label(ask(pool, "free me")) == "a.b:free"


def test_a_barred_value_leaves_its_slot_open(pool: TemplatePool) -> None:
    register(pool, "a.b:dim", "dim {room}", slot_blacklist={"room": ["it"]})
    assert slots(ask(pool, "Dim it!")) == {}
    assert slots(ask(pool, "dim the it crowd")) == {"room": "the it crowd"}


def test_a_required_slot_must_be_filled_by_what_was_said_or_by_the_context(pool: TemplatePool) -> None:
    register(pool, "a.b:tall", "how tall is {who}", "how tall", slot_blacklist={"who": ["he"]}, required_slots=["who"])
    remembered = Session(intent_context={"a.b:who": ContextEntry("Alice")})
    assert "'who' is not filled" in str(ask(pool, "how tall is he"))
    assert label(ask(pool, "how tall")) is None
    assert slots(ask(pool, "how tall is he", remembered)) == {"who": "Alice"}
    assert slots(ask(pool, "how tall", remembered)) == {"who": "Alice"}
    assert slots(ask(pool, "how tall is Bob", remembered)) == {"who": "bob"}


def test_context_fills_from_the_skills_own_entry_first_and_never_from_dead_ones_or_flags(pool: TemplatePool) -> None:
    register(pool, "a.b:tall", "how tall [is {who}]", slot_blacklist={"who": ["he"]})

    def filled(**entries: ContextEntry) -> dict[str, str]:
        named = {key.replace("own_", "a.b:").replace("foreign_", "c.d:"): entry for key, entry in entries.items()}
        return slots(ask(pool, "how tall", Session(intent_context=named)))

    shared = ContextEntry("Shared")
    assert filled(who=shared) == {"who": "Shared"}
    assert filled(who=shared, own_who=ContextEntry("Own")) == {"who": "Own"}
    assert filled(who=shared, own_who=ContextEntry(None)) == {"who": "Shared"}
    assert filled(who=shared, own_who=ContextEntry("Gone", expires_at=NOW)) == {"who": "Shared"}
    assert filled(who=shared, own_who=ContextEntry("He")) == {"who": "Shared"}
    assert filled(foreign_who=shared, weather=shared) == {}


def test_gates_open_and_close_an_intent(pool: TemplatePool) -> None:
    register(pool, "a.b:yes", "yes", requires_context=["asked"])
    register(pool, "a.b:hello", "hello", excludes_context=[{"key": "greeted", "scope": "shared"}])
    asked = Session(intent_context={"a.b:asked": ContextEntry(None)})
    elsewhere = Session(intent_context={"asked": ContextEntry(None), "c.d:asked": ContextEntry(None)})
    stale = Session(intent_context={"a.b:asked": ContextEntry(None, expires_at=NOW - 1)})
    greeted = Session(intent_context={"greeted": ContextEntry(None)})
    assert label(ask(pool, "yes", asked)) == "a.b:yes"
    assert "needs the context 'asked'" in str(ask(pool, "yes"))
    assert label(ask(pool, "yes", elsewhere)) is None
    assert label(ask(pool, "yes", stale)) is None
    assert label(ask(pool, "hello", asked)) == "a.b:hello"
    assert "not in the context 'greeted'" in str(ask(pool, "hello", greeted))


def test_a_session_can_deny_skills_and_intents(pool: TemplatePool) -> None:
    register(pool, "a.b:go", "go home")
    register(pool, "c.d:go", "go home")
    assert label(ask(pool, "go home", Session(blacklisted_skills=["a.b"]))) == "c.d:go"
    assert label(ask(pool, "go home", Session(blacklisted_intents=["a.b:go"]))) == "c.d:go"
    assert label(ask(pool, "go home", Session(blacklisted_intents=["go"]))) == "a.b:go"
    assert "denies" in str(ask(pool, "go home", Session(blacklisted_skills=["a.b", "c.d"])))


def test_languages_are_looked_up_exactly_then_by_their_primary_language(pool: TemplatePool) -> None:
    register(pool, "a.b:lift", "call the lift", lang="en-GB")
    register(pool, "a.b:lift", "call the elevator", lang="en-us")
    register(pool, "c.d:bye", "so long", lang="en-US")
    assert label(ask(pool, "call the lift", lang="EN-gb")) == "a.b:lift"
    assert label(ask(pool, "call the lift", lang="en-US")) is None
    found = ask(pool, "so long", lang="en-GB")
    assert not isinstance(found, str)
    assert found.intent.lang == "en-US"
    assert label(ask(pool, "call the elevator", lang="en-AU")) == "a.b:lift"
    assert ask(pool, "so long", lang="de-DE") == "no templates in de-DE"


def test_a_decline_names_what_comes_nearest(pool: TemplatePool) -> None:
    register(pool, "clock.skill:time", "what time is it [in {city}]")
    register(pool, "a.b:any", "{x} please")
    reason = ask(pool, "what time was it", floor=STRICT)
    assert isinstance(reason, str)
    assert reason.startswith("no template has these words; nearest: clock.skill:time 'what time is it")
    assert ask(pool, "good morning", floor=STRICT) == "no template has any of these words"
    register(pool, "sat.skill:what", "what else", scope="sat-3")
    assert ask(pool, "what time was it", Session("sat-3"), floor=STRICT) == reason


def test_a_long_utterance_is_no_danger(pool: TemplatePool) -> None:
    register(pool, "a.b:x", "{a} to {b} to {c} to {d}", "to {a} to {b}")
    assert label(ask(pool, "to " * 2_000)) == "a.b:x"
    assert label(ask(pool, "word " * 2_000)) is None


def test_known_values_decide_between_sentences_that_differ_in_a_slots_name(pool: TemplatePool) -> None:
    register(pool, "a.b:device", "turn off [the] {device}")
    register(pool, "a.b:room", "turn off [the] {room}")
    register(pool, "c.d:anything", "turn off [the] {thing}")
    entity(pool, "a.b", "device", "kettle", "big fan")
    entity(pool, "a.b", "room", "kitchen", "living room")
    assert label(ask(pool, "turn off the big fan")) == "a.b:device"
    assert label(ask(pool, "turn off the living room")) == "a.b:room"
    assert label(ask(pool, "turn off the oven")) == "c.d:anything", "lists that have other values speak against them"
    send(pool, topics.INTENT_DEREGISTER, "c.d:anything")
    assert label(ask(pool, "turn off the oven")) == "a.b:device", "then whoever registered first"


def test_known_values_decide_between_slots_of_one_intent(pool: TemplatePool) -> None:
    register(pool, "a.b:off", "turn off ({device}|{room}|{device} in [the] {room})")
    entity(pool, "a.b", "device", "kettle")
    entity(pool, "a.b", "room", "kitchen")
    assert slots(ask(pool, "turn off kitchen")) == {"room": "kitchen"}
    assert slots(ask(pool, "turn off kettle")) == {"device": "kettle"}
    assert slots(ask(pool, "turn off kettle in the kitchen")) == {"device": "kettle", "room": "kitchen"}


def test_a_slot_does_not_take_what_another_slot_of_the_intent_knows(pool: TemplatePool) -> None:
    register(
        pool, "a.b:play", "play {artist}", "play {artist} on {service}", "play some {genre}", "{genre} by {artist}"
    )
    entity(pool, "a.b", "service", "spotify", "netflix")
    entity(pool, "a.b", "genre", "jazz", "heavy metal")
    assert slots(ask(pool, "play heavy metal by nobody on netflix")) == {
        "genre": "heavy metal",
        "artist": "nobody",
        "service": "netflix",
    }
    assert slots(ask(pool, "play songs of the sea")) == {"artist": "songs of the sea"}, "nothing is known about these"
    entity(pool, "a.b", "artist", "jazz by night")
    assert slots(ask(pool, "play jazz by night")) == {"artist": "jazz by night"}, "a known value is one as a whole"
