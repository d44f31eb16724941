"""The parrot skill: repeats what the user says."""

from __future__ import annotations

import re

from hark.plugins import Turn
from hark.skills import Skill, intent


class ParrotSkill(Skill):
    """Repeats after the user."""

    id = "parrot.skill"
    reads_late = True
    quick = True

    @intent(file="say")
    def say(self, turn: Turn) -> str:
        """The text, in the user's own capitals and commas where they can be found."""
        text = turn.slots["text"]
        as_said = re.search(r"\W+".join(map(re.escape, text.split())) + r"[.!?…]*", turn.utterance, re.IGNORECASE)
        return as_said[0] if as_said is not None else text
