"""Multiple joints in the search: every choice of pairs takes part, and rows are what their files say."""

import math
from dataclasses import replace

import numpy as np
import pytest
from refusals import refused

import mbssa
from mbssa.input_search import undriven
from mbssa.input_search.search import transform
from mbssa.io.multiple import count_choices, spanning_choices

CRANK, E, A, B = (0.0069867, -0.0004317), (-0.02096, 0.0012952), (-0.06934, -0.00227), (-0.03635, 0.03273)
G, H = (-0.0339972, 0.016462), (-0.0316331, -0.0156189)


def joint(bodies, point, more=""):
    return f'[[joint]]\nbodies = {list(bodies)}\ntype = "R"\npoint = {list(point)}\n{more}\n'


#: Andrews' squeezing mechanism with its two pins as what they are: four bodies meet in E, three in A.
PINS = 'format = 1\nspace = "planar"\nbodies = 8\n' + "".join(
    [
        joint((1, 2), (0.0, 0.0), "driven = true"),
        joint((2, 3), CRANK),
        joint((3, 4, 5, 7), E),
        joint((1, 4), B),
        joint((5, 6), G),
        joint((1, 6, 8), A),
        joint((7, 8), H),
    ]
)


@pytest.fixture
def pins(read):
    return read(PINS)


def figures(row):
    return row.n_groups, row.largest, row.levels, row.width


def figures_of(mechanism):
    structure = mbssa.decompose(mechanism)
    sizes = [len(group.bodies) for group in structure.groups]
    widths = [len(level) for level in structure.levels]
    return structure.n_groups, max(sizes), len(widths), max(widths)


def test_every_choice_takes_part(pins):
    answer = transform(pins)
    n_choices = count_choices(4) * count_choices(3)
    assert n_choices == 48
    assert answer.n_distributions == answer.n_sets == answer.n_evaluated == 48 * 10
    assert answer.complete
    assert set(answer.evaluated.variant.tolist()) == set(range(48))
    assert answer.own.valid
    assert answer.own.inputs == ("1-2.angle",)


def test_choices_differ_in_structure_not_in_count(pins):
    answer = transform(pins)
    assert answer.n_determined == answer.n_sets
    crank = [row for row in answer.rows if row.inputs == ("1-2.angle",)]
    # The joint that is driven is there in every choice, and moves the same: it is always valid.
    assert sum(row.alike for row in crank) == 48
    # From two groups, one of six bodies, to the crank and three dyads, two of them side by side.
    assert {figures(row) for row in crank} == {(4, 2, 3, 2), (4, 2, 4, 1), (3, 4, 3, 1), (2, 6, 2, 1)}
    only = transform(pins, spanning=False)
    assert only.n_distributions == 10
    assert answer.n_structures > only.n_structures


def test_rows_are_had_back_from_their_files(pins, tmp_path):
    answer = transform(pins, every=True)
    assert len(answer.rows) > 50
    for row in answer.rows[::80]:
        mechanism = row.mechanism()
        assert figures_of(mechanism) == figures(row)
        for name in ("row.toml", "row.npz"):
            mbssa.save(mechanism, tmp_path / name, force=True)
            again = mbssa.load(tmp_path / name)
            driven = [f"{each.id}.{name}" for each in again.joints for name in each.driven]
            assert tuple(driven) == row.inputs
            assert figures_of(again) == figures(row)
            assert mbssa.check(again).solvable == row.valid


def test_pairs_are_named_where_names_leave_them_open(read):
    mechanism = read(PINS.replace("bodies = [3, 4, 5, 7]", 'id = "pin"\nbodies = [3, 4, 5, 7]'))
    answer = transform(mechanism, allow=["pin", "pin#2", "pin#3"])
    named = {}
    for row in answer.rows:
        named.setdefault(row.inputs, set()).add(row.pairs)
        (name,) = row.inputs
        driven = [each for each in row.mechanism().joints if each.driven]
        assert [each.id for each in driven] == [name.removesuffix(".angle")]
        bodies = "-".join(map(str, sorted(driven[0].bodies)))
        assert bodies in row.pairs.split(";")[0].split()
    assert max(map(len, named.values())) > 1


