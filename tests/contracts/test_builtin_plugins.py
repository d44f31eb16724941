"""What comes with Hark keeps the contracts that everybody else is held to."""

from __future__ import annotations

from hark.builtin import DEFAULT_PLUGINS, Cancel, ClockSkill, HelpSkill, Normalize, ParrotSkill, TemplateMatcher
from hark.testing.contracts import contract, matcher_contract, skill_contract, transformer_contract

test_normalize = transformer_contract(Normalize)
test_cancel = transformer_contract(Cancel)
test_cancel_with_phrases_of_its_own = transformer_contract(Cancel, settings={"phrases": ["basta cosi"]})
test_template_matcher = matcher_contract(TemplateMatcher)
test_clock = skill_contract(ClockSkill)
test_parrot = skill_contract(ParrotSkill)
test_help = contract(HelpSkill)


def test_nobody_is_left_out() -> None:
    assert set(DEFAULT_PLUGINS) == {Normalize, Cancel, TemplateMatcher, ClockSkill, ParrotSkill, HelpSkill}
