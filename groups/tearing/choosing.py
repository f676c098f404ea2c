"""Tearing inputs, chosen from all that a mechanism can have."""

from __future__ import annotations

from mbssa import Mechanism, transform

#: Actuation schemes up to which all are evaluated; beyond, the search is best-first.
MOST = 200_000

#: Rows of the answer that are looked at.
LOOKED_AT = 5_000

#: Order of preference: fewest groups without a closed form, then the cheapest.
CRITERION = "open,cost"


def worth_borrowing(mechanism: Mechanism) -> list[tuple[str, ...]]:
    """Sets of inputs with the fewest groups that have no closed form, the best first."""
    # Of those the set with the fewest coordinates that are not driven, then the cheapest, then by name:
    # deterministic.
    driven = {f"{joint.id}.{name}" for joint in mechanism.joints if joint.driven for name in joint.driven}
    # Where nothing is driven, the search itself says whether anything could be.
    inputs = mechanism.n_driven or None
    answer = transform(mechanism, inputs=inputs, criterion=CRITERION, spanning=False, most=MOST)
    rows = answer.rows[:LOOKED_AT]
    fewest = min((row.n_groups - row.closed_forms for row in rows), default=0)
    good = [
        (len(set(row.inputs) - driven), row.cost, row.inputs)
        for row in rows
        if row.n_groups - row.closed_forms == fewest
    ]
    own = answer.own
    if own is not None and own.valid and own.n_groups - own.closed_forms == fewest:
        good.append((0, own.cost, own.inputs))
    return [inputs for _, _, inputs in sorted(good)]
