"""What the paper prints of its examples: Eqs. (6), (8), (11) to (16), Tables 8 to 15.

Slips of the print are not followed; each is named where it would be.
"""

import mbssa
from mbssa.reports.structure import group_row, type_rows


def structure(name):
    return mbssa.decompose(mbssa.load(name))


def rows(name):
    """The paper's six columns of each group, as sets where the paper's order of pairs varies."""
    return [group_row(group)[1:7] for group in structure(name).groups]


def types(answer):
    """The paper's columns of Tables 9, 11 and 15: its own library comes first."""
    return [row[:3] for row in type_rows(answer)[1]]


def test_spatial_four_bar_eq_6(np):
    mechanism = mbssa.load("spatial_four_bar")
    grades = np.zeros((4, 4), dtype=int)
    for joint, grade in zip(mechanism.joints, mechanism.grade.tolist(), strict=True):
        i, j = joint.bodies
        grades[i - 1, j - 1] = grades[j - 1, i - 1] = grade
    assert grades.tolist() == [[0, 1, 0, 1], [1, 0, 3, 0], [0, 3, 0, 2], [1, 0, 2, 0]]


def test_spatial_four_bar_eq_11():
    results = structure("spatial_four_bar").results
    assert results.tolist() == [[0, 1, 2, 2], [1, 0, 0, 0], [0, 2, 0, 0], [1, 0, 0, 0]]


def test_spatial_four_bar_fig_11():
    first, second = structure("spatial_four_bar").groups
    assert group_row(first)[1:7] == ("2", "1", "1R3D", "2&1R.", "–", "2&3S.")
    assert group_row(second)[1:7] == ("3,4", "2", "1P1C1S3D", "3&2S.4&1P.", "3&4C.", "–")


def test_rotor_table_8():
    assert rows("rotor") == [
        ("9,10,13", "3", "1R1P1U1S3D", "10&1U.13&1P.", "9&10S.9&13R.", "9&6S.9&8R.9&11R.13&15R."),
        ("15", "1", "1R3D", "15&13R.", "–", "15&16R."),
        ("3,6", "2", "1P1U1S3D", "3&1P.6&9S.", "3&6U.", "–"),
        ("11,14,16", "3", "2R1U1S3D", "11&9R.16&15R.", "11&14U.14&16S.", "11&7S.16&12S."),
        ("4,7", "2", "1P1U1S3D", "4&1P.7&11S.", "4&7U.", "–"),
        ("8,12", "2", "1R1U1S3D", "8&9R.12&16S.", "8&12U.", "8&5S."),
        ("2,5", "2", "1P1U1S3D", "2&1P.5&8S.", "2&5U.", "–"),
    ]


def test_rotor_table_9_and_eq_12():
    answer = structure("rotor")
    assert types(answer) == [
        ("1R1P1U1S3D", "1", "0"),
        ("1R3D", "1", "1"),
        ("1P1U1S3D", "3", "1"),
        ("2R1U1S3D", "1", "0"),
        ("1R1U1S3D", "1", "1"),
    ]
    assert answer.results[0].tolist() == [0, 7, 3, 5, 7, 3, 5, 6, 1, 1, 4, 6, 1, 4, 2, 4]


def test_rotor_levels_of_fig_13():
    """Section 4.1: {9,10,13}; then {15} and {3,6}; {11,14,16}; {8,12} and {4,7}; {2,5} last."""
    assert structure("rotor").levels == ((1,), (2, 3), (4,), (5, 6), (7,))


