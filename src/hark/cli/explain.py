"""`hark explain`: which intents a sentence was compared with, and what each of them explains of it."""

from __future__ import annotations

import argparse
import asyncio
from typing import Final

from hark import hints
from hark.cli.common import FAILED, OK, check_text, load_settings, print_json
from hark.cli.options import add_format, add_lang, add_settings
from hark.errors import UserError

ABOUT: Final = """\
Compares a sentence with the sentences of all skills and prints the intent that would get it, or why none would; in how
many intents each word occurs; and the nearest intents, with their scores, the words they have and those they do not.
What people put around a request is left out first, as in a turn. Nothing is carried out. An assistant is started for it
with the same settings: intents that other programs registered with a running one are not among them. For a turn of the
running one there is hark why.

examples:
  hark explain "turn the light off"
  hark explain --lang de-DE "mach das licht aus"
"""


def add_options(command: argparse.ArgumentParser) -> None:
    command.add_argument("sentence", metavar="SENTENCE", nargs="+", help="what would be said")
    add_lang(command)
    add_settings(command)
    add_format(command)


def explain(options: argparse.Namespace) -> int:
    from hark.builtin import Normalize, TemplateMatcher
    from hark.cli.startup import make_assistant, mute_refusal_log, mute_watchdog_log
    from hark.model import Frozen, Session
    from hark.plugins import Ctx, Match

    sentence = " ".join(options.sentence)
    check_text(sentence)
    if not sentence.strip():
        raise UserError(f"there is nothing to explain: {hints.hark('explain SENTENCE')}")
    settings = load_settings(options)
    lang = settings.understanding().lang

    async def look() -> list[str]:
        mute_refusal_log()
        mute_watchdog_log()
        async with make_assistant(options, settings, None) as assistant:
            matchers = [entry.plugin for entry in assistant.runtime.pipeline]
            session = Session("default", lang=lang)
            transformers = [entry.plugin for chain in assistant.runtime.transformers.values() for entry in chain]
            said = [sentence]
            for plugin in transformers:
                if isinstance(plugin, Normalize):
                    said = plugin.transform(said, Ctx(Frozen(), session, lang, True))
            lines: list[str] = []
            for matcher in matchers:
                if isinstance(matcher, TemplateMatcher):
                    found = matcher.match(said, lang, session)
                    taken = found.utterance if isinstance(found, Match) else said[0]
                    if taken != sentence:
                        lines.append(f"taken as: {taken}")
                    lines += matcher.explain(taken, lang, session)
            return lines

    lines = asyncio.run(look())
    if options.format == "json":
        print_json({"sentence": sentence, "lang": lang, "lines": lines})
        return OK if lines else FAILED
    print("\n".join(lines) if lines else "the pipeline has no matcher of sentences")
    return OK if lines else FAILED
