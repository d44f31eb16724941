"""The plugin a contract is about, in a house of its own."""

from __future__ import annotations

import tempfile
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from hark.app.runtime import Runtime
from hark.app.settings import settings_from
from hark.builtin import KeywordMatcher, TemplateMatcher
from hark.bus import LocalBus
from hark.hosting import Loaded
from hark.model.clock import SystemClock
from hark.plugins import PipelinePlugin, Plugin

Make = Callable[[], Plugin]


class Subject:
    """Makes the plugin, and opens houses for it. Real time: a plugin under contract may really have to wait."""

    def __init__(self, make: Make, settings: Mapping[str, Any], options: Mapping[str, Any]) -> None:
        self.make = make
        self.settings = dict(settings)
        self.options = options
        """What the author told the contract about the plugin, such as examples."""

    @asynccontextmanager
    async def runtime(self) -> AsyncIterator[tuple[Runtime, Any]]:
        """A runtime with the plugin started in it, and the plugin; both are stopped afterwards."""
        plugin = self.make()
        plugin_id = getattr(plugin, "id", "")
        others: tuple[Plugin, ...] = () if isinstance(plugin, PipelinePlugin) else (TemplateMatcher(), KeywordMatcher())
        tree: dict[str, Any] = {
            "assistant": {"pipeline": [one.id for one in (plugin, *others) if isinstance(one, PipelinePlugin)]}
        }
        if self.settings:
            tree["plugins"] = {plugin_id: self.settings}
        with tempfile.TemporaryDirectory() as state:
            bus = LocalBus()
            house = Runtime(
                settings_from(tree), bus, SystemClock(), (plugin, *others),
                render=lambda _spoken: None, serves=lambda _session_id: True, data_root=Path(state),
            )  # fmt: skip
            await house.start()
            try:
                assert not house.refusals, "\n".join(map(str, house.refusals))
                yield house, plugin
            finally:
                await house.stop()
                await bus.close()

    house = runtime
    """The old name of `runtime`, for one release."""


def loaded(house: Runtime, plugin: Plugin) -> Loaded[Any]:
    """How the house calls the plugin."""
    registries = (*house.transformers.values(), house.pipeline, house.skills)
    return next(entry for registry in registries for entry in registry if entry.plugin is plugin)
