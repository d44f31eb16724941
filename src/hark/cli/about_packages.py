"""What can be typed after the commands for those who write plugins."""

from __future__ import annotations

import argparse
from typing import Final

from hark.cli.options import Commands, add_command, add_plugins

NEW: Final = """\
Writes a package with a plugin that works, an entry point by which Hark finds it, and a test that passes.

examples:
  hark new skill kitchen-timer
  hark new transformer polite --into ~/plugins/polite
"""
LINT: Final = """\
Looks over the locale folders of skills: file, line, column, what is wrong, how to mend it. A path is a locale folder, a
skill, a folder full of skills, or one file. The exit status is 0 when there is nothing to mend, 1 when there is, 2 when
there was nothing to look at; warnings count only with --strict. docs/lint.md explains every code.

examples:
  hark lint                              everything below this folder
  hark lint my-skill/locale --strict
  hark lint skills --format json | jq '.findings[].code'
"""
SETTINGS: Final = """\
Prints a settings file with every key, its default and what it is for. The file is read from
$XDG_CONFIG_HOME/hark/hark.toml, or ~/.config/hark/hark.toml, unless --settings names another.

example:
  hark settings > ~/.config/hark/hark.toml
"""


def add_new(commands: Commands[argparse.ArgumentParser]) -> None:
    """`hark new`."""
    new = add_command(commands, "new", "begin a plugin package", NEW)
    new.add_argument("kind", choices=("skill", "transformer", "pipeline"), help="what kind of plugin")
    new.add_argument("name", metavar="NAME", help="what it is called, such as kitchen-timer")
    new.add_argument("--into", metavar="DIR", help="the folder to write; else one of the package's name, here")


def add_lint(commands: Commands[argparse.ArgumentParser]) -> None:
    """`hark lint`."""
    lint = add_command(commands, "lint", "look over the sentences of skills", LINT)
    lint.add_argument("paths", nargs="*", default=["."], metavar="PATH", help="what to look at; else this folder")
    lint.add_argument("--format", choices=("text", "json"), default="text", help="for people, or for programs")
    lint.add_argument("--strict", action="store_true", help="let warnings count as well")


def add_show_settings(commands: Commands[argparse.ArgumentParser]) -> None:
    """`hark settings`."""
    settings = add_command(commands, "settings", "print a settings file with every key", SETTINGS)
    add_plugins(settings)
