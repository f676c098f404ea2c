"""Couplings in files: faults by name, and every format that keeps geometry gives them back."""

import pytest
from refusals import refused

import mbssa
from mbssa.io.records import from_record

R = {"bodies": [1, 2], "type": "R", "point": [0, 0, 0], "axis": [0, 0, 1]}
P = {"bodies": [1, 3], "type": "P", "axis": [1, 0, 0]}
S = {"bodies": [2, 4], "type": "S", "point": [0.1, 0, 0]}


def built(couples, bodies=(1, 2, 3), more=(), **given):
    coupling = {"bodies": list(bodies), "type": "COUPLING", "couples": list(couples), "multiplier": 2.0}
    record = {"format": 1, "space": "spatial", "bodies": 4, "joint": [R, P, S, *more, coupling | given]}
    return from_record(record, "model", "model")


def test_faults_have_their_codes_and_places():
    for couples, given, expected in [
        (("1-2.angle", "1-4.angle"), {}, "unknown at joint 4 (1, 2, 3) couples"),
        (("angle", "1-3.slide"), {}, "unknown at joint 4 (1, 2, 3) couples"),
        (("1-2.turn", "1-3.slide"), {}, "unknown at joint 4 (1, 2, 3) couples"),
        (("1-2.angle", "2-4.angle_y"), {}, "unknown at joint 4 (1, 2, 3) couples"),
        (("1-2.angle", "1-2-3.other_1"), {}, "unknown at joint 4 (1, 2, 3) couples"),
        (("1-2#1.angle", "1-2#1.angle"), {"bodies": [1, 2]}, "value at joint 4 (1, 2) couples"),
        (("1-2.angle", "1-3.slide"), {"bodies": [1, 4]}, "conflict at joint 4 (1, 4) bodies"),
        (("1-2.angle", "1-3.slide"), {"bodies": [1, 2, 4]}, "conflict at joint 4 (1, 2, 4) bodies"),
        (("1-2.angle", "1-3.slide"), {"multiplier": 0.0}, "value at joint 4 (1, 2, 3) multiplier"),
        (("1-2.angle", "1-3.slide"), {"multiplier": 1e-12}, "value at joint 4 (1, 2, 3) multiplier"),
        (("1-2.angle", "1-3.slide"), {"offset": 1e12}, "value at joint 4 (1, 2, 3) offset"),
        (("1-2.angle",), {}, "value at joint 4 (1, 2, 3) couples"),
        (("1-2.angle", "1-3.slide"), {"driven": 1}, "unsupported at joint 4 (1, 2, 3) driven"),
        (("1-2.angle", "1-3.slide"), {"ratio": 2.0}, "unsupported at joint 4 (1, 2, 3) ratio"),
    ]:
        with refused(expected):
            built(couples, **given)


def test_couplings_without_geometry_are_counted():
    rows = [(1, 2, "R", 1), (1, 3, "R", 0), (2, 3, "COUPLING", 0)]
    structure = mbssa.decompose(mbssa.from_pairs(3, rows, "planar"))
    assert [group.type_name for group in structure.groups] == ["1R2D", "1R1COUPLING2D"]
    assert mbssa.check(mbssa.from_pairs(3, rows, "planar")).generic.all.rank == 6


def test_units_are_those_of_the_file():
    record = {
        "format": 1, "space": "spatial", "bodies": 3, "units": {"length": "mm", "angle": "deg"},
        "joint": [R, P, {"bodies": [1, 2, 3], "type": "COUPLING", "couples": ["1-2.angle", "1-3.slide"],
                         "multiplier": 0.9, "offset": 4.0}],
    }  # fmt: skip
    geometry = from_record(record, "model", "model").joint_geometry[2]
    assert geometry.multiplier == pytest.approx(0.9e-3 * 180 / 3.141592653589793)
    assert geometry.offset == pytest.approx(4e-3)


def test_files_keep_them(tmp_path):
    for ending in [".toml", ".npz"]:
        made = built(("1-2.angle", "1-3.slide"), id="lead screw", offset=0.5)
        assert made.joint_bodies(3) == (1, 2, 0), ending
        assert mbssa.save(made, tmp_path / f"model{ending}") == [], ending
        again = mbssa.load(tmp_path / f"model{ending}")
        assert again.joint_geometry == made.joint_geometry, ending
        assert again.joint_bodies(3) == made.joint_bodies(3), ending
        assert mbssa.from_networkx(mbssa.to_networkx(made)).joint_geometry == made.joint_geometry, ending
