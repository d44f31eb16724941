"""`hark setup`: asks for language, place, units and names, and writes them into the settings file."""

from __future__ import annotations

import argparse
import os
import sys
import tomllib
from collections.abc import Callable
from pathlib import Path
from typing import Any, Final, NamedTuple

from hark import hints
from hark.app.settings import Settings, read_settings, settings_from
from hark.app.settings.edit import KeyPath, with_values
from hark.cli.common import OK, note_language, print_note, settings_path
from hark.cli.options import add_lang, add_settings_file
from hark.errors import UserError
from hark.plugins.home import usual_clock, usual_units

ABOUT: Final = """\
Asks for language, place, time zone, units, clock, the assistant's name, wake word, voice and a language model, and
writes the answers into the settings file. Other keys of that file stay as they are. Enter keeps what is shown in
brackets.

examples:
  hark setup                                          ask in this terminal
  hark setup --yes --lang en-US --place Boston --time-zone America/New_York
  hark setup --yes --units metric --clock 24          only these
"""
_SKIPPED: Final = "# hark setup was skipped; it can be run at any time.\n"
_KEPT: Final = "# hark setup kept every default; it can be run at any time.\n"
_LANGUAGES: Final = ("en-US", "en-GB", "de-DE", "es-ES", "fr-FR", "it-IT", "pt-PT")
_WAKE: Final = ("wake", "main", "phrase")
_MODEL: Final = ("plugins", "persona", "endpoint")


class SetupQuestion(NamedTuple):
    """Something that is asked for."""

    option: str
    text: str
    key: KeyPath
    read: Callable[[str], Any]


def _words(text: str) -> list[str]:
    return [word.strip() for word in text.split(",") if word.strip()]


def _number(text: str) -> int | str:
    return int(text) if text.isdigit() else text


_QUESTIONS: Final = (
    SetupQuestion("lang", f"Language ({', '.join(_LANGUAGES)})", ("assistant", "lang"), str),
    SetupQuestion("place", "Where is this device? The name of a town, for the weather", ("home", "place"), str),
    SetupQuestion("time_zone", "Time zone", ("home", "time_zone"), str),
    SetupQuestion("units", "Units (metric, imperial)", ("home", "units"), str),
    SetupQuestion("clock", "Hours of the clock (12, 24)", ("home", "clock"), _number),
    SetupQuestion("name", "The assistant's name", ("home", "names"), _words),
    SetupQuestion("wake_word", "Wake word", _WAKE, str),
    SetupQuestion("tts", "Voices: engines for speech, in order of preference", ("voice", "tts"), _words),
    SetupQuestion("model", "A language model that answers the rest: ollama, or a URL", _MODEL, str),
)
_COORDINATES: Final = (
    SetupQuestion("latitude", "", ("home", "latitude"), float),
    SetupQuestion("longitude", "", ("home", "longitude"), float),
)


def add_options(command: argparse.ArgumentParser) -> None:
    add_settings_file(command)
    add_lang(command)
    command.add_argument("--place", metavar="NAME", help="the place, such as Boston")
    command.add_argument("--latitude", metavar="DEGREES", help="its latitude; north is positive")
    command.add_argument("--longitude", metavar="DEGREES", help="its longitude; east is positive")
    command.add_argument("--time-zone", metavar="ZONE", help="the time zone, such as America/New_York")
    command.add_argument("--units", choices=("metric", "imperial"))
    command.add_argument("--clock", choices=("12", "24"), help="hours of the clock")
    command.add_argument("--name", metavar="NAMES", help="the assistant's name, or several with commas between them")
    command.add_argument("--wake-word", metavar="PHRASE", help='such as "hey jarvis"')
    command.add_argument("--tts", metavar="ENGINES", help="engines for speech, with commas between them")
    command.add_argument("--model", metavar="SERVER", help="of a language model, such as ollama, or a URL")
    command.add_argument("--yes", action="store_true", help="ask nothing: write what the options say")
    command.add_argument(
        "--first-run", action="store_true", help="do nothing if there is a settings file, or no terminal to ask in"
    )


