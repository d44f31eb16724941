"""The services hear, understand, act and speak, each of which can have a process to itself."""

from hark.app.services.names import ALL_SERVICES, ServiceName

__all__ = ["ALL_SERVICES", "ServiceName"]
