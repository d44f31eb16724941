"""Articles of Wikipedia and definitions of Wiktionary, by their REST interfaces, as text that can be spoken."""

from __future__ import annotations

import html
import re
from typing import Any, Final
from urllib.parse import quote

from hark.builtin.skills.tables import plain
from hark.builtin.skills.web import NotFound, Unreachable, get_json

_SECONDS: Final = 2.0
"""The time of one request; two of them fit into the time in which common query awaits answers."""
_PAGES: Final = 2
_SENTENCES: Final = 2
_LONGEST: Final = 400
_TAG: Final = re.compile(r"<(style|script)\b.*?</\1>|<[^>]+>", re.DOTALL)
_BRACKETS: Final = re.compile(r"\s*\([^()]*\)")
_END: Final = re.compile(r"(?<=[^\W\d_]{2}[.!?])\s+(?=[^\W\d_])|(?<=\d[.!?])\s+(?=[A-Z])")


def article(root: str, topic: str) -> str | None:
    """The beginning of the article about a topic; None when there is none. Raises `Unreachable`."""
    found = get_json(f"{root}/w/rest.php/v1/search/page", {"q": topic, "limit": _PAGES}, seconds=_SECONDS)
    for page in _listed(found, "pages")[:_PAGES]:
        try:
            summary = get_json(f"{root}/api/rest_v1/page/summary/{quote(str(page['key']), safe='')}", seconds=_SECONDS)
        except (NotFound, LookupError, TypeError):
            continue
        extract = summary.get("extract") if isinstance(summary, dict) else None
        if summary.get("type") == "standard" and isinstance(extract, str) and extract and _is_about(topic, summary):
            return beginning(extract)
    return None


def definition(root: str, word: str, lang: str) -> tuple[str, str] | None:
    """The part of speech and the first meaning of a word; None when it is not defined. Raises `Unreachable`."""
    try:
        found = get_json(f"{root}/api/rest_v1/page/definition/{quote(word.lower(), safe='')}", seconds=_SECONDS)
    except NotFound:
        return None
    for entry in _listed(found, lang.partition("-")[0]):
        for one in _listed(entry, "definitions"):
            text = spoken_text(str(one.get("definition", "")) if isinstance(one, dict) else "")
            if text:
                return str(entry.get("partOfSpeech", "")).lower(), text
    return None


def beginning(extract: str) -> str:
    """The first sentences of an article, without what stands in brackets."""
    text = _BRACKETS.sub("", spoken_text(extract))
    sentences = _END.split(text)
    said = sentences[0]
    for sentence in sentences[1:_SENTENCES]:
        if len(said) + len(sentence) < _LONGEST:
            said = f"{said} {sentence}"
    return said


def spoken_text(markup: str) -> str:
    """HTML as plain text in one line."""
    return " ".join(html.unescape(_TAG.sub("", markup)).split())


def _is_about(topic: str, summary: dict[str, Any]) -> bool:
    """Whether most words of the topic are in the article: a search finds something for almost any words."""
    text = plain(" ".join(str(summary.get(key, "")) for key in ("title", "description", "extract")))
    words = [word for word in plain(topic).split() if len(word) > 2] or plain(topic).split()
    return 2 * sum(word in text for word in words) > len(words)


def _listed(value: Any, key: str) -> list[Any]:
    """The list under a key of what a service answered; raises `Unreachable` when its shape is another."""
    if not isinstance(value, dict):
        raise Unreachable("an answer of another shape")
    found = value.get(key) or []
    if not isinstance(found, list):
        raise Unreachable("an answer of another shape")
    return found
