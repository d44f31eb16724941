"""Ordered chains of transformers: one `Chain` for all six kinds."""

from hark.chains.chain import Chain, Flow
from hark.chains.chunks import ChunkedRun, are_chunked
from hark.chains.kinds import KINDS, ChainKind, MalformedResult
from hark.chains.listing import ChainListing

__all__ = [
    "KINDS",
    "Chain",
    "ChainKind",
    "ChainListing",
    "ChunkedRun",
    "Flow",
    "MalformedResult",
    "are_chunked",
]
