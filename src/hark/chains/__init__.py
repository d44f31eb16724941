"""Ordered chains of transformers: one `Chain` for all six kinds."""

from hark.chains.chain import Chain, Flow
from hark.chains.kinds import KINDS, ChainKind, MalformedResult, claim_defect
from hark.chains.listing import ChainListing

__all__ = [
    "KINDS",
    "Chain",
    "ChainKind",
    "ChainListing",
    "Flow",
    "MalformedResult",
    "claim_defect",
]
