"""Random campaigns: how many answers are silent and wrong, and how many regular steps are refused."""

import time
from collections import Counter

import numpy as np
from certified_paths import cubics, follow
from judging import compare, turning
from random_linkages import dyads, parallelogram_like, platform, spatial_chain, truss

import groups
import mbssa

FAMILIES = {
    "dyads": dyads, "truss": truss, "chain": spatial_chain, "platform": platform,
    "parallelogram": parallelogram_like,
}  # fmt: skip
#: Single steps and runs of each mechanism.
SINGLE, RUNS = 4, 2


def motions(rng, end):
    """Shares of the longest motion and instants: single steps, then runs; most within the regular part."""
    for k in range(SINGLE + RUNS):
        share = end * rng.uniform(0.05, 0.98) if rng.random() < 0.7 else rng.uniform(0.05, 1.0)
        yield share, 2 if k < SINGLE else int(rng.integers(3, 34))


def campaign(family, seeds, seconds=np.inf, **options):
    """Counts of a family over some seeds: runs, silent ones, steps that are regular and refused."""
    count, begun = Counter(), time.monotonic()
    for seed in seeds:
        if time.monotonic() - begun > seconds:
            break
        mechanism = FAMILIES[family](seed)
        if mechanism is None:
            continue
        rng = np.random.default_rng([seed, 1])
        way = rng.choice([-1.0, 1.0]) * (rng.uniform(0.3, 6.0) if family != "parallelogram" else 2 * np.pi)
        model = groups.build(mbssa.decompose(mechanism))
        longest = turning(mechanism, way, 2)
        truth = follow(mechanism, cubics(longest), longest.time)
        count["mechanisms"] += 1
        count["steps of the truth"] += truth.steps
        count["unknown"] += truth.end is not None and not truth.singular
        for share, instants in motions(rng, truth.end or 1.0):
            motion = turning(mechanism, way * share, instants)
            branch = truth.at(motion.time * share)
            with np.errstate(all="ignore"):
                found = model.solve(motion, **({"compiled": False} | options))
            verdict = compare(mechanism, branch, found, model.structure.group_of_body)
            kind = "step" if instants == 2 else "run"
            count[f"{kind}s"] += 1
            count[f"{kind}s silent"] += bool(verdict.silent)
            count[f"{kind}s silent on a regular path"] += any(
                t < len(branch.position) for t in verdict.silent
            )
            count[f"{kind}s over a singular pose"] += verdict.crossed
            count[f"regular steps in {kind}s"] += verdict.regular
            count[f"refused steps in {kind}s"] += verdict.refused
            if verdict.silent:
                count[f"wrong: {seed} {instants} {way * share:.6f}"] += 1
    return count
