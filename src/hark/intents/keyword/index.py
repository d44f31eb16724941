"""All phrases of one language in one tree of words, and from them to the intents they may belong to.

Every intent is filed under one of its required vocabularies, the one with the fewest intents so far. An utterance
therefore leads to few intents, however many there are, and adding one touches its own phrases only.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from hark.intents.keyword.definition import KeywordIntent, Vocabulary, read_keyword_intent
from hark.intents.pool import Pool
from hark.spec import topics

PhraseSpan = tuple[int, int]
"""Minus the number of words, and the first of them: the smallest is the longest, then the leftmost."""


class PhraseHits(NamedTuple):
    """The known phrases of one utterance, and the intents they may belong to."""

    phrases: dict[str, list[PhraseSpan]]
    """Every known phrase that occurs, and where; phrases may overlap."""
    candidates: dict[KeywordIntent, None]
    """The intents of which an anchor occurs, each once."""


class _Node:
    # Another thread may read while this one adds: `anchored` is replaced, never changed.
    __slots__ = ("anchored", "phrase", "uses", "words")

    def __init__(self) -> None:
        self.words: dict[str, _Node] = {}
        self.phrase: str | None = None
        """The phrase that ends here, if there is one."""
        self.uses = 0
        """How many intents have it in some vocabulary."""
        self.anchored: tuple[KeywordIntent, ...] = ()
        """The intents that are filed under it."""


class PhraseIndex:
    """The keyword intents of one language under one session id; see `hark.intents.pool.Index`."""

    __slots__ = ("_anchors", "_by_name", "_root", "_unanchored")

    def __init__(self) -> None:
        self._root = _Node()
        self._anchors: dict[KeywordIntent, tuple[Vocabulary, ...]] = {}
        self._by_name: dict[str, tuple[KeywordIntent, ...]] = {}
        self._unanchored: tuple[KeywordIntent, ...] = ()
        """Intents of regular expressions alone: they are looked at for every utterance."""

    @property
    def is_empty(self) -> bool:
        """Whether it has no intent."""
        return not self._anchors

    def __len__(self) -> int:
        """The nodes of its tree of words, the root included."""
        nodes, waiting = 0, [self._root]
        while waiting:
            nodes += 1
            waiting.extend(waiting.pop().words.values())
        return nodes

    def add(self, intent: KeywordIntent) -> None:
        """Add an intent."""
        for phrase in intent.places:
            node = self._path(phrase, make=True)[-1]
            node.uses += 1
            node.phrase = phrase
        anchor = min(intent.anchors(), key=self._load, default=())
        self._anchors[intent] = anchor
        for name in {vocabulary.name for vocabulary in anchor}:
            self._by_name[name] = (*self._by_name.get(name, ()), intent)
        # Last, because now it can be found.
        if not anchor:
            self._unanchored = (*self._unanchored, intent)
        for phrase in _phrases(anchor):
            node = self._path(phrase)[-1]
            node.anchored = (*node.anchored, intent)

    def remove(self, intent: KeywordIntent) -> None:
        """Remove an intent, and the nodes that only it needed."""
        anchor = self._anchors.pop(intent, None)
        if anchor is None:
            return
        if not anchor:
            self._unanchored = _without(intent, self._unanchored)
        for phrase in _phrases(anchor):
            node = self._path(phrase)[-1]
            node.anchored = _without(intent, node.anchored)
        for name in {vocabulary.name for vocabulary in anchor}:
            self._by_name[name] = _without(intent, self._by_name[name])
            if not self._by_name[name]:
                del self._by_name[name]
        for phrase in intent.places:
            path = self._path(phrase)
            path[-1].uses -= 1
            if not path[-1].uses:
                path[-1].phrase = None
                _prune(path, phrase.split(" "))

    def find(self, words: Sequence[str]) -> PhraseHits:
        """Find all known phrases in one pass over the words."""
        found: dict[str, list[PhraseSpan]] = {}
        candidates: dict[KeywordIntent, None] = dict.fromkeys(self._unanchored)
        known = self._root.words
        count = len(words)
        for start, word in enumerate(words):
            node = known.get(word)
            end = start + 1
            while node is not None:
                phrase = node.phrase
                if phrase is not None:
                    if phrase in found:
                        found[phrase].append((start - end, start))
                    else:
                        found[phrase] = [(start - end, start)]
                        for intent in node.anchored:
                            candidates[intent] = None
                if end == count:
                    break
                node = node.words.get(words[end])
                end += 1
        return PhraseHits(found, candidates)

    def named(self, vocabulary: str) -> tuple[KeywordIntent, ...]:
        """The intents that are filed under a vocabulary of this name: the context may have a value for it."""
        return self._by_name.get(vocabulary, ())

    def _load(self, anchor: tuple[Vocabulary, ...]) -> tuple[int, int]:
        loads = [len(self._path(phrase)[-1].anchored) for phrase in _phrases(anchor)]
        return max(loads), len(loads)

    def _path(self, phrase: str, make: bool = False) -> list[_Node]:
        path = [self._root]
        for word in phrase.split(" "):
            words = path[-1].words
            if make and word not in words:
                words[word] = _Node()
            path.append(words[word])
        return path


def _phrases(vocabularies: Iterable[Vocabulary]) -> set[str]:
    return {phrase for vocabulary in vocabularies for phrase in vocabulary.phrases}


def _without(intent: KeywordIntent, intents: tuple[KeywordIntent, ...]) -> tuple[KeywordIntent, ...]:
    return tuple(other for other in intents if other is not intent)


def _prune(path: list[_Node], words: list[str]) -> None:
    for parent, child, word in zip(reversed(path[:-1]), reversed(path[1:]), reversed(words), strict=True):
        if child.uses or child.words:
            return
        del parent.words[word]


class KeywordPool(Pool[KeywordIntent, PhraseIndex]):
    """The keyword intents of all sessions. Templates and entities are ignored (INTENT-3 §2, §4.4)."""

    def __init__(self) -> None:
        super().__init__(topics.REGISTER_KEYWORD, read_keyword_intent, PhraseIndex)