def setup(options: argparse.Namespace) -> int:
    path, _ = settings_path(options)
    is_terminal = sys.stdin.isatty() and sys.stdout.isatty()
    if options.first_run:
        if path.exists() or not is_terminal:
            return OK
        if not _wants():
            _write(path, _SKIPPED)
            print_note(f"skipped; to set it up later: {hints.hark('setup')}")
            return OK
    elif not options.yes and not is_terminal:
        raise UserError(f"there is no terminal to ask in; use --yes with options, see: {hints.hark('setup --help')}")
    before = path.read_text("utf-8-sig") if path.exists() else ""
    settings = read_settings(path, named=False)
    given = _given(options)
    answers = given if options.yes else _asked(settings, given)
    text = with_values(before, answers)
    _check(text, path)
    is_new = not path.exists()
    if text != before or is_new:
        _write(path, text or _KEPT)
    note_language(settings_from(tomllib.loads(text)).assistant.lang)
    print_note(f"{path} is written" if text != before or is_new else f"{path} stays as it is")
    return OK


def _wants() -> bool:
    print("Hark runs for the first time here. It can ask for language, place and units.")
    return _input("Set it up now? [Y/n] ").strip().lower() in ("", "y", "yes", "j", "s", "o")


def _given(options: argparse.Namespace) -> dict[KeyPath, Any]:
    """What the options say."""
    found: dict[KeyPath, Any] = {}
    for question in (*_QUESTIONS, *_COORDINATES):
        text = getattr(options, question.option)
        if text is not None:
            try:
                found[question.key] = question.read(text)
            except ValueError:
                raise UserError(f"--{question.option}: {text!r} is not a number") from None
    return found


def _asked(settings: Settings, given: dict[KeyPath, Any]) -> dict[KeyPath, Any]:
    """What the user answers; options are not asked for, and Enter keeps what is there."""
    answers = dict(given)
    for question in _QUESTIONS:
        if question.key in given:
            continue
        lang = str(answers.get(("assistant", "lang")) or settings.assistant.lang)
        while True:
            shown = _default(question, settings, lang)
            text = _input(f"{question.text} [{shown}]: ").strip()
            if not text:
                break
            value = question.read(text)
            wrong = _wrong({question.key: value})
            if not wrong:
                answers[question.key] = value
                break
            print(wrong)
    return answers


def _default(question: SetupQuestion, settings: Settings, lang: str) -> str:
    home = settings.home
    wake = next(iter(settings.wake.values()), None)
    shown: dict[str, object] = {
        "lang": settings.assistant.lang,
        "place": home.place or "none",
        "time_zone": home.time_zone or f"that of this machine{_machine_zone()}",
        "units": home.units or usual_units(lang),
        "clock": home.clock or usual_clock(lang),
        "name": ", ".join(home.names),
        "wake_word": wake.phrase if wake is not None else "hey jarvis",
        "tts": ", ".join(settings.voice.tts),
    }
    if question.option == "model":
        return str(settings.plugins.get("persona", {}).get("endpoint") or _running_models())
    return str(shown[question.option])


def _running_models() -> str:
    """What is shown where no model is configured."""
    from hark.builtin.persona.settings import running_presets

    found = running_presets()
    return f"none; running here: {', '.join(found)}" if found else "none"


def _machine_zone() -> str:
    try:
        name = os.path.realpath("/etc/localtime").partition("zoneinfo/")[2]
    except OSError:
        name = ""
    return f", {name}" if name else ""


def _wrong(values: dict[KeyPath, Any]) -> str:
    """What is wrong with an answer; empty if nothing."""
    tree: dict[str, Any] = {}
    for (*tables, key), value in values.items():
        table = tree
        for name in tables:
            table = table.setdefault(name, {})
        table[key] = value
    try:
        settings_from(tree)
    except UserError as error:
        return str(error)
    return ""


def _check(text: str, path: Path) -> None:
    """Refuse to write a file that could not be read again; raises `UserError`."""
    try:
        settings_from(tomllib.loads(text))
    except tomllib.TOMLDecodeError as error:
        raise UserError(f"{path}: this would not be TOML: {error}; nothing is written") from None


def _write(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    fresh = path.with_name(f"{path.name}.new")
    try:
        fresh.write_text(text, "utf-8")
        fresh.replace(path)
    except OSError as error:
        fresh.unlink(missing_ok=True)
        raise UserError(f"{path} cannot be written: {error.strerror}") from None


def _input(prompt: str) -> str:
    try:
        return input(prompt)
    except EOFError:
        raise UserError("nothing is written") from None
