"""The settings of an assistant: what can be set, how a file is read and checked, and how all of it is documented."""

from hark.app.settings.check import SettingsError, SettingsMistake
from hark.app.settings.read import read_settings, settings_from
from hark.app.settings.tables import (
    AssistantTable,
    DenyTable,
    LimitsTable,
    Settings,
    TraceTable,
    TransformersTable,
)

__all__ = [
    "AssistantTable",
    "DenyTable",
    "LimitsTable",
    "SettingsMistake",
    "Settings",
    "SettingsError",
    "TraceTable",
    "TransformersTable",
    "read_settings",
    "settings_from",
]
