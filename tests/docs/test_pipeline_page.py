"""The page about the pipeline: every settings block on it is one, and does what the page says."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path
from typing import Any

import pytest

from hark.app.settings import settings_from
from hark.builtin import MATCHERS, PIPELINE
from hark.plugins import Turn, fallback
from hark.skills import Skill, intent
from hark.testing import Assistant

PAGE = (Path(__file__).resolve().parents[2] / "docs" / "pipeline.md").read_text("utf-8")
BLOCKS = [tomllib.loads(block) for block in re.findall(r"```toml\n(.*?)```", PAGE, re.DOTALL)]


class Kept(Skill):
    """Takes what it is for, at one priority."""

    quick = True

    @intent("say hello")
    def hello(self, turn: Turn) -> str:
        return "hello"


def takes(skill_id: str, priority: int) -> Skill:
    def take(self: Skill, turn: Turn) -> str:
        return skill_id

    made: Skill = type("Takes", (Skill,), {"id": skill_id, "quick": True, "take": fallback(priority)(take)})()
    return made


def with_table(name: str) -> dict[str, Any]:
    """The block that has a table of this name."""
    return next(block for block in BLOCKS if name in block.get("pipeline", {}))


def test_the_page_has_its_blocks() -> None:
    assert len(BLOCKS) == 5


@pytest.mark.parametrize("number", range(len(BLOCKS)))
async def test_every_block_can_be_loaded_and_every_stage_is_there(number: int) -> None:
    settings = settings_from(BLOCKS[number])
    async with Assistant(settings=settings, matchers=PIPELINE) as hark:
        assert hark.runtime.refusals == []
        options = settings.understanding()
        for name in settings.assistant.pipeline:
            assert hark.runtime.pipeline.get(options.entry(name).plugin) is not None, name


def test_the_first_block_is_the_default() -> None:
    assert settings_from(BLOCKS[0]).assistant.pipeline == settings_from({}).assistant.pipeline
    options = settings_from({}).understanding()
    plugins = dict.fromkeys(options.entry(name).plugin for name in settings_from({}).assistant.pipeline)
    assert tuple(plugins) == tuple(matcher.id for matcher in PIPELINE)


async def test_a_loose_stop_comes_after_the_commands() -> None:
    class Stubborn(Kept):
        id = "stubborn"

        @intent("please do not stop")
        def go_on(self, turn: Turn) -> str:
            return "as you like"

    async with Assistant(Stubborn(), settings=with_table("stop_low")) as hark:
        assert await hark.hears("please do not stop") == ["as you like"]
        assert await hark.hears("oh come on stop it") == ["There is nothing to stop."]
        assert "stop_low" in hark.why()
        assert [m.type for m in hark.messages if m.type.endswith(("stop:stop", "stubborn:stop"))] == ["stubborn:stop"]


async def test_every_fallback_has_its_range() -> None:
    settings = with_table("fallback_high")
    entries = settings_from(settings).entries
    assert entries["fallback_medium"].config["window"] < settings_from({}).limits.match
    for priority, entry in ((0, "high"), (49, "high"), (50, "medium"), (74, "medium"), (75, "low"), (1_000, "low")):
        async with Assistant(takes("one", priority), settings=settings) as hark:
            assert await hark.hears("flibber") == ["one"]
            claimed = [step.who for step in hark.trace().steps if (step.stage, step.outcome) == ("match", "claimed")]
            assert claimed == [f"fallback_{entry}"]


def test_the_settings_of_the_stages_are_all_there_and_these_are_their_defaults() -> None:
    [block] = [block for block in BLOCKS if "plugins" in block]
    for matcher in MATCHERS:
        if matcher.id not in block["plugins"]:
            continue
        defaults = vars(matcher.Settings())
        shown = block["plugins"][matcher.id]
        assert set(shown) == set(defaults)
        assert {**defaults, "fast_win": shown.get("fast_win")} == {**shown, "fast_win": shown.get("fast_win")}
    plain, shown = settings_from({}), settings_from(block)
    assert shown.limits == plain.limits
    assert shown.assistant == plain.assistant


def test_what_is_set_reaches_the_rooms() -> None:
    tree = {
        "limits": {"converse_cap": 3, "converse_ttl": 9.0},
        "assistant": {"context_topics": False},
    }
    options = settings_from(tree).understanding()
    assert (options.converse_cap, options.converse_ttl, options.context_topics) == (3, 9.0, False)
    plain = settings_from({}).understanding()
    assert (plain.converse_cap, plain.converse_ttl, plain.context_topics) == (20, 300.0, True)
