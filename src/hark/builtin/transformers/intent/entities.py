"""Finding names from long lists in what was said: songs, people, stations, devices."""

from __future__ import annotations

import asyncio
import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Annotated, Any, Final

from msgspec import Meta

from hark.builtin.engines.extras import need
from hark.builtin.transformers.conditions import plugin_path
from hark.builtin.transformers.intent.exclusions import SlotExclusions
from hark.intents.text import is_unspaced
from hark.plugins import Ctx, IntentTransformer, Match
from hark.plugins.engines import Unavailable

_SPACES: Final = {code: " " for code in range(128) if not chr(code).isalnum()}
_LONGEST: Final = 10_000
"""Characters of an utterance that are searched."""


class EntityIndex:
    """Names by kind, found all at once whatever their number (Aho-Corasick); the longest at a place, whole words."""

    def __init__(self, library: Any, names: dict[str, list[tuple[str, str]]]) -> None:
        self._found: list[tuple[str, str]] = []
        """Kind and canonical value of each pattern."""
        patterns: dict[str, int] = {}
        for kind, pairs in names.items():
            for name, value in pairs:
                folded = _folded(name)[0].strip()
                if folded and folded not in patterns:  # the first list that has a name keeps it
                    patterns[folded] = len(self._found)
                    self._found.append((kind, value))
        kinds = library.MatchKind
        self._search = library.AhoCorasick(list(patterns), matchkind=kinds.LeftmostLongest) if patterns else None

    def __len__(self) -> int:
        return len(self._found)

    def find(self, text: str) -> list[tuple[str, str, str]]:
        """Kind, text and canonical value of each name in `text`, from left to right."""
        if self._search is None:
            return []
        folded, places = _folded(text[:_LONGEST])
        found = []
        for number, begin, end in self._search.find_matches_as_indexes(folded):
            if _is_whole(folded, begin, end):
                kind, value = self._found[number]
                found.append((kind, text[places[begin] : places[end - 1] + 1], value))
        return found


def _folded(text: str) -> tuple[str, Sequence[int]]:
    """`text` as recognisers may write it, without capitals, accents and punctuation; where each character was."""
    if text.isascii() and "  " not in (plain := text.lower().translate(_SPACES)):
        return plain, range(len(text))
    folded: list[str] = []
    places: list[int] = []
    for at, character in enumerate(text):
        for part in unicodedata.normalize("NFKD", character.casefold()):
            if unicodedata.combining(part):
                continue
            kept = part if part.isalnum() else " "
            if kept != " " or (folded and folded[-1] != " "):
                folded.append(kept)
                places.append(at)
    return "".join(folded), places


def _is_whole(text: str, begin: int, end: int) -> bool:
    return not (begin and _is_joined(text[begin - 1], text[begin])) and not (
        end < len(text) and _is_joined(text[end - 1], text[end])
    )


def _is_joined(one: str, other: str) -> bool:
    """Whether two characters are of one word; Chinese, Japanese and Thai have no spaces between words."""
    return one.isalnum() and other.isalnum() and not (is_unspaced(one) or is_unspaced(other))


def read_names(text: str) -> list[tuple[str, str]]:
    """The names of a list: a line each, `name` or `name = value`; `#` begins a comment line."""
    pairs = []
    for line in text.splitlines():
        name, _, value = (part.strip() for part in line.partition("="))
        if name and not name.startswith("#"):
            pairs.append((name, value or name))
    return pairs


class EntityLookup(IntentTransformer):
    """Adds a slot for each kind of name it finds: `artist`, and `artist.id` where the list gives another value.

    Slots that the match has already are left alone; only the value is added to one with the same text. Each list is a
    file `<kind>.txt`: a line `name` or `name = value`.
    """

    id = "entities"
    priority = 30
    quick = True

    @dataclass(frozen=True)
    class Settings:
        """Where the lists are."""

        folder: str = "entities"
        """A folder with a file `<kind>.txt` for each kind; a relative path starts at the plugin's data folder."""
        names: dict[str, tuple[str, ...]] = field(default_factory=dict)
        """Names without a file, by kind: `name` or `name = value` each."""
        skills: tuple[str, ...] = ()
        """Skills whose matches are enriched; empty: all."""
        most: Annotated[int, Meta(ge=1)] = 8
        """Slots to add, at most."""

    settings: Settings

    async def start(self) -> None:
        self._exclusions = SlotExclusions(self.host)
        library = need("ahocorasick_rs", "entities")
        self._folder = plugin_path(self.settings.folder, self.host)
        self._index = await asyncio.to_thread(self._read, library)
        self.host.log.info("%d names in %s", len(self._index), self._folder)

    def _read(self, library: Any) -> EntityIndex:
        names = {kind: read_names("\n".join(lines)) for kind, lines in self.settings.names.items()}
        try:
            for file in sorted(self._folder.glob("*.txt")):
                names.setdefault(file.stem, []).extend(read_names(file.read_text("utf-8")))
        except (OSError, ValueError) as error:
            raise Unavailable(f"{self._folder} cannot be read: {error}", "it has text files in UTF-8") from None
        return EntityIndex(library, names)

    def transform(self, match: Match, ctx: Ctx) -> Match:
        if self.settings.skills and match.skill_id not in self.settings.skills:
            return match
        added: dict[str, str] = {}
        for kind, text, value in self._index.find(match.utterance):
            if kind in added or len(added) >= self.settings.most:
                continue
            filled = match.slots.get(kind)
            if filled is not None and filled.casefold() != text.casefold():
                continue
            if self._exclusions.bars(match, ctx.session, kind, text):
                continue
            if filled is None:
                added[kind] = text
            if value.casefold() != text.casefold() and f"{kind}.id" not in match.slots:
                added[f"{kind}.id"] = value
        return match.with_slots(**added) if added else match

    def problem(self) -> str:
        return "" if len(self._index) else f"there are no names: put files such as artist.txt into {self._folder}"
