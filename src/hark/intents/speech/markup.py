"""Removing what cannot be heard: markdown, emoji, addresses of web pages."""

from __future__ import annotations

import re
from html import unescape
from typing import Final

_FENCE: Final = re.compile(r"^[ \t]*(?:```|~~~)[^\n]*$", re.MULTILINE)
_UNSEEN: Final = re.compile(r"<(script|style)\b[^>]{0,200}>.{0,10000}?</\1>", re.DOTALL | re.IGNORECASE)
_FOOTNOTE: Final = re.compile(r"\[\^\w{1,20}\]:?")
_ESCAPED: Final = re.compile(r"\\[*_`#\[\]<>|~]")
_UNDERSCORED: Final = re.compile(r"^([^\n]{1,200})\n[ \t]*=+[ \t]*$", re.MULTILINE)
_STANDING_OUT: Final = re.compile(r"^[ \t]*(\*\*|__)([^*_\n]{1,200})\1[ \t]*(?=\n)", re.MULTILINE)
_PARAGRAPHS: Final = re.compile(r"\n[ \t]*\n\s*")
_RULE: Final = re.compile(r"^[ \t]*(?:[-*_][ \t]*){3,}$|^[ \t]*\|?(?:[ \t]*:?-+:?[ \t]*\|)+[ \t:-]*$", re.MULTILINE)
_HEADING: Final = re.compile(r"^[ \t]{0,3}#{1,6}[ \t]+(.*?)[ \t]*#*[ \t]*$", re.MULTILINE)
_ITEM: Final = re.compile(r"^[ \t]*[-*+•][ \t]+(?:\[[ xX]\][ \t]+)?(.*)$", re.MULTILINE)
_NUMBERED: Final = re.compile(r"^[ \t]*\d{1,3}[.)][ \t]+(?:\[[ xX]\][ \t]+)?(.*)$", re.MULTILINE)
_QUOTE: Final = re.compile(r"^[ \t]*>[ \t]?", re.MULTILINE)
_LINK: Final = re.compile(r"!?\[([^\[\]\n]{0,500})\]\([^()\s]{0,2000}\)")
_BARE_LINK: Final = re.compile(r"<?https?://(?:www\.)?([^\s/<>()]{1,255})(?:[^\s<>()]{0,2000}[^\s<>().,;:!?])?>?")
_STRONG: Final = re.compile(r"(?<![\w*])(\*{1,3})(?=\S)([^*\n]{1,1000}?)(?<=\S)\1(?![\w*])")
_UNDERLINED: Final = re.compile(r"(?<!\w)(_{1,3})(?=\S)([^_\n]{1,1000}?)(?<=\S)\1(?!\w)")
_STRUCK: Final = re.compile(r"~~(?=\S)([^~\n]{1,1000}?)(?<=\S)~~")
_CODE: Final = re.compile(r"`{1,2}([^`\n]{1,1000})`{1,2}")
_TAG: Final = re.compile(r"</?[a-zA-Z][a-zA-Z0-9]{0,15}(?:\s[^<>]{0,500})?/?>")
_PIPES: Final = re.compile(r"^[ \t]*\|(.*)\|[ \t]*$", re.MULTILINE)
_EMOJI: Final = re.compile(
    "[\U0001f000-\U0001faff\u2600-\u27bf\u2b00-\u2bff\u2300-\u23ff\ufe0e\ufe0f\u20e3\u200d"
    "\U000e0020-\U000e007f\U0001f3fb-\U0001f3ff]+"
)
_GAP: Final = re.compile(r"\s+([.,!?;:])(?=\s|$)")
_MARKED: Final = re.compile(r"[*_`~#>|<\[\]\n\\]|https?://|^[ \t]*[-+•][ \t]")
_ENDS: Final = (".", "!", "?", ":", ";", ",", "…")


def plain_text(text: str, *, is_part: bool = False) -> str:
    """`text` without markdown, HTML tags and emoji, on one line; the lines of a list become sentences.

    One line with a number before it is an item of a list only where the text is part of a longer one: elsewhere,
    "18. November" is a day.
    """
    if _MARKED.search(text) or is_part:
        text = _without_markdown(text, 1 if is_part else 2)
    if "&" in text:
        text = unescape(text)
    if not text.isascii():
        text = _GAP.sub(r"\1", _EMOJI.sub(" ", text))
    return " ".join(text.split())


def _without_markdown(text: str, fewest: int) -> str:
    text = _ESCAPED.sub("", _FOOTNOTE.sub("", _UNSEEN.sub(" ", text)))
    text = _UNDERSCORED.sub(lambda found: _sentence(found[1]), text)
    text = _RULE.sub("", _FENCE.sub("\n", text))
    text = _QUOTE.sub("", text)
    text = _STANDING_OUT.sub(lambda found: _sentence(found[2]), text)
    text = _HEADING.sub(lambda found: _sentence(found[1]), text)
    text = _ITEM.sub(lambda found: _sentence(found[1]), text)
    if len(_NUMBERED.findall(text)) >= fewest:
        text = _NUMBERED.sub(lambda found: _sentence(found[1]), text)
    text = _PIPES.sub(lambda found: _sentence(", ".join(cell.strip() for cell in found[1].split("|"))), text)
    *paragraphs, last = _PARAGRAPHS.split(text.strip())
    text = "\n".join((*map(_sentence, paragraphs), last))
    text = _LINK.sub(r"\1", text)
    text = _BARE_LINK.sub(r"\1", text)
    text = _CODE.sub(r"\1", text)
    for _ in range(2):  # bold inside italic
        text = _UNDERLINED.sub(r"\2", _STRONG.sub(r"\2", text))
    return _TAG.sub(" ", _STRUCK.sub(r"\1", text))


def _sentence(line: str) -> str:
    line = line.strip()
    return line if not line or line.rstrip("*_`~").endswith(_ENDS) else f"{line}."
