"""What a recogniser may return, and what of it counts as understood."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from hark.hosting import UnusableResult
from hark.model import MalformedMessage, Session
from hark.model.frozen import check_text
from hark.model.lang import is_tag
from hark.plugins.engines import Transcript


def checked(value: Any) -> Transcript:
    """The transcript an engine returned, without empty and repeated candidates; raises `UnusableResult`."""
    if type(value) is not Transcript:
        raise UnusableResult(f"it returned a {type(value).__name__}, not a Transcript")
    texts, lang, confidence = value.utterances, value.lang, value.confidence
    if type(texts) not in (tuple, list) or not all(type(text) is str for text in texts):
        raise UnusableResult("its utterances are not texts")
    if lang is not None and not is_tag(lang):
        raise UnusableResult("its language is not a language tag")
    if confidence is not None and (type(confidence) not in (int, float) or not 0 <= confidence <= 1):
        raise UnusableResult("its confidence is not a number from 0 to 1")
    try:
        for text in texts:
            check_text(text)
    except MalformedMessage as error:
        raise UnusableResult(str(error)) from None
    return _with_texts(value, (" ".join(text.split()) for text in texts))


def language(session: Session, default: str) -> str:
    """The language to listen in: detected, requested, preferred by the user, or the default (AUDIO-IN-1 §5.1)."""
    for tag in (session.detected_lang, session.request_lang, session.lang):
        if tag and is_tag(tag):
            return tag
    return default


def without_wake_phrase(transcript: Transcript, phrase: str) -> Transcript:
    """A transcript without the wake phrase at its start, all of it or its last words."""
    return _with_texts(transcript, (_after(text, _words(phrase)) for text in transcript.utterances))


def _with_texts(transcript: Transcript, texts: Iterable[str]) -> Transcript:
    different = dict.fromkeys(texts)
    different.pop("", None)
    return Transcript(tuple(different), transcript.lang, transcript.confidence)


def _after(text: str, phrase: list[str]) -> str:
    words = text.split()
    for count in range(len(phrase), 0, -1):
        if _words(" ".join(words[:count])) == phrase[-count:]:
            return " ".join(words[count:])
    return text


def _words(text: str) -> list[str]:
    return "".join(letter if letter.isalnum() else " " for letter in text.casefold()).split()
