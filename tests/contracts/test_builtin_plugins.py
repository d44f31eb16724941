"""What comes with Hark keeps the contracts that everybody else is held to."""

from __future__ import annotations

from hark.builtin import (
    DEFAULT_PLUGINS,
    CalculatorSkill,
    Cancel,
    ChanceSkill,
    ClockSkill,
    CommonQuery,
    Converse,
    Correction,
    DatesSkill,
    FactsSkill,
    Fallback,
    GuessingSkill,
    HelpSkill,
    Interrupt,
    JokesSkill,
    KeywordMatcher,
    LimitsSkill,
    Normalize,
    ParrotSkill,
    Remarks,
    RepeatSkill,
    Several,
    ShoppingSkill,
    SmallTalkSkill,
    SourcesSkill,
    SpellingSkill,
    Stop,
    TemplateMatcher,
    TimersSkill,
    Values,
    VolumeSkill,
    WeatherSkill,
)
from hark.testing.contracts import contract, matcher_contract, skill_contract, transformer_contract

test_normalize = transformer_contract(Normalize)
test_cancel = transformer_contract(Cancel)
test_cancel_with_phrases_of_its_own = transformer_contract(Cancel, settings={"phrases": ["basta cosi"]})
test_template_matcher = matcher_contract(TemplateMatcher)
test_keyword_matcher = matcher_contract(KeywordMatcher)
test_stop = matcher_contract(Stop, examples=["stop", "please stop everything"])
test_converse = matcher_contract(Converse)
test_common_query = matcher_contract(CommonQuery)
test_common_query_without_a_gate = matcher_contract(CommonQuery, settings={"gate": False})
test_interrupt = matcher_contract(Interrupt)
test_several = matcher_contract(Several)
test_correction = matcher_contract(Correction)
test_fallback = matcher_contract(Fallback)
test_values = transformer_contract(Values)
test_clock = skill_contract(ClockSkill)
test_shopping = skill_contract(ShoppingSkill)
test_calculator = skill_contract(CalculatorSkill)
test_jokes = skill_contract(JokesSkill)
test_guessing = skill_contract(GuessingSkill)
test_parrot = skill_contract(ParrotSkill)
test_help = contract(HelpSkill)
test_timers = contract(TimersSkill)
test_chance = contract(ChanceSkill)
test_dates = contract(DatesSkill)
test_facts = contract(FactsSkill)
test_limits = contract(LimitsSkill)
test_repeat = contract(RepeatSkill)
test_smalltalk = contract(SmallTalkSkill)
test_sources = contract(SourcesSkill)
test_spelling = contract(SpellingSkill)
test_volume = contract(VolumeSkill)
test_weather = contract(WeatherSkill)


def test_nobody_is_left_out() -> None:
    assert set(DEFAULT_PLUGINS) == {
        Normalize,
        Cancel,
        TemplateMatcher,
        TimersSkill,
        KeywordMatcher,
        Stop,
        Interrupt,
        Converse,
        Several,
        Correction,
        Remarks,
        CommonQuery,
        Fallback,
        ClockSkill,
        ShoppingSkill,
        CalculatorSkill,
        ChanceSkill,
        DatesSkill,
        FactsSkill,
        LimitsSkill,
        RepeatSkill,
        SmallTalkSkill,
        SourcesSkill,
        SpellingSkill,
        VolumeSkill,
        WeatherSkill,
        JokesSkill,
        GuessingSkill,
        ParrotSkill,
        HelpSkill,
        Values,
    }
