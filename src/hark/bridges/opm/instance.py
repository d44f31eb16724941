"""Make instances of OVOS's plugin classes, whose constructors differ by generation."""

from __future__ import annotations

import inspect
from collections.abc import Mapping
from typing import Any

from hark.bridges.opm import mycroft_conf
from hark.bridges.opm.catalogue import FoundPlugin
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