def test_transformed_rotor_table_10():
    """The print has "8&12C" where the pair is a U."""
    assert rows("rotor_transformed") == [
        ("2", "1", "1P3D", "2&1P.", "–", "2&5U."),
        ("13", "1", "1P3D", "13&1P.", "–", "13&9R.13&15R."),
        ("15", "1", "1R3D", "15&13R.", "–", "15&16R."),
        ("9,10", "2", "1R1U1S3D", "9&13R.10&1U.", "9&10S.", "9&6S.9&8R.9&11R."),
        ("3,6", "2", "1P1U1S3D", "3&1P.6&9S.", "3&6U.", "–"),
        ("5,8", "2", "1R1U1S3D", "5&2U.8&9R.", "5&8S.", "8&12U."),
        ("12,16", "2", "1R1U1S3D", "12&8U.16&15R.", "12&16S.", "16&14S."),
        ("11,14", "2", "1R1U1S3D", "11&9R.14&16S.", "11&14U.", "11&7S."),
        ("4,7", "2", "1P1U1S3D", "4&1P.7&11S.", "4&7U.", "–"),
    ]


def test_transformed_rotor_table_11_and_eq_13():
    answer = structure("rotor_transformed")
    assert types(answer) == [
        ("1P3D", "2", "1"),
        ("1R3D", "1", "1"),
        ("1R1U1S3D", "4", "1"),
        ("1P1U1S3D", "2", "1"),
    ]
    assert answer.results[0].tolist() == [0, 1, 5, 9, 6, 5, 9, 6, 4, 4, 8, 7, 2, 8, 3, 7]


#: Table 12; row {18,19,20} is printed as 3R3S with 4 bodies, row 4 of its pairs has a stray "&".
MICROMANIPULATOR = {
    "4,5,6,7": ("3R1C1ER3D", "4&1ER.7&1R.", "4&5C.5&6R.6&7R.", "5&3S.5&21S."),
    "2,3": ("1C1ER1S3D", "2&1ER.3&5S.", "2&3C.", "–"),
    "10,11,12,15": ("3R1C1ER3D", "12&1R.15&1ER.", "10&11R.10&15C.11&12R.", "10&9S.10&14S.10&21S."),
    "8,9": ("1C1ER1S3D", "8&1ER.9&10S.", "8&9C.", "–"),
    "13,14": ("1C1ER1S3D", "13&1ER.14&10S.", "13&14C.", "–"),
    "21": ("2S3D", "21&5S.21&10S.", "–", "21&18S."),
    "18,19,20": ("3R1S3D", "18&21S.20&1R.", "18&19R.19&20R.", "18&17S."),
    "16,17": ("1C1ER1S3D", "16&1ER.17&18S.", "16&17C.", "–"),
}


def test_micromanipulator_table_12():
    found = {row[0]: row[2:] for row in rows("micromanipulator")}
    assert found == MICROMANIPULATOR


def test_micromanipulator_eq_14_up_to_the_order_of_21():
    """Eq. (14) has {21} as number 6; by the canonical rule it comes before the larger groups it frees."""
    answer = structure("micromanipulator")
    printed = [0, 2, 2, 1, 1, 1, 1, 4, 4, 3, 3, 3, 5, 5, 3, 8, 8, 7, 7, 7, 6]
    same = {}
    for ours, theirs in zip(answer.group_of_body.tolist(), printed, strict=True):
        assert same.setdefault(theirs, ours) == ours
    assert len(same) == len(set(same.values())) == 9
    needs = {group.bodies: {answer.groups[n - 1].bodies for n in group.depends_on} for group in answer.groups}
    assert needs == {
        (4, 5, 6, 7): set(),
        (2, 3): {(4, 5, 6, 7)},
        (10, 11, 12, 15): set(),
        (8, 9): {(10, 11, 12, 15)},
        (13, 14): {(10, 11, 12, 15)},
        (21,): {(4, 5, 6, 7), (10, 11, 12, 15)},
        (18, 19, 20): {(21,)},
        (16, 17): {(18, 19, 20)},
    }


def test_stewart_table_13_and_eq_15():
    (group,) = structure("stewart").groups
    legs = range(2, 13, 2)
    assert group.type_name == "6P6U6S1F3D"
    assert group.bodies == tuple(range(2, 15))
    assert [str(pair) for pair in group.external] == [*(f"{leg}&1U" for leg in legs), "14&1F"]
    expected = {f"{leg}&{leg + 1}P" for leg in legs} | {f"{leg + 1}&14S" for leg in legs}
    assert {str(pair) for pair in group.internal} == expected
    assert structure("stewart").results[0].tolist() == [0] + [1] * 13


