"""`hark settings`: a settings file with every key."""

from __future__ import annotations

import argparse
from typing import Final

from hark.app.plugin_set import plugins
from hark.app.settings.document import document
from hark.cli.common import OK
from hark.cli.options import add_plugins
from hark.plugins import Plugin

ABOUT: Final = """\
Prints a settings file with every key, its default and what it is for. The file is read from
$XDG_CONFIG_HOME/hark/hark.toml, or ~/.config/hark/hark.toml, unless --settings names another.

example:
  hark settings > ~/.config/hark/hark.toml
"""


def add_options(command: argparse.ArgumentParser) -> None:
    add_plugins(command)


def settings(options: argparse.Namespace) -> int:
    loadable = [type(plugin) for plugin in plugins(installed=options.plugins) if isinstance(plugin, Plugin)]
    print(document(loadable), end="")
    return OK
