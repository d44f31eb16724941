"""Ordered chains of transformers."""

from hark.chains.chain import Chain
from hark.chains.composition import Composition
from hark.chains.flow import Flow
from hark.chains.keeping import worth_keeping
from hark.chains.kinds import KINDS, Kind, Misshapen, claim_defect
from hark.chains.listing import ChainListing

__all__ = [
    "KINDS",
    "Chain",
    "ChainListing",
    "Composition",
    "Flow",
    "Kind",
    "Misshapen",
    "claim_defect",
    "worth_keeping",
]
