"""Ordered chains of transformers."""

from hark.chains.chain import Chain, Composition, Flow
from hark.chains.kinds import KINDS, ChainKind, MalformedResult, claim_defect
from hark.chains.listing import ChainListing
from hark.trace.turn_trace import summarize

__all__ = [
    "KINDS",
    "Chain",
    "ChainListing",
    "Composition",
    "Flow",
    "ChainKind",
    "MalformedResult",
    "claim_defect",
    "summarize",
]
