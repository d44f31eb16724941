"""The figures as a page and a picture."""

from __future__ import annotations

import os
import platform
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final
from xml.sax.saxutils import escape

from voice.development import DEVELOPMENT
from voice.held_out import HELD_OUT
from voice.house import COMMANDS

_WIDTH: Final = 760
_ROW: Final = 94
_NOT_THERE: Final[dict[str, Any]] = {
    "commands": 0,
    "others": 0,
    "near": 0,
    "by_voice": {},
    "words": None,
    "missed": (),
    "false": (),
    "mistaken": (),
}
"""The figures of a house in which an engine was not tried."""


def write(results: dict[str, Any], docs: Path) -> None:
    """`docs/voice-measured.md` and `docs/voice-measured.svg`."""
    (docs / "voice-measured.md").write_text(page(results), encoding="utf-8")
    (docs / "voice-measured.svg").write_text(picture(results["stt"]), encoding="utf-8")


def page(results: dict[str, Any]) -> str:
    """Everything that was measured."""
    scenes = results["scenes"]
    seconds = sum(scene["seconds"] for scene in scenes)
    return "\n".join(
        [
            "# Voice, measured",
            "",
            "Made by `python benchmarks/voice/run.py --write`; do not edit. What follows from it: [voice](voice.md).",
            "",
            f"{datetime.now(UTC):%Y-%m-%d}, Python {platform.python_version()}, {os.cpu_count()} cores "
            f"({platform.machine()}), each engine in a process of its own. Others used the machine meanwhile (load "
            f"{min(results['load']):.0f} to {max(results['load']):.0f}): waiting took longer than it need; compare "
            "processor times.",
            "",
            f"{len(COMMANDS)} commands, each by three synthetic voices (Piper, NanoTTS, eSpeak NG: none of them is the "
            f"one that answers): wake word, voice activity, recogniser, intent. {seconds:.0f} s of speech. *Held out*: "
            f"{len(HELD_OUT.commands)} other commands of another house, by the same voices, at which nobody looked "
            f"before everything was settled. *Development*: {len(DEVELOPMENT.commands)} commands of a third house, "
            "by which settings were chosen. No sentence is in two of them.",
            "",
            "![Recognisers compared](voice-measured.svg)",
            "",
            *_recognisers(results["stt"]),
            "",
            *_people(results["stt"]),
            "",
            *_waking(results),
            "",
            *_voices(results["tts"]),
            "",
            *_mistakes(results["stt"]),
            "",
        ]
    )


def _recognisers(rows: list[dict[str, Any]]) -> list[str]:
    lines = [
        "## Recognisers",
        "",
        "| engine | commands exactly right | understood | held out: exactly right | understood | processor time for a "
        "command | by length of speech | waited here | memory |",
        "|---|---|---|---|---|---|---|---|---|",
    ]
    for row in rows:
        held = _in(row, "held out")
        lines.append(
            f"| {row['name']} | {_of(row, 'exact')} | {_of(row, 'understood')} | {_of(held, 'exact')} "
            f"| {_of(held, 'understood')} | {row['work']:.2f} s | {row['processor']:.2f} | {row['delay']:.2f} s "
            f"| {row['memory']} MB |"
        )
    lines += [
        "",
        "*Exactly right*: the first text that is handed on is what was said, word for word; capital letters and "
        'punctuation do not count, and "30%" is "thirty percent". *Understood*: a whole turn of the default pipeline '
        "claims it for the same intent with the same slots as if the command had been typed. *Processor time* (median) "
        "is of all threads together; *by length of speech*, 0.1 is a tenth of one core while somebody speaks. *Waited "
        "here* (median) is from the end of the recording to the text.",
        "",
        "| engine | exactly right by voice | held out, by voice | words right | held out | development: exactly right "
        "| understood |",
        "|---|---|---|---|---|---|---|",
    ]
    for row in rows:
        held, own = _in(row, "held out"), _in(row, "development")
        lines.append(
            f"| {row['name']} | {_by_voice(row)} | {_by_voice(held)} | {_share(row)} | {_share(held)} "
            f"| {_of(own, 'exact')} | {_of(own, 'understood')} |"
        )
    return [*lines, "", *_talk(rows)]


def _talk(rows: list[dict[str, Any]]) -> list[str]:
    lines = [
        "Talk that became a command: the first text is, word for word, something a skill registered. *Near misses* are "
        'one word away from a command, or two ("call my brother" where only "call my mother" can be said). Noise that '
        "became text: four seconds of hiss or rumble at a time.",
        "",
        "| engine | talk | the same talk, held out | talk, development | near misses, held out | near misses, "
        "development | pieces of noise |",
        "|---|---|---|---|---|---|---|",
    ]
    for row in rows:
        held, own = _in(row, "held out"), _in(row, "development")
        imagined = f" ({', '.join(sorted(set(row['imagined'])))})" if row["imagined"] else ""
        lines.append(
            f"| {row['name']} | {_asked(row, 'false', 'others')} | {_asked(held, 'false', 'others')} "
            f"| {_asked(own, 'false', 'others')} | {_asked(held, 'mistaken', 'near')} "
            f"| {_asked(own, 'mistaken', 'near')} | {len(row['imagined'])} of {row['noise']}{imagined} |"
        )
    taken = [row for row in rows if row["others"]]
    if taken:
        heard = ", ".join(f"{row['taken']['heard']} ({row['name']})" for row in taken)
        lines += [
            "",
            f"A whole turn dares more than that: its matchers also take what is merely like a sentence. Of the "
            f"{taken[0]['others']} sentences it claims {taken[0]['taken']['typed']} when they are typed, and as they "
            f"were heard: {heard}.",
        ]
    return lines


