"""The sentences both sides of the benchmark are measured with.

Pure functions of their arguments, standard library only: Hark's side and the peer's side import this very file, each
in its own interpreter, and get the same skills, the same sample sentences and the same utterances in the same order.

A skill has five intents and an intent five samples. Three intents take one ``{slot}`` in three of their samples; the
other two are plain sentences. The utterances of `matched` fill slots, each with another value: no two are alike, so no
cache of earlier answers can stand in for a matcher.
"""

from __future__ import annotations

from functools import cache
from itertools import product
from typing import NamedTuple

INTENTS_PER_SKILL = 5
SAMPLES_PER_INTENT = 5
MAX_SKILLS = 100


class Intent(NamedTuple):
    """One intent of a skill: its name and its sample sentences, slots written ``{name}``."""

    name: str
    samples: tuple[str, ...]


class Skill(NamedTuple):
    """One synthetic skill."""

    skill_id: str
    intents: tuple[Intent, ...]


class Utterance(NamedTuple):
    """What a person says, and the intent that has to answer it (both empty: nobody may)."""

    text: str
    skill_id: str = ""
    intent_name: str = ""


# A family of skills: what its skills are about, and its five intents. "$" stands for the topic.
_FAMILIES: tuple[tuple[tuple[str, ...], dict[str, tuple[str, ...]]], ...] = (
    (
        (
            "kitchen light", "bedroom lamp", "ceiling fan", "coffee machine", "garage heater", "porch light",
            "garden sprinkler", "air purifier", "towel warmer", "dishwasher", "humidifier", "desk lamp",
            "aquarium pump", "hallway light", "electric blanket", "rice cooker", "patio heater", "washing machine",
            "dehumidifier", "christmas tree",
        ),
        {
            "switch_on": (
                "turn on the $", "switch the $ on",
                "turn on the $ at {time}", "have the $ running by {time}", "the $ should start at {time}",
            ),
            "switch_off": (
                "turn off the $", "switch the $ off", "power down the $", "i am done with the $",
                "nobody needs the $ now",
            ),
            "set_level": (
                "make the $ stronger", "turn the $ up a little",
                "set the $ to {level}", "change the $ level to {level}", "dial the $ down to {level}",
            ),
            "status": (
                "is the $ on", "what is the $ doing", "check the $", "does the $ work", "did someone leave the $ on",
            ),
            "rename": (
                "give the $ a new name", "the $ deserves a better name",
                "rename the $ to {name}", "call the $ {name} from now on", "label the $ as {name}",
            ),
        },
    ),
    (
        (
            "kitchen speaker", "living room television", "bathroom radio", "bedroom stereo", "office soundbar",
            "garage boombox", "den projector", "patio speakers", "attic turntable", "cellar jukebox",
            "studio monitor", "hallway speaker", "nursery player", "balcony radio", "gym television",
            "library stereo", "dining room speaker", "workshop radio", "guest room television", "basement cinema",
        ),
        {
            "play": (
                "play something on the $", "put some music on the $",
                "play {title} on the $", "start {title} on the $", "put {title} on the $",
            ),
            "skip": (
                "skip this song on the $", "next track on the $", "i do not like what the $ plays",
                "something else on the $ please", "move on with the $",
            ),
            "volume": (
                "turn the volume of the $ up", "make the $ quieter",
                "set the $ volume to {level}", "change the volume of the $ to {level}", "bring the $ down to {level}",
            ),
            "playing": (
                "what is playing on the $", "who is singing on the $", "what song is the $ playing",
                "name that tune on the $", "which album is on the $",
            ),
            "queue": (
                "clear the queue of the $", "shuffle the $",
                "add {title} to the $ queue", "queue {title} on the $", "line up {title} on the $",
            ),
        },
    ),
    (
        (
            "shopping list", "packing list", "hardware list", "birthday list", "reading list", "chores list",
            "grocery list", "wish list", "guest list", "camping list", "medicine list", "office list", "garden list",
            "party list", "recipe list", "errands list", "holiday list", "school list", "repair list", "baking list",
        ),
        {
            "add": (
                "add something to my $", "put something on my $",
                "add {item} to my $", "put {item} on my $", "i need {item} on the $",
            ),
            "read": (
                "read my $", "what is on my $", "how long is my $", "show me my $", "go through my $ with me",
            ),
            "remove": (
                "take the last thing off my $", "empty my $",
                "remove {item} from my $", "take {item} off my $", "cross {item} off the $",
            ),
            "sort": (
                "sort my $", "tidy up my $", "put my $ in order", "arrange my $ by shop", "clean up my $",
            ),
            "share": (
                "share my $", "print my $",
                "send my $ to {name}", "share my $ with {name}", "text my $ to {name}",
            ),
        },
    ),
    (
        (
            "weather", "traffic", "pollen count", "tide", "surf", "air quality", "snow depth", "bus timetable",
            "train schedule", "exchange rate", "gas price", "football score", "cinema programme", "museum opening",
            "ferry timetable", "flight board", "moon phase", "ultraviolet index", "river level", "fire risk",
        ),
        {
            "now": (
                "what is the $", "tell me the $",
                "what is the $ in {city}", "tell me the $ for {city}", "give me the $ near {city}",
            ),
            "change": (
                "how will the $ change", "will the $ get better", "is the $ getting worse", "what will the $ be later",
                "does the $ look stable",
            ),
            "forecast": (
                "predict the $", "give me a forecast of the $",
                "what will the $ be on {day}", "how will the $ look on {day}", "predict the $ for {day}",
            ),
            "source": (
                "where does the $ come from", "who reports the $", "how old is the $ report", "is the $ reliable",
                "when was the $ updated",
            ),
            "watch": (
                "warn me about the $", "keep an eye on the $",
                "warn me about the $ in {city}", "watch the $ of {city}", "alert me when the $ changes in {city}",
            ),
        },
    ),
    (
        (
            "mother", "father", "grandmother", "doctor", "dentist", "plumber", "landlord", "boss", "neighbour",
            "babysitter", "coach", "hairdresser", "vet", "accountant", "lawyer", "gardener", "electrician", "teacher",
            "florist", "mechanic",
        ),
        {
            "call": (
                "call my $", "ring my $",
                "call my $ at {time}", "ring my $ at {time}", "phone my $ at {time}",
            ),
            "missed": (
                "did my $ call", "read the last message from my $", "any news from my $", "has my $ written back",
                "when did i last hear from my $",
            ),
            "message": (
                "text my $", "write to my $",
                "text my $ that {text}", "write my $ a note saying {text}", "tell my $ that {text}",
            ),
            "number": (
                "what is the number of my $", "show me the address of my $", "where does my $ live",
                "how do i reach my $", "look up my $",
            ),
            "appointment": (
                "book my $", "arrange a meeting with my $",
                "book my $ for {day}", "arrange a meeting with my $ on {day}", "make an appointment with my $ on {day}",
            ),
        },
    ),
)  # fmt: skip

