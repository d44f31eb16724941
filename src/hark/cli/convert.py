"""`hark convert`: sentences of other programs as locale folders, and back."""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from hark.cli.common import FAILED, OK
from hark.errors import UserError

if TYPE_CHECKING:
    from hark.tools.convert.report import ConversionReport

ABOUT: Final = """\
Converts between locale folders and the sentences of hassil, which Home Assistant uses. What the other format cannot
say is counted, listed with its file and line, and kept in hassil.json beside the locale files, so that the way back
restores it. The exit status is 0 when everything was converted that can be, 2 when something has to be put right
first; with --strict it is 1 when something could not be said.

examples:
  hark convert from-hassil config/custom_sentences locale
  hark convert from-hassil --package --lang en locale --report report.json
  hark convert to-hassil locale sentences
"""
_SHOWN: Final = 12


def add_options(command: argparse.ArgumentParser) -> None:
    """What can be typed after `hark convert`."""
    ways = command.add_subparsers(dest="way", metavar="WAY", required=True, title="ways")
    there = ways.add_parser("from-hassil", help="YAML or JSON of hassil to a locale folder")
    there.add_argument("source", nargs="?", metavar="SRC", help="a folder or file; its languages are those it states")
    there.add_argument("dest", metavar="DEST", help="the locale folder; a language goes to DEST/<language>")
    there.add_argument("--package", action="store_true", help="read the installed home-assistant-intents, not SRC")
    there.add_argument(
        "--max-sentences",
        type=int,
        metavar="N",
        help="divide templates that stand for more sentences than this; else what Hark takes, 5,000",
    )
    back = ways.add_parser("to-hassil", help="a locale folder to YAML of hassil")
    back.add_argument("source", metavar="LOCALE", help="the locale folder: LOCALE/<language>/…")
    back.add_argument("dest", metavar="DEST", help="the folder for the YAML; a language goes to DEST/<language>")
    for way in (there, back):
        way.add_argument("--lang", metavar="TAG", help="one language; else all there are")
        way.add_argument("--report", metavar="FILE", help="write everything that could not be said to this JSON file")
        way.add_argument("--force", action="store_true", help="overwrite files that exist")
        way.add_argument("--strict", action="store_true", help="exit with 1 when something could not be said")


def convert(options: argparse.Namespace) -> int:
    """Convert every language asked for, one after the other, and tell what could not be said."""
    reports: list[ConversionReport] = []
    for report in _from_hassil(options) if options.way == "from-hassil" else _to_hassil(options):
        _tell(report)
        reports.append(report)
    if options.report is not None:
        text = json.dumps([report.as_json() for report in reports], ensure_ascii=False, indent=1)
        Path(options.report).write_text(f"{text}\n", encoding="utf-8")
    return FAILED if options.strict and any(map(_unsaid, reports)) else OK


def _from_hassil(options: argparse.Namespace) -> Iterator[ConversionReport]:
    # Here and below: only this command needs them.
    from hark.intents import MAX_SENTENCES
    from hark.model.lang import is_tag
    from hark.tools.convert.files import read_folder, read_package, write
    from hark.tools.convert.hassil_import import from_hassil

    limit = MAX_SENTENCES if options.max_sentences is None else options.max_sentences
    if limit < 1:
        raise UserError("--max-sentences takes a number above 0")
    if options.package == (options.source is not None):
        raise UserError("name either the folder to read, SRC, or --package")
    found: Iterator[tuple[str, dict[str, Any]]] = (
        read_package(options.lang) if options.package else iter(read_folder(Path(options.source), options.lang).items())
    )
    for lang, data in found:
        if not is_tag(lang):
            raise UserError(f"{lang!r} is no language tag such as en or de-CH")
        converted = from_hassil(lang, data, limit)
        write(Path(options.dest) / lang, converted.files, force=options.force)
        yield converted.report


def _to_hassil(options: argparse.Namespace) -> Iterator[ConversionReport]:
    from hark.tools.convert.files import hassil_files, languages, write
    from hark.tools.convert.hassil_export import to_hassil
    from hark.tools.convert.report import ConversionReport

    for folder in languages(Path(options.source), options.lang):
        report = ConversionReport(folder.lang)
        data = to_hassil(folder, report)
        write(Path(options.dest) / folder.lang, hassil_files(data), force=options.force)
        yield report


def _unsaid(report: ConversionReport) -> bool:
    from hark.tools.convert.report import Verdict

    return bool(report.total(Verdict.REFUSED) or report.total(Verdict.LOST))


def _tell(report: ConversionReport) -> None:
    """A language is told as soon as it is done: all of them take a while."""
    print(f"{report.lang}: {', '.join(f'{number:,} {what}' for what, number in report.counts.items())}")
    rows = report.by_reason()
    for verdict, reason, number in rows[:_SHOWN]:
        print(f"  {verdict.value:9} {number:6,}  {reason}")
    if len(rows) > _SHOWN:
        print(f"  and {len(rows) - _SHOWN} further reasons; --report FILE writes all of them")
    sys.stdout.flush()
