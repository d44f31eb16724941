"""Who is let in, and why others are not."""

from __future__ import annotations

import logging
from collections.abc import AsyncIterator, Iterator
from dataclasses import dataclass
from typing import Any

import pytest

from flow.chain_rig import SIX, link
from flow.stage import BASES, claims
from hark.hosting import CallLimits, Registry, wants_round
from hark.plugins import Ctx, DialogTransformer, Match, PipelinePlugin, Plugin, Session, Transformer


class Fine(DialogTransformer):
    id = "fine"

    def transform(self, text: str, ctx: Ctx) -> str:
        return text


def refusal_of(plugin: Any, settings: Any = None) -> str:
    """Why a plugin was refused, with the remedy."""
    registry: Registry[Any] = Registry("plugin")
    assert registry.add(plugin, settings) is None
    [refusal] = registry.refusals
    assert len(registry) == 0
    return f"{refusal.reason} | {refusal.remedy}"


def test_a_valid_plugin_is_registered_with_its_settings_and_limits() -> None:
    registry: Registry[Any] = Registry("dialog transformer", CallLimits(seconds=3.0))
    plugin = Fine()
    entry = registry.add(plugin)
    assert entry is not None
    assert (entry.id, entry.plugin, entry.mode, entry.limit) == ("fine", plugin, "worker", 3.0)
    assert plugin.settings == Plugin.Settings()
    assert registry.get("fine") is entry
    assert "fine" in registry
    assert list(registry) == [entry]
    assert "test_registry.py:" in entry.origin


def test_a_limit_of_its_own_beats_that_of_its_kind() -> None:
    registry: Registry[Any] = Registry("dialog transformer", CallLimits(seconds=3.0))
    entry = registry.add(Fine(), limit=9.0)
    assert entry is not None
    assert entry.limit == 9.0


def test_adding_and_removing_change_the_version() -> None:
    registry: Registry[Any] = Registry("dialog transformer")
    versions = [registry.version]
    registry.add(Fine())
    versions.append(registry.version)
    registry.add(Fine())
    versions.append(registry.version)
    registry.remove("fine")
    versions.append(registry.version)
    registry.remove("fine")
    versions.append(registry.version)
    assert versions == [0, 1, 1, 2, 2]


def test_a_refusal_says_what_why_where_and_what_to_do(caplog: pytest.LogCaptureFixture) -> None:
    registry: Registry[Any] = Registry("dialog transformer")
    registry.add(Fine())
    with caplog.at_level(logging.WARNING, "hark.hosting"):
        registry.add(Fine())
    text = str(registry.refusals[0])
    assert text.startswith(
        "dialog transformer fine is not loaded: another dialog transformer has the id 'fine' already"
    )
    assert "test_registry.py:" in text
    assert text.endswith("rename one of the two")
    assert text in caplog.text


@pytest.mark.parametrize("kind", SIX)
@pytest.mark.parametrize("plugin_id", ["", "a:b", "a b", 7, None, ["a"], b"a"])
def test_a_transformer_with_a_bad_id_is_refused(kind: Any, plugin_id: Any) -> None:
    assert "id" in refusal_of(link(kind, plugin_id))


@pytest.mark.parametrize("plugin_id", ["", "a.b", "a:b", 7, None])
def test_a_pipeline_plugin_with_a_bad_id_is_refused(plugin_id: Any) -> None:
    assert "id" in refusal_of(claims(plugin_id))


@pytest.mark.parametrize("plugin_id", ["", "a:b", ".a", "a..b", 7, None])
def test_a_skill_with_a_bad_id_is_refused(plugin_id: Any) -> None:
    assert "id" in refusal_of(type("Odd", (Plugin,), {"id": plugin_id})())


def test_a_plugin_without_an_id_is_refused_with_a_remedy() -> None:
    class Nameless(DialogTransformer):
        def transform(self, text: str, ctx: Ctx) -> str:
            return text

    assert 'id = "nameless"' in refusal_of(Nameless())


@pytest.mark.parametrize("kind", SIX)
def test_a_transformer_without_transform_is_refused(kind: Any) -> None:
    abstract = type("Abstract", (BASES[kind],), {"id": "abstract"})()
    assert refusal_of(abstract).startswith("it does not define transform() | write: def transform(self, ")


def test_a_matcher_without_match_is_refused() -> None:
    assert "it does not define match()" in refusal_of(type("Abstract", (PipelinePlugin,), {"id": "abstract"})())


def test_a_transformer_of_no_chain_is_refused() -> None:
    class Lost(Transformer):
        id = "lost"

        def transform(self, text: str, ctx: Ctx) -> str:
            return text

    assert "which chain it belongs to" in refusal_of(Lost())


def transforming(work: Any, **members: Any) -> Plugin:
    made: Plugin = type("Odd", (DialogTransformer,), {"id": "odd", "transform": work, **members})()
    return made


def matching(work: Any, **members: Any) -> Plugin:
    made: Plugin = type("Odd", (PipelinePlugin,), {"id": "odd", "match": work, **members})()
    return made


