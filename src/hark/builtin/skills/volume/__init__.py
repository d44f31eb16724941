"""The volume of what the assistant plays."""

from hark.builtin.skills.volume.skill import VolumeSkill

__all__ = ["VolumeSkill"]
