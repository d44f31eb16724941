"""Pronunciation of English words that are in no dictionary, by their spelling.

Names of devices are mostly spelled as they are spoken; where this is wrong, the settings can correct it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

# Longest first within a letter; `^` is the beginning of the word, `$` its end. Phones are those of the model (ARPAbet).
_RULES: Final = """
^x=Z ^kn=N ^gn=N ^wr=R ^ps=S ^wh=W
tion=SH AH N|sion=ZH AH N|ture=CH ER|ough=AO|eigh=EY|igh=AY|tch=CH|dge=JH|sch=SK|eau=OW
ck=K ch=CH sh=SH ph=F th=TH ng=NG qu=K W|gh=G wh=W zh=ZH kh=K
ee=IY ea=IY oo=UW ou=AW ow=OW oa=OW oi=OY oy=OY au=AO aw=AO ai=EY ay=EY ey=IY ei=AY ie=IY ue=UW ui=UW eu=Y UW|ew=Y UW
ar=AA R|er=ER ir=ER ur=ER or=AO R
bb=B cc=K dd=D ff=F gg=G kk=K ll=L mm=M nn=N pp=P rr=R ss=S tt=T zz=Z vv=V
ce$=S ge$=JH le$=AH L|es$=Z ed$=D e$= y$=IY a$=AH o$=OW i$=IY u$=UW
ce=S EH|ci=S IH|cy=S AY|ge=JH EH|gi=JH IH
a=AE b=B c=K d=D e=EH f=F g=G h=HH i=IH j=JH k=K l=L m=M n=N o=AA p=P q=K r=R s=S t=T u=AH v=V w=W x=K S|y=IH z=Z
"""
_NAMES: Final = (
    "EY|B IY|S IY|D IY|IY|EH F|JH IY|EY CH|AY|JH EY|K EY|EH L|EH M|EH N|OW|P IY|K Y UW|AA R|EH S|T IY|Y UW|V IY|"
    "D AH B AH L Y UW|EH K S|W AY|Z IY"
)
_LETTERS: Final = dict(zip("abcdefghijklmnopqrstuvwxyz", _NAMES.split("|"), strict=True))
_RULE: Final = re.compile(r"(\^?)([a-z]+)(\$?)=([A-Z ]*?)(?=\||\s+\^?[a-z]+\$?=|\s*$)", re.MULTILINE)


def _table() -> dict[str, list[tuple[bool, str, bool, list[str]]]]:
    found: dict[str, list[tuple[bool, str, bool, list[str]]]] = {}
    for first, letters, last, sounds in _RULE.findall(_RULES.replace("|", "\n")):
        split = ["S", "K"] if sounds.strip() == "SK" else sounds.split()
        found.setdefault(letters[0], []).append((bool(first), letters, bool(last), split))
    for rules in found.values():
        # A rule bound to the beginning or the end comes before one of the same length that is not.
        rules.sort(key=lambda rule: (-len(rule[1]), not (rule[0] or rule[2])))
    return found


_BY_LETTER: Final = _table()
_VOWEL: Final = re.compile("[aeiouy]")


def phones_of(word: str) -> str | None:
    """The phones of a word, separated by blanks; None when it has other letters than a to z."""
    word = word.lower().replace("'", "")
    if not word or not re.fullmatch("[a-z]+", word):
        return None
    if not _VOWEL.search(word):  # tv, mp: spelled out
        return " ".join(_LETTERS[letter] for letter in word)
    return " ".join(_phones(word)) or None


def _phones(word: str) -> Iterator[str]:
    at = 0
    while at < len(word):
        for first, letters, last, sounds in _BY_LETTER[word[at]]:
            end = at + len(letters)
            if word.startswith(letters, at) and (not first or at == 0) and (not last or end == len(word)):
                # The last letters of a short word are sounded: "be" is no "b".
                if last and not sounds and not _VOWEL.search(word[:at]):
                    yield "IY"
                yield from sounds
                at = end
                break
