"""Bridges: other programs' protocols, translated to and from the bus."""