def test_stewart_inverse_tables_14_and_15():
    answer = structure("stewart_inverse")
    assert rows("stewart_inverse") == [
        ("14", "1", "1F3D", "14&1F.", "–", "14&3U.14&5U.14&7U.14&9U.14&11U.14&13U."),
        *(
            (f"{i},{i + 1}", "2", "1P1U1S3D", f"{i}&1S.{i + 1}&14U.", f"{i}&{i + 1}P.", "–")
            for i in range(2, 13, 2)
        ),
    ]
    assert types(answer) == [("1F3D", "1", "1"), ("1P1U1S3D", "6", "1")]
    assert answer.levels == ((1,), (2, 3, 4, 5, 6, 7))


def test_stewart_inverse_eq_16():
    frame_gives = [1 if body % 2 == 0 else 0 for body in range(1, 15)]
    expected = [[0] * 14 for _ in range(14)]
    expected[0] = [0, 2, 2, 3, 3, 4, 4, 5, 5, 6, 6, 7, 7, 1]
    for body in range(2, 15):
        expected[body - 1][0] = frame_gives[body - 1]
        if body % 2:
            expected[body - 1][13] = 2
    assert structure("stewart_inverse").results.tolist() == expected


def test_nine_bar_section_1_2():
    """Fig. 4 numbers {9} VI; by the canonical rule it is IV. Groups and dependencies are the paper's."""
    answer = structure("nine_bar")
    needs = {group.bodies: {answer.groups[n - 1].bodies for n in group.depends_on} for group in answer.groups}
    assert needs == {
        (2,): set(),
        (3,): {(2,)},
        (4,): {(3,)},
        (9,): set(),
        (5, 6): {(4,)},
        (7, 8): {(5, 6), (9,)},
    }
    assert answer.mechanism.mobility == 4


def test_table_16_bodies_and_groups():
    for name, n_bodies, groups in [
        ("assur:I-2", 6, 3),
        ("assur:I-4", 10, 5),
        ("assur:I-8", 18, 9),
        ("assur:I-2B", 6, 2),
        ("assur:I-4B", 10, 3),
        ("assur:I-8B", 18, 3),
        ("assur:II-2", 10, 3),
        ("assur:II-4", 18, 5),
        ("assur:II-8", 34, 9),
        ("assur:II-2B", 10, 1),
        ("assur:II-4B", 18, 2),
        ("assur:III-2", 14, 3),
        ("assur:III-4", 26, 5),
        ("assur:III-2B", 14, 1),
        ("assur:III-4B", 26, 1),
        ("rotor", 16, 7),
        ("rotor_transformed", 16, 9),
        ("micromanipulator", 21, 8),
        ("stewart", 14, 1),
        ("stewart_inverse", 14, 7),
    ]:
        answer = structure(name)
        assert answer.determined, name
        assert (answer.mechanism.n_bodies, answer.n_groups) == (n_bodies, groups), name


def test_assur_ii_8b_which_the_paper_could_not_solve():
    answer = structure("assur:II-8B")
    assert answer.determined
    assert [len(group.bodies) for group in answer.groups] == [33]
    assert answer.groups[0].driven == ("33-34.angle",)


def test_assur_variants_differ_only_in_the_driven_joint():
    for name in ("assur:I-4", "assur:II-4", "assur:III-4"):
        plain, moved = mbssa.load(name), mbssa.load(name + "B")
        assert plain.joint_body.tolist() == moved.joint_body.tolist()
        assert [joint.id for joint in plain.joints if joint.driven] == ["1-2"]
        n = plain.n_bodies
        assert [joint.id for joint in moved.joints if joint.driven] == [f"{n - 1}-{n}"]
