"""Random campaigns: how many answers are silent and wrong, and how many regular steps are refused.

One certified path of a mechanism is the truth for all its single steps, runs and poses of a sweep. By hand:

    PYTHONPATH=tests/groups:tests/groups/branches python tests/groups/branches/campaign.py truss 0 100

takes the mechanisms with seeds 0 … 99 of a family, by compiled kernels, and prints the counts, the seeds of
wrong answers, and the seconds for 100 runs. ``truss 0 100 3`` takes three times as many motions of each.
"""

import sys
import time
from collections import Counter

import numpy as np
from certified_paths import cubics, follow
from judging import SAME, compare, turning
from random_linkages import dyads, parallelogram_like, platform, spatial_chain, truss

import groups
import mbssa
from routes.sweep.poses import solve_poses

FAMILIES = {
    "dyads": dyads, "truss": truss, "chain": spatial_chain, "platform": platform,
    "parallelogram": parallelogram_like,
}  # fmt: skip
#: Single steps, runs of 3 to 33 instants, and poses of a sweep, of each mechanism.
SINGLE, RUNS, POSES = 8, 8, 4


def motions(rng, end, times):
    """Shares of the longest motion and instants: single steps, then runs; most within the regular part."""
    for k in range((SINGLE + RUNS) * times):
        share = end * rng.uniform(0.05, 0.98) if rng.random() < 0.7 else rng.uniform(0.05, 1.0)
        yield share, 2 if k < SINGLE * times else int(rng.integers(3, 34))


def campaign(family, seeds, seconds=np.inf, times=1, **options):
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
        for share, instants in motions(rng, truth.end or 1.0, times):
            motion = turning(mechanism, way * share, instants)
            branch = truth.at(motion.time * share)
            with np.errstate(all="ignore"):
                found = model.solve(motion, **options)
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
            if verdict.silent or verdict.refused:
                said = "wrong" if verdict.silent else "refused"
                count[f"{said}: {seed} {instants} {way * share:.6f}"] += 1
        sweep(model, longest, truth, rng, POSES * times, count)
    count["silent"] = sum(count[f"{kind} silent"] for kind in ("steps", "runs", "poses"))
    return count


def sweep(model, longest, truth, rng, number, count):
    """Poses at random shares of the longest motion, each led to from the reference."""
    far = np.abs(np.diff(longest.value)).max()
    shares = np.sort(rng.uniform(0.0, min(1.0, 3.1 / far), number))  # angles go the nearest way
    start, end = longest.value.T
    found = solve_poses(
        model, start + shares[:, None] * (end - start), np.arange(model.mechanism.n_bodies), branch="proven"
    )
    branch = truth.at(shares)
    known = len(branch.position)
    count["poses"] += number
    d = branch.position.shape[2]
    for k in np.flatnonzero(~found.status.any(axis=1)).tolist():
        if k < known:  # by positions of driven and jointed bodies; those that spin idly turn by a convention
            off = np.abs(found.position[k, :, :d] - branch.position[k]).max(axis=1) / model.frames.size
            off[list({b for spin in spins(model) for b in spin.bodies})] = 0.0
            count["poses silent"] += bool((off > SAME).any())
        else:
            count["poses silent"] += truth.singular
    count["poses refused"] += int(found.status[:known].any(axis=1).sum())


def spins(model):
    treatment = model.structure.treatment
    return treatment.passive_rotations if treatment is not None else ()


if __name__ == "__main__":
    name, first, number, times = sys.argv[1], *map(int, [*sys.argv[2:], "1"][:3])
    before = time.process_time()
    counts = campaign(name, range(first, first + number), times=times, branch="proven", compiled=True)
    taken = time.process_time() - before
    runs = counts["steps"] + counts["runs"] + counts["poses"]
    for key, value in counts.items():
        print(f"{value:8d} {key}")
    print(f"{taken:8.0f} s of CPU, {100 * taken / max(runs, 1):.1f} s for 100 of {runs} runs")
    raise SystemExit(counts["silent"] > 0)
