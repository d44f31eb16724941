"""The figures as a page and a picture."""

from __future__ import annotations

import os
import platform
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final
from xml.sax.saxutils import escape

from voice.house import COMMANDS

_WIDTH: Final = 760
_ROW: Final = 74


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
            f"one that answers): wake word, voice activity, recogniser. {seconds:.0f} s of speech.",
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
        "| engine | commands exactly right | words right | processor time for a command | by length of speech | waited "
        "here | memory |",
        "|---|---|---|---|---|---|---|",
    ]
    for row in rows:
        voices = ", ".join(f"{name} {count}" for name, count in row["by_voice"].items())
        lines.append(
            f"| {row['name']} | {row['exact']} of {row['commands']} ({voices}) | {row['words']:.1%} "
            f"| {row['work']:.2f} s | {row['processor']:.2f} | {row['delay']:.2f} s | {row['memory']} MB |"
        )
    lines += [
        "",
        "Medians. *Processor time* is of all threads together; *by length of speech*, 0.1 is a tenth of one core while "
        "somebody speaks. *Waited here* is from the end of the recording to the text.",
        "",
        "Talk that became a command: what was written down is, word for word, something a skill registered. Noise that "
        "became text: four seconds of hiss or rumble at a time.",
        "",
        "| engine | of sentences that are no commands | of pieces of noise |",
        "|---|---|---|",
    ]
    for row in rows:
        talk = f"{len(row['false'])} of {row['others']}" if row["others"] else "not asked"
        imagined = f" ({', '.join(sorted(set(row['imagined'])))})" if row["imagined"] else ""
        lines.append(f"| {row['name']} | {talk} | {len(row['imagined'])} of {row['noise']}{imagined} |")
    return lines


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
        lines += [f"{row['name']}:", ""]
        for voice, said, heard in row["missed"]:
            lines.append(f"- {voice}: {said} → {heard or 'nothing'}")
        for said, heard in row["false"]:
            lines.append(f"- talk: {said} → {heard}")
        lines.append("")
    return lines[:-1]


def picture(rows: list[dict[str, Any]]) -> str:
    """Commands right, processor time and memory of each recogniser, as bars."""
    slowest = max(row["work"] for row in rows)
    largest = max(row["memory"] for row in rows)
    height = 30 + _ROW * len(rows)
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {_WIDTH} {height}" font-family="sans-serif" '
        'font-size="12" role="img">',
        "<title>Recognisers: commands exactly right, processor time, memory</title>",
        f'<rect width="{_WIDTH}" height="{height}" fill="#fff"/>',
    ]
    for number, row in enumerate(rows):
        top = 20 + number * _ROW
        parts.append(f'<text x="10" y="{top + 32}" font-weight="bold" fill="#222">{escape(row["name"])}</text>')
        right = row["exact"] / row["commands"]
        for place, (share, label, colour) in enumerate(
            (
                (right, f"{right:.0%} of commands exactly right", "#2a7f62"),
                (row["work"] / slowest, f"{row['work']:.2f} s of processor time", "#b5651d"),
                (row["memory"] / largest, f"{row['memory']} MB", "#4a6fa5"),
            )
        ):
            y = top + 20 * place
            width = max(2, round(300 * share))
            parts.append(f'<rect x="225" y="{y}" width="{width}" height="15" fill="{colour}"/>')
            parts.append(f'<text x="{235 + width}" y="{y + 12}" fill="#222">{escape(label)}</text>')
    return "\n".join([*parts, "</svg>", ""])
