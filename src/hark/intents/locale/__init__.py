"""Locale folders: what people may say and what the assistant says, by language (INTENT-2). Reads files, no bus."""

from hark.intents.locale.files import (
    Line,
    MalformedResource,
    MissingResource,
    Resource,
    Role,
    UnfilledSlot,
    read_lines,
    read_text,
    resource_of,
    role_of,
)
from hark.intents.locale.folder import Folder, LanguageFolder, LocaleScan, Rule, Violation, language_of, scan
from hark.intents.locale.locale import Language, Locale
from hark.intents.locale.nearest import nearest
from hark.intents.locale.renderer import Rendered, Renderer, fill_prompt

__all__ = [
    "Folder",
    "Language",
    "LanguageFolder",
    "Line",
    "Locale",
    "LocaleScan",
    "MalformedResource",
    "MissingResource",
    "Rendered",
    "Renderer",
    "Resource",
    "Role",
    "Rule",
    "UnfilledSlot",
    "Violation",
    "fill_prompt",
    "language_of",
    "nearest",
    "read_lines",
    "read_text",
    "resource_of",
    "role_of",
    "scan",
]
