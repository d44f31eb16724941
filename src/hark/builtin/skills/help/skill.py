"""The help skill: examples of what users can say."""

from __future__ import annotations

import asyncio
import re
from collections.abc import AsyncIterator, Callable, Iterable, Iterator, Mapping
from contextlib import suppress
from functools import partial
from itertools import count, islice
from pathlib import Path
from typing import Any, Final

from hark.builtin.skills.tables import table
from hark.intents import TemplateError
from hark.intents.grammar import Choice, Literal, Node, Sequence, Slot, Template, parse
from hark.plugins import Host, Message, Turn
from hark.skills import Skill, intent
from hark.spec import topics

_MARK: Final = "hark_asked"
"""Context key that identifies a query; every derivation carries it back."""


class BusQuery:
    """Sends queries on topics with a `.response`, and waits for the first answer."""

    def __init__(self, host: Host, *asked: str) -> None:
        self._host = host
        self._marks = count(1)
        self._open: dict[str, asyncio.Future[Message]] = {}
        host.on([topics.response_topic(topic) for topic in asked], self._answered)

    async def ask(self, question: Message, seconds: float = 2.0) -> Message | None:
        """The answer to a query on one of the topics, or None when there is none in time."""
        mark = f"{id(self):x}-{next(self._marks)}"
        answer: asyncio.Future[Message] = asyncio.get_running_loop().create_future()
        self._open[mark] = answer
        try:
            self._host.send(question.carrying(**{_MARK: mark}))
            async with self._host.clock.timeout(seconds):
                return await answer
        except TimeoutError:
            return None
        finally:
            del self._open[mark]

    def _answered(self, message: Message) -> None:
        mark = message.context.get(_MARK)
        waiting = self._open.get(mark) if isinstance(mark, str) else None
        if waiting is not None:  # perhaps on another thread than the one that waits
            waiting.get_loop().call_soon_threadsafe(_give, waiting, message)


def _give(waiting: asyncio.Future[Message], answer: Message) -> None:
    if not waiting.done():
        waiting.set_result(answer)


_SLOT = re.compile(r"\{(\w+)\}")

Entry = Mapping[str, Any]
"""An intent as `ovos.intent.list` reports it."""
Fill = Callable[[str], str | None]
"""What to say in the place of a slot; None when no value of it is known."""


def best(entries: Iterable[Entry], lang: str) -> Iterator[Entry]:
    """One entry for each intent in this language: the same tag before a near one, and sentences before keywords."""
    chosen: dict[tuple[str, str], tuple[tuple[bool, bool], Entry]] = {}
    for entry in entries:
        if _primary(entry["lang"]) == _primary(lang):
            worse = (entry["lang"] != lang, entry["method"] != "template")
            name = (entry["skill_id"], entry["intent_name"])
            if name not in chosen or worse < chosen[name][0]:
                chosen[name] = (worse, entry)
    return (entry for _, entry in chosen.values())


def by_skill(entries: Iterable[Entry], first: Iterable[str] = ()) -> dict[str, list[Entry]]:
    """The entries of each skill, those in `first` before the others."""
    found: dict[str, list[Entry]] = {skill_id: [] for skill_id in first}
    for entry in entries:
        found.setdefault(entry["skill_id"], []).append(entry)
    return {skill_id: listed for skill_id, listed in found.items() if listed}


def example(definition: Mapping[str, Any], method: str, fill: Fill) -> str:
    """Something that may be said for an intent, if it can be said now; nothing when its definition cannot be read."""
    if definition.get("requires_context"):
        return ""  # makes sense only after something else
    if method == "template":
        return next(filter(None, (_filled(one, fill) for one in _sentences(definition.get("samples")))), "")
    try:
        groups = [group[0] for group in definition.get("one_of", ())]
        said = [_simplest(vocabulary["samples"]) for vocabulary in (*definition.get("required", ()), *groups)]
    except (TypeError, LookupError):
        return ""
    return " ".join(said) if all(said) else ""


def _filled(sentence: str, fill: Fill) -> str:
    """A sentence with values in the place of its slots; empty when one of them has no known value."""
    values = {name: fill(name) for name in _SLOT.findall(sentence)}
    return "" if None in values.values() else _SLOT.sub(lambda slot: values[slot[1]] or "", sentence)


def _simplest(samples: Any) -> str:
    """A short sentence of the first sample that can be read; empty when there is none."""
    return next(_sentences(samples), "")


def _sentences(samples: Any) -> Iterator[str]:
    """A short sentence of each sample that can be read."""
    for sample in samples if isinstance(samples, tuple) else ():
        if isinstance(sample, str):
            with suppress(TemplateError):
                yield _short_sentence(parse(sample))


def _short_sentence(template: Template) -> str:
    """The first sentence of a template without its optional parts or, if that is none, with them."""
    text: dict[Node, str] = {}
    for node in template.nodes:  # parts come before the whole
        if isinstance(node, Literal):
            text[node] = node.text
        elif isinstance(node, Choice):
            branches = [text[branch] for branch in node.branches]
            text[node] = "" if "" in branches else branches[0]
        elif isinstance(node, Sequence):
            text[node] = "".join(text[part] for part in node.parts)
        else:
            text[node] = f"{{{node.name}}}" if isinstance(node, Slot) else f"<{node.name}>"
    short = " ".join(text[template.root].split())
    try:
        return next(parse(short).samples())
    except TemplateError:
        return next(template.samples())


