"""Changing inputs as JSON: a byte changed at random mostly breaks the syntax, and then nothing behind it is reached."""

from __future__ import annotations

import json
from collections.abc import Callable
from random import Random
from typing import Any

from hark.model.session_codec import FIELDS

Mutate = Callable[[bytes, int], bytes]
"""Changes bytes at random; libFuzzer's own."""

KEYS = (
    *("type", "data", "context", "session", "session_id", *FIELDS),
    *("source", "destination", "utterance_id", "skill_id", "pipeline_id", "canceled", "cancel_reason", "cancel_by"),
    *("value", "expires_at", "turns_remaining", "activated_at", "lat", "lon", "tz", "utterances", "lang", "slots"),
)

VALUES: tuple[Any, ...] = (
    *(None, True, False, 0, 1, -1, 2**31, 2**53 + 1, 2**63, -(2**63) - 1, 2**64, 10**400, 0.0, -0.0, 1e308, 5e-324),
    *(89.5, 91, "", "default", "en-US", "a.b", "a:b", ":", "\x00", "é", "\U0001f600", "x" * 300),
    *([], {}, [[]], [None], [""], ["a"], ["a", "a"], [{}], {"": ""}, {"a": None}, {"session": {}}),
    [{"skill_id": "a", "activated_at": 1}],
    {"skill_id": "a", "expires_at": 1.5, "more": 1},
    {"k": {"value": "v", "turns_remaining": 1}, "a:k": {"value": None, "expires_at": 1}, "gone": None},
    {"lat": 1, "lon": 181, "tz": "UTC"},
    {"type": "a.b", "data": {}, "context": {"session": {"session_id": "x"}, "source": ["a", "b"]}},
)

AROUND = (b"", b"\xef\xbb\xbf", b" \r\n\t", b"\x00", b"\x80", b"\xed\xa0\x80", b"null")
"""What can stand before and after the JSON."""

Place = tuple[Any, Any]
"""A container and the key or index of something in it."""


def mutate_json(raw: bytes, max_size: int, seed: int, mutate: Mutate) -> bytes:
    """`raw` with one to four changes that keep it JSON; one time in four, and where it is no JSON, any change."""
    random = Random(seed)  # noqa: S311 - the fuzzer's seed makes a run repeatable
    if random.random() < 0.25:
        return mutate(raw, max_size)
    try:
        root = [json.loads(raw)]
    except (ValueError, RecursionError):
        if random.random() < 0.9:
            return mutate(raw, max_size)
        root = [_copied(random.choice(VALUES))]
    for _ in range(random.randint(1, 4)):
        _change(random, root)
    written = _dump(root[0])
    if random.random() < 0.05:
        written = random.choice(AROUND) + written + random.choice(AROUND)
    return written if len(written) <= max_size else mutate(raw, max_size)


def _dump(value: Any) -> bytes:
    try:
        return json.dumps(value, ensure_ascii=False).encode()
    except UnicodeEncodeError:  # a lone surrogate, which only an escape can say
        return json.dumps(value).encode()


def _change(random: Random, root: list[Any]) -> None:
    places = _places(root)
    container, key = random.choice(places)
    match random.randrange(8):
        case 0:
            container[key] = _copied(random.choice(VALUES))
        case 1 if container is not root:
            del container[key]
        case 2 if isinstance(container, dict):
            container[random.choice(KEYS)] = container.pop(key)
        case 3:
            other, place = random.choice(places)
            container[key] = _copied(other[place])
        case 4:
            container[key] = random.choice(([container[key]], {random.choice(KEYS): container[key]}))
        case 5 if isinstance(container[key], list):
            container[key] += container[key][:8]
        case 6 if random.random() < 0.1:  # around the depth at which the codec stops
            for _ in range(random.randint(80, 110)):
                container[key] = [container[key]]
        case _:
            target = container[key] if isinstance(container[key], dict) else container
            if isinstance(target, dict):
                target[random.choice(KEYS)] = _copied(random.choice(VALUES))


def _places(root: list[Any]) -> list[Place]:
    """Every place in a JSON tree, the outermost first; a big tree is not looked through to its end."""
    places: list[Place] = [(root, 0)]
    for container, key in places:
        value = container[key]
        if isinstance(value, dict):
            places += [(value, name) for name in value]
        elif isinstance(value, list):
            places += [(value, index) for index in range(len(value))]
        if len(places) > 400:
            break
    return places


def _copied(value: Any) -> Any:
    return json.loads(json.dumps(value))