@pytest.mark.parametrize(
    "work",
    [
        lambda self: "",
        lambda self, text: "",
        lambda self, text, ctx, more: "",
        lambda self, text, ctx, *, more: "",
        lambda self, *, text, ctx: "",
        7,
        "text",
        dict,
    ],
)
def test_a_transform_that_does_not_take_what_it_is_given_is_refused(work: Any) -> None:
    assert "def transform(self, text, ctx)" in refusal_of(transforming(work))


@pytest.mark.parametrize(
    "work",
    [
        lambda self, *args: "",
        lambda self, text, *rest: "",
        lambda self, text, ctx, **more: "",
        lambda self, text, ctx, more=1: "",
    ],
)
def test_a_transform_that_takes_what_it_is_given_is_loaded_however_it_is_written(work: Any) -> None:
    registry: Registry[Any] = Registry("plugin")
    assert registry.add(transforming(work)) is not None


def round_by_keyword(self: Any, utterances: Any, lang: str, session: Session, *, round: Any) -> None: ...


@pytest.mark.parametrize(
    "work",
    [
        lambda self, utterances, lang: None,
        lambda self, utterances, lang, session, other: None,
        lambda self, utterances, lang, session, *rest: None,
        round_by_keyword,
        None,
        print,
    ],
)
def test_a_match_that_does_not_take_what_it_is_given_is_refused(work: Any) -> None:
    assert "def match(self, utterances, lang, session)" in refusal_of(matching(work))


def test_a_fourth_parameter_called_round_is_welcome() -> None:
    def with_round(self: Any, utterances: Any, lang: str, session: Session, round: Any) -> Match | None:
        return None

    def without(self: Any, utterances: Any, lang: str, session: Session) -> Match | None:
        return None

    registry: Registry[Any] = Registry("pipeline plugin")
    asks, plain = registry.add(matching(with_round)), registry.add(matching(without, id="plain"))
    assert asks is not None
    assert plain is not None
    assert wants_round(asks.call)
    assert not wants_round(plain.call)


def test_generators_are_refused() -> None:
    def generate(self: Any, text: str, ctx: Ctx) -> Iterator[str]:
        yield text

    async def generate_async(self: Any, text: str, ctx: Ctx) -> AsyncIterator[str]:
        yield text

    for work in (generate, generate_async):
        assert "is a generator" in refusal_of(transforming(work))


def test_quick_and_async_do_not_go_together() -> None:
    async def transform(self: Any, text: str, ctx: Ctx) -> str:
        return text

    assert "declared quick, but its transform() is async" in refusal_of(transforming(transform, quick=True))


@pytest.mark.parametrize("priority", [True, False, 1.0, "50", None])
def test_a_priority_is_a_whole_number(priority: Any) -> None:
    assert "priority" in refusal_of(transforming(lambda self, text, ctx: text, priority=priority))


def with_settings(shape: Any) -> Plugin:
    return transforming(lambda self, text, ctx: text, Settings=shape)


@dataclass(frozen=True)
class Volume:
    level: int = 5
    name: str = "loud"


def test_settings_are_filled_in_and_checked() -> None:
    registry: Registry[Any] = Registry("dialog transformer")
    plugin = with_settings(Volume)
    registry.add(plugin, {"level": 7})
    assert plugin.settings == Volume(7, "loud")


@pytest.mark.parametrize(
    ("table", "named"),
    [
        ({"levl": 7}, "no setting 'levl'"),
        ({"level": "7"}, "$.level"),
        ({"name": 1}, "$.name"),
        ({"level": None}, "$.level"),
    ],
)
def test_wrong_settings_are_refused_naming_the_key(table: dict[str, Any], named: str) -> None:
    text = refusal_of(with_settings(Volume), table)
    assert named in text
    assert "[plugins.odd]" in text


def test_settings_that_are_no_frozen_dataclass_are_refused() -> None:
    @dataclass
    class Loose:
        level: int = 5

    class Plain:
        level: int = 5

    for shape in (Loose, Plain, None, 7, {"level": 5}):
        assert "frozen" in refusal_of(with_settings(shape))


def test_settings_that_cannot_be_made_are_refused() -> None:
    @dataclass(frozen=True)
    class Unknown:
        level: NoSuchType = 5  # type: ignore[name-defined] # noqa: F821

    @dataclass(frozen=True)
    class Demanding:
        level: int

    @dataclass(frozen=True)
    class Picky:
        level: int = 5

        def __post_init__(self) -> None:
            raise LookupError("never satisfied")

    for shape in (Unknown, Demanding, Picky):
        assert "settings" in refusal_of(with_settings(shape), {})


def test_an_id_that_raises_is_a_refusal_too() -> None:
    class Shy(DialogTransformer):
        @property
        def id(self) -> str:  # type: ignore[override]
            raise RuntimeError("not telling")

        def transform(self, text: str, ctx: Ctx) -> str:
            return text

    assert "RuntimeError: not telling" in refusal_of(Shy())


def test_a_refusal_from_elsewhere_can_be_kept() -> None:
    from hark.hosting import Refusal

    registry: Registry[Any] = Registry("skill")
    registry.refuse(Refusal("hark.skill", "weather", "importing it failed"))
    assert [refusal.name for refusal in registry.refusals] == ["weather"]
    assert str(registry.refusals[0]) == "hark.skill weather is not loaded: importing it failed"
