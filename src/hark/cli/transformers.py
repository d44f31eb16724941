"""`hark transformers`: which transformers there are, and what one of them does."""

from __future__ import annotations

import argparse
import asyncio
import shlex
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any, Final

from hark import hints
from hark.cli.common import FAILED, OK, check_applies, load_settings, print_json, print_note, settings_path, state_path
from hark.cli.options import add_format, add_lang, add_settings, add_state
from hark.errors import UserError

ABOUT: Final = """\
Lists the transformers of each chain: first those that run, in their order, then those that come with Hark and are off,
with the packages they need. "try" runs one of them on a text or a WAV file and shows what it changes.

examples:
  hark transformers
  hark transformers --chain dialog
  hark transformers try dialog speakable "It is 17:30 and **-3 °C**."
  hark transformers try utterance cancel "what time is it, never mind"
  hark transformers try audio level quiet.wav --out louder.wav
  hark transformers try dialog length "A long answer. And more." --set characters=20
"""


def add_options(command: argparse.ArgumentParser) -> None:
    from hark.spec import TRANSFORMER_TYPES

    command.add_argument("action", nargs="?", choices=("list", "try"), default="list", metavar="ACTION",
                         help="list (the default) or try")  # fmt: skip
    command.add_argument("kind", nargs="?", choices=TRANSFORMER_TYPES, metavar="KIND",
                         help="for try: the chain; for list: the same as --chain")  # fmt: skip
    command.add_argument("id", nargs="?", metavar="ID", help="for try: the transformer")
    command.add_argument("input", nargs="*", metavar="INPUT", help="for try: a text, or a WAV file for audio and tts")
    command.add_argument("--chain", choices=TRANSFORMER_TYPES, metavar="KIND", help="list this chain alone")
    add_format(command, json_alias=True)
    command.add_argument("--set", action="append", default=[], metavar="KEY=VALUE", dest="set",
                         help="for try: a setting of the transformer, its value as in TOML")  # fmt: skip
    command.add_argument("--slot", action="append", default=[], metavar="NAME=TEXT", dest="slot",
                         help="for try intent: a slot of the match")  # fmt: skip
    command.add_argument("--context", action="append", default=[], metavar="KEY=VALUE", dest="context",
                         help="for try: a context key of the Message, such as source=phone")  # fmt: skip
    command.add_argument("--session", metavar="ID", help="for try: the session; else the device's own")
    command.add_argument("--out", metavar="FILE", help="for try audio and tts: where to write the sound")
    add_settings(command)
    add_state(command)
    add_lang(command)


def transformers(options: argparse.Namespace) -> int:
    if options.action == "try":
        check_applies(options, "transformers list", "chain")
        return _try(options)
    check_applies(options, "transformers try", "set", "slot", "context", "session", "out")
    if options.id is not None:
        raise UserError(f"{options.id!r} is one too many: {hints.hark('transformers list KIND')} lists a chain")
    return _list(options)


def _list(options: argparse.Namespace) -> int:
    from hark.app.diagnostics.transformer_list import listed
    from hark.cli.startup import mute_refusal_log

    mute_refusal_log()
    chains = asyncio.run(listed(load_settings(options), settings_path(options)[0], installed=options.plugins))
    only = options.chain or options.kind
    wanted = [chain for chain in chains if only in (None, chain.kind)]
    if options.format == "json":
        print_json(wanted)
        return OK
    for chain in wanted:
        print(f"{chain.kind}, {chain.order}:" if chain.members else f"{chain.kind}: empty")
        for number, one in enumerate(chain.members, 1):
            print(f"  {number}. {one.id:<18} {_place(one.priority)}  {one.about}")
        for one in chain.off:
            print(
                f"  -  {one.id:<18} {_place(one.priority)}  {one.about}" + (f"  [{one.missing}]" if one.missing else "")
            )
        for one in chain.refused:
            print(f"  !  {one.id:<18}      {one.about}" + (f"; {one.missing}" if one.missing else ""))
    print('\nThose with "-" are off: [transformers] enable = ["ID", ...] turns them on.')
    return OK


