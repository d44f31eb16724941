"""A piece of sound with the format it is in."""

from __future__ import annotations

import msgspec


class Audio(msgspec.Struct, frozen=True):
    """Raw little-endian PCM samples; the three format fields always describe `samples` as it is."""

    samples: bytes
    sample_rate: int
    sample_width: int = 2
    channels: int = 1

    @property
    def seconds(self) -> float:
        """How long it plays."""
        return len(self.samples) / (self.sample_rate * self.sample_width * self.channels)

    def defect(self) -> str | None:
        """What is wrong with this value, or None."""
        samples: object = self.samples
        if type(samples) is not bytes:
            return f"samples must be bytes, not {type(samples).__name__}"
        for name in ("sample_rate", "sample_width", "channels"):
            value = getattr(self, name)
            if type(value) is not int:
                return f"{name} must be an integer, not {type(value).__name__}"
            if value < 1:
                return f"{name} must be positive"
        if len(self.samples) % (self.sample_width * self.channels):
            return "samples do not divide into whole frames of this format"
        return None
