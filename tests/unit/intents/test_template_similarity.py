"""Sentences that fit no template as written: the intent they are similar to, or none."""

from __future__ import annotations

import pytest
from pools import ask, entity, label, register, send, slots

from hark.intents import LOOSE, NORMAL, STRICT, Found, TemplatePool
from hark.model import ContextEntry, Session
from hark.spec import topics

HOUSE = {
    "lights.skill:on": ("turn on the [{room}] light", "switch the light on", "please light up the {room}"),
    "lights.skill:off": ("turn off the [{room}] light", "switch the light off", "make the {room} dark"),
    "clock.skill:time": ("what time is it", "tell me the time", "do you know how late it is"),
    "clock.skill:alarm": ("wake me up at {when}", "set an alarm for {when}", "i need an alarm at {when}"),
    "weather.skill:today": ("what is the weather like", "will it rain today", "do i need an umbrella"),
    "weather.skill:place": ("how is the weather in {city}", "what will the weather be in {city}", "rain in {city}"),
    "music.skill:play": ("play some {genre}", "put on {genre} music", "i would like to hear {genre}"),
    "music.skill:silence": ("stop the music", "turn the music off", "silence please"),
    "list.skill:add": ("add {item} to my shopping list", "put {item} on the shopping list", "i have to buy {item}"),
    "list.skill:read": ("read my shopping list", "what is on the shopping list", "what do i have to buy"),
    "jokes.skill:tell": ("tell me a joke", "make me laugh", "say something funny"),
}


@pytest.fixture
def pool() -> TemplatePool:
    made = TemplatePool()
    for name, sentences in HOUSE.items():
        register(made, name, *sentences)
    return made


def score(found: Found | str) -> float:
    """The score of what was found."""
    assert not isinstance(found, str), found
    return found.score


@pytest.mark.parametrize(
    ("said", "meant"),
    [
        ("could you tell me what time it is", "clock.skill:time"),
        ("please tell me a really funny joke", "jokes.skill:tell"),
        ("would you read the shopping list to me", "list.skill:read"),
        ("what is the weather like outside", "weather.skill:today"),
        ("is it going to rain today", "weather.skill:today"),
        ("stop that music please", "music.skill:silence"),
        ("please switch on the light", "lights.skill:on"),
    ],
)
def test_other_words_for_the_same_thing_are_understood(pool: TemplatePool, said: str, meant: str) -> None:
    found = ask(pool, said)
    assert label(found) == meant, found
    assert NORMAL <= score(found) < 1.0
    assert label(ask(pool, said, floor=STRICT)) is None


@pytest.mark.parametrize(
    "said",
    [
        "who wrote the longest novel",
        "my neighbour bought a bicycle yesterday",
        "how many legs does a spider have",
        "the",
        "what",
        "music",
        "",
        "?!",
        "turn on the radio",
    ],
)
def test_requests_that_no_intent_covers_are_declined(pool: TemplatePool, said: str) -> None:
    assert label(ask(pool, said)) is None


@pytest.mark.parametrize(
    "said",
    [
        "the puppet maker rarely mentioned the living room television",
        "a wandering monk quietly ignored the living room television",
        "our former professor once painted the living room television",
    ],
)
def test_who_tells_of_a_thing_wants_nothing_of_it(said: str) -> None:
    """Words nobody knows may be a title; where no slot takes them, they are something else."""
    pool = TemplatePool()
    thing = "the living room television"
    register(pool, "tv.skill:queue", f"clear the queue of {thing}", f"shuffle {thing}", f"line up {{title}} on {thing}")
    register(pool, "tv.skill:volume", f"make {thing} quieter", f"set {thing} volume to {{level}}")
    assert label(ask(pool, f"please shuffle {thing}")) == "tv.skill:queue"
    assert label(ask(pool, f"queue sunrise melodies on {thing}")) == "tv.skill:queue"
    assert label(ask(pool, said)) is None


