"""The rooms of a house, each of which can be alone in a process."""

from hark.app.services.names import ALL_SERVICES, ServiceName

__all__ = ["ALL_SERVICES", "ServiceName"]
