"""What people say, played on a whole assistant: `python benchmarks/people/run.py [wrapped|talk|near ...] [--list]`.

Every sentence is said in a session of its own to an assistant with everything that is loaded by default. `wrapped`
counts sentences that ran the right intent with the right slots, `talk` sentences that are no commands and were claimed,
`near` sentences that resemble a command and ran it, or its opposite, `unheard` those of sets that nothing was written
for, `dialogues` several commands in one sentence, corrections, and what is said during a question. The exit status is 1
when a figure misses its target.
"""

from __future__ import annotations

import argparse
import asyncio
import logging
import sys
import tomllib
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from itertools import count
from pathlib import Path
from typing import Any, Final, NamedTuple

from hark.app.settings import settings_from
from hark.builtin import DEFAULT_PLUGINS
from hark.intents import words
from hark.plugins import Plugin, Turn
from hark.skills import Skill, intent
from hark.spec import topics
from hark.testing import Assistant

HERE: Final = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent))

from people.dialogues import Dialogues, Played  # noqa: E402

WRAPPED: Final = 98.0
"""Percent of the wrapped sentences that have to be understood, in each language."""
TALK: Final = 1.0
"""Percent of what is no command that may be claimed."""
NEAR: Final = 3.0
"""Percent of what resembles a command that may run it."""

CANNOT: Final = ("limits.skill:fallback", "facts.skill:fallback")
"""What answers that the assistant cannot do something, or cannot look it up, and does nothing."""

_LANG: Final = "# lang: "
_TO_DEVICE: Final = "~ "
"""Begins a sentence that may be said to the device as well: answering it is no mistake. README.md has the rule."""

Claim = tuple[str, Mapping[str, str]]


class Listener:
    """Says sentences to a running assistant and reports what claimed them."""

    def __init__(self, assistant: Assistant, lang: str) -> None:
        self.assistant = assistant
        self._lang = lang
        self._numbers = count()

    async def claim(self, text: str) -> Claim | None:
        """The intent that a sentence runs, with its slots."""
        self.assistant.messages.clear()
        await self.assistant.hears(text, session=f"s{next(self._numbers)}", lang=self._lang)
        for message in self.assistant.of(topics.INTENT_MATCHED):
            return f"{message.data['skill_id']}:{message.data['intent_name']}", message.data["slots"]
        return None


@asynccontextmanager
async def listener(lang: str, *more: Plugin) -> AsyncIterator[Listener]:
    """A listener to a whole assistant in one language."""
    settings = settings_from({"assistant": {"lang": lang}, "trace": {"disk": False}})
    plugins = [made() for made in DEFAULT_PLUGINS]
    async with Assistant(*plugins, *more, settings=settings, matchers=()) as assistant:
        missing = {plugin.id for plugin in more} - set(assistant.runtime.ids())
        if missing:
            raise RuntimeError(f"{', '.join(missing)} did not start: what would be counted is of something else")
        yield Listener(assistant, lang)


def home() -> Skill:
    """The small home of home.toml as a skill."""
    table = tomllib.loads((HERE / "home.toml").read_text("utf-8"))
    members: dict[str, Any] = {"id": table["skill_id"]}
    for name, samples in table["intents"].items():

        def handler(_self: Skill, _turn: Turn) -> None: ...

        handler.__name__ = name
        members[name] = intent(*samples)(handler)

    async def start(self: Skill) -> None:
        for slot, values in table["entities"].items():
            self.register_entity(slot, *values)

    made: Skill = type("HomeSkill", (Skill,), {**members, "start": start})()
    return made


class Figure(NamedTuple):
    """One figure of a set beside its target."""

    name: str
    hits: int
    sentences: int
    target: str
    is_met: bool

    @property
    def share(self) -> float:
        """Percent."""
        return 100 * self.hits / self.sentences


async def wrapped(show: bool) -> list[Figure]:
    """Play the wrapped sentences of every language; counts those that are right."""
    figures = []
    for file in sorted((HERE / "wrapped").glob("*.toml")):
        table = tomllib.loads(file.read_text("utf-8"))
        right = played = plain = 0
        async with listener(file.stem) as said:
            for sentence in table["sentences"]:
                plain += _is_right(await said.claim(sentence["said"]), sentence, file.stem)
                for wrapping in table["wrappings"]:
                    text = wrapping.replace("{x}", sentence["said"])
                    claim = await said.claim(text)
                    played += 1
                    is_right = _is_right(claim, sentence, file.stem)
                    right += is_right
                    if show and not is_right:
                        print(f"  {text}: {claim}")
        if show and plain < len(table["sentences"]):
            print(f"  {file.stem}: {plain} of {len(table['sentences'])} are right without a wrapping")
        is_met = 100 * right / played >= WRAPPED
        figures.append(Figure(f"wrapped, {file.stem}: right", right, played, f"at least {WRAPPED:g} %", is_met))
    return figures


