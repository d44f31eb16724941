"""Colours by name. The names mean what they mean on web pages, where they are defined."""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import cache
from typing import Final

from hark.builtin.values.colour_names import COLOUR_NAMES
from hark.builtin.values.text import key

_SIGN: Final = re.compile(r"#[0-9a-fA-F]{6}")

_COLOURS: Final[Mapping[str, str]] = {
    "black": "#000000",
    "white": "#ffffff",
    "grey": "#808080",
    "silver": "#c0c0c0",
    "red": "#ff0000",
    "green": "#008000",
    "blue": "#0000ff",
    "yellow": "#ffff00",
    "orange": "#ffa500",
    "pink": "#ffc0cb",
    "purple": "#800080",
    "brown": "#a52a2a",
    "beige": "#f5f5dc",
    "gold": "#ffd700",
    "turquoise": "#40e0d0",
    "cyan": "#00ffff",
    "magenta": "#ff00ff",
    "lime": "#00ff00",
    "olive": "#808000",
    "ivory": "#fffff0",
    "indigo": "#4b0082",
    "salmon": "#fa8072",
    "coral": "#ff7f50",
    "lavender": "#e6e6fa",
    "crimson": "#dc143c",
    "sky": "#87ceeb",
    "navy": "#000080",
}
_LIGHT: Final[Mapping[str, str]] = {
    "blue": "#add8e6",
    "green": "#90ee90",
    "grey": "#d3d3d3",
    "pink": "#ffb6c1",
    "yellow": "#ffffe0",
    "red": "#f08080",
}
_DARK: Final[Mapping[str, str]] = {
    "blue": "#00008b",
    "green": "#006400",
    "grey": "#696969",  # what web pages call dark grey is lighter than their grey
    "red": "#8b0000",
    "orange": "#ff8c00",
    "turquoise": "#00ced1",
    "magenta": "#8b008b",
}

_SHADES: Final[Mapping[str, tuple[str, str]]] = {
    "en": ("light {}|pale {}", "dark {}"),
    "de": ("hell{}|helles {}|hell {}", "dunkel{}|dunkles {}|dunkel {}"),
    "es": ("{} claro|{} clara", "{} oscuro|{} oscura"),
    "fr": ("{} clair|{} claire", "{} foncé|{} foncée|{} sombre"),
    "it": ("{} chiaro|{} chiara", "{} scuro|{} scura"),
    "pt": ("{} claro|{} clara", "{} escuro|{} escura"),
}
"""By language: how light and dark are said."""


def colour(text: str, code: str) -> str | None:
    """The colour that `text` names, as `#rrggbb`, or None."""
    text = text.strip()
    return text.lower() if _SIGN.fullmatch(text) else _table(code).get(key(text))


@cache
def _table(code: str) -> dict[str, str]:
    names = {name: meant for meant, names in COLOUR_NAMES.get(code, {}).items() for name in names.split("|")}
    table = {key(name): _COLOURS[meant] for name, meant in names.items()}
    for shades, values in zip(_SHADES.get(code, ()), (_LIGHT, _DARK), strict=False):
        for form in shades.split("|"):
            table |= {key(form.format(name)): values[meant] for name, meant in names.items() if meant in values}
    return table
