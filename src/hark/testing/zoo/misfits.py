"""Animals that are no plugins to begin with: what a registry has to refuse, and say why."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, Final

from hark.plugins import PipelinePlugin, Plugin, UtteranceTransformer, handles
from hark.testing.zoo.animal import Animal, Behaviour, Grip
from hark.testing.zoo.cage import Cage


class _Biter:
    """Raises SystemExit when it is looked at."""

    def __get__(self, _owner: object, _kind: type | None = None) -> Any:
        raise SystemExit("not to be looked at")


def _transform(self: Plugin, utterances: list[str], ctx: Any) -> list[str]:  # noqa: ARG001
    return utterances


def _match(self: Plugin, utterances: Any, lang: str, session: Any) -> None:  # noqa: ARG001
    return None


def _generator(self: Plugin, utterances: list[str], ctx: Any) -> Iterator[str]:  # noqa: ARG001
    yield from utterances


async def _later(self: Plugin, utterances: list[str], ctx: Any) -> list[str]:  # noqa: ARG001
    return utterances


def _refuse_host(self: Plugin, name: str, value: object) -> None:
    if name == "host":
        raise SystemExit("no host")
    object.__setattr__(self, name, value)


_TRANSFORMERS: Final[dict[str, dict[str, Any]]] = {
    "has_no_id": {"id": None},
    "has_an_id_of_spaces": {"id": "not an id"},
    "has_a_number_for_an_id": {"id": 7},
    "has_no_transform": {"transform": None},
    "takes_too_much": {"transform": lambda self, a, b, c: None},  # noqa: ARG005
    "takes_too_little": {"transform": lambda self: None},  # noqa: ARG005
    "yields": {"transform": _generator},
    "is_quick_and_async": {"transform": _later, "quick": True},
    "has_a_priority_in_words": {"priority": "first"},
    "has_a_type_of_its_own": {"type": "smell"},
    "has_settings_of_no_kind": {"Settings": dict},
    "has_settings_that_bite": {"Settings": _Biter()},
    "has_a_transform_that_bites": {"transform": _Biter()},
}
_MATCHERS: Final[dict[str, dict[str, Any]]] = {
    "handles_no_topic": {"act": handles("not a topic")(lambda self, turn: None)},  # noqa: ARG005
    "handles_a_number": {"act": handles(7)(lambda self, turn: None)},  # type: ignore[arg-type]  # noqa: ARG005
    "will_have_no_host": {"__setattr__": _refuse_host},
}


def _misfit(base: type[Plugin], members: dict[str, Any]) -> Callable[[Animal, Cage], Plugin]:
    def body(animal: Animal, _cage: Cage) -> Plugin:
        made: Plugin = type(animal.behaviour.name, (base,), {"id": animal.id, "animal": animal, **members})()
        return made

    return body


def _nothing(_grip: Grip) -> None:
    return None


def _animals() -> Iterator[Animal]:
    kinds: tuple[tuple[type[Plugin], dict[str, Any], dict[str, dict[str, Any]]], ...] = (
        (UtteranceTransformer, {"transform": _transform}, _TRANSFORMERS),
        (PipelinePlugin, {"match": _match}, _MATCHERS),
    )
    for base, sound, misfits in kinds:
        for name, members in misfits.items():
            does = name.replace("_", " ").capitalize() + "."
            behaviour = Behaviour(name, does, _nothing, ("loading",), ("loop",))
            yield Animal("loading", behaviour, "loop", _misfit(base, {**sound, **members}))


MISFITS: Final = tuple(_animals())
