"""Where the floors come from: a rule on training sentences of one set, and what it lets in on the tests of all.

The rule: ten sentences of each intent are taught. Half of the strangers are training sentences of the other public set,
without the intents that both have; half are training sentences of the same set that are left out whole, one intent of
SNIPS or one domain of CLINC150, another in each draw. The floor is the score that one stranger in twenty (*normal*), or
one in ten (*loose*), of all draws reaches. No test file is read for it.
"""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Final

from hark.intents import LOOSE, NORMAL
from intents.fewshot import Row, read
from intents.sources import KIN, source
from intents.strangers import Draw, Taught
from intents.tables import title

DRAWS: Final = 7
STRANGERS: Final = 750
"""Of each half, in a draw."""
SHARES: Final = {"normal": (NORMAL, 0.05), "loose": (LOOSE, 0.10)}

_DOMAINS: Final = (
    "transfer transactions balance freeze_account pay_bill bill_balance bill_due interest_rate routing min_payment "
    "order_checks pin_change report_fraud account_blocked spending_history",
    "credit_score report_lost_card credit_limit rewards_balance new_card application_status card_declined "
    "international_fees apr redeem_rewards credit_limit_change damaged_card replacement_card_duration "
    "improve_credit_score expiration_date",
    "traffic directions gas gas_type distance current_location mpg oil_change_when oil_change_how jump_start uber "
    "schedule_maintenance last_maintenance tire_pressure tire_change",
    "recipe restaurant_reviews calories nutrition_info restaurant_suggestion ingredients_list ingredient_substitution "
    "cook_time food_last meal_suggestion restaurant_reservation confirm_reservation how_busy cancel_reservation "
    "accept_reservations",
)
"""Four of CLINC150's ten: banking, credit cards, cars, kitchen."""


def _halves(
    name: str, seed: int, rows: Mapping[str, list[Row]], data: Path
) -> list[tuple[dict[str, list[Row]], list[Row]]]:
    """What is taught and who the strangers are, for each half."""
    drawn = source(name, data).task(seed).drawn
    if name == "snips":
        hidden = {sorted(drawn)[seed % len(drawn)]}
        apart, others = drawn, [row for row in rows["clinc150"] if not _is_kin(row.intent)]
    else:
        hidden = set(_DOMAINS[seed % len(_DOMAINS)].split())
        apart, others = {intent: some for intent, some in drawn.items() if not _is_kin(intent)}, rows["snips"]
    fewer = {intent: some for intent, some in drawn.items() if intent not in hidden}
    return [(apart, others), (fewer, [row for row in rows[name] if row.intent in hidden])]


def _is_kin(intent: str | None) -> bool:
    return any(part in str(intent) for part in KIN)


def chosen_floors(name: str, data: Path) -> dict[str, float]:
    """The floor of each setting by the rule, on one set."""
    rows = {one: read(data / f"{one}-train.jsonl") for one in ("snips", "clinc150")}
    scores: list[float] = []
    for seed in range(DRAWS):
        rng = random.Random(f"calibration {seed}")
        for taught, strangers in _halves(name, seed, rows, data):
            scores += [score for _, score in Taught(taught).ask(rng.sample(strangers, STRANGERS))]
    scores.sort(reverse=True)
    return {mode: scores[int(share * len(scores))] for mode, (_, share) in SHARES.items()}


def calibration_table(draws: Mapping[str, Sequence[Draw]], data: Path) -> str:
    """What the floors that each set suggests, and those that ship, let in on the tests of all sets."""
    titles = [title(name) for name in draws]
    lines = [
        "| floors | " + " | ".join(f"*{mode}*: floor | {' | '.join(titles)}" for mode in SHARES) + " |",
        "|---" * (1 + len(SHARES) * (1 + len(titles))) + "|",
    ]
    chosen = {f"chosen on {title(name)}": chosen_floors(name, data) for name in ("snips", "clinc150")}
    for label, floors in (*chosen.items(), ("as shipped", {mode: floor for mode, (floor, _) in SHARES.items()})):
        cells = []
        for mode in SHARES:
            cells.append(f"{floors[mode]:.2f}")
            for made in draws.values():
                cells.append(f"{sum(one.at(floors[mode])[2] for one in made) / len(made):.1f}")
        lines.append(f"| {label} | {' | '.join(cells)} |")
    return "\n".join(lines)
