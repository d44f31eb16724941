"""The calculator skill: arithmetic and units."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Final

from hark.plugins import Answer, Session, Turn, answers, fallback
from hark.skills import Skill, intent

if TYPE_CHECKING:  # numbers and units are needed when a user asks about them
    from hark.builtin.skills.calculator.calculator import Calculator, CalculatorAnswer

_FOLLOWED: Final = 3
"""Turns for which "and times two" is about the last result."""
_SECONDS: Final = 60.0
_SESSIONS: Final = 64
_PRIORITY: Final = 40
_SURE: Final = 0.95
_USUAL_TIP: Final = 20
_LARGEST_BILL: Final = 10**9


async def _wanted(skill: CalculatorSkill, utterances: Sequence[str], lang: str, session: Session) -> bool:
    return any(skill.answer(one, lang, session) for one in utterances)


def _known(skill: CalculatorSkill, question: str, lang: str, _session: Session) -> bool:
    return skill.answer(question, lang) is not None


class CalculatorSkill(Skill):
    """Works out sums and turns units into others.

    "Calculate ..." and "convert ..." are its intents. "What is ..." may be a question for any skill, so it answers that
    only if it can: as a common query, and as a fallback.
    """

    id = "calculator.skill"
    reads_late = True

    def __init__(self) -> None:
        self._told: dict[str, tuple[str, float]] = {}
        """Results of common queries, by session, with their time: there is no turn to remember them in."""

    @intent(file="calculate")
    def calculate(self, turn: Turn) -> None:
        """A sum."""
        said = self.answer(turn.utterance, turn.lang, turn.session)
        self._say(turn, said or self._answering.to_sum(turn.slots["sum"], turn.lang))

    @intent(file="convert")
    def convert(self, turn: Turn) -> None:
        """So much of a unit in another one."""
        amount, unit = turn.slots["amount"], turn.slots["unit"]
        said = self._answering.to_conversion(amount, unit, turn.lang)
        if said is not None:
            turn.remember("converted", f"{amount}\n{unit}", turns=_FOLLOWED)
        # The utterance may only be similar to the sentences, with its words in other places.
        self._say(turn, said or self._answering.to(turn.utterance, turn.lang))

    @intent(file="and_convert", requires=("converted",))
    def and_convert(self, turn: Turn) -> None:
        """The same conversion of another amount, or into another unit."""
        entry = turn.session.intent_context.get(f"{self.id}:converted")
        amount, _, unit = ((entry.value if entry is not None else None) or "").partition("\n")
        said = turn.slots["amount"]
        for pair in ((amount, said), (said, unit)):
            answer = self._answering.to_conversion(*pair, turn.lang)
            if answer is not None:
                turn.remember("converted", "\n".join(pair), turns=_FOLLOWED)
                break
        self._say(turn, answer)

    @intent(file="tip")
    def tip(self, turn: Turn) -> None:
        """A share of a bill, and both together."""
        from hark.builtin.skills.spoken_numbers import number_in, spoken

        share = number_in(turn.slots.get("percent", ""), turn.lang) or _USUAL_TIP
        bill = number_in(turn.slots["bill"], turn.lang)
        if bill is None or not 0 < bill < _LARGEST_BILL or not 0 < share <= 100:
            turn.say("unclear")
            return
        tip = round(bill * share / 100, 2)
        turn.remember("result", str(tip), turns=_FOLLOWED)
        turn.say("tip", tip=spoken(tip, turn.lang)[0], total=spoken(round(bill + tip, 2), turn.lang)[0])

    def can_converse(self, utterances: Sequence[str], lang: str, session: Session) -> bool:
        """Whether it is more of the last sum: "and times two"."""
        return any(self._going_on(utterance, lang, session) for utterance in utterances)

    def converse(self, turn: Turn) -> None:
        """Go on with the last result."""
        self._say(turn, self._going_on(turn.utterance, turn.lang, turn.session))

    @fallback(_PRIORITY, when=_wanted)
    def understood_after_all(self, turn: Turn) -> None:
        """A sum or a conversion that no intent matched."""
        self._say(turn, self.answer(turn.utterance, turn.lang, turn.session))

    @answers(wants=_known)
    def know(self, question: str, lang: str, session: Session) -> Answer | None:
        """The answer to "what is two plus two", and to nothing else."""
        said = self.answer(question, lang)
        if said is None:
            return None
        if said.result is not None:
            while len(self._told) >= _SESSIONS:
                del self._told[next(iter(self._told))]
            self._told[session.session_id] = said.result, self.host.clock.wall()
        return Answer(self.dialogs.render(said.dialog, lang, said.values).text, _SURE)

    def answer(self, text: str, lang: str, session: Session | None = None) -> CalculatorAnswer | None:
        """What to say when all of `text` is a sum or a conversion, or goes on with one of the session; else None."""
        going_on = self._going_on(text, lang, session) if session is not None else None
        return going_on or self._answering.to(text, lang)

    def _going_on(self, text: str, lang: str, session: Session) -> CalculatorAnswer | None:
        last = self._last(session)
        return None if last is None else self._answering.to_more(last, text, lang)

    def _last(self, session: Session) -> str | None:
        told, when = self._told.get(session.session_id, (None, 0.0))
        if told is not None and self.host.clock.wall() < when + _SECONDS:
            return told
        entry = session.intent_context.get(f"{self.id}:result")
        return entry.value if entry is not None else None

    @cached_property
    def _answering(self) -> Calculator:
        from hark.builtin.skills.calculator.calculator import Calculator

        return Calculator(self.locale)

    def _say(self, turn: Turn, said: CalculatorAnswer | None) -> None:
        if said is None:
            turn.say("unclear")
            return
        if said.result is not None:
            self._told.pop(turn.session.session_id, None)
            turn.remember("result", said.result, turns=_FOLLOWED)
        turn.say(said.dialog, said.values)
