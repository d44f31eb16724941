"""What a new package, its module, its class and its plugin are called."""

from __future__ import annotations

import re
from typing import NamedTuple

from hark.errors import UserError


class PackageNames(NamedTuple):
    """The names that follow from what the author typed."""

    package: str
    """As it is installed: `hark-kitchen-timer`."""
    module: str
    """As it is imported: `hark_kitchen_timer`."""
    title: str
    """As its class is called: `KitchenTimer`."""
    id: str
    """As the plugin is known."""

    @classmethod
    def of(cls, typed: str, kind: str) -> PackageNames:
        """Names for a plugin of this kind; raises `UserError` when `typed` cannot be one."""
        words = re.findall(r"[a-z0-9]+", re.sub(r"([a-z0-9])([A-Z])", r"\1 \2", typed).lower())
        if words[:1] == ["hark"]:
            words = words[1:]
        if not words or not typed.isascii() or not words[0][0].isalpha():
            raise UserError(f"{typed!r} cannot be the name of a plugin; take a few letters, such as kitchen-timer")
        joined = "-".join(words)
        plugin_id = f"{joined}.skill" if kind == "skill" else joined
        return cls(f"hark-{joined}", f"hark_{'_'.join(words)}", "".join(map(str.title, words)), plugin_id)