_ONES = ["one", "two", "three", "four", "five", "six", "seven", "eight", "nine"]
_TEENS = ["ten", "eleven", "twelve", "thirteen", "fourteen", "fifteen", "sixteen", "seventeen", "eighteen", "nineteen"]
_TENS = ["twenty", "thirty", "forty", "fifty", "sixty", "seventy", "eighty", "ninety"]
_NUMBERS = _ONES + _TEENS + [f"{ten} {one}".strip() for ten in _TENS for one in ("", *_ONES)]
_HOURS = _NUMBERS[:12]
_WEEKDAYS = ["monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday"]
_WEEKS = (
    "next week", "this week", "last week", "in march", "in april", "in may", "in june", "in july", "in august",
    "in autumn", "before easter", "after easter", "before christmas", "after christmas", "after the holidays",
    "before the holidays", "around noon", "around midnight", "in the morning", "in the afternoon", "in the evening",
    "at dawn", "at dusk", "at lunch", "after work", "before work", "after school", "before school", "after breakfast",
    "after dinner", "before lunch", "at night", "over the long weekend", "during the fair", "during the festival",
)  # fmt: skip
_FIRST = (
    "anna", "bruno", "clara", "david", "elena", "felix", "greta", "hugo", "irene", "jonas", "karin", "leo", "marta",
    "nico", "olga", "paul", "rosa", "simon", "tessa", "victor",
)  # fmt: skip
_LAST = (
    "almeida", "bauer", "costa", "dubois", "eriksen", "ferrari", "garcia", "hansen", "ivanov", "janssen", "keller",
    "lindgren", "moreau", "novak", "oliveira", "petrov", "rossi", "santos", "tanaka", "weber",
)  # fmt: skip
_MOODS = (
    "blue", "broken", "crimson", "distant", "electric", "endless", "forgotten", "golden", "hidden", "hollow",
    "lonely", "midnight", "paper", "quiet", "restless", "scarlet", "silver", "sleepy", "velvet", "winter",
)  # fmt: skip
_THINGS = (
    "river", "highway", "garden", "mirror", "ocean", "parade", "letters", "station", "harbour", "thunder", "window",
    "carousel", "horizon", "lantern", "orchard", "sparrow", "cathedral", "meadow", "compass", "railway",
)  # fmt: skip
_QUALITIES = (
    "fresh", "frozen", "organic", "cheap", "red", "green", "large", "small", "sweet", "spicy", "dried", "smoked",
    "wooden", "plastic", "spare", "soft", "white", "yellow", "imported", "local",
)  # fmt: skip
_GOODS = (
    "apples", "bananas", "batteries", "bread rolls", "candles", "carrots", "cheese", "coffee beans", "eggs",
    "envelopes", "flour", "gloves", "lemons", "matches", "napkins", "olives", "pencils", "potatoes", "tomatoes",
    "towels",
)  # fmt: skip
_PARTS = (
    "north", "south", "east", "west", "central", "greater", "upper", "lower", "old", "new", "inner", "outer",
    "downtown", "suburban", "coastal", "rural",
)  # fmt: skip
_CITIES = (
    "lisbon", "porto", "madrid", "seville", "paris", "lyon", "berlin", "hamburg", "vienna", "prague", "warsaw",
    "oslo", "helsinki", "dublin", "glasgow", "rome", "turin", "athens", "budapest", "zagreb", "tallinn", "riga",
    "geneva", "antwerp", "utrecht",
)  # fmt: skip
_NEWS_WHO = (
    "the train", "the parcel", "the dog", "the meeting", "the concert", "the landlady", "the car", "the delivery",
    "the flight", "the doctor", "the heating", "the roof", "the teacher", "the choir", "the cake", "the garden",
    "the bicycle", "the boat", "the sister", "the rehearsal",
)  # fmt: skip
_NEWS_WHAT = (
    "is late again", "arrived early", "was moved to friday", "needs some attention", "looks wonderful",
    "made us laugh", "is almost ready", "has a new colour", "was a big success", "is waiting outside",
    "got lost on the way", "surprised everyone", "is in good hands", "was too loud", "will be fine", "kept us awake",
    "is worth seeing", "cost too much", "is back home", "was very kind",
)  # fmt: skip

