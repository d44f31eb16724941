"""A claim is explained by what was said: values, numbers, kinds, denials, questions, gates."""

from __future__ import annotations

import pytest

from hark.intents import STRICT, Found, TemplatePool, lookup
from hark.intents.numerals import can_be_number, without_unit
from hark.model import Session
from hark.spec import DEFAULT_SESSION_ID, topics

HERE = Session("here")


def register(pool: TemplatePool, label: str, *samples: str, **more: object) -> None:
    skill_id, intent_name = label.split(":")
    data = {"skill_id": skill_id, "intent_name": intent_name, "lang": "en-US", "samples": list(samples), **more}
    assert pool.apply(topics.REGISTER_TEMPLATE, data, DEFAULT_SESSION_ID) == []


def values(pool: TemplatePool, skill_id: str, entity: str, *samples: str) -> None:
    data = {"skill_id": skill_id, "entity_name": entity, "lang": "en-US", "samples": list(samples)}
    pool.apply(topics.ENTITY_REGISTER, data, DEFAULT_SESSION_ID)


ARTICLES = {
    "de-DE": ("schalte {thing} ein", "Deckenlampe", "schalte die deckenlampe ein", "deckenlampe"),
    "fr-FR": ("éteins {thing}", "écran", "éteins l'écran", "écran"),
    "it-IT": ("spegni {thing}", "interruttore", "spegni l'interruttore", "interruttore"),
    "pt-PT": ("desliga {thing}", "televisão", "desliga a televisão", "televisão"),
}


@pytest.mark.parametrize("lang", list(ARTICLES))
def test_an_article_before_a_known_value_is_no_part_of_it(lang: str) -> None:
    sample, value, said, slot = ARTICLES[lang]
    pool = TemplatePool()
    of_skill = {"skill_id": "a.skill", "lang": lang}
    pool.apply(topics.ENTITY_REGISTER, {**of_skill, "entity_name": "thing", "samples": [value]}, DEFAULT_SESSION_ID)
    pool.apply(topics.REGISTER_TEMPLATE, {**of_skill, "intent_name": "it", "samples": [sample]}, DEFAULT_SESSION_ID)
    assert meant(lookup(pool, said, lang, HERE, lambda: 0.0)) == ("it", {"thing": slot})


def ask(pool: TemplatePool, said: str, floor: float = 0.5) -> Found | str:
    return lookup(pool, said, "en-US", HERE, lambda: 0.0, floor)


def meant(found: Found | str) -> tuple[str, dict[str, str]] | None:
    return (found.intent.intent_name, found.slots) if isinstance(found, Found) else None


@pytest.fixture
def pool() -> TemplatePool:
    made = TemplatePool()
    values(made, "home.skill", "door", "front door", "back door")
    values(made, "home.skill", "room", "kitchen", "living room", "first floor")
    register(made, "home.skill:lock", "lock the {door}")
    register(made, "home.skill:light_on", "(turn|switch) on the light[s] [in the {room}]", "{room} lights on")
    register(made, "home.skill:light_off", "(turn|switch) off the light[s] [in the {room}]", "{room} lights off")
    register(made, "home.skill:dim", "dim the lights to {number:level} percent", "dim the {room} to {number:level}")
    return made


def test_a_slot_with_values_takes_no_others_unless_the_sentence_says_more(pool: TemplatePool) -> None:
    assert meant(ask(pool, "lock the front door")) == ("lock", {"door": "front door"})
    assert meant(ask(pool, "lock the car")) is None
    assert "'car' is none of its values" in str(ask(pool, "lock the car"))
    assert meant(ask(pool, "switch on the lights in the attic")) == ("light_on", {"room": "attic"})


def test_an_unknown_thing_has_no_word_that_turns_the_meaning_round(pool: TemplatePool) -> None:
    register(
        pool, "home.skill:on", "turn {room} on", "switch {room} on", "activate {room}", "power up {room}", "{room} on"
    )
    assert meant(ask(pool, "turn the attic on")) == ("on", {"room": "the attic"})
    assert meant(ask(pool, "turn the attic off")) is None
    assert meant(ask(pool, "switch on the lights in not the attic")) is None


