"""The spelling skill: words letter by letter."""

from __future__ import annotations

from hark.plugins import Turn
from hark.skills import Skill, intent


class SpellingSkill(Skill):
    """Spells words."""

    id = "spelling.skill"
    reads_late = True

    @intent(file="spell")
    def spell(self, turn: Turn) -> None:
        """A word, or a few, letter by letter."""
        word = turn.slots["word"].strip(" \"'?!.")
        spelled = "; ".join(", ".join(letter.upper() for letter in part if letter.isalnum()) for part in word.split())
        turn.say("spelled", word=word, letters=spelled)

    @intent(file="letters")
    def letters(self, turn: Turn) -> None:
        """How many letters a word has."""
        word = turn.slots["word"].strip(" \"'?!.")
        turn.say("letters", word=word, count=sum(map(str.isalpha, word)))
