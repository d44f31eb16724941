"""What a recogniser may return, and what of it counts as understood."""

from __future__ import annotations

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
        raise UnusableResult("its utterances are no texts")
    if lang is not None and not is_tag(lang):
        raise UnusableResult("its language is no language tag")
    if confidence is not None and (type(confidence) not in (int, float) or not 0 <= confidence <= 1):
        raise UnusableResult("its confidence is no number from 0 to 1")
    try:
        for text in texts:
            check_text(text)
    except MalformedMessage as error:
        raise UnusableResult(str(error)) from None
    said = dict.fromkeys(" ".join(text.split()) for text in texts)
    said.pop("", None)
    return Transcript(tuple(said), lang, confidence)


def language(session: Session, default: str) -> str:
    """The language to listen in: as detected, as asked for, as the user prefers, as deployed (AUDIO-IN-1 §5.1)."""
    for tag in (session.detected_lang, session.request_lang, session.lang):
        if tag and is_tag(tag):
            return tag
    return default


def without_wake_phrase(transcript: Transcript, phrase: str) -> Transcript:
    """What was said after a wake phrase, of which the end, or all of it, may have been transcribed as well."""
    said = dict.fromkeys(_after(text, _plain(phrase)) for text in transcript.utterances)
    said.pop("", None)
    return Transcript(tuple(said), transcript.lang, transcript.confidence)


def _after(text: str, phrase: list[str]) -> str:
    words = text.split()
    for count in range(len(phrase), 0, -1):
        if _plain(" ".join(words[:count])) == phrase[-count:]:
            return " ".join(words[count:])
    return text


def _plain(text: str) -> list[str]:
    return "".join(letter if letter.isalnum() else " " for letter in text.casefold()).split()