def test_strict_accepts_nothing_unexplained(pool: TemplatePool) -> None:
    assert meant(ask(pool, "switch on the lights in the kitchen", STRICT)) == ("light_on", {"room": "kitchen"})
    assert meant(ask(pool, "switch on the lights in the attic", STRICT)) is None


def test_the_sentence_that_explains_most_comes_first(pool: TemplatePool) -> None:
    register(pool, "home.skill:floor_on", "turn on the {floor} floor")
    register(pool, "home.skill:room_on", "turn on the {room}")
    assert meant(ask(pool, "turn on the first floor")) == ("room_on", {"room": "first floor"})


@pytest.mark.parametrize(("said", "level"), [("40", "40"), ("40%", "40"), ("twenty-one", "twenty-one")])
def test_a_number_slot_takes_numbers(pool: TemplatePool, said: str, level: str) -> None:
    assert meant(ask(pool, f"dim the kitchen to {said}")) == ("dim", {"room": "kitchen", "level": level})


def test_a_number_slot_takes_nothing_else(pool: TemplatePool) -> None:
    assert meant(ask(pool, "dim the kitchen to candlelight")) is None


@pytest.mark.parametrize(
    "said",
    [
        "do not turn on the lights",
        "is the light off",
        "are the lights on in the kitchen",
        "who turned off the lights",
        "turn off the oven",
        "turn the light upside down",
    ],
)
def test_denials_questions_and_other_things_are_no_commands(pool: TemplatePool, said: str) -> None:
    assert meant(ask(pool, said)) is None


def test_off_is_not_on(pool: TemplatePool) -> None:
    found = meant(ask(pool, "the kitchen lights have to go off"))
    assert found is None or found[0] == "light_off"


def test_an_intent_that_the_context_keeps_out_neither_claims_nor_vetoes() -> None:
    pool = TemplatePool()
    register(pool, "a.skill:more", "and {place}", requires_context=["asked"])
    register(pool, "a.skill:time", "what time is it", "tell me what time it is", "tell me the time")
    assert meant(ask(pool, "and tell me the time")) == ("time", {})


def test_what_is_said_word_for_word_is_not_guessed_at_when_the_context_keeps_it_out() -> None:
    pool = TemplatePool()
    register(pool, "a.skill:more", "another joke", requires_context=["asked"])
    register(pool, "a.skill:joke", "tell me a joke", "one more joke", "a joke please")
    assert "needs the context 'asked'" in str(ask(pool, "another joke"))


def test_the_type_of_a_slot_names_the_values_it_takes() -> None:
    pool = TemplatePool()
    values(pool, "home.skill", "name", "ceiling lamp", "front door")
    values(pool, "home.skill", "name_light", "ceiling lamp")
    values(pool, "home.skill", "name_lock", "front door")
    register(pool, "home.skill:light", "open {name_light:name}")
    register(pool, "home.skill:lock", "open {name_lock:name}")
    assert meant(ask(pool, "open ceiling lamp")) == ("light", {"name": "ceiling lamp"})
    assert meant(ask(pool, "open front door")) == ("lock", {"name": "front door"})


def test_the_type_text_takes_any_words() -> None:
    pool = TemplatePool()
    values(pool, "home.skill", "name", "ceiling lamp")
    register(pool, "home.skill:timer", "timer {text:name}")
    assert meant(ask(pool, "timer pizza")) == ("timer", {"name": "pizza"})


def test_values_written_out_beside_a_slot_fill_their_own() -> None:
    pool = TemplatePool()
    values(pool, "home.skill", "name", "front door", "kitchen lamp")
    values(pool, "home.skill", "state", "locked", "open")
    register(pool, "home.skill:ask", "is the {beside_state:name} (locked|open)")
    assert meant(ask(pool, "is the front door locked")) == ("ask", {"name": "front door", "state": "locked"})


def test_two_slots_share_words_that_are_a_value_of_each() -> None:
    pool = TemplatePool()
    values(pool, "home.skill", "room", "kitchen")
    values(pool, "home.skill", "thing", "party mode")
    register(pool, "home.skill:on", "activate {thing}", "activate {thing} in the {room}")
    assert meant(ask(pool, "activate kitchen party mode")) == ("on", {"thing": "party mode", "room": "kitchen"})


