"""Inputs of mechanisms with joints made of relations: what has no equation is never driven."""

import numpy as np
import pytest

import groups
import mbssa


def valid_rows(name):
    found = mbssa.transform(mbssa.load(name))
    rows = [row for row in found.rows if row.valid]
    assert len(rows) > 1
    return rows


@pytest.mark.parametrize("name", ["planetary", "differential", "rack_steering"])
def test_every_set_of_inputs_that_is_found_can_be_solved_and_turns_by_the_same_formula(name):
    for row in valid_rows(name):
        mechanism = row.mechanism()
        assert not [name for name in row.inputs if ".other" in name]
        model = groups.build(row.structure())
        at = model.reference_inputs
        small = 0.01 if name == "rack_steering" else 1.0
        laws = {
            key: groups.polynomial(value, small * (0.3 + 0.4 * k), small * 0.5)
            for k, (key, value) in enumerate(at.items())
        }
        trajectory = model.solve(groups.sample(mechanism, laws, np.linspace(0.0, 1.0, 61)))
        assert trajectory.ok, (row.inputs, trajectory.faults())
        coordinate = "slide" if name == "rack_steering" else "angle"
        first, second = trajectory.joint("1-2")["angle"], trajectory.joint("1-3")[coordinate]
        ratio = {"planetary": 2 / 7, "differential": -11 / 41, "rack_steering": 0.008}[name]
        for level in ("value", "rate", "acceleration"):
            a, b = getattr(second, level), ratio * getattr(first, level)
            assert np.abs(a - b).max() < 1e-9 * max(1e-3, np.abs(a).max()), (row.inputs, level)


def test_coordinates_without_an_equation_are_no_inputs():
    allowed = ("final_drive.other_1", "1-2.angle", "1-4.angle")
    found = mbssa.transform(mbssa.load("differential"), allow=allowed)
    assert {row.inputs for row in found.rows if row.valid} == {("1-2.angle", "1-4.angle")}