def _is_right(claim: Claim | None, sentence: Mapping[str, Any], lang: str) -> bool:
    if claim is None or claim[0] != sentence["intent"]:
        return False
    wanted = sentence.get("slots", {})
    return all(words(claim[1].get(slot, ""), lang) == words(value, lang) for slot, value in wanted.items())


def _lines(name: str) -> list[str]:
    lines = (HERE / name).read_text("utf-8").splitlines()
    return [line for line in lines if line and not line.startswith("#")]


async def talk(show: bool) -> list[Figure]:
    """Play what is no command; counts what is claimed."""
    figures = await _talk("no command", "en-US", _lines("talk.txt"), show)
    for which in ("second", "third", "fourth"):
        for lang, lines in _by_language(f"talk-{which}.txt").items():
            figures += await _talk(f"no command, {which} set, {lang}", lang, lines, show)
    for lang, lines in _fifth()["talk"].items():
        figures += await _talk(f"no command, fifth set, {lang}", lang, lines, show)
    return figures


def _fifth() -> dict[str, Any]:
    return tomllib.loads((HERE / "fifth.toml").read_text("utf-8"))


def _by_language(name: str) -> dict[str, list[str]]:
    """The sentences of a file by the language that a line "# lang: en-US" above them names."""
    found: dict[str, list[str]] = {}
    lang = ""
    for line in (HERE / name).read_text("utf-8").splitlines():
        if line.startswith(_LANG):
            lang = line.removeprefix(_LANG).strip()
        elif line and not line.startswith("#"):
            found.setdefault(lang, []).append(line)
    return found


async def _talk(name: str, lang: str, lines: list[str], show: bool) -> list[Figure]:
    """The figures of sentences in one language; the small home is English."""
    counted: dict[bool, int] = {True: 0, False: 0}
    claimed: dict[bool, int] = {True: 0, False: 0}
    async with listener(lang, *([home()] if lang == "en-US" else [])) as said:
        for line in lines:
            text = line.removeprefix(_TO_DEVICE)
            claim = await said.claim(text)
            is_claimed = claim is not None and claim[0] not in CANNOT
            counted[text != line] += 1
            claimed[text != line] += is_claimed
            if is_claimed and show:
                print(f"  {line}: {claim}")
    is_met = 100 * claimed[False] <= TALK * counted[False]
    figures = [Figure(f"{name}: claimed", claimed[False], counted[False], f"at most {TALK:g} %", is_met)]
    if counted[True]:
        may_be = f"{name}, may be said to the device: claimed"
        figures.append(Figure(may_be, claimed[True], counted[True], "none set", is_met=True))
    return figures


async def near(show: bool) -> list[Figure]:
    """Play what resembles a command; counts what runs it, its opposite, or anything."""
    first = await _near("one word away", _arrows("near.txt"), show)
    second = await _near("one word away, second set", _arrows("near-second.txt"), show)
    return first + second + await _near("one word away, third set", _fifth()["near"], show)


def _arrows(file: str) -> dict[str, str]:
    """Sentences of a file, and after an arrow what may not run."""
    return {text: rest for text, _, rest in (line.partition(" -> ") for line in _lines(file))}


async def _near(name: str, sentences: Mapping[str, str], show: bool) -> list[Figure]:
    """The figures of one set."""
    obeyed = opposite = claimed = 0
    async with listener("en-US", home()) as said:
        for text, wanted in sentences.items():
            command, _, other = (part.strip() for part in wanted.partition("|"))
            claim = await said.claim(text)
            ran = claim[0] if claim is not None and claim[0] not in CANNOT else ""
            obeyed += ran == command
            opposite += bool(other) and ran == other
            claimed += bool(ran)
            if show and ran:
                print(f"  {text}: {claim}")
    is_met = 100 * obeyed <= NEAR * len(sentences)
    return [
        Figure(f"{name}: obeyed", obeyed, len(sentences), f"at most {NEAR:g} %", is_met),
        Figure(f"{name}: the opposite obeyed", opposite, len(sentences), "none", not opposite),
        Figure(f"{name}: anything ran", claimed, len(sentences), "none set", is_met=True),
    ]


