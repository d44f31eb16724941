"""What is told at the start: which plugins are missing, and which settings lead nowhere."""

from __future__ import annotations

import logging
from pathlib import Path

from hark.app.advice import advice
from hark.app.commands.common import complain
from hark.app.house import House
from hark.hosting import Refusal


def hold_back_refusals() -> None:
    """Keep refusals out of the log: they are told in one piece, once everything was tried."""
    logging.getLogger("hark.hosting").addFilter(_is_no_refusal)


def tell_notices(house: House, settings: Path) -> None:
    """Tell the user what they will miss, and why."""
    refusals = house.refusals
    if refusals:
        complain(f"{len(refusals)} plugins are not loaded:" if len(refusals) > 1 else "a plugin is not loaded:")
        complain("\n".join(f"  {refusal}" for refusal in refusals))
    if any(refusal.name in house.settings.plugins for refusal in refusals):
        complain(f"  the settings of plugins are in {settings}")
    for hint in advice(house):
        complain(f"{settings}: {hint}")


def _is_no_refusal(record: logging.LogRecord) -> bool:
    return not (isinstance(record.args, tuple) and record.args and isinstance(record.args[0], Refusal))