def test_words_to_skip_are_skipped_for_the_skill_that_has_them(pool: TemplatePool) -> None:
    values(pool, "home.skill", "skip_words", "for me", "would you kindly")
    register(pool, "other.skill:sing", "sing {song}")
    assert meant(ask(pool, "would you kindly lock the back door for me")) == ("lock", {"door": "back door"})
    assert meant(ask(pool, "sing would you kindly")) == ("sing", {"song": "would you kindly"})
    data = {"skill_id": "home.skill", "entity_name": "skip_words"}
    pool.apply(topics.ENTITY_DEREGISTER, data, DEFAULT_SESSION_ID)
    assert meant(ask(pool, "lock would you kindly the back door", STRICT)) is None


@pytest.mark.parametrize(
    ("said", "lang", "is_number"),
    [
        ("twenty one", "en", True),
        ("einundzwanzig", "de", True),
        ("trentadue", "it", True),
        ("vingt et un", "fr", True),
        ("und 5", "de", False),
        ("windows", "en", False),
        ("8", "xx", True),
        ("kuusi", "fi", True),
    ],
)
def test_numbers_are_told_by_digits_and_number_words(said: str, lang: str, is_number: bool) -> None:
    assert can_be_number(said.split(), lang) is is_number


def test_the_sign_of_a_unit_is_no_part_of_a_number() -> None:
    assert [without_unit(text) for text in ("50%", "20.5 °", "half")] == ["50", "20.5", "half"]


def test_values_with_small_numbers_are_known_in_digits_and_in_words(pool: TemplatePool) -> None:
    values(pool, "radio.skill", "station", "radio four", "channel 9")
    register(pool, "radio.skill:tune", "tune in to {station}")
    assert meant(ask(pool, "tune in to radio 4", STRICT)) == ("tune", {"station": "radio 4"})
    assert meant(ask(pool, "tune in to radio four", STRICT)) == ("tune", {"station": "radio four"})
    assert meant(ask(pool, "tune in to channel nine", STRICT)) == ("tune", {"station": "channel nine"})
    assert meant(ask(pool, "tune in to radio 5", STRICT)) is None


@pytest.fixture
def doors() -> TemplatePool:
    """Two intents of opposite meaning that are said in many ways."""
    made = TemplatePool()
    frames = ("the front door", "the gate of the yard", "the shed behind the house", "the side entrance of the shop")
    for name, verb in (("open", "open"), ("close", "close")):
        samples = [f"{verb} {frame}" for frame in frames]
        register(made, f"doors.skill:{name}", *samples, f"please {verb} up everything", f"i want the barn to be {verb}")
    return made


def test_the_opposite_of_a_word_that_an_intent_has_rules_it_out(doors: TemplatePool) -> None:
    assert meant(ask(doors, "close the front gate of the house")) == ("close", {})
    assert meant(ask(doors, "open the front gate of the house")) == ("open", {})
    assert meant(ask(doors, "do not open the front gate of the house")) is None


def test_a_question_is_no_command_however_many_ways_the_command_is_said_in(doors: TemplatePool) -> None:
    assert meant(ask(doors, "why close the front gate of the house")) is None


def test_what_the_speaker_did_is_no_request() -> None:
    made = TemplatePool()
    register(made, "alarm.skill:set", "wake me up at {when}", "i want to get up at {when}")
    assert meant(ask(made, "i need to get up at six")) == ("set", {"when": "six"})
    assert meant(ask(made, "i woke up at four")) is None


def test_a_slot_that_begins_a_sentence_takes_neither_a_denial_nor_a_question() -> None:
    made = TemplatePool()
    register(made, "timers.skill:set", "{duration} timer", "say {words}")
    assert meant(ask(made, "ten minute timer")) == ("set", {"duration": "ten minute"})
    assert meant(ask(made, "do not set a timer")) is None
    assert meant(ask(made, "is there time on the timer")) is None
    assert meant(ask(made, "say do not worry")) == ("set", {"words": "do not worry"})


@pytest.mark.parametrize("said", ["i bought a timer", "she broke the timer", "the timer", "ten more on the timer"])
def test_a_slot_that_begins_a_sentence_takes_no_statement_and_does_not_end_in_an_article(said: str) -> None:
    made = TemplatePool()
    register(made, "timers.skill:set", "{duration} timer", "{name} timer {duration}")
    assert meant(ask(made, said)) is None
    assert meant(ask(made, "the pasta timer")) == ("set", {"duration": "the pasta"})


