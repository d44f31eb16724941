"""Putting some plugins in the place of others, between two turns."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from hark.hosting import Loaded, Refusal
from hark.plugins import PipelinePlugin, Transformer

if TYPE_CHECKING:
    from hark.app.house import House

log = logging.getLogger("hark.app")


class OvertakenError(Exception):
    """While it was waited for turns, somebody else has exchanged the same plugins."""


class Swap:
    """Some leave, others come. When one of those that come does not start, everything is as it was before.

    In this order, while no turn uses any of them: those that leave are deregistered and stopped; those that come are
    started and register.
    """

    def __init__(
        self,
        house: House,
        leaving: Sequence[Loaded[Any]],
        coming: Sequence[Loaded[Any]],
        new_code: Callable[[], None] = lambda: None,
        old_code: Callable[[], None] = lambda: None,
    ) -> None:
        self._house = house
        self._leaving = leaving
        self._coming = coming
        self._new_code = new_code
        """Called when those that leave have left: lets the modules of those that come be the ones that are imported."""
        self._old_code = old_code
        self.lost: list[Refusal] = []
        """Who did not start again when it was undone: then they are out of service as well."""
        self.seconds = 0.0
        """How long it took, the wait for turns apart."""

    async def make(self) -> Refusal | None:
        """Do it; why it was undone, if it was. Raises `OvertakenError`.

        To cancel it has an effect only while it waits for turns.
        """
        clock = self._house.clock
        async with self._house.standstill({entry.id for entry in self._leaving}):
            if self._is_overtaken():
                raise OvertakenError
            began = clock.monotonic()
            work = asyncio.get_running_loop().create_task(self._exchange(), name="exchanging plugins")
            try:
                refusal = await asyncio.shield(work)
            except asyncio.CancelledError:
                await work  # half an exchange is none
                raise
            self.seconds = clock.monotonic() - began
            return refusal

    def _is_overtaken(self) -> bool:
        residents = self._house.residents
        present = [residents.registry_for(entry.plugin).get(entry.id) for entry in self._leaving]
        taken = [residents.registry_for(entry.plugin).get(entry.id) for entry in self._coming]
        return present != list(self._leaving) or any(entry not in (None, *self._leaving) for entry in taken)

    async def _exchange(self) -> Refusal | None:
        residents = self._house.residents
        orders = [(registry, [entry.id for entry in registry]) for registry in residents.registries()]
        for entry in reversed(self._leaving):
            await residents.move_out(entry)
        self._new_code()
        come: list[Loaded[Any]] = []
        refusal = None
        for entry in self._coming:
            refusal = await residents.move_in(entry)
            if refusal is not None:
                await self._undo(come)
                break
            come.append(entry)
        for registry, order in orders:
            registry.reorder(order)
        moved = [entry.plugin for entry in (*self._leaving, *self._coming)]
        await self._house.announce(
            transformers=any(isinstance(plugin, Transformer) for plugin in moved),
            # One that has just started has heard no registration yet.
            to_matchers=any(isinstance(plugin, PipelinePlugin) for plugin in moved),
        )
        return refusal

    async def _undo(self, come: list[Loaded[Any]]) -> None:
        residents = self._house.residents
        for entry in reversed(come):
            await residents.move_out(entry)
        self._old_code()
        for entry in self._leaving:
            refusal = await residents.move_in(self._again(entry))
            if refusal is not None:
                self.lost.append(refusal)

    def _again(self, entry: Loaded[Any]) -> Loaded[Any]:
        """A plugin is started once: another of the same class, if one can be made, takes its place."""
        try:
            judged = self._house.residents.judge(type(entry.plugin)())
        except BaseException as error:  # somebody's code: anything may come out
            log.debug("%s cannot be made again", entry.id, exc_info=error)
            return entry
        return entry if isinstance(judged, Refusal) else judged
