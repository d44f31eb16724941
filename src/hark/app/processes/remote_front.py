"""The conversation and the control socket of an assistant whose services are in other processes."""

from __future__ import annotations

from collections.abc import Callable, Collection
from types import TracebackType

from hark.app.control.server import ControlSocket
from hark.app.processes.claims import until_ready
from hark.app.processes.connection import ProcessConnection
from hark.app.processes.remote_talk import RemoteTalk
from hark.app.processes.remote_view import RemoteView
from hark.app.settings import Settings
from hark.model import Clock


class RemoteFront:
    """`async with RemoteFront(...) as front: await front.client.ask(...)`, in the process that restarts the services.

    The control socket was taken before, and is served from now on.
    """

    def __init__(
        self,
        services: Collection[str],
        settings: Settings,
        clock: Clock,
        connection: ProcessConnection,
        aside: Callable[[str], None],
        *,
        control_socket: ControlSocket | None = None,
        settings_file: str = "no file",
    ) -> None:
        self._services = services
        self._settings = settings
        self._clock = clock
        self._connection = connection
        self._control_socket = control_socket
        self.client = RemoteTalk(connection.bus, clock, aside)
        self.view = RemoteView(
            connection.bus,
            clock,
            connection.members,
            settings,
            settings_file,
            services=services,
            supervised=True,
        )

    async def __aenter__(self) -> RemoteFront:
        if self._control_socket is not None:
            await self._control_socket.serve(self.view)
        return self

    async def __aexit__(
        self, _kind: type[BaseException] | None, _error: BaseException | None, _trace: TracebackType | None
    ) -> None:
        await self.client.all_rendered(self._settings.limits.grace)
        if self._control_socket is not None:
            await self._control_socket.close()
        await self._connection.close()

    async def ready(self) -> None:
        """Wait until every service is ready."""
        await until_ready(self._connection.members, self._services, self._clock)