def test_what_is_as_like_one_intent_as_another_is_declined() -> None:
    pool = TemplatePool()
    for device in ("lamp", "fan", "oven", "heater"):
        for verb in ("start", "pause"):
            register(pool, f"{device}.skill:{verb}", f"{verb} the {device} now", f"please {verb} my {device}")
    assert label(ask(pool, "please start the lamp")) == "lamp.skill:start"
    assert label(ask(pool, "please start my kettle now")) is None


def test_a_sentence_as_written_scores_one_and_comes_first(pool: TemplatePool) -> None:
    register(pool, "other.skill:odd", "is it going to rain today")
    assert score(ask(pool, "is it going to rain today")) == 1.0
    assert label(ask(pool, "is it going to rain today")) == "other.skill:odd"


def test_a_lower_floor_claims_more_and_never_something_else(pool: TemplatePool) -> None:
    said = "it would be nice to hear something funny"
    assert label(ask(pool, said, floor=0.9)) is None
    found = [label(ask(pool, said, floor=floor)) for floor in (NORMAL, LOOSE, 0.1, 0.0)]
    assert set(found) <= {None, "jokes.skill:tell"}
    assert found[-1] == "jokes.skill:tell"


def test_slots_are_found_where_the_sentences_have_them(pool: TemplatePool) -> None:
    assert slots(ask(pool, "please add oat milk to my shopping list")) == {"item": "oat milk"}
    assert slots(ask(pool, "please set another alarm for half past six", floor=LOOSE)) == {"when": "half past six"}


def test_known_values_are_found_wherever_they_stand(pool: TemplatePool) -> None:
    entity(pool, "music.skill", "genre", "jazz", "heavy metal", "folk")
    found = ask(pool, "some heavy metal music would be nice to hear", floor=LOOSE)
    assert label(found) == "music.skill:play"
    assert slots(found) == {"genre": "heavy metal"}


def test_a_slot_that_every_sentence_has_is_never_missing(pool: TemplatePool) -> None:
    for floor in (NORMAL, LOOSE, 0.0):
        found = ask(pool, "wake me up", floor=floor)
        assert label(found) != "clock.skill:alarm" or slots(found)["when"]


def test_what_the_context_remembers_fills_a_slot_that_was_not_said(pool: TemplatePool) -> None:
    remembered = Session(intent_context={"weather.skill:city": ContextEntry("Porto")})
    found = ask(pool, "how is the weather there in", remembered, floor=LOOSE)
    assert label(found) != "weather.skill:place" or slots(found)["city"]


def test_barred_values_and_phrases_and_switches_count_for_what_is_like_too(pool: TemplatePool) -> None:
    said = "please tell me a really funny joke"
    assert label(ask(pool, said, Session(blacklisted_skills=["jokes.skill"]))) != "jokes.skill:tell"
    register(pool, "jokes.skill:tell", "tell me a joke", "say something funny", blacklist=["really"])
    assert label(ask(pool, said)) != "jokes.skill:tell"
    register(pool, "jokes.skill:tell", *HOUSE["jokes.skill:tell"])
    assert label(ask(pool, said)) == "jokes.skill:tell"
    send(pool, topics.INTENT_DISABLE, "jokes.skill:tell")
    assert label(ask(pool, said)) != "jokes.skill:tell"
    register(
        pool,
        "list.skill:add",
        *HOUSE["list.skill:add"],
        slot_blacklist={"item": ["oat milk"]},
    )
    assert label(ask(pool, "please add oat milk to my shopping list")) != "list.skill:add"


def test_what_fits_as_written_and_is_ruled_out_is_not_guessed_at(pool: TemplatePool) -> None:
    register(pool, "clock.skill:late", "tell me the time now", requires_context=["asked"])
    assert "needs the context 'asked'" in str(ask(pool, "tell me the time now"))


def test_an_intent_is_gone_with_its_registration_and_another_takes_its_place(pool: TemplatePool) -> None:
    said = "please tell me a really funny joke"
    send(pool, topics.INTENT_DEREGISTER, "jokes.skill:tell")
    assert label(ask(pool, said)) != "jokes.skill:tell"
    register(pool, "comedy.skill:joke", "tell me a joke", "say something funny")
    assert label(ask(pool, said)) == "comedy.skill:joke"


