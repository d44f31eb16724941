"""`hark explain`: which intents a sentence was compared with, and what each of them explains of it."""

from __future__ import annotations

import argparse
import asyncio
import json
from collections.abc import Iterator
from typing import Final

from hark.cli.common import FAILED, OK, settings_path
from hark.cli.options import add_format, add_settings

ABOUT: Final = """\
Compares a sentence with the registered sentences of all skills and says what came of it: the intent that gets it, or
why none does; what is known about each word; and the nearest intents, with their scores, the words they explain and
those they leave over. Nothing is carried out. It starts an assistant of its own with the same settings, so it
knows no intents that other programs registered with a running one; hark why explains a turn of that one.

examples:
  hark explain "turn the light off"
  hark explain --lang de-DE "mach das licht aus"
"""


def add_options(command: argparse.ArgumentParser) -> None:
    command.add_argument("sentence", metavar="SENTENCE", nargs="+", help="what would be said")
    command.add_argument("--lang", metavar="TAG", help="the language it is in; else that of the assistant")
    add_settings(command)
    add_format(command)


def explain(options: argparse.Namespace) -> int:
    from hark.app.local_assistant import LocalAssistant
    from hark.app.plugin_set import plugin_files, plugins, wanted_by
    from hark.app.settings import read_settings
    from hark.builtin import TemplateMatcher
    from hark.cli.startup import mute_refusal_log
    from hark.model import Session, SystemClock

    sentence = " ".join(options.sentence)
    path, named = settings_path(options)
    settings = read_settings(path, named=named)
    if options.lang is not None:
        settings = settings.speaking(options.lang)  # else its sentences are not loaded
    lang = settings.understanding().lang

    async def look() -> list[str]:
        loaded = plugins(installed=options.plugins, files=plugin_files(settings, path), wanted=wanted_by(settings))
        assistant = LocalAssistant(settings, loaded, SystemClock(), lambda _text: None)
        mute_refusal_log()
        async with assistant:
            matchers = [entry.plugin for entry in assistant.runtime.pipeline]
            session = Session("default", lang=lang)
            found: Iterator[list[str]] = (
                matcher.explain(sentence, lang, session) for matcher in matchers if isinstance(matcher, TemplateMatcher)
            )
            return [line for lines in found for line in lines]

    lines = asyncio.run(look())
    if options.format == "json":
        print(json.dumps({"sentence": sentence, "lang": lang, "lines": lines}, ensure_ascii=False, indent=1))
        return OK if lines else FAILED
    print("\n".join(lines) if lines else "the pipeline has no matcher of sentences")
    return OK if lines else FAILED