def test_what_is_alike_has_the_same_figures(pins):
    every = transform(pins, every=True)
    evaluated = every.evaluated
    assert evaluated.alike.sum() == len(evaluated) == 480
    # Three chains lead from the pin to the frame, two of them by the same kinds of joints to the same pin.
    assert set(evaluated.alike.tolist()) == {0, 1, 2}
    apart = transform(replace(pins, multiple_joints=()), every=True)
    assert apart.evaluated.alike.max() == 2


def test_inputs_of_a_driven_pair_are_found_among_the_choices(read):
    text = PINS.replace("driven = true\n", "").replace(
        "bodies = [3, 4, 5, 7]", "driven_pairs = [[4, 5]]\nbodies = [3, 4, 5, 7]"
    )
    mechanism = read(text)
    answer = transform(mechanism)
    assert answer.own.inputs == ("4-5.angle",)
    assert figures(answer.own) == figures_of(mechanism)
    assert answer.own.valid == mbssa.check(mechanism).solvable
    first = transform(mechanism, most=20)
    assert first.evaluated.places[0].tolist() == [2]
    assert first.n_evaluated == 20


def test_required_pairs_are_in_every_row(pins):
    answer = transform(pins, require=["5-7"])
    with_pair = [c for c in spanning_choices(replace(pins, driven=pins.driven * 0)) if "5-7" in c.joint_ids]
    assert answer.n_distributions == len(with_pair) == count_choices(4, [(2, 3)]) * 3
    assert all(row.inputs == ("5-7.angle",) for row in answer.rows)


def test_a_bound_on_choices_is_said(pins, monkeypatch):
    monkeypatch.setattr(undriven, "MOST_VARIANTS", 5)
    answer = transform(pins)
    assert len(answer.undriven) == 5
    assert answer.n_distributions == 50
    assert not answer.complete
    assert any("48" in note and "5" in note for note in answer.notes)


def test_choices_are_searched_from_best_to_best_too(pins):
    whole = transform(pins)
    best = transform(pins, most=100)
    assert best.n_evaluated == 100
    assert not best.complete
    assert figures(best.best) == figures(whole.best)
    assert math.prod(count_choices(len(each.bodies)) for each in pins.multiple_joints) == 48
    assert len(np.unique(best.evaluated.variant)) > 10


def test_inputs_and_pairs_of_a_row_make_its_mechanism(pins):
    for row in transform(pins).rows[::20]:
        again = mbssa.with_inputs(pins, row.inputs, pairs=row.pairs)
        assert figures_of(again) == figures(row)


def test_a_coordinate_of_another_pair_is_had_by_naming_it(pins):
    assert "5-7" not in pins.joint_ids
    changed = mbssa.with_inputs(pins, "5-7.angle")
    assert {"5-7"} <= set(changed.joint_ids)
    assert mbssa.decompose(changed).determined
    assert changed.n_joints == pins.n_joints
    # The own pairs stay where nothing else is named.
    assert mbssa.with_inputs(pins, "1-2").joint_ids == pins.joint_ids


def test_pairs_that_close_a_ring_or_are_none_are_refused(pins):
    with refused("value at pairs"):
        mbssa.with_inputs(pins, "3-4", pairs="4-5,3-5")
    with refused("unknown at pairs"):
        mbssa.with_inputs(pins, "1-2", pairs=["2-8"])


def test_pairs_are_named_on_the_command_line(run_mbssa, tmp_path):
    path = tmp_path / "pins.toml"
    path.write_text(PINS)
    plain = run_mbssa("decompose", str(path), "--inputs", "1-2", "--format", "json")
    other = run_mbssa("decompose", str(path), "--inputs", "1-2", "--pairs", "3-4,4-5,4-7", "--format", "json")
    assert plain.exit_code == other.exit_code == 0
    assert plain.stdout != other.stdout
    assert run_mbssa("decompose", str(path), "--pairs", "3-4").exit_code == 2
