"""Mechanisms from Python: rows, columns, names, the paper's matrices."""

import mbssa

#: The script User_Data.m of the paper: body numbers on the diagonal and in empty places.
USER_DATA = [["1", "R", "2", "P"], ["R", "2", "S", "2"], ["1", "S", "3", "C"], ["P", "2", "C", "4"]]
KNOWN = [[0, 1, 0, 0], [1, 0, 0, 0], [0, 0, 0, 0], [0, 0, 0, 0]]

ROTOR = [
    *((1, b, "P", 0) for b in (2, 3, 4, 13)),
    *((8, 9, "R", 0), (11, 9, "R", 0), (13, 9, "R", 1), (13, 15, "R", 1), (15, 16, "R", 0)),
    *((2, 5, "U", 0), (3, 6, "U", 0), (4, 7, "U", 0), (1, 10, "U", 0), (8, 12, "U", 0), (11, 14, "U", 1)),
    *((5, 8, "S", 0), (6, 9, "S", 0), (7, 11, "S", 0), (10, 9, "S", 0), (12, 16, "S", 0), (14, 16, "S", 0)),
]


def groups(mechanism):
    return [group.bodies for group in mbssa.decompose(mechanism).groups]


def test_rows_and_columns_are_the_same_mechanism(np):
    rows = mbssa.from_pairs(16, ROTOR, "spatial")
    i, j, kinds, driven = (np.array(column) for column in zip(*ROTOR, strict=True))
    columns = mbssa.from_pairs(16, (i, j, kinds, driven), "spatial")
    for name in ("joint_start", "joint_body", "joint_type", "driven"):
        assert (getattr(rows, name) == getattr(columns, name)).all()
    assert groups(rows) == groups(mbssa.load("rotor"))


def test_names_and_driven_coordinates_by_name():
    mechanism = mbssa.from_pairs(
        ["frame", "tube", "rod"], [(1, 2, "C", ["angle"]), (2, 3, "P", True)], "spatial"
    )
    assert [joint.driven for joint in mechanism.joints] == [("angle",), ("slide",)]
    assert str(mechanism.bodies[2]) == "3 (rod)"


def test_a_count_takes_the_order_of_the_catalogue():
    mechanism = mbssa.from_pairs(2, [(1, 2, "F", 4)], "spatial")
    assert mechanism.joints[0].driven == ("x", "y", "z", "angle_x")


def test_adjacency_matrix_of_eq_6_and_of_the_script():
    dashes = [["-", "R", "–", "P"], ["R", "-", "S", ""], ["-", "S", "-", "C"], ["P", "-", "C", "-"]]
    for matrix in (USER_DATA, dashes):
        mechanism = mbssa.from_adjacency(matrix, KNOWN, 6)
        assert groups(mechanism) == [(2,), (3, 4)]
        assert {joint.id: joint.type.code for joint in mechanism.joints} == {
            "1-2": "R",
            "1-4": "P",
            "2-3": "S",
            "3-4": "C",
        }


def test_two_pairs_in_one_cell_are_two_joints():
    mechanism = mbssa.from_adjacency([["-", "R+P"], ["R + P", "-"]], [[0, 2], [2, 0]], 3)
    assert [(joint.id, joint.driven) for joint in mechanism.joints] == [
        ("1-2", ("angle",)),
        ("1-2#2", ("slide",)),
    ]


def test_arrays_of_numpy_are_matrices_too(np):
    assert groups(mbssa.from_adjacency(np.array(USER_DATA), np.array(KNOWN), 6)) == [(2,), (3, 4)]


def test_mobility_is_kutzbach_gruebler():
    """Section 1.1 of the paper and the audit of its rotor: f = 4 and f = 3."""
    assert mbssa.load("nine_bar").mobility == 4
    rotor = mbssa.load("rotor")
    assert rotor.mobility == 6 * 15 - 5 * 9 - 4 * 6 - 3 * 6 == 3
    assert rotor.n_driven == 3
