"""Asking a service on the web for JSON, by the standard library."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final
from urllib.parse import urlencode

_LARGEST: Final = 2_000_000
"""Bytes of a response that are read at most."""
_AGENT: Final = "hark-voice (voice assistant)"


class Unreachable(Exception):
    """The service cannot be reached, or its answer cannot be read."""


class NotFound(Exception):
    """The service has no such thing."""


def get_json(url: str, query: Mapping[str, object] | None = None, *, seconds: float = 4.0) -> Any:
    """The JSON at an address; blocks for `seconds` at most, so call it on a worker thread.

    Raises `NotFound` for status 404, `Unreachable` for everything else that is not an answer.
    """
    # Imported on first use: an assistant that is never asked does not pay for it.
    import http.client
    import json
    from urllib.error import HTTPError
    from urllib.request import Request, urlopen

    address = f"{url}?{urlencode(query)}" if query else url
    if not address.startswith(("http://", "https://")):
        raise Unreachable(f"{url} is not an address on the web")
    request = Request(address, headers={"User-Agent": _AGENT, "Accept": "application/json"})  # noqa: S310 - checked
    try:
        with urlopen(request, timeout=seconds) as response:  # noqa: S310 - checked above
            return json.loads(response.read(_LARGEST))
    except HTTPError as error:
        with error:
            if error.code == 404:
                raise NotFound(address) from None
        raise Unreachable(f"{url} answers with status {error.code}") from None
    except (OSError, ValueError, http.client.HTTPException) as error:
        raise Unreachable(f"{url}: {error}") from None
