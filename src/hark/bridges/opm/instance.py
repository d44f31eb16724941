"""Instances of OVOS's plugin classes, whose constructors differ by generation, and the plugins of Hark around them."""

from __future__ import annotations

import asyncio
import inspect
from collections.abc import Mapping
from typing import Any, ClassVar

from hark.bridges.opm import mycroft_conf
from hark.bridges.opm.catalogue import FoundPlugin
from hark.bridges.opm.facade import LegacyBus
from hark.plugins import Plugin
from hark.plugins.engines import Unavailable


def make(found: FoundPlugin, settings: Mapping[str, Any], **offered: Any) -> Any:
    """An instance with its configuration: `mycroft.conf` below, the settings of Hark above.

    Of what is `offered`, the constructor is given what it names. Raises `Unavailable`.
    """
    if found.missing:
        raise Unavailable("ovos-plugin-manager is not installed", found.missing)
    try:
        config = {**mycroft_conf.read().config(found), **settings}
    except mycroft_conf.MalformedConfig as error:
        raise Unavailable(str(error), "correct it") from None
    try:
        plugin_class = found.load()
        arguments = _arguments(plugin_class, {**offered, "config": config}, found.name)
        if config and "config" not in arguments:
            plugin_class = _configured(plugin_class, config)
        instance = plugin_class(**arguments)
    except Unavailable:
        raise
    except Exception as error:  # importing and creating it runs a package's code
        raise Unavailable(
            f"{found.package} {found.version} cannot be used: {type(error).__name__}: {error}",
            f"see what {found.package} needs, or remove it",
        ) from error
    own = getattr(instance, "config", None)
    if isinstance(own, dict) and any(own.get(key) != value for key, value in config.items()):
        instance.config = {**own, **config}  # its constructor takes a configuration, and drops it
    return instance


def shut_down(instance: Any, *names: str) -> None:
    """Call the first of these methods that an instance has, if it has one."""
    for name in names:
        if callable(getattr(instance, name, None)):
            getattr(instance, name)()
            return


class OvosPlugin(Plugin):
    """What pipeline plugins and transformers have in common: the instance, made off the event loop, and its bus."""

    found: ClassVar[FoundPlugin]
    Settings = dict  # type: ignore[assignment]  # whatever the plugin understands
    settings: dict[str, Any]

    _inner: Any = None
    _bus: LegacyBus

    async def start(self) -> None:
        self._bus = LegacyBus(self.host, self.id)
        await asyncio.to_thread(self._make)

    async def stop(self) -> None:
        await asyncio.to_thread(shut_down, self._inner, "default_shutdown", "shutdown")
        self._bus.close()

    def _make(self) -> None:
        self._inner = make(self.found, self.settings, bus=self._bus)


def accepts(function: Any, *names: str) -> set[str]:
    """Which of these keyword arguments a function takes."""
    try:
        parameters = inspect.signature(function).parameters.values()
    except (TypeError, ValueError):
        return set()
    if any(one.kind is one.VAR_KEYWORD for one in parameters):
        return set(names)
    return {one.name for one in parameters if one.kind is not one.POSITIONAL_ONLY} & set(names)


def _configured(plugin_class: Any, config: Mapping[str, Any]) -> Any:
    """The class with its configuration in place before its constructor runs, where that takes none.

    Such a constructor, of the oldest generation, sets `config` from OVOS's own configuration and reads from it at once.
    """

    def merged(self: Any) -> dict[str, Any]:
        return {**self.__dict__.get("_config", {}), **config}

    def keep(self: Any, own: Any) -> None:
        self.__dict__["_config"] = dict(own or {})

    body = {"config": property(merged, keep), "__module__": plugin_class.__module__, "__doc__": plugin_class.__doc__}
    return type(plugin_class.__name__, (plugin_class,), body)


def _arguments(plugin_class: Any, offered: Mapping[str, Any], name: str) -> dict[str, Any]:
    parameters = inspect.signature(plugin_class).parameters.values()
    takes_any = any(one.kind is one.VAR_KEYWORD for one in parameters)
    named = {one.name: one for one in parameters if one.kind in (one.POSITIONAL_OR_KEYWORD, one.KEYWORD_ONLY)}
    given = {key: value for key, value in offered.items() if key in named or (takes_any and key == "config")}
    if "name" in named and named["name"].default is inspect.Parameter.empty:
        given["name"] = name
    return given
