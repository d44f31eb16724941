"""`hark settings`: every key there is."""

from __future__ import annotations

import argparse

from hark.app.loading import plugins
from hark.app.settings.document import document
from hark.cli.common import OK
from hark.plugins import Plugin


def settings(options: argparse.Namespace) -> int:
    """Print a settings file with every key, its default and what it is for."""
    loadable = [type(plugin) for plugin in plugins(installed=options.plugins) if isinstance(plugin, Plugin)]
    print(document(loadable), end="")
    return OK
