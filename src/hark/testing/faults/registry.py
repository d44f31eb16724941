"""Every faulty plugin, by extension point, and those that must not even be loaded."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any, Final

from hark.plugins import PipelinePlugin, Plugin, UtteranceTransformer, handles
from hark.testing.faults import failures, misuse, tampering, wrong_values
from hark.testing.faults.builders import build
from hark.testing.faults.plugin import (
    MODES,
    POINTS,
    Behaviour,
    CallSite,
    FaultSwitch,
    FaultyPlugin,
    Point,
)


class _Unreadable:
    """Raises SystemExit when it is read."""

    def __get__(self, _owner: object, _kind: type | None = None) -> Any:
        raise SystemExit("not to be read")


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
    "has_settings_that_raise": {"Settings": _Unreadable()},
    "has_a_transform_that_raises_when_read": {"transform": _Unreadable()},
}
_MATCHERS: Final[dict[str, dict[str, Any]]] = {
    "handles_no_topic": {"act": handles("not a topic")(lambda self, turn: None)},  # noqa: ARG005
    "handles_a_number": {"act": handles(7)(lambda self, turn: None)},  # type: ignore[arg-type]  # noqa: ARG005
    "will_have_no_host": {"__setattr__": _refuse_host},
}


def _unloadable(base: type[Plugin], members: dict[str, Any]) -> Callable[[FaultyPlugin, FaultSwitch], Plugin]:
    def make(faulty: FaultyPlugin, _switch: FaultSwitch) -> Plugin:
        made: Plugin = type(faulty.behaviour.name, (base,), {"id": faulty.id, "faulty": faulty, **members})()
        return made

    return make


def _nothing(_site: CallSite) -> None:
    return None


def _every_unloadable() -> Iterator[FaultyPlugin]:
    kinds: tuple[tuple[type[Plugin], dict[str, Any], dict[str, dict[str, Any]]], ...] = (
        (UtteranceTransformer, {"transform": _transform}, _TRANSFORMERS),
        (PipelinePlugin, {"match": _match}, _MATCHERS),
    )
    for base, sound, defects in kinds:
        for name, members in defects.items():
            does = name.replace("_", " ").capitalize() + "."
            behaviour = Behaviour(name, does, _nothing, ("loading",), ("loop",))
            yield FaultyPlugin("loading", behaviour, "loop", _unloadable(base, {**sound, **members}))


UNLOADABLE: Final = tuple(_every_unloadable())


_BEHAVIOURS: Final[tuple[Behaviour, ...]] = tuple(
    behaviour for module in (failures, wrong_values, tampering, misuse) for behaviour in module.BEHAVIOURS
)


def variants(behaviour: Behaviour) -> Iterator[FaultyPlugin]:
    """The faulty plugins of a behaviour: one for each point and mode in which it can be shown."""
    for point in behaviour.points:
        modes = [mode for mode in MODES[point] if mode in behaviour.modes]
        for mode in modes[:1] if behaviour.once else modes:
            yield FaultyPlugin(point, behaviour, mode, build)


def _by_point() -> dict[Point, tuple[FaultyPlugin, ...]]:
    every = [faulty for behaviour in _BEHAVIOURS for faulty in variants(behaviour)]
    found: dict[Point, tuple[FaultyPlugin, ...]] = {
        point: tuple(faulty for faulty in every if faulty.point == point) for point in POINTS
    }
    return {**found, "loading": UNLOADABLE}


FAULTY_PLUGINS: Final[Mapping[Point, tuple[FaultyPlugin, ...]]] = _by_point()
"""By extension point: `@pytest.mark.parametrize("faulty", FAULTY_PLUGINS["matcher"], ids=str)`."""


def every_faulty_plugin() -> tuple[FaultyPlugin, ...]:
    """All of them, one after the other."""
    return tuple(faulty for here in FAULTY_PLUGINS.values() for faulty in here)
