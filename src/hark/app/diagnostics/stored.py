"""What is wrong with the default session in a state directory."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import msgspec

from hark.model.session_merge import FOR_ONE_UTTERANCE


def session_advice(state: Path) -> Iterator[str]:
    """What the stored session holds that only the settings can set for good (ruling R16)."""
    path = state / "session.json"
    try:
        if path.exists() and not path.is_file():
            raise ValueError("it is no file")
        stored = msgspec.json.decode(path.read_bytes())
    except FileNotFoundError:
        return
    except (OSError, ValueError, RecursionError) as error:
        yield f"{path} cannot be read ({error}); the next start sets it aside and begins anew"
        return
    held = [name for name in FOR_ONE_UTTERANCE if isinstance(stored, dict) and name in stored]
    if held:
        yield f"{path} holds {', '.join(held)} from an older version; it has no effect, and the next turn drops it"
