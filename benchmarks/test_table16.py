"""Table 16 of the paper: every case with both methods, beside the paper's seconds.

    python -m pytest benchmarks/test_table16.py --benchmark-only -s

The exhaustive search is stopped after 60 s and printed so. The paper's seconds were measured in MATLAB
2020a on a Core i7-8550U; they are quoted for orientation, the ratio that counts is the one between the
two methods of this project, timed here in one run. The paper's linkages are not published: ours have
the same numbers of bodies and groups (see ``mbssa/io/assur.py``).
"""

import statistics

import pytest

import mbssa

LIMIT = 60.0

#: Case, groups, seconds of MBSSA3D as printed (None: not solved there).
TABLE_16 = [
    ("assur:I-2", 3, 0.90490),
    ("assur:I-4", 5, 0.92285),
    ("assur:I-8", 9, 0.98798),
    ("assur:I-2B", 2, 0.84546),
    ("assur:I-4B", 3, 0.92714),
    ("assur:I-8B", 3, 4.65035),
    ("assur:II-2", 3, 0.91421),
    ("assur:II-4", 5, 1.16003),
    ("assur:II-8", 9, 2.33128),
    ("assur:II-2B", 1, 0.90840),
    ("assur:II-4B", 2, 5.39380),
    ("assur:II-8B", 1, None),
    ("assur:III-2", 3, 1.04206),
    ("assur:III-4", 5, 5.22487),
    ("assur:III-2B", 1, 1.39049),
    ("assur:III-4B", 1, 70940.31),
    ("rotor", 7, 1.11330),
    ("rotor_transformed", 9, 1.20191),
    ("micromanipulator", 8, 1.15843),
    ("stewart", 1, 0.96645),
    ("stewart_inverse", 7, 0.80041),
]

_seconds: dict[tuple[str, str], float | None] = {}


@pytest.mark.parametrize(("name", "groups", "paper"), TABLE_16)
def test_matching(benchmark, name, groups, paper):
    mechanism = mbssa.load(name)
    answer = benchmark(mbssa.decompose, mechanism)
    assert answer.n_groups == groups
    _seconds["matching", name] = statistics.median(benchmark.stats.stats.data)


@pytest.mark.parametrize(("name", "groups", "paper"), TABLE_16)
def test_exhaustive(benchmark, name, groups, paper):
    mechanism = mbssa.load(name)
    answer = benchmark.pedantic(mbssa.decompose, (mechanism, "exhaustive", LIMIT), rounds=1)
    if answer.determined:
        assert answer.n_groups == groups
        assert (answer.group_of_body == mbssa.decompose(mechanism).group_of_body).all()
    seconds = statistics.median(benchmark.stats.stats.data)
    _seconds["exhaustive", name] = seconds if answer.determined else None


def test_print_table_16(benchmark):
    benchmark.pedantic(lambda: None, rounds=1)
    print(f"\n\n{'case':20} {'matching, ms':>13} {'exhaustive, s':>14} {'ratio':>9} {'paper, s':>10}")
    for name, _, paper in TABLE_16:
        fast = _seconds.get(("matching", name))
        slow = _seconds.get(("exhaustive", name))
        if fast is None:
            continue
        print(
            f"{name:20} {fast * 1e3:13.2f} "
            f"{f'{slow:14.4f}' if slow else f'over {LIMIT:.0f}'.rjust(14)} "
            f"{f'{slow / fast:9.0f}' if slow else f'>{LIMIT / fast:.0f}'.rjust(9)} "
            f"{f'{paper:10.2f}' if paper else 'unsolved'.rjust(10)}"
        )