_SLOTS: dict[str, tuple[str, ...]] = {
    "time": tuple(
        f"{minute} {hour} {part}".strip()
        for minute, hour, part in product(
            ("half past", "quarter past", "quarter to", "ten past", "ten to", "twenty past", "twenty to", "five past"),
            _HOURS,
            ("in the morning", "in the evening", "sharp", "or so"),
        )
    ),
    "level": tuple(f"{n} {unit}" for n, unit in product(_NUMBERS[1:], ("percent", "points", "steps", "notches"))),
    "day": tuple(f"{weekday} {week}" for weekday, week in product(_WEEKDAYS, _WEEKS)),
    "name": tuple(f"{first} {last}" for first, last in product(_FIRST, _LAST)),
    "title": tuple(f"{mood} {thing}" for mood, thing in product(_MOODS, _THINGS)),
    "item": tuple(f"{quality} {good}" for quality, good in product(_QUALITIES, _GOODS)),
    "city": tuple(f"{part} {city}" for part, city in product(_PARTS, _CITIES)),
    "text": tuple(f"{who} {what}" for who, what in product(_NEWS_WHO, _NEWS_WHAT)),
}

# Out of every skill's scope: statements, no command, no question. Ten of the matters are what the first ten skills are
# about, so that a matcher cannot turn all of these away for their words alone.
_TELLERS = (
    "a retired sailor", "the choir director", "an elderly botanist", "our former professor", "the village baker",
    "a young violinist", "the museum guide", "an honest politician", "the lighthouse keeper", "a tired journalist",
    "the chess champion", "an old beekeeper", "the orchestra", "a famous novelist", "the mountain rescuer",
    "an eager student", "the night watchman", "a careful surgeon", "the glass blower", "a wandering monk",
    "the puppet maker", "an amateur astronomer", "the stage designer", "a patient translator", "the bridge engineer",
)  # fmt: skip
_DEEDS = (
    "never understood", "secretly admired", "once painted", "often described", "always defended", "quietly ignored",
    "later regretted", "proudly collected", "rarely mentioned", "suddenly remembered", "hardly noticed",
    "carefully restored", "loudly criticised", "gladly inherited", "slowly abandoned", "briefly studied",
    "truly loved", "openly doubted", "finally published", "nearly destroyed", "bravely explored", "gently mocked",
    "already sketched", "wisely avoided", "cheerfully imitated",
)  # fmt: skip
_MATTERS = (
    "ancient volcanoes", "the kitchen light", "medieval shipwrecks", "the kitchen speaker", "silent comedies",
    "the shopping list", "roman aqueducts", "the weather", "migrating storks", "my mother", "steam locomotives",
    "the bedroom lamp", "unsolved equations", "the living room television", "gothic novels", "the packing list",
    "royal portraits", "the traffic", "coral reefs", "my father", "distant galaxies", "bamboo flutes",
    "carnival masks", "herbal remedies", "stained glass",
)  # fmt: skip


