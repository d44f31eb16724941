"""The small talk skill: greetings, thanks, and questions about the assistant itself."""

from __future__ import annotations

from typing import Final

from hark.builtin.skills.shopping.skill import as_said
from hark.plugins import Turn
from hark.skills import Skill, intent

_REMEMBERED: Final = 86_400.0
"""Seconds for which the name of a user is remembered."""


class SmallTalkSkill(Skill):
    """Answers what is said out of courtesy, and who the assistant is."""

    id = "smalltalk.skill"
    reads_late = True

    @intent(file="hello")
    def hello(self, turn: Turn) -> None:
        """A greeting, by the time of day."""
        hour = turn.home.local(self.host.clock.wall()).hour
        turn.say("hello_morning" if 5 <= hour < 12 else "hello_evening" if hour >= 18 else "hello")

    @intent(file="good_night")
    def good_night(self, turn: Turn) -> None:
        """Good night."""
        turn.say("good_night")

    @intent(file="bye")
    def bye(self, turn: Turn) -> None:
        """A farewell."""
        turn.say("bye")

    @intent(file="thanks")
    def thanks(self, turn: Turn) -> None:
        """Thanks."""
        turn.say("thanks")

    @intent(file="praise")
    def praise(self, turn: Turn) -> None:
        """Something kind."""
        turn.say("praise")

    @intent(file="complaint")
    def complaint(self, turn: Turn) -> None:
        """Something unkind."""
        turn.say("complaint")

    @intent(file="bored")
    def bored(self, turn: Turn) -> None:
        """Something to do."""
        turn.say("bored")

    @intent(file="sorry")
    def sorry(self, turn: Turn) -> None:
        """An apology of the user."""
        turn.say("sorry")

    @intent(file="how_are_you")
    def how_are_you(self, turn: Turn) -> None:
        """How the assistant is."""
        turn.say("how_are_you")

    @intent(file="who_are_you")
    def who_are_you(self, turn: Turn) -> None:
        """Who the assistant is, and its name."""
        # Who has summoned a persona asks for its name.
        turn.say("who_are_you", name=turn.session.persona_id or turn.home.name)

    @intent(file="who_made_you")
    def who_made_you(self, turn: Turn) -> None:
        """Where the assistant comes from."""
        turn.say("who_made_you")

    @intent(file="are_you_there")
    def are_you_there(self, turn: Turn) -> None:
        """Whether the assistant listens."""
        turn.say("are_you_there")

    @intent(file="are_you_human")
    def are_you_human(self, turn: Turn) -> None:
        """What the assistant is."""
        turn.say("are_you_human")

    @intent(file="opinion")
    def opinion(self, turn: Turn) -> None:
        """What the assistant likes."""
        turn.say("opinion")

    @intent(file="mood")
    def mood(self, turn: Turn) -> None:
        """A bad day of the user."""
        turn.say("mood")

    @intent(file="wishes")
    def wishes(self, turn: Turn) -> None:
        """Good wishes."""
        turn.say("wishes")

    @intent(file="who_am_i")
    def who_am_i(self, turn: Turn) -> None:
        """What the assistant knows of the user."""
        entry = turn.session.intent_context.get(f"{self.id}:name")
        if entry is not None and entry.value:
            turn.say("your_name", name=entry.value)
        else:
            turn.say("who_am_i")

    @intent(file="my_name")
    def my_name(self, turn: Turn) -> None:
        """The user's name, which is kept for a day."""
        name = as_said(turn.slots["name"], turn.utterance)
        name = name.title() if name.islower() else name
        turn.remember("name", name, seconds=_REMEMBERED)
        turn.say("my_name", name=name)

    @intent(file="call_you")
    def call_you(self, turn: Turn) -> None:
        """Another name for the assistant."""
        turn.say("call_you", name=turn.home.name)

    @intent(file="languages")
    def languages(self, turn: Turn) -> None:
        """Which languages the assistant speaks."""
        turn.say("languages")

    @intent(file="privacy")
    def privacy(self, turn: Turn) -> None:
        """What the assistant hears, and what becomes of it."""
        turn.say("privacy")

    @intent(file="where_are_you")
    def where_are_you(self, turn: Turn) -> None:
        """Where the assistant is."""
        place = turn.home.place
        turn.say("where_are_you", place=place) if place else turn.say("where_unknown")