def _primary(lang: str) -> str:
    return lang.partition("-")[0].lower()


_NAMES: Final = Path(__file__).parent / "names"


def usual_value(intent_name: str, slot: str, lang: str) -> str | None:
    """What is often said in the place of a slot of this name."""
    usual = table(_NAMES, "values", lang)
    return (usual.get(f"{intent_name}.{slot}") or usual.get(slot) or (None,))[0]


_EXAMPLES: Final = 5
_FOLLOWED: Final = 3
"""Turns for which "what else" is understood."""
_FIRST: Final = (
    *("timers.skill", "timer.skill", "clock.skill", "shopping.skill", "weather.skill", "alarms.skill", "alarm.skill"),
    *("reminders.skill", "reminder.skill", "calculator.skill", "facts.skill", "dates.skill", "jokes.skill"),
)
"""The skills people use most, where they are loaded."""
_USUAL: Final = frozenset({"set_timer", "time_here", "weather", "coin", "joke", "riddle", "hello"})
"""The intents that are named before the others of their skill."""
_MOST_VALUES: Final = 5_000


class HelpSkill(Skill):
    """Gives examples of what skills registered: one sentence for an intent, and something of every skill first."""

    id = "help.skill"
    reads_late = True
    quick = True  # it hears every registration of slot values

    def __init__(self) -> None:
        self._values: dict[tuple[str, str, str], str] = {}
        """A value of each slot, by skill, slot and language."""

    async def start(self) -> None:
        self.host.on(topics.ENTITY_REGISTER, self._registered)
        self._manifest = BusQuery(self.host, topics.INTENT_LIST, topics.INTENT_DESCRIBE)

    @intent(file="what_can_you_do")
    async def what_can_you_do(self, turn: Turn) -> None:
        """A few sentences to try."""
        await self._tell(turn, 0)

    @intent(file="what_else", requires=("told",))
    async def what_else(self, turn: Turn) -> None:
        """A few more."""
        told = turn.session.intent_context.get(f"{self.id}:told")
        await self._tell(turn, int(told.value or 0) if told is not None else 0)

    async def _tell(self, turn: Turn, told: int) -> None:
        examples: dict[str, None] = {}
        async for one in self._examples(turn):
            examples[turn.render("quoted", text=one)] = None
            if len(examples) == told + _EXAMPLES:
                break
        fresh = list(islice(examples, told, None))
        turn.remember("told", str(told + len(fresh)), turns=_FOLLOWED)
        if fresh:
            *others, last = fresh
            said = turn.render("row", first=", ".join(others), last=last) if others else last
            turn.say("examples", examples=said)
        else:
            turn.say("nothing_more" if told else "nothing")

    async def _examples(self, turn: Turn) -> AsyncIterator[str]:
        """An example for each intent the session can reach."""
        query = turn.derive(topics.INTENT_LIST, {"session_id": turn.session.session_id})
        answer = await self._manifest.ask(query)
        if answer is None:
            return
        listed = answer.data.get("intents", ())
        reachable = [one for one in listed if one["enabled"] and one["skill_id"] != self.id]
        entries = sorted(best(reachable, turn.lang), key=lambda one: one["intent_name"] not in _USUAL)
        waiting = by_skill(entries, _FIRST)
        while waiting:  # one of every skill before the second of any
            for skill_id in list(waiting):
                while (entries := waiting[skill_id]) and not (said := await self._example(turn, entries.pop(0))):
                    pass
                if not entries:
                    del waiting[skill_id]
                if said:
                    yield said

    async def _example(self, turn: Turn, entry: Entry) -> str:
        wanted = {key: value for key, value in entry.items() if key != "enabled"}
        described = await self._manifest.ask(turn.derive(topics.INTENT_DESCRIBE, wanted))
        fill = partial(self._value, entry["skill_id"], entry["lang"], entry["intent_name"])
        told = described.data.get("definitions", ()) if described is not None else ()
        return next(filter(None, (example(one["definition"], one["method"], fill) for one in told)), "")

    def _value(self, skill_id: str, lang: str, intent_name: str, slot: str) -> str | None:
        """A value of the skill's own, else one that usually goes with the name of the slot."""
        return self._values.get((skill_id, slot, lang)) or usual_value(intent_name, slot, lang)

    def _registered(self, message: Message) -> None:
        data = message.data
        samples = data.get("samples")
        key = (data.get("skill_id"), data.get("entity_name"), data.get("lang"))
        if (
            all(isinstance(part, str) for part in key)
            and isinstance(samples, tuple)
            and len(self._values) < _MOST_VALUES
        ):
            value = _simplest(samples)
            if value:
                self._values.setdefault(key, value)  # type: ignore[arg-type]
