"""Other forms of a request than the one that sentences of skills are written in: formal, infinitive, regional."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from pathlib import Path
from typing import Final, NamedTuple

from hark.intents.text import EDGES

_FOLDER: Final = Path(__file__).parent / "forms"
_REST: Final = "..."


class VerbWords(NamedTuple):
    """The words of a verb around the rest of a request: "mach ... aus"."""

    before: tuple[str, ...]
    after: tuple[str, ...]

    def are_around(self, said: Sequence[str]) -> bool:
        """Whether `said` begins and ends with these words."""
        end = len(said) - len(self.after)
        return len(self.before) <= end and (*said[: len(self.before)], *said[end:]) == (*self.before, *self.after)

    def around(self, rest: Sequence[str]) -> str:
        """The verb with the rest of the request in it."""
        return " ".join((*self.before, *rest, *self.after))


class RequestForms:
    """Requests of one language as familiar imperatives, by its file in `forms`.

    A line is "familiar = form | form". Where the words are not all at the beginning, `...` is the rest of the request.
    After nothing but `=` are words that make a verb at the end no request, before the verb or at the beginning.
    """

    def __init__(self, lang: str) -> None:
        self._by_first: dict[str, list[tuple[VerbWords, VerbWords]]] = {}
        self._by_last: dict[str, list[tuple[VerbWords, VerbWords]]] = {}
        self._no_request: set[str] = set()
        for form, familiar in _read(lang.partition("-")[0].lower()):
            if not familiar.before:
                self._no_request.update(form.before)
                continue
            self._no_request.add(familiar.before[0])
            word, table = (form.before[0], self._by_first) if form.before else (form.after[-1], self._by_last)
            table.setdefault(word, []).append((form, familiar))

    def familiar(self, text: str, before: Sequence[str] = ()) -> str | None:
        """`text` as an imperative; None when it is one already, or has no known verb.

        A pronoun of the verb may be among the words `before`: "me" in "me puedes" before "despertar a las siete".
        """
        tokens = text.split()
        said = [token.strip(EDGES) for token in text.casefold().split()]
        if not said or len(said) != len(tokens):
            return None
        for pronoun in before:
            for form, familiar in self._by_first.get(pronoun, ()):
                if len(form.before) > 1 and form.are_around((pronoun, *said)):
                    return familiar.around(tokens[len(form.before) - 1 : len(tokens) - len(form.after)])
        pairs = self._by_first.get(said[0])
        if pairs is None and self._no_request.isdisjoint((said[0], *said[-2:-1])):
            pairs = self._by_last.get(said[-1])
        for form, familiar in pairs or ():
            if form.are_around(said):
                return familiar.around(tokens[len(form.before) : len(tokens) - len(form.after)])
        return None


@lru_cache(maxsize=8)
def _read(code: str) -> Sequence[tuple[VerbWords, VerbWords]]:
    """The forms of a language and what they stand for, the longest first."""
    file = _FOLDER / f"{code}.txt"
    if not (code.isascii() and code.isalpha() and file.is_file()):
        return ()
    lines = (line.partition("=") for line in file.read_text("utf-8").splitlines() if line and line[0] != "#")
    pairs = [(_verb(form), _verb(familiar)) for familiar, _, forms in lines for form in forms.split("|")]
    return sorted(pairs, key=lambda pair: -len(pair[0].before) - len(pair[0].after))


def _verb(text: str) -> VerbWords:
    before, _, after = text.partition(_REST)
    return VerbWords(tuple(before.split()), tuple(after.split()))