async def unheard(show: bool) -> list[Figure]:
    """Play sentences that nothing was written for; counts those that are right, and those that ran something wrong.

    A fallback of the right skill is right, and an answer that the assistant cannot do it is none.
    """
    figures = await _unheard("unheard", _table("unheard"), show)
    figures += await _unheard("unheard-second", _table("unheard-second"), show, home())
    for which in ("third", "fourth"):
        figures += await _unheard(f"unheard-{which}", _table(f"unheard-{which}"), show)
    return figures + await _unheard("unheard-fifth", _fifth()["wrapped"], show, home())


def _table(name: str) -> dict[str, Any]:
    return tomllib.loads((HERE / f"{name}.toml").read_text("utf-8"))


async def _unheard(name: str, table: Mapping[str, Mapping[str, Any]], show: bool, *more: Plugin) -> list[Figure]:
    """The figures of one set; the plugins besides the builtin ones are English."""
    figures = []
    for lang, sentences in table.items():
        right = wrong = 0
        async with listener(lang, *(more if lang == "en-US" else ())) as said:
            for text, wanted in sentences.items():
                claim = await said.claim(text)
                rights = wanted if isinstance(wanted, list) else [wanted]
                # A fallback of the right skill is right.
                rights = [*rights, *(f"{right.partition(':')[0]}:fallback" for right in rights)]
                ran = claim[0] if claim is not None and (claim[0] not in CANNOT or claim[0] in rights) else ""
                is_right = ran in rights
                right += is_right
                wrong += bool(ran) and not is_right
                if show and not is_right:
                    print(f"  {text}: {ran or 'nothing'}, not {wanted or 'nothing'}")
        figures.append(Figure(f"{name}, {lang}: right", right, len(sentences), "none set", is_met=True))
        figures.append(Figure(f"{name}, {lang}: something else ran", wrong, len(sentences), "none set", is_met=True))
    return figures


async def dialogues(show: bool) -> list[Figure]:
    """Play several commands in one sentence, corrections, and what is said while a skill waits for an answer."""
    table, figures = _fifth(), []
    async with listener("en-US", home()) as said:
        player = Dialogues(said.assistant, "en-US")
        for name, played in (
            ("several commands in one", await player.several(table["several"])),
            ("corrections", await player.corrections(table["corrections"])),
            ("during a question", await player.questions(table["questions"])),
        ):
            figures.append(_figure(name, played, show))
    return figures


def _figure(name: str, played: Sequence[Played], show: bool) -> Figure:
    for one in played:
        if show and not one.is_right:
            print(f"  {one.text}: {one.ran or 'nothing'}")
    return Figure(f"{name}: right", sum([one.is_right for one in played]), len(played), "none set", is_met=True)


SETS: Final = {"wrapped": wrapped, "talk": talk, "near": near, "unheard": unheard, "dialogues": dialogues}


async def _play(names: list[str], show: bool) -> list[Figure]:
    return [figure for name in names for figure in await SETS[name](show)]


def table() -> str:
    """All figures as a table."""
    logging.disable(logging.WARNING)
    figures = asyncio.run(_play(list(SETS), show=False))
    logging.disable(logging.NOTSET)
    lines = ["| sentences | number | counted | % | required |", "|---|---|---|---|---|"]
    for one in figures:
        lines.append(f"| {one.name} | {one.sentences} | {one.hits} | {one.share:.1f} | {one.target} |")
    return "\n".join(lines)


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n\n")[0])
    parser.add_argument("sets", nargs="*", metavar="SET", help=f"which to play: {', '.join(SETS)}; else all")
    parser.add_argument("--list", action="store_true", help="print every sentence that went wrong")
    options = parser.parse_args()
    unknown = [name for name in options.sets if name not in SETS]
    if unknown:
        parser.error(f"there is no set {unknown[0]!r}; there are: {', '.join(SETS)}")
    logging.disable(logging.WARNING)
    figures = asyncio.run(_play(options.sets or list(SETS), options.list))
    for one in figures:
        missed = "" if one.is_met else "  MISSED"
        print(f"{one.name}: {one.hits} of {one.sentences}, {one.share:.1f} % ({one.target}){missed}")
    return 0 if all(one.is_met for one in figures) else 1


if __name__ == "__main__":
    sys.exit(main())
