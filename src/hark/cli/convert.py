"""`hark convert`: sentences of other programs as locale folders, and back."""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

from hark.cli.common import FAILED, OK
from hark.errors import UserError
from hark.intents import MAX_COMPARED
from hark.model.lang import is_tag
from hark.tools.convert.files import hassil_files, languages, read_folder, read_package, write
from hark.tools.convert.hassil_export import to_hassil
from hark.tools.convert.hassil_import import from_hassil
from hark.tools.convert.report import ConversionReport, Verdict

ABOUT: Final = """\
Converts between locale folders and the sentences of hassil, which Home Assistant uses. What the other format cannot
express is counted, listed with its file and line, and kept in hassil.json beside the locale files, so that converting
back restores it. The exit status is 0 when everything was converted that can be, 2 when something has to be corrected
first; with --strict it is 1 when something could not be expressed.

examples:
  hark convert from-hassil config/custom_sentences locale
  hark convert from-hassil --package --lang en locale --report report.json
  hark convert to-hassil locale sentences
"""
_REASONS_SHOWN: Final = 12


def add_options(command: argparse.ArgumentParser) -> None:
    directions = command.add_subparsers(dest="direction", metavar="DIRECTION", required=True, title="directions")
    there = directions.add_parser("from-hassil", help="YAML or JSON of hassil to a locale folder")
    there.add_argument("source", nargs="?", metavar="SRC", help="a folder or file; its languages are those it states")
    there.add_argument("dest", metavar="DEST", help="the locale folder; a language goes to DEST/<language>")
    there.add_argument("--package", action="store_true", help="read the installed home-assistant-intents, not SRC")
    there.add_argument(
        "--max-sentences",
        type=int,
        metavar="N",
        help="divide templates that stand for more sentences than this, for engines that expand them; 5000 for most",
    )
    back = directions.add_parser("to-hassil", help="a locale folder to YAML of hassil")
    back.add_argument("source", metavar="LOCALE", help="the locale folder: LOCALE/<language>/…")
    back.add_argument("dest", metavar="DEST", help="the folder for the YAML; a language goes to DEST/<language>")
    for direction in (there, back):
        direction.add_argument("--lang", metavar="TAG", help="one language; else all there are")
        direction.add_argument("--report", metavar="FILE", help="write a JSON report of what could not be expressed")
        direction.add_argument("--force", action="store_true", help="overwrite files that exist")
        direction.add_argument(
            "--strict", action="store_true", help="exit with 1 when something could not be expressed"
        )


def convert(options: argparse.Namespace) -> int:
    reports: list[ConversionReport] = []
    for report in _from_hassil(options) if options.direction == "from-hassil" else _to_hassil(options):
        _print_summary(report)
        reports.append(report)
    if options.report is not None:
        text = json.dumps([report.as_json() for report in reports], ensure_ascii=False, indent=1)
        Path(options.report).write_text(f"{text}\n", encoding="utf-8")
    return FAILED if options.strict and any(map(_is_incomplete, reports)) else OK


def _from_hassil(options: argparse.Namespace) -> Iterator[ConversionReport]:
    limit = MAX_COMPARED if options.max_sentences is None else options.max_sentences
    if limit < 1:
        raise UserError("--max-sentences takes a number above 0")
    if options.package == (options.source is not None):
        raise UserError("name either the folder to read, SRC, or --package")
    found: Iterator[tuple[str, dict[str, Any]]] = (
        read_package(options.lang) if options.package else iter(read_folder(Path(options.source), options.lang).items())
    )
    for lang, data in found:
        if not is_tag(lang):
            raise UserError(f"{lang!r} is not a language tag such as en or de-CH")
        converted = from_hassil(lang, data, limit)
        write(Path(options.dest) / lang, converted.files, force=options.force)
        yield converted.report


def _to_hassil(options: argparse.Namespace) -> Iterator[ConversionReport]:
    for folder in languages(Path(options.source), options.lang):
        report = ConversionReport(folder.lang)
        data = to_hassil(folder, report)
        write(Path(options.dest) / folder.lang, hassil_files(data), force=options.force)
        yield report


def _is_incomplete(report: ConversionReport) -> bool:
    return bool(report.total(Verdict.REFUSED) or report.total(Verdict.LOST))


def _print_summary(report: ConversionReport) -> None:
    # A language at a time, as soon as it is done: all of them take a while.
    print(f"{report.lang}: {', '.join(f'{what} {number:,}' for what, number in report.counts.items())}")
    rows = report.by_reason()
    for verdict, reason, number in rows[:_REASONS_SHOWN]:
        print(f"  {verdict.value:9} {number:6,}  {reason}")
    if len(rows) > _REASONS_SHOWN:
        print(f"  and {len(rows) - _REASONS_SHOWN} further reasons; --report FILE writes all of them")
    sys.stdout.flush()
