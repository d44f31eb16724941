"""Replacing what recognisers often mishear, from a file that is read again when it was edited."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Annotated, Final

from msgspec import Meta

from hark.builtin.transformers.conditions import heard_lang, plugin_path
from hark.intents.text import UNSPACED, straight
from hark.model.lang import primary
from hark.plugins import Ctx, UtteranceTransformer

_WORD: Final = re.compile(rf"[{UNSPACED}]|[^\W{UNSPACED}]+(?:['\u2019]\w+)*")
_SECTION: Final = re.compile(r"\[([A-Za-z0-9-]+)\]")
_ANY: Final = ""


class CorrectionsFile:
    """The corrections of one file: a line `heard = meant` each, `#` for comments, `[de]` for one language.

    Capitals do not matter in what was heard. Of two that fit at the same place, the longer one is used.
    """

    def __init__(self, text: str, phrases: Mapping[str, str] = MappingProxyType({})) -> None:
        self.mistakes: list[str] = []
        """Lines that are no correction, with their numbers."""
        self._of_lang: dict[str, dict[str, dict[tuple[str, ...], str]]] = {}
        for heard, meant in phrases.items():
            self._add(_ANY, heard, meant)
        lang = _ANY
        for number, line in enumerate(text.splitlines(), 1):
            line = line.strip()
            if not line or line.startswith("#"):
                continue
            if section := _SECTION.fullmatch(line):
                lang = section[1].lower()
                continue
            heard, sign, meant = line.partition("=")
            if not sign or not self._add(lang, heard, meant):
                self.mistakes.append(f"line {number}: {line!r:.80} is not: heard = meant")

    def _add(self, lang: str, heard: str, meant: str) -> bool:
        """Take a correction; False where there are no words to correct."""
        words = tuple(found[0].casefold() for found in _WORD.finditer(straight(heard)))
        if words:
            self._of_lang.setdefault(lang, {}).setdefault(words[0], {})[words] = meant.strip()
        return bool(words)

    def __len__(self) -> int:
        return sum(len(phrases) for firsts in self._of_lang.values() for phrases in firsts.values())

    def corrected(self, text: str, lang: str | None) -> str:
        """`text` with what was misheard replaced."""
        tables = list(self._tables(lang))
        if not tables:
            return text
        text = straight(text)
        found = list(_WORD.finditer(text))
        folded = [word[0].casefold() for word in found]
        pieces: list[str] = []
        at = kept = 0
        while at < len(found):
            length, meant = _longest(tables, folded, at)
            if not length:
                at += 1
                continue
            begin, end = found[at].start(), found[at + length - 1].end()
            pieces += [text[kept:begin], _cased(meant, text[begin:end])]
            at, kept = at + length, end
        corrected = "".join((*pieces, text[kept:])).strip() if pieces else text
        return corrected or text

    def _tables(self, lang: str | None) -> Iterator[dict[str, dict[tuple[str, ...], str]]]:
        tag = (lang or "").lower()
        for name in dict.fromkeys((tag, primary(tag), _ANY)):
            if name in self._of_lang:
                yield self._of_lang[name]


def _longest(tables: list[dict[str, dict[tuple[str, ...], str]]], words: list[str], at: int) -> tuple[int, str]:
    best, meant = 0, ""
    for table in tables:
        for phrase, other in table.get(words[at], {}).items():
            if len(phrase) > best and tuple(words[at : at + len(phrase)]) == phrase:
                best, meant = len(phrase), other
    return best, meant


def _cased(meant: str, heard: str) -> str:
    """What was meant, in capitals as it was heard."""
    if heard.isupper() and len(heard) > 1:
        return meant.upper()
    return meant[:1].upper() + meant[1:] if heard[0].isupper() and meant[:1].islower() else meant


class Corrections(UtteranceTransformer):
    """Replaces what is often misheard by what was meant, in every candidate."""

    id = "corrections"
    priority = 15
    quick = True

    @dataclass(frozen=True)
    class Settings:
        """Where the corrections are."""

        file: str = "corrections.txt"
        """The file; a relative path starts at the plugin's data folder."""
        phrases: dict[str, str] = field(default_factory=dict)
        """Corrections without a file: what was meant, by what is heard."""
        look_every: Annotated[float, Meta(gt=0)] = 2.0
        """Seconds after which it is looked at again, in case it was edited."""

    settings: Settings

    async def start(self) -> None:
        self._path = plugin_path(self.settings.file, self.host)
        self._seen: tuple[int, int] | None = None
        self._problem = ""
        self._corrections = CorrectionsFile("", self.settings.phrases)
        self._look()

    def transform(self, utterances: list[str], ctx: Ctx) -> list[str]:
        if not len(self._corrections):
            return utterances
        lang = heard_lang(ctx, self.host)
        corrected = [self._corrections.corrected(text, lang) for text in utterances]
        return list(dict.fromkeys(corrected)) if len(corrected) > 1 else corrected

    def problem(self) -> str:
        return self._problem

    def _look(self) -> None:
        """Read the file if it changed since it was last read, and look again later."""
        try:
            found = self._path.stat()
            seen = (found.st_mtime_ns, found.st_size)
            if seen != self._seen:
                text = self._path.read_text("utf-8")
                self._corrections, self._seen = CorrectionsFile(text, self.settings.phrases), seen
                self._problem = "; ".join(f"{self._path}: {one}" for one in self._corrections.mistakes[:5])
                self.host.log.info("%d corrections in %s", len(self._corrections), self._path)
        except (OSError, ValueError) as error:
            needed = not (self.settings.phrases and isinstance(error, FileNotFoundError))
            if needed and (self._problem == "" or self._seen is not None):
                self.host.log.warning("%s cannot be read: %s", self._path, error)
            self._corrections, self._seen = CorrectionsFile("", self.settings.phrases), None
            if needed:
                self._problem = f"{self._path} cannot be read ({type(error).__name__}); write lines: heard = meant"
        self.host.after(self.settings.look_every, self._look)
