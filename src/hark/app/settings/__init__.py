"""The settings of an assistant: tables and keys, reading and checking a file, and the documented file."""

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
    "Settings",
    "SettingsError",
    "SettingsMistake",
    "TraceTable",
    "TransformersTable",
    "read_settings",
    "settings_from",
]
