"""Language tags, and the one place that decides the language of an utterance."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable
from functools import lru_cache
from typing import Final

from hark.model.session import Session
from hark.model.text_cache import cached_by_text

_TAG: Final = re.compile(r"[A-Za-z]{2,8}(?:-[A-Za-z0-9]{1,8})*")
_LONGEST: Final = 100


@lru_cache(maxsize=1024)
def has_form_of_tag(text: str) -> bool:
    return _TAG.fullmatch(text) is not None


def is_tag(text: object) -> bool:
    """Whether `text` has the form of a BCP-47 tag; whether such a language exists is not checked."""
    return isinstance(text, str) and len(text) <= _LONGEST and has_form_of_tag(text)


def primary(tag: str) -> str:
    """The language of a tag without its region, in lower case: `pt-BR` is `pt`."""
    return tag.partition("-")[0].lower()


def by_primary(tags: Iterable[str]) -> dict[str, str]:
    """Tags by their language; of two of one language, the first counts."""
    found: dict[str, str] = {}
    for tag in tags:
        found.setdefault(primary(tag), tag)
    return found


@cached_by_text(1024)
def canonical(tag: str) -> str:
    """`tag` in the usual case: `pt-br` becomes `pt-BR`, `zh-hant-tw` becomes `zh-Hant-TW`."""
    first, *rest = tag.lower().split("-")
    parts = [first]
    is_extension = len(first) == 1
    for part in rest:
        # After a single letter come extensions and private use, which stay in lower case (RFC 5646 §2.1.1).
        if not is_extension and len(part) in (2, 4) and part.isalpha():
            parts.append(part.upper() if len(part) == 2 else part.title())
        else:
            parts.append(part)
        is_extension = is_extension or len(part) == 1
    return "-".join(parts)


def resolve(stated: object, session: Session, enabled: Collection[str], default: str) -> str:
    """The language of an utterance: the first enabled one of `stated` (its `data.lang`), `stt_lang`,
    `detected_lang`, `request_lang` and `lang`, else `default` (SESSION-1 §3.2.7). `enabled` holds canonical tags.
    """
    return (
        _if_enabled(stated, enabled)
        or _if_enabled(session.stt_lang, enabled)
        or _if_enabled(session.detected_lang, enabled)
        or _if_enabled(session.request_lang, enabled)
        or _if_enabled(session.lang, enabled)
        or default
    )


def _if_enabled(evidence: object, enabled: Collection[str]) -> str | None:
    if not isinstance(evidence, str):
        return None
    if evidence in enabled:
        return evidence
    tag = canonical(evidence) if is_tag(evidence) else None
    return tag if tag in enabled else None
