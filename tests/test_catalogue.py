"""The catalogue against Table 3 of the paper, and its own laws."""

import pytest

from mbssa.joints import CATALOGUE, joint_type, types_of
from mbssa.joints.catalogue import FREEDOM, TYPE_ORDER, coordinate_unit

#: Codes and grades as Table 3 prints them, "–" aside, with the names of textbooks.
TABLE_3 = {
    "R": ("Revolute", 1),
    "P": ("Prismatic", 1),
    "H": ("Helical (screw)", 1),
    "CPEP": ("Penta Punctual Contact", 1),
    "C": ("Cylindrical", 2),
    "ER": ("Slotted Spherical", 2),
    "U": ("Universal", 2),
    "L": ("Cam/point-curve/curve-curve", 2),
    "EO": ("Ordinary Gear", 2),
    "EPI": ("Epicyclic Gear", 2),
    "CTEP": ("Tetra Punctual Contact", 2),
    "RP": ("Pure Rolling", 2),
    "RD": ("Rolling with slip", 2),
    "S": ("Spherical", 3),
    "PL": ("Planar", 3),
    "CR": ("Slotted Cylindrical", 3),
    "CTRP": ("Tri Punctual Contact", 3),
    "FP": ("Free body, planar", 3),
    "SC": ("Sphere-Cylinder", 4),
    "PC": ("Plane-Cylinder", 4),
    "CBIP": ("Bi Punctual Contact", 4),
    "SP": ("Sphere-Plane", 5),
    "SPSP": ("Sphere-Sphere", 5),
    "F": ("Free body, spatial", 6),
}
PLANAR_ONLY = {"L", "EO", "EPI", "RP", "RD", "FP"}


def test_every_type_of_table_3_is_there_with_its_grade_and_nothing_else():
    rows = {}
    for row in CATALOGUE:
        if row.table3:
            assert rows.setdefault(row.code, (row.name, row.grade)) == (row.name, row.grade)
    assert rows == TABLE_3


def test_planar_types_are_planar_only_and_grade_2_means_one_equation():
    planar = {row.code for row in types_of("planar") if row.table3}
    spatial = {row.code for row in types_of("spatial")}
    assert planar - spatial == PLANAR_ONLY
    assert all(joint_type(c, "planar").equations == 1 for c in PLANAR_ONLY - {"FP"})


def test_row_is_consistent():
    for row in CATALOGUE:
        assert CATALOGUE[row.index] is row, row
        assert joint_type(row.code, row.space) is row, row
        assert row.grade == len(row.coordinates) == len(set(row.coordinates)), row
        assert 0 <= row.equations < FREEDOM[row.space], row
        assert row.code in TYPE_ORDER, row
        assert {coordinate_unit(c) for c in row.coordinates} <= {"m", "rad"}, row


def test_an_unknown_type_is_told_what_to_write():
    for code, space, says in [
        ("C", "planar", "only in spatial"),
        ("FP", "spatial", "only in planar"),
        ("revolute", "planar", "'R'"),
        ("spheric", "spatial", "'S'"),
        ("", "planar", "planar types are"),
        ("–", "planar", "planar types are"),
    ]:
        with pytest.raises(KeyError, match=says):
            joint_type(code, space)
