"""Unusual templates: Hark reads them, but probably not as they were meant, or other tools refuse them."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple
from unicodedata import category

from hark.intents.grammar import Literal, Node, Odd, Reference, Slot, Template, has_word
from hark.intents.locale import Role
from hark.intents.text import EDGES, contractions, spoken_words, straight
from hark.tools.lint.report import LintCode

_REMARKS = {
    Odd.SINGLE_BRANCH: (LintCode.SINGLE_BRANCH, "remove the brackets, or add a branch"),
    Odd.EMPTY_OPTIONAL: (LintCode.EMPTY_OPTIONAL, "remove the brackets"),
    Odd.UNREGISTERED_TYPE: (
        LintCode.UNREGISTERED_TYPE,
        "the types are number, duration, date, color, language, location and timezone",
    ),
}
_OTHER_SPACE = re.compile(r"[^\S ]")
_PLAIN = re.compile(r"[a-z0-9 ]*")
_WORD = re.compile(r"[^\s{}]+")
_JOINERS = "\u200c\u200d"
"""Invisible, and part of words in some scripts."""


class StyleIssue(NamedTuple):
    position: int
    code: LintCode
    message: str
    fix: str


def style_issues(template: Template, role: Role, lang: str) -> Iterator[StyleIssue]:
    for remark in template.remarks:
        code, fix = _REMARKS[remark.kind]
        yield StyleIssue(remark.position, code, remark.reason, fix)
    yield from _names(template)
    yield from _white_space(template)
    if not role.is_spoken:
        yield from _normal_form(template, lang)
        yield from _slots(template)


def _names(template: Template) -> Iterator[StyleIssue]:
    for node in template.nodes:
        if isinstance(node, (Slot, Reference)) and node.name[0] == "_":
            fix = "begin it with a letter"
            yield StyleIssue(
                node.position, LintCode.LEADING_UNDERSCORE, f"some tools refuse the name {node.name!r}", fix
            )


def _white_space(template: Template) -> Iterator[StyleIssue]:
    found = _OTHER_SPACE.search(template.text)
    if found is not None:
        message = f"white space other than a plain space (U+{ord(found[0]):04X})"
        yield StyleIssue(found.start(), LintCode.WHITE_SPACE, message, "write a space")


def _normal_form(template: Template, lang: str) -> Iterator[StyleIssue]:
    """Utterances are compared in lower case without punctuation, and so written (INTENT-1 §2). One a line."""
    for node in _in_order(template):
        if not isinstance(node, Literal) or _PLAIN.fullmatch(node.text):
            continue
        for offset, sign in enumerate(node.text):
            if not _is_normal(sign) and not _is_kept(template.text, node, offset, lang):
                what = "a capital letter" if sign.lower() != sign else f"the sign {sign!r}"
                plain = " ".join(spoken_words(node.text, lang))
                fix = f"write {plain!r}" if plain else "leave it out"
                message = f"{what}: utterances are compared in lower case and without punctuation around words"
                yield StyleIssue(node.position + offset, LintCode.NORMAL_FORM, message, fix)
                return


def _in_order(template: Template) -> list[Node]:
    return sorted(template.nodes, key=lambda node: node.position)


def _is_normal(sign: str) -> bool:
    if sign.isalnum():
        return sign.lower() == sign
    return sign.isspace() or sign in _JOINERS or category(sign)[0] == "M"


def _is_kept(text: str, node: Literal, offset: int, lang: str) -> bool:
    """Whether a sign stays when text is compared: it has a meaning (`+`), or is inside a word (`aujourd'hui`) that is
    not a contraction."""
    sign, place = node.text[offset], node.position + offset
    if sign.lower() != sign or straight(sign) != sign:
        return False
    word = next(found for found in _WORD.finditer(node.text) if found.start() <= offset < found.end())[0]
    if word.strip(EDGES) in contractions(lang):
        return False
    if sign not in EDGES:
        return True
    # A word may continue in the next group: (l'|cette )heure.
    whole = next(found for found in _WORD.finditer(text) if found.start() <= place < found.end())
    inner = place - whole.start()
    return bool(whole[0][:inner].strip(EDGES)) and bool(whole[0][inner:].strip(EDGES))


def _slots(template: Template) -> Iterator[StyleIssue]:
    seen: dict[str, int] = {}
    for node in _in_order(template) if template.slots else ():
        if not isinstance(node, Slot):
            continue
        if node.name in seen:
            message = f"{{{node.name}}} is in two branches; some tools refuse that as a repetition"
            yield StyleIssue(
                node.position, LintCode.SLOT_IN_BRANCHES, message, "write the branches as lines of their own"
            )
        seen.setdefault(node.name, node.position)
        if (glued := _glued(template.text, node.position)) is not None:
            message = f"{glued!r} touches {{{node.name}}}: a slot is filled with whole words"
            yield StyleIssue(node.position, LintCode.GLUED_SLOT, message, "put a space between them")
    if (bare := template.bare_slot) is not None:
        message = f"{{{bare.name}}} can remain as the whole sentence; that sentence is ignored"
        yield StyleIssue(bare.position, LintCode.BARE_SENTENCE, message, "keep a word that cannot be left out")


def _glued(text: str, position: int) -> str | None:
    """The letter that touches the slot at `position`, if there is one."""
    end = text.index("}", position)
    end += 2 if text.startswith("{{", position) else 1
    for sign in (text[position - 1 : position], text[end : end + 1]):
        if sign and has_word(sign):
            return sign
    return None
