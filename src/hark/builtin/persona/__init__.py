"""Personas: conversations with a language model."""

from hark.builtin.persona.plugin import Persona

__all__ = ["Persona"]
