"""`hark settings`: every key there is."""

from __future__ import annotations

import argparse

from hark.app.commands.common import ANSWERED
from hark.app.loading import plugins
from hark.app.settings.document import document
from hark.plugins import Plugin


def show_settings(options: argparse.Namespace) -> int:
    """Print a settings file with every key, its default and what it is for."""
    loadable = [type(plugin) for plugin in plugins(installed=options.plugins) if isinstance(plugin, Plugin)]
    print(document(loadable), end="")
    return ANSWERED