def workload(skills: int) -> list[Skill]:
    """The first `skills` synthetic skills (1 to 100); a smaller workload is a prefix of a larger one."""
    if not 1 <= skills <= MAX_SKILLS:
        raise ValueError(f"skills must be 1 to {MAX_SKILLS}, not {skills}")
    return [_skill(number) for number in range(skills)]


@cache
def _skill(number: int) -> Skill:
    topics, intents = _FAMILIES[number % len(_FAMILIES)]
    topic = topics[number // len(_FAMILIES)]
    return Skill(
        skill_id=f"{topic.replace(' ', '_')}.bench",
        intents=tuple(
            Intent(name, tuple(sample.replace("$", topic) for sample in samples)) for name, samples in intents.items()
        ),
    )


def matched(n: int, skills: int = 1) -> list[Utterance]:
    """`n` different utterances, each meant for exactly one intent, spread evenly over all of `workload(skills)`."""
    sources = [
        (skill.skill_id, intent.name, sample)
        for position in range(SAMPLES_PER_INTENT)
        for number in range(INTENTS_PER_SKILL)
        for skill in workload(skills)
        for intent, sample in [(skill.intents[number], skill.intents[number].samples[position])]
        if "{" in sample
    ]
    found: list[Utterance] = []
    for index in range(n):
        skill_id, intent_name, sample = sources[index % len(sources)]
        head, _, rest = sample.partition("{")
        slot, _, tail = rest.partition("}")
        values = _SLOTS[slot]
        visit = index // len(sources)
        if visit >= len(values):
            raise ValueError(f"no {n} different utterances for {skills} skills: at most {len(values) * len(sources)}")
        # 101 shares no factor with any list length, so the visits run through all values without repeating one.
        value = values[(visit * 101 + index % len(sources)) % len(values)]
        found.append(Utterance(f"{head}{value}{tail}", skill_id, intent_name))
    return found


def unmatched(n: int) -> list[Utterance]:
    """`n` different utterances that no intent of any workload may answer."""
    most = len(_TELLERS) * len(_DEEDS) * len(_MATTERS)
    if n > most:
        raise ValueError(f"at most {most} different unmatched utterances, not {n}")
    # 7919 is prime: consecutive utterances differ in all three parts and none comes twice.
    return [
        Utterance(f"{_TELLERS[k % 25]} {_DEEDS[k // 25 % 25]} {_MATTERS[k // 625]}")
        for k in (i * 7919 % most for i in range(n))
    ]
