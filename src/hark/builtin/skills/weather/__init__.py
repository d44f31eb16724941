"""The weather, here and elsewhere, by Open-Meteo."""

from hark.builtin.skills.weather.skill import WeatherSkill

__all__ = ["WeatherSkill"]