def _place(priority: int | None) -> str:
    return f"{priority:>3}" if priority is not None else "   "


def _try(options: argparse.Namespace) -> int:
    import msgspec

    from hark.app.diagnostics.transformer_trial import Trial, try_transformer
    from hark.cli.startup import mute_refusal_log

    if options.kind is None or options.id is None:
        raise UserError(f"name a chain and a transformer: {_hint('dialog', 'speakable', 'It is 17:30.')}")
    settings, path = load_settings(options), settings_path(options)[0]
    mute_refusal_log()
    trial = Trial(
        options.kind,
        options.id,
        _artifact(options),
        options.lang,
        options.session or "default",
        _pairs(options.set),
        {name: str(text) for name, text in _pairs(options.slot, "NAME=TEXT").items()},
        _pairs(options.context),
    )
    result = asyncio.run(
        try_transformer(trial, settings, path, state_path(options) / "plugins", installed=options.plugins)
    )
    if options.format == "json":
        fields = {key: value for key, value in msgspec.structs.asdict(result).items() if key != "audio"}
        print_json(fields)
    else:
        print("\n".join(_lines(result)))
    if options.out is not None and result.audio is not None:
        from hark.model.wav import write_wav

        Path(options.out).write_bytes(write_wav(result.audio))
        print_note(f"written to {options.out}")
    return OK if result.outcome in ("changed", "unchanged", "cancelled") else FAILED


def _hint(*words: str) -> str:
    return hints.hark(shlex.join(("transformers", "try", *words)))


def _artifact(options: argparse.Namespace) -> Any:
    text = " ".join(options.input)
    if options.kind == "metadata":
        return None
    if options.kind not in ("audio", "tts"):
        if not text.strip():
            raise UserError(f"name a text: {_hint(options.kind, options.id, 'what time is it')}")
        return text
    from hark.model.wav import MalformedWav, read_wav

    if not text:
        raise UserError(f"name a WAV file: {_hint(options.kind, options.id, 'speech.wav')}")
    try:
        return read_wav(Path(text).read_bytes())
    except OSError as error:
        raise UserError(f"{text} cannot be read: {error.strerror}") from None
    except MalformedWav as error:
        raise UserError(f"{text} is no WAV file: {error}") from None


def _pairs(given: Iterable[str], form: str = "KEY=VALUE") -> dict[str, Any]:
    """What options of this form name; a VALUE is read as TOML where it is that, else as text."""
    import tomllib

    pairs: dict[str, Any] = {}
    for one in given:
        key, sign, value = one.partition("=")
        if not sign or not key:
            raise UserError(f"{one!r} is not {form}")
        try:
            pairs[key] = tomllib.loads(f"it = {value}")["it"] if form == "KEY=VALUE" else value
        except tomllib.TOMLDecodeError as error:
            if value.startswith(("[", "{", '"')):
                raise UserError(f"the value of {key} is no TOML: {error}") from None
            pairs[key] = value
    return pairs


def _lines(result: Any) -> Iterator[str]:
    yield f"before   {result.before}" if result.before else "before   (the context alone)"
    yield f"after    {result.after}" if result.after != result.before else "after    (unchanged)"
    if result.lang_before != result.lang:
        yield f"lang     {result.lang_before} → {result.lang}"
    yield from (f"context  {key} = {value}" for key, value in _sorted(result.context))
    yield from (f"session  {key} = {value}" for key, value in _sorted(result.session))
    yield from (f"emits    {topic} {data}" for topic, data in result.emitted)
    yield f"{result.outcome} in {result.seconds * 1000:.3f} ms" + (f": {result.detail}" if result.detail else "")


def _sorted(values: Mapping[str, Any]) -> list[tuple[str, Any]]:
    return sorted(values.items())
