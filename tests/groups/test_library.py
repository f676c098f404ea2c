"""The table of group types: nothing left blank, what the literature says, and modes that are really there."""

import numpy as np
import pytest

import groups
import mbssa
from groups.solvers import library
from groups.truss import chain_of


@pytest.fixture(scope="module")
def rows():
    return library.table()


#: Most modes by chain, after the reference table of closed forms: poses of complex solutions. The turns of a
#: leg about its own line count where it is the whole group.
KNOWN = {
    "R-R-R": 2, "R-R-P": 2, "R-P-R": 2, "P-R-P": 1, "R-P-P": 1, "1 body on 3 × R-R": 6,
    "2 bodies on 2 × R, 2 × R-R": 6, "S-P-U": 4, "P-U-S": 2, "P-S-U": 2, "R-U-S": 2, "R-S-U": 2,
    "P-C-S": 2, "P-R*-S-U": 2, "R-S-U[angle_1]-R": 4, "R-R-R-S": 4, "ER-C[slide]-S": 4, "R-S-S": 2,
    "C[slide]-ER-R-R-R": 16, "1 body on 3 × R-S": 16, "1 body on 6 × S-P*-S": 40,
    "1 body on F, 6 × S-P*-U": 40, "C-C-C": 2,
}  # fmt: skip


def test_nothing_is_blank_without_a_reason(rows):
    for row in rows:
        assert all((row.type_name, row.chain, row.solver, row.closing, row.why))
        assert (row.modes is None) == (row.degree is None)
        if row.modes is None:
            reasons = ("not known", "no polynomial", "singular")
            assert any(reason in row.why for reason in reasons), row
        assert (row.unknowns == 0) == row.solver.startswith(("driven", "refused"))
        assert (row.closing == "nothing") == (row.unknowns == 0)


def test_counts_are_those_of_the_literature(rows):
    found = {row.chain: row.modes for row in rows if row.modes is not None}
    assert {chain: found[chain] for chain in KNOWN} == KNOWN


def test_only_three_slides_in_the_plane_are_refused(rows):
    refused = [row for row in rows if row.solver == "refused"]
    assert [row.chain for row in refused] == ["P-P-P"]
    assert "has only slides on the way around" in refused[0].why


def test_every_group_of_every_model_has_a_row(rows):
    for name in mbssa.builtin_names():
        types = set(mbssa.decompose(mbssa.load(name)).types)
        assert types <= {row.type_name for row in rows if name in row.models}


def test_the_list_of_closed_forms_is_that_of_the_table(rows):
    iterated = {row.type_name for row in rows if not row.solver.startswith(("driven", "closed form"))}
    assert tuple(sorted({row.type_name for row in rows} - iterated)) == library.CLOSED_FORMS


def test_driven_bodies_of_every_type_are_there(rows):
    from mbssa.joints.catalogue import CATALOGUE

    driven = {row.type_name for row in rows if row.solver.startswith("driven")}
    wanted = {
        f"1{kind.code}{'2D' if kind.space == 'planar' else '3D'}"
        for kind in CATALOGUE
        if kind.pair is not None
    }
    assert wanted <= driven


#: Chains that are refused or left to Newton.
OTHERS = {
    "a x P, x y P, y b P", *library.PLANAR[-3:], "a x H, x y U, y b S", "a x C, x y C, y b C",
    *library.SPATIAL[-3:],
}  # fmt: skip
CLOSED = [
    (space, joints)
    for space, chains in (("planar", library.PLANAR), ("spatial", library.SPATIAL))
    for joints in chains
    if joints not in OTHERS
]


def test_closed_forms_have_as_many_real_modes_as_the_table_says_and_no_more(rows):
    """At the best of some random geometries; real modes come in pairs, so a regular one is never alone."""
    for space, joints in CLOSED:
        most = lacking = 0  # of few spherical loops some positions are at infinity, so that it is not proven
        for seed in range(12):
            model = groups.build(mbssa.decompose(library.example(joints, space, seed)))
            group = model.structure.groups[-1]
            key = chain_of(group), group.type_name
            row = next(row for row in rows if (row.chain, row.type_name) == key)
            found = groups.modes(model, group.number)
            lacking += not found.complete
            assert lacking <= 2 * joints.endswith("S"), joints
            assert len(found) <= row.modes, joints
            assert len(found) % 2 == row.modes % 2, joints
            most = max(most, len(found))
            if most == row.modes:
                break
        assert most == row.modes, joints


def test_the_table_tells_chains_of_one_name_apart(rows):
    """1P1U1S3D is a leg between two points, or a slide and a rod: 2 R and 1 P have four dyads."""
    chains = {row.chain for row in rows if row.type_name == "1P1U1S3D"}
    assert {"S-P-U", "P-U-S", "P-S-U"} <= chains
    solvers = {row.solver for row in rows if row.type_name == "2R1P2D"}
    assert solvers == {"closed form: RRP dyad", "closed form: RPR dyad"}


def test_unknowns_are_those_of_the_solver():
    model = groups.build(mbssa.decompose(mbssa.load("rotor")))
    for group, solver in zip(model.structure.groups, model.solvers, strict=True):
        row = library._row(model, group)
        assert solver.form == "closed form" or row.unknowns == len(solver.unknowns)


def test_examples_close_and_are_the_same_every_time():
    one, two = (library.example("a x R, x y C, y b S", "spatial", 3) for _ in range(2))
    assert one.joint_geometry == two.joint_geometry
    assert np.isfinite(groups.build(mbssa.decompose(one)).reference.position).all()
