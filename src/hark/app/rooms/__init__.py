"""The rooms of a house, each of which can be alone in a process."""

from hark.app.rooms.names import ALL_ROOMS, RoomName

__all__ = ["ALL_ROOMS", "RoomName"]