def _of(row: dict[str, Any], what: str) -> str:
    return f"{row[what]} of {row['commands']} ({row[what] / row['commands']:.0%})" if row["commands"] else "not asked"


def _in(row: dict[str, Any], house: str) -> dict[str, Any]:
    found: dict[str, Any] = row["sets"].get(house, _NOT_THERE)
    return found


def _share(row: dict[str, Any]) -> str:
    return "not asked" if row["words"] is None else f"{row['words']:.1%}"


def _by_voice(row: dict[str, Any]) -> str:
    return ", ".join(f"{name} {count}" for name, count in row["by_voice"].items()) or "not asked"


def _asked(row: dict[str, Any], what: str, of: str) -> str:
    return f"{len(row[what])} of {row[of]}" if row[of] else "not asked"


def _people(rows: list[dict[str, Any]]) -> list[str]:
    if not rows[0]["human"]:
        return ["## People", "", "Not measured: the recordings come in a Debian package, and this was no Debian."]
    lines = [
        "## People",
        "",
        "Recordings of Debian's `pocketsphinx-testdata`: one command, five sentences read from a novel, five rows of "
        "playing cards in bad sound.",
        "",
    ]
    for row in rows:
        human = row["human"]
        command = "the command right" if human["command"] else "the command wrong"
        rest = (
            f"{human['words']:.1%} of all words right"
            if "words" in human
            else f"{human['false']} of the {human['of']} others became a command"
        )
        lines.append(f"- {row['name']}: {command}, {rest}")
    return lines


def _waking(results: dict[str, Any]) -> list[str]:
    scenes = results["scenes"]
    by_voice: dict[str, list[bool]] = {}
    for scene in scenes:
        by_voice.setdefault(scene["voice"], []).append(scene["woke"])
    woke = ", ".join(f"{name} {sum(found)} of {len(found)}" for name, found in by_voice.items())
    lines = [
        "## Wake words",
        "",
        f'"Hey jarvis" before each command, by microwakeword: {woke}. (One recording of it for each voice: it is heard '
        "always or never.)",
        "",
        "Woken by nobody, in other talk, people and noise:",
        "",
        "| engine | false wakes | processor | memory |",
        "|---|---|---|---|",
    ]
    for row in results["wake"]:
        counts = ", ".join(f"{phrase}: {count}" for phrase, count in row["counts"].items())
        lines.append(
            f"| {row['name']} | {counts} in {row['seconds'] / 60:.1f} min | {row['share']:.1%} of a core "
            f"| {row['memory']} MB |"
        )
    return lines


def _voices(rows: list[dict[str, Any]]) -> list[str]:
    lines = ["## Voices", "", "| engine | four words | a long sentence | memory |", "|---|---|---|---|"]
    for row in rows:
        short, long = row["found"]["short"], row["found"]["long"]
        lines.append(
            f"| {row['name']} | {short[0] * 1000:.0f} ms | {long[0] * 1000:.0f} ms for {long[1]:.1f} s "
            f"| {row['memory']} MB |"
        )
    return lines


def _mistakes(rows: list[dict[str, Any]]) -> list[str]:
    lines = ["## What was understood instead", ""]
    for row in rows:
        held = _in(row, "held out")
        lines += [f"{row['name']}:", ""]
        for voice, said, heard in row["missed"]:
            lines.append(f"- {voice}: {said} → {heard or 'nothing'}")
        for voice, said, heard in held["missed"]:
            lines.append(f"- held out, {voice}: {said} → {heard or 'nothing'}")
        for said, heard in (*row["false"], *held["false"]):
            lines.append(f"- talk: {said} → {heard}")
        for said, heard in held["mistaken"]:
            lines.append(f"- near miss: {said} → {heard}")
        lines.append("")
    return lines[:-1]


def picture(rows: list[dict[str, Any]]) -> str:
    """Commands right, here and held out, processor time and memory of each recogniser, as bars."""
    slowest = max(row["work"] for row in rows)
    largest = max(row["memory"] for row in rows)
    height = 30 + _ROW * len(rows)
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {_WIDTH} {height}" font-family="sans-serif" '
        'font-size="12" role="img">',
        "<title>Recognisers: commands exactly right, held-out commands, processor time, memory</title>",
        f'<rect width="{_WIDTH}" height="{height}" fill="#fff"/>',
    ]
    for number, row in enumerate(rows):
        top = 20 + number * _ROW
        parts.append(f'<text x="10" y="{top + 42}" font-weight="bold" fill="#222">{escape(row["name"])}</text>')
        right = row["exact"] / row["commands"]
        held = _in(row, "held out")
        elsewhere = held["exact"] / held["commands"] if held["commands"] else 0.0
        there = f"{elsewhere:.0%} of those held out" if held["commands"] else "held out: not asked"
        for place, (share, label, colour) in enumerate(
            (
                (right, f"{right:.0%} of commands exactly right", "#2a7f62"),
                (elsewhere, there, "#69a98f"),
                (row["work"] / slowest, f"{row['work']:.2f} s of processor time", "#b5651d"),
                (row["memory"] / largest, f"{row['memory']} MB", "#4a6fa5"),
            )
        ):
            y = top + 20 * place
            width = max(2, round(300 * share))
            parts.append(f'<rect x="225" y="{y}" width="{width}" height="15" fill="{colour}"/>')
            parts.append(f'<text x="{235 + width}" y="{y + 12}" fill="#222">{escape(label)}</text>')
    return "\n".join([*parts, "</svg>", ""])