def test_an_order_that_begins_as_questions_do_allows_no_questions() -> None:
    made = TemplatePool()
    register(
        made, "timers.skill:set", "set a timer for {name}", "start a timer for {name}", "do a countdown for {name}"
    )
    assert meant(ask(made, "did you set a timer for eggs")) is None
    assert meant(ask(made, "do the countdown for eggs")) is not None


def test_what_the_speaker_did_is_not_asked_by_the_same_words() -> None:
    made = TemplatePool()
    register(made, "alarm.skill:list", "did i set an alarm", "which alarms are on", "have i set an alarm")
    assert meant(ask(made, "i set an alarm on my phone")) is None


@pytest.fixture
def small() -> TemplatePool:
    made = TemplatePool()
    lines = (
        "how much time is left",
        "how long is left [on the timer]",
        "what is left on the timer",
        "is there time left",
    )
    register(made, "timers.skill:left", *lines, "(check|show) the timer", "how many (minutes|seconds) are left")
    register(made, "talk.skill:thanks", "(thanks|thank you) [so much|a lot]", "thanks for (your|the) help", "cheers")
    register(made, "talk.skill:opinion", "do you (love|like|hate) (me|us|people|music)", "what do you (think|like)")
    register(made, "volume.skill:down", "turn the (volume|sound) down [a bit|a little]", "(lower|reduce) the volume")
    return made


@pytest.mark.parametrize(
    "said",
    [
        "how much cake is left",
        "how much wine is left",
        "do you love her or what",
        "thank you so much for the lovely flowers",
        "thanks for the help with the carpet",
    ],
)
def test_templates_with_choices_leave_nothing_strange_over(small: TemplatePool, said: str) -> None:
    assert meant(ask(small, said)) is None


def test_templates_with_choices_are_meant_in_other_words_of_theirs(small: TemplatePool) -> None:
    assert meant(ask(small, "how much is left on the timer")) == ("left", {})
    assert meant(ask(small, "turning the volume down a bit")) == ("down", {})
    assert meant(ask(small, "thank you a lot for your help")) == ("thanks", {})


@pytest.mark.parametrize("said", ["i bought her a scarf", "i bought milk there is plenty", "i bought what we need"])
def test_what_the_speaker_tells_takes_things_and_no_clauses(said: str) -> None:
    made = TemplatePool()
    register(made, "shopping.skill:bought", "(i|we) bought {items}")
    assert meant(ask(made, said)) is None
    assert meant(ask(made, "we bought a loaf of bread and the milk")) == (
        "bought",
        {"items": "a loaf of bread and the milk"},
    )


@pytest.mark.parametrize(
    ("lang", "sample", "said"),
    [
        ("fr-FR", "est-ce que j'ai mis un réveil", "j'ai mis mon réveil"),
        ("it-IT", "ho messo una sveglia per domani", "ho già messo la sveglia"),
    ],
)
def test_what_the_speaker_did_is_told_by_the_verb_alone_in_some_languages(lang: str, sample: str, said: str) -> None:
    pool = TemplatePool()
    data = {"skill_id": "alarm.skill", "intent_name": "list", "lang": lang, "samples": [sample]}
    pool.apply(topics.REGISTER_TEMPLATE, data, DEFAULT_SESSION_ID)
    assert meant(lookup(pool, said, lang, HERE, lambda: 0.0)) is None


@pytest.mark.parametrize(
    "said", ["borrow the robot vacuum again", "it is time to paint the robot vacuum", "please whistle at the vacuum"]
)
def test_another_word_in_place_of_one_that_all_sentences_have_is_another_thing(said: str) -> None:
    made = TemplatePool()
    lines = (
        "please start the robot vacuum",
        "could you start the robot vacuum at {time}",
        "it is time to start it again",
    )
    register(made, "home.skill:vacuum", *lines, "i need somebody to start the vacuum")
    assert meant(ask(made, said)) is None
    assert meant(ask(made, "it is time to start the robot vacuum")) == ("vacuum", {})
