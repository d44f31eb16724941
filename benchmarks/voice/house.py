"""The house the recognisers are measured in: what its skills register, and twenty commands somebody says.

There are two more: `development.py`, in which settings are chosen, and `held_out.py`, in which nothing is.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final, NamedTuple


class House(NamedTuple):
    """What the skills of one house register, and what is said in it."""

    name: str
    templates: Mapping[str, tuple[str, ...]]
    """By intent."""
    entities: Mapping[str, tuple[str, ...]]
    commands: tuple[str, ...]
    others: str
    """The file with sentences that are no commands; empty: those of the benchmark."""
    near: str = ""
    """The file with sentences that are one word away from a command, or two."""

    def registrations(self, lang: str = "en-US") -> Iterator[tuple[str, dict[str, Any]]]:
        """Topic and payload of everything the house's skills register (INTENT-4)."""
        for intent, samples in self.templates.items():
            skill, _, name = intent.partition(".")
            skill_id = f"{skill}.skill"
            yield (
                "ovos.intent.register.template",
                {"skill_id": skill_id, "intent_name": name, "lang": lang, "samples": list(samples)},
            )
            for entity, values in self.entities.items():
                if any(f"{{{entity}}}" in sample for sample in samples):
                    yield (
                        "ovos.entity.register",
                        {"skill_id": skill_id, "entity_name": entity, "lang": lang, "samples": list(values)},
                    )


TEMPLATES: Final[Mapping[str, tuple[str, ...]]] = {
    "light.on": ("(turn|switch) on the {room} (light|lights)", "(turn|switch) the {room} (light|lights) on"),
    "light.off": ("(turn|switch) off the {room} (light|lights)", "(turn|switch) the {room} (light|lights) off"),
    "light.dim": ("(dim|brighten) the {room} (light|lights) [to {number:level} percent]",),
    "cover.move": ("(open|close|lower|raise) the {room} (blinds|curtains|shutters)", "(open|close) the garage door"),
    "heat.set": ("set the (temperature|heating) [in the {room}] to {number:degrees} degrees",),
    "timer.set": ("set a timer for {duration:time}", "start a {duration:time} timer", "wake me in {duration:time}"),
    "timer.left": ("how much time is left [on the timer]", "how long is left on the timer"),
    "timer.cancel": ("(cancel|stop) the timer",),
    "music.play": ("play [some] {genre} [music] [in the {room}]", "put on [some] {genre} music"),
    "music.next": ("(next|previous) (song|track)", "skip this (song|track)", "pause the music", "resume the music"),
    "volume.set": (
        "set the volume to {number:level} [percent]",
        "turn the volume (up|down)",
        "(louder|quieter) please",
    ),
    "weather.now": ("what is the weather like [today|tomorrow] [in {city}]", "will it rain (today|tomorrow|tonight)"),
    "clock.time": ("what time is it [in {city}]", "tell me the time", "what is the date today"),
    "list.read": ("what is on (my|the) shopping list", "read me the shopping list"),
    "list.clear": ("(clear|empty) the shopping list",),
    "joke.tell": ("tell me a joke", "make me laugh"),
    "door.lock": ("(lock|unlock) the (front|back) door",),
    "vacuum.run": ("start the vacuum [cleaner] [in the {room}]", "send the vacuum [cleaner] home"),
    "note.say": ("take a note that {text}", "remind me to {text}"),
}
"""By intent; `note.say` has an open slot, which no closed grammar can hold."""

ENTITIES: Final[Mapping[str, tuple[str, ...]]] = {
    "room": ("kitchen", "living room", "bedroom", "bathroom", "hallway", "office", "dining room", "garden"),
    "genre": ("jazz", "rock", "classical", "blues", "folk", "piano", "reggae"),
    "city": ("london", "paris", "berlin", "madrid", "rome", "new york", "tokyo", "lisbon"),
}

COMMANDS: Final = (
    "turn on the kitchen lights",
    "switch the bedroom light off",
    "dim the living room lights to thirty percent",
    "open the office blinds",
    "close the garage door",
    "set the temperature in the bathroom to twenty one degrees",
    "set a timer for ten minutes",
    "how much time is left on the timer",
    "cancel the timer",
    "play some jazz music in the living room",
    "skip this song",
    "set the volume to forty percent",
    "turn the volume down",
    "what is the weather like tomorrow in london",
    "will it rain tonight",
    "what time is it in tokyo",
    "what is on my shopping list",
    "tell me a joke",
    "lock the front door",
    "start the vacuum cleaner in the hallway",
)

BENCHMARK: Final = House("benchmark", TEMPLATES, ENTITIES, COMMANDS, "others.txt")