def test_a_session_has_its_own_intents_beside_the_shared_ones(pool: TemplatePool) -> None:
    register(pool, "garden.skill:water", "water the roses", "give the roses some water", scope="sat-3")
    said = "please give some water to the roses"
    assert label(ask(pool, said, Session("sat-3"))) == "garden.skill:water"
    assert label(ask(pool, said, Session("sat-9"))) is None
    assert label(ask(pool, "could you tell me what time it is", Session("sat-3"))) == "clock.skill:time"


def test_a_related_language_helps_out_where_an_intent_has_no_other(pool: TemplatePool) -> None:
    assert label(ask(pool, "please tell me a really funny joke", lang="en-GB")) == "jokes.skill:tell"
    register(pool, "jokes.skill:tell", "amuse me", lang="en-GB")
    assert label(ask(pool, "please tell me a really funny joke", lang="en-GB")) != "jokes.skill:tell"


def test_wide_slots_do_not_swallow_what_another_intent_is_made_of() -> None:
    pool = TemplatePool()
    register(pool, "video.skill:find", "find {title}", "i want to watch {title}")
    register(pool, "bus.skill:next", "when does the next bus leave for {place}", "find out when the bus leaves")
    register(pool, "shop.skill:hours", "is the bakery open on sunday", "tell me when the bakery opens")
    said = "find out when the next bus leaves for the station"
    assert label(ask(pool, said)) == "bus.skill:next"
    assert label(ask(pool, said, floor=STRICT)) == "video.skill:find"
    assert slots(ask(pool, "find the lord of the rings")) == {"title": "the lord of the rings"}


def test_languages_without_spaces_match_as_written_or_not_at_all() -> None:
    pool = TemplatePool()
    register(pool, "weather.skill:tomorrow", "明天天气怎么样", lang="zh-CN")
    register(pool, "music.skill:play", "播放{song}", lang="zh-CN")
    assert label(ask(pool, "明天天气怎么样", lang="zh-CN")) == "weather.skill:tomorrow"
    assert label(ask(pool, "明天天气很不错啊", lang="zh-CN")) is None


def test_inflected_words_are_known_by_their_beginning() -> None:
    pool = TemplatePool()
    register(pool, "garten.skill:giessen", "bewässere die rosen", "gib den blumen wasser", lang="de-DE")
    register(pool, "licht.skill:an", "schalte die lampe ein", "mach das licht an", lang="de-DE")
    found = ask(pool, "kannst du die rosen bewässern", lang="de-DE", floor=LOOSE)
    assert label(found) == "garten.skill:giessen"


def test_a_very_long_utterance_is_not_compared(pool: TemplatePool) -> None:
    assert "too many" in str(ask(pool, "tell me the joke " * 20))


def test_denied_intents_do_not_stand_in_the_way_of_the_next_best(pool: TemplatePool) -> None:
    for number in range(4):
        register(
            pool, f"rude.skill:tell{number}", "tell me a joke please", "tell me a good joke", f"tell joke {number}"
        )
    register(pool, "jokes.skill:tell", "tell me a joke now", "tell us a joke")
    assert label(ask(pool, "please tell me a joke")) != "jokes.skill:tell"
    assert label(ask(pool, "please tell me a joke", Session(blacklisted_skills=["rude.skill"]))) == "jokes.skill:tell"


def test_a_denied_intent_that_fits_as_written_leaves_it_to_one_that_is_similar(pool: TemplatePool) -> None:
    register(pool, "rude.skill:tell", "tell me a joke right now")
    register(pool, "jokes.skill:tell", "tell me a joke", "tell a joke to us now")
    said, denying = "tell me a joke right now", Session(blacklisted_intents=["rude.skill:tell"])
    assert label(ask(pool, said)) == "rude.skill:tell"
    assert label(ask(pool, said, denying)) == "jokes.skill:tell"
    assert ask(pool, said, denying, floor=1.0) == "rude.skill:tell fits but the session denies it"
