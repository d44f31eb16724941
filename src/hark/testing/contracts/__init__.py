"""Contracts: what every plugin of a kind has to keep, as a test that authors run on their own with one line.

`test_contract = contract(MyTransformer)` in a test file gives a test for each clause, named for what it says. Needs
pytest, and nothing else.
"""

from hark.testing.contracts.clause import Clause, contract
from hark.testing.contracts.engines import engine_contract
from hark.testing.contracts.matchers import matcher_contract
from hark.testing.contracts.skills import skill_contract
from hark.testing.contracts.subject import Subject
from hark.testing.contracts.transformers import transformer_contract

__all__ = [
    "Clause",
    "Subject",
    "contract",
    "engine_contract",
    "matcher_contract",
    "skill_contract",
    "transformer_contract",
]
