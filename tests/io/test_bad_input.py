"""Every bad input: one message, all faults, the place and what to write instead."""

import subprocess
import sys
from pathlib import Path

import pytest
from refusals import codes, refused

import mbssa

HEAD = 'format = 1\nspace = "planar"\n'
CRANK = '[[joint]]\nbodies = [1, 2]\ntype = "R"\ndriven = ["angle"]\n'
TURNING = HEAD + "bodies = 2\n" + CRANK + "[motion]\n[motion.inputs]\n"


def faults_of(tmp_path, text):
    path = tmp_path / "model.toml"
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    with pytest.raises(mbssa.ModelError) as caught:
        mbssa.load(path)
    assert str(path) in str(caught.value)
    return caught.value.faults


BAD = {
    "unknown type": (HEAD + 'bodies = 2\n[[joint]]\nbodies = [1, 2]\ntype = "RR"\n'),
    "spatial type": (HEAD + 'bodies = 2\n[[joint]]\nbodies = [1, 2]\ntype = "S"\n'),
    "missing body": (HEAD + 'bodies = 2\n[[joint]]\nbodies = [1, 3]\ntype = "R"\n'),
    "body zero": (HEAD + 'bodies = 2\n[[joint]]\nbodies = [0, 2]\ntype = "R"\n'),
    "unknown name": (HEAD + '[[body]]\nname = "crank"\n[[joint]]\nbodies = ["frame", "crnk"]\ntype = "R"\n'),
    "driven beyond grade": (HEAD + 'bodies = 2\n[[joint]]\nbodies = [1, 2]\ntype = "R"\ndriven = 2\n'),
    "negative driven": (HEAD + 'bodies = 2\n[[joint]]\nbodies = [1, 2]\ntype = "R"\ndriven = -1\n'),
    "unknown coordinate": (HEAD + 'bodies = 2\n[[joint]]\nbodies = [1, 2]\ntype = "R"\ndriven = ["slide"]\n'),
    "driven twice": (
        HEAD + 'bodies = 2\n[[joint]]\nbodies = [1, 2]\ntype = "R"\ndriven = ["angle", "angle"]\n'
    ),
    "joined to itself": (HEAD + 'bodies = 2\n[[joint]]\nbodies = [2, 2]\ntype = "R"\n' + CRANK),
    "not connected": (HEAD + 'bodies = 4\n[[joint]]\nbodies = [3, 4]\ntype = "R"\n' + CRANK),
    "no joint": (HEAD + "bodies = 2\n"),
    "no body": (HEAD + CRANK),
    "nothing at all": (""),
    "only the frame": (HEAD + "bodies = 1\n" + CRANK),
    "nan": (HEAD + "bodies = 2\n" + CRANK + "point = [nan, 0]\n"),
    "infinite": (HEAD + "bodies = 2\n" + CRANK + "point = [0, inf]\n"),
    "zero axis": (HEAD + 'bodies = 2\n[[joint]]\nbodies = [1, 2]\ntype = "P"\naxis = [0, 0.0]\n'),
    "wrong dimension": (HEAD + "bodies = 2\n" + CRANK + "point = [1, 2, 3]\n"),
    "unread field": (HEAD + "bodies = 2\n" + CRANK + "pitch = 1.0\n"),
    "missing field": (HEAD + 'bodies = 2\n[[joint]]\nbodies = [1, 2]\ntype = "SLOT"\npoint = [0, 0]\n'),
    "unknown key": (HEAD + "bodies = 2\n" + CRANK + "lenght = 1\n"),
    "wrong version": ('format = 2\nspace = "planar"\nbodies = 2\n' + CRANK),
    "wrong space": ('format = 1\nspace = "3D"\nbodies = 2\n' + CRANK),
    "text for a number": (HEAD + "bodies = 2\n" + CRANK + 'length = "1"\n'),
    "joint is no table": (HEAD + "bodies = 2\njoint = [3]\n"),
    "repeated name": (HEAD + '[[body]]\nname = "a"\n[[body]]\nname = "a"\n' + CRANK),
    "name frame": (HEAD + '[[body]]\nname = "frame"\n' + CRANK),
    "name is another number": (HEAD + '[[body]]\nname = "3"\n' + CRANK),
    "repeated id": (
        HEAD + "bodies = 2\n" + CRANK + 'id = "a"\n[[joint]]\nbodies = [1, 2]\ntype = "R"\nid = "a"\n'
    ),
    "repeated id and name": (
        HEAD
        + '[[body]]\nname = "a"\n[[body]]\nname = "a"\n'
        + CRANK
        + 'id = "j"\n[[joint]]\nbodies = [2, 3]\ntype = "R"\nid = "j"\n'
    ),
    "id takes another's default": (
        HEAD + "bodies = 2\n" + CRANK + '[[joint]]\nbodies = [1, 2]\ntype = "R"\nid = "1-2"\n'
    ),
    "bodies twice": (HEAD + 'bodies = 2\n[[body]]\nname = "a"\n' + CRANK),
    "limits upside down": (HEAD + "bodies = 2\n" + CRANK + "limits = { angle = [1, 0] }\n"),
    "limits of nothing": (HEAD + "bodies = 2\n" + CRANK + "limits = { slide = [0, 1] }\n"),
    "three bodies in a slot": (HEAD + 'bodies = 3\n[[joint]]\nbodies = [1, 2, 3]\ntype = "SLOT"\n'),
    "which pair is driven": (HEAD + 'bodies = 3\n[[joint]]\nbodies = [1, 2, 3]\ntype = "R"\ndriven = 1\n'),
    "driven pairs in a ring": (
        HEAD + 'bodies = 3\n[[joint]]\nbodies = [1, 2, 3]\ntype = "R"\n'
        "driven_pairs = [[1, 2], [2, 3], [3, 1]]\n"
    ),
    "driven pair of another body": (
        HEAD + 'bodies = 4\n[[joint]]\nbodies = [1, 2, 3]\ntype = "R"\ndriven_pairs = [[1, 4]]\n'
    ),
    "driven pairs of two bodies": (
        HEAD + 'bodies = 2\n[[joint]]\nbodies = [1, 2]\ntype = "R"\ndriven_pairs = [[1, 2]]\n'
    ),
    "rod without length": (
        HEAD + 'bodies = 2\n[[joint]]\nbodies = [1, 2]\ntype = "ROD"\npoints = [[0, 0], [0, 0]]\n'
    ),
    "a distance of nothing": (
        HEAD + 'bodies = 2\n[[joint]]\nbodies = [1, 2]\ntype = "DIST"\npoints = [[1, 0], [1, 0]]\n'
    ),
    "a distance said twice": (
        HEAD + 'bodies = 2\n[[joint]]\nbodies = [1, 2]\ntype = "DIST"\npoints = [[1, 0], [2, 0]]\n'
        "at_reference = { distance = 1 }\n"
    ),
    "motion of another coordinate": (TURNING + '"1-2.angel" = { law = "constant" }\n'),
    "motion without a law": (TURNING),
    "no law": (TURNING + '"1-2.angle" = { rate = 1 }\n'),
    "unknown law": (TURNING + '"1-2.angle" = { law = "sped" }\n'),
    "law is a number": (TURNING + '"1-2.angle" = 3\n'),
    "law without its rate": (TURNING + '"1-2.angle" = { law = "speed" }\n'),
    "unknown parameter": (TURNING + '"1-2.angle" = { law = "speed", rate = 1, strat = 2 }\n'),
    "law that is not finite": (TURNING + '"1-2.angle" = { law = "speed", rate = nan }\n'),
    "times that fall": (
        TURNING + '"1-2.angle" = { law = "spline", times = [0, 1, 0.5], values = [0, 1, 2] }\n'
    ),
    "times that repeat": (
        TURNING + '"1-2.angle" = { law = "spline", times = [0, 0, 2], values = [0, 1, 2] }\n'
    ),
    "one point": (TURNING + '"1-2.angle" = { law = "spline", times = [0], values = [0] }\n'),
    "as many values as not times": (
        TURNING + '"1-2.angle" = { law = "spline", times = [0, 2], values = [0, 1, 2] }\n'
    ),
    "spline that ends too early": (
        TURNING + '"1-2.angle" = { law = "spline", times = [0, 0.5], values = [0, 1] }\n'
    ),
    "ramp after the end": (TURNING + '"1-2.angle" = { law = "ramp", end = 1, begin = 2 }\n'),
    "no duration": (
        TURNING.replace("[motion.inputs]", "duration = 0\n[motion.inputs]")
        + '"1-2.angle" = { law = "constant" }\n'
    ),
    "no instants": (
        TURNING.replace("[motion.inputs]", "steps = 0\n[motion.inputs]")
        + '"1-2.angle" = { law = "constant" }\n'
    ),
    "motion is a number": (HEAD + "bodies = 2\nmotion = 3\n" + CRANK),
    "parallel axes": (
        'format = 1\nspace = "spatial"\nbodies = 2\n[[joint]]\nbodies = [1, 2]\ntype = "U"\n'
        "point = [0, 0, 0]\naxes = [[0, 0, 1], [0, 0, -2]]\n"
    ),
    "frames and point": (
        HEAD
        + "bodies = 2\n"
        + CRANK
        + "point = [0, 0]\nframes = [{ origin = [0, 0] }, { origin = [0, 0] }]\n"
    ),
    "more bodies than could be connected": (HEAD + "bodies = 999999999999\n" + CRANK),
    "frames and at_reference": (
        HEAD
        + "bodies = 2\n"
        + CRANK
        + "frames = [{ origin = [0, 0] }, { origin = [0, 0] }]\nat_reference = { angle = 1.0 }\n"
    ),
    "a body twice on a pin": (HEAD + 'bodies = 3\n[[joint]]\nbodies = [1, 2, 2]\ntype = "R"\n'),
    "an axis out of all proportion": (
        HEAD + 'bodies = 2\n[[joint]]\nbodies = [1, 2]\ntype = "P"\naxis = [1e200, 0]\n'
    ),
    "more bodies than any array": (HEAD + "bodies = 99999999999999999999\n" + CRANK),
    "nested without end": ("x = " + "[" * 5000),
    "quaternion of no rotation": (
        'format = 1\nspace = "spatial"\n[[body]]\norientation = [1, 1, 0, 0]\n[[joint]]\n'
        'bodies = [1, 2]\ntype = "R"\n'
    ),
    "syntax": (HEAD + "bodies = = 2\n"),
    "not text": (b"\x80\x03}q\x00\xff"),
    "control bytes": (b"\x00\x01\x02\x03"),
    "bodies as list": (HEAD + "bodies = [1, 2]\n" + CRANK),
    "body as fraction": (HEAD + 'bodies = 2\n[[joint]]\nbodies = [1, 1.5]\ntype = "R"\n'),
}


def test_bad_files_have_their_faults_and_places_and_the_stored_sentences(tmp_path):
    found = []
    for case, text in BAD.items():
        found.append(
            "\n    ".join([case, *(f"{fault.code}: {fault}" for fault in faults_of(tmp_path, text))])
        )
    stored = (Path(__file__).parent / "bad_input.txt").read_text(encoding="utf-8")
    assert "\n".join(found) + "\n" == stored


def test_the_command_line_prints_no_traceback_and_exits_2(tmp_path, run_mbssa):
    for case in ("unknown type", "nothing at all", "not text"):
        text = BAD[case]
        path = tmp_path / "model.toml"
        path.write_bytes(text if isinstance(text, bytes) else text.encode())
        result = run_mbssa("decompose", str(path), "--output", str(tmp_path / "answer.txt"))
        assert (result.exit_code, result.stdout) == (2, ""), case
        assert str(path) in result.stderr, case
        assert "Traceback" not in result.stderr, case
        assert [entry.name for entry in tmp_path.iterdir()] == ["model.toml"], case


def test_all_faults_of_shape_and_meaning_come_at_once(tmp_path):
    faults = faults_of(
        tmp_path,
        'format = 1\nspace = "planar"\ntitel = "x"\nbodies = 4\n'
        '[[joint]]\nbodies = [1, 2]\ntype = "Q"\n'
        '[[joint]]\nbodies = [2, 9]\ntype = "R"\ndriven = 4\n'
        '[[joint]]\nbodies = [3, 3]\ntype = "R"\npoint = [0, 0]\naxis = [0, 1]\n'
        '[[joint]]\nbodies = [1.5, 4]\ntype = "R"\npoint = [0, nan]\n',
    )
    assert codes(faults) == [
        "value at [[joint]] 4 (1.5, 4) bodies[1]",
        "value at [[joint]] 4 (1.5, 4) point[2]",
        "unknown at titel",
        "unknown at [[joint]] 1 (1, 2) type",
        "unknown at [[joint]] 2 (2, 9) bodies",
        "value at [[joint]] 2 (2, 9) driven",
        "unsupported at [[joint]] 3 (3, 3) axis",
        "structure at [[joint]] 3 (3, 3)",
    ]


@pytest.mark.parametrize("units", ["", 'units = { length = "mm" }\n'])
def test_a_wrong_point_leaves_the_other_points_of_its_body_their_names(tmp_path, units):
    faults = faults_of(
        tmp_path,
        HEAD + units + '[[body]]\nname = "a"\npoints = { tip = [0], end = [1, 0] }\n[[body]]\nname = "b"\n'
        '[[joint]]\nbodies = ["a", "b"]\ntype = "R"\npoint = "a.end"\ndriven = ["slide"]\n',
    )
    assert codes(faults) == ["value at [[body]] 1 (a) points.tip", "unknown at [[joint]] 1 (a, b) driven"]


def test_a_wrong_space_is_reported_with_the_vectors_that_do_not_fit_the_likely_one(tmp_path):
    text = 'format = 1\nspace = "plnar"\nbodies = 2\n' + CRANK.replace("angle", "slide")
    assert codes(faults_of(tmp_path, text + "point = [0, 0, 0]\n")) == [
        "value at space",
        "value at [[joint]] 1 (1, 2) point",
        "unknown at [[joint]] 1 (1, 2) driven",
    ]


def test_all_faults_of_a_motion_come_at_once_with_those_of_the_mechanism(tmp_path):
    faults = faults_of(
        tmp_path,
        HEAD + "bodies = 3\n" + CRANK + '[[joint]]\nbodies = [2, 3]\ntype = "R"\ndriven = true\npoint = [1]\n'
        "[motion]\nstps = 3\nduration = -1\n[motion.inputs]\n"
        '"1-2.angle" = { law = "speed", rte = 1 }\n"2-3.slide" = { law = "ramp", end = inf }\n',
    )
    assert codes(faults) == [
        "value at [[joint]] 2 (2, 3) point",
        "value at [motion] duration",
        "unknown at [motion] 1-2.angle rte",
        "value at [motion] 2-3.slide end",
        "unknown at [motion] stps",
        "unknown at [motion] 2-3.slide",
        "missing at [motion] 2-3.angle",
    ]


def test_types_have_their_article_and_what_they_miss_is_said_once(tmp_path):
    for kind, given, says in [
        ("L", "points = [[0, 0], [0, 1]]\naxes = [[1, 0], [1, 0]]", "; an L needs it: the cam's curve"),
        ("EO", "points = [[0, 0], [0, 1]]", "; an EO needs it: gears: radius of the second"),
        ("RP", "point = [0, 0]\naxis = [1, 0]", "; an RP needs it: of the sphere"),
        ("USER", 'unit = "m"', '; a USER needs it: "module:name"'),
        ("ROD", "pitch = 1.0", "a ROD does not read it"),
    ]:
        text = f'{HEAD}bodies = 2\n[[joint]]\nbodies = [1, 2]\ntype = "{kind}"\n{given}\n'
        assert any(says in fault.message for fault in faults_of(tmp_path, text)), kind


def test_a_wrong_entry_does_not_raise_faults_of_its_own(tmp_path):
    """One slip, one fault: what could not be read is left out of the other checks."""
    faults = faults_of(tmp_path, HEAD + 'bodies = 3\n[[joint]]\nbodies = [1, "two"]\ntype = 5\n' + CRANK)
    assert codes(faults) == ["value at [[joint]] 1 (1, two) type"]


def test_unknown_models_are_told_the_names(run_mbssa):
    for name, says in [
        ("rotr", "did you mean 'rotor'"),
        ("assur:IV-2", "assur:CLASS-COUNT"),
        ("assur:I-0", "assur:CLASS-COUNT"),
        ("nowhere.toml", "No such file"),
        ("", "neither a file"),
    ]:
        result = run_mbssa("decompose", name)
        assert result.exit_code == 2, name
        assert says in result.stderr, name


def test_a_byte_order_mark_is_no_fault(tmp_path):
    path = tmp_path / "model.toml"
    path.write_bytes(b"\xef\xbb\xbf" + (HEAD + "bodies = 2\n" + CRANK).encode())
    assert mbssa.load(path).n_bodies == 2


def test_only_mechanisms_are_decomposed():
    with pytest.raises(TypeError, match=r"mbssa\.load"):
        mbssa.decompose("rotor")
    with pytest.raises(TypeError, match=r"mbssa\.load"):
        mbssa.check(None)


def test_a_folder_and_a_foreign_ending_are_no_models(tmp_path):
    with refused("file"):
        mbssa.load(tmp_path)
    other = tmp_path / "model.yaml"
    other.write_text("x")
    with refused("file"):
        mbssa.load(other)


def test_a_large_file_is_sent_to_arrays(tmp_path):
    path = tmp_path / "large.toml"
    path.write_bytes(b"#" * 20_000_001)
    with refused("size"):
        mbssa.load(path)


def test_an_output_that_cannot_be_written_is_a_sentence(tmp_path, run_mbssa):
    result = run_mbssa("decompose", "rotor", "--output", str(tmp_path / "no" / "such" / "folder.txt"))
    assert result.exit_code == 2
    assert "there is no folder" in result.stderr


def test_pairs_report_every_row():
    with pytest.raises(mbssa.ModelError) as caught:
        mbssa.from_pairs(
            3,
            [
                (1, 2, "R", 2),
                (2, 4, "Q", 0),
                (3, 3, "P", 0),
                (2, "x", "R", 0),
                (1, 0, "R", 0),
                "R",
                (1, 2),
                5,
            ],
            "planar",
        )
    assert codes(caught.value.faults) == [
        "value at pair 1 (1, 2)",
        "unknown at pair 2 (2, 4)",
        "value at pair 4 (2, x)",
        "unknown at pair 5 (1, 0)",
        "value at pair 6",
        "value at pair 7",
        "value at pair 8",
        "unknown at pair 2 (2, 4)",
        "structure at pair 3 (3, 3)",
    ]


def test_pairs_as_arrays_report_the_same(np):
    with pytest.raises(mbssa.ModelError) as caught:
        mbssa.from_pairs(
            3,
            (np.array([1, 2, 3]), np.array([2, 4, 3]), np.array(["R", "Q", "R"]), np.array([2, 0, 0])),
            "planar",
        )
    assert codes(caught.value.faults) == [
        "value at pair 1 (1, 2)",
        "unknown at pair 2 (2, 4)",
        "unknown at pair 2 (2, 4)",
        "structure at pair 3 (3, 3)",
    ]
    with refused("conflict"):
        mbssa.from_pairs(3, (np.array([1, 2]), np.array([2]), np.array(["R"] * 3), 0), "planar")
    with pytest.raises(mbssa.ModelError, match="integer arrays"):
        mbssa.from_pairs(3, (np.array([1.0]), np.array([2]), "R", 0), "planar")


@pytest.mark.parametrize(("bodies", "pairs"), [("4", []), (None, []), (4.0, []), (4, None), (4, "R")])
def test_pairs_of_other_types_are_refused_by_name(bodies, pairs):
    place = "pairs" if bodies == 4 and not isinstance(bodies, float) else "bodies"
    with refused(f"value at {place}"):
        mbssa.from_pairs(bodies, pairs, "planar")


def test_pairs_need_a_space_and_bodies():
    with refused("value at space"):
        mbssa.from_pairs(2, [(1, 2, "R", 1)], "flat")
    with refused("structure"):
        mbssa.from_pairs(1, [(1, 1, "R", 1)], "planar")
    with refused("structure"):
        mbssa.from_pairs(2, [], "planar")
    with refused("duplicate at bodies"):
        mbssa.from_pairs(["frame", "a", "a"], [(1, 2, "R", 1), (2, 3, "R", 1)], "planar")


FOUR_BAR = [["-", "R", "-", "P"], ["R", "-", "S", "-"], ["-", "S", "-", "C"], ["P", "-", "C", "-"]]
INPUTS = [[0, 1, 0, 0], [1, 0, 0, 0], [0, 0, 0, 0], [0, 0, 0, 0]]


def change(matrix, **cells):
    copy = [list(row) for row in matrix]
    for cell, value in cells.items():
        copy[int(cell[1])][int(cell[2])] = value
    return copy


def test_bad_adjacency_matrices():
    for matrix, inputs, problem, expected in [
        (change(FOUR_BAR, c01="P"), INPUTS, 6, ["conflict at M(1,2)"]),
        (change(FOUR_BAR, c01="X", c10="X"), INPUTS, 6, ["unknown at M(1,2)"]),
        (change(FOUR_BAR, c22="R"), INPUTS, 6, ["structure at M(3,3)"]),
        (FOUR_BAR[:3], INPUTS, 6, [*(f"value at M row {r}" for r in (1, 2, 3)), "value at KnownInputs"]),
        (FOUR_BAR, INPUTS[:3], 6, ["value at KnownInputs"]),
        (FOUR_BAR, change(INPUTS, c10=0), 6, ["conflict at KnownInputs(1,2)"]),
        (FOUR_BAR, change(INPUTS, c01=2, c10=2), 6, ["value at KnownInputs(1,2)"]),
        (FOUR_BAR, change(INPUTS, c02=1, c20=1), 6, ["conflict at KnownInputs(1,3)"]),
        (FOUR_BAR, change(INPUTS, c11=1), 6, ["value at KnownInputs(2,2)"]),
        (FOUR_BAR, INPUTS, 4, ["value at ProblemType"]),
        (FOUR_BAR, INPUTS, 3, ["unknown at M(2,3)", "unknown at M(3,4)"]),
        ([], [], 6, ["structure at M", "value at KnownInputs"]),
        (FOUR_BAR, 5, 6, ["value at KnownInputs"]),
        (FOUR_BAR, [0, 0, 0, 0], 6, [f"value at KnownInputs row {r}" for r in (1, 2, 3, 4)]),
        (FOUR_BAR, change(INPUTS, c11=[0, 0]), 6, ["value at KnownInputs"]),
        (FOUR_BAR, [[[known] for known in row] for row in INPUTS], 6, ["value at KnownInputs"]),
    ]:
        with refused(*expected):
            mbssa.from_adjacency(matrix, inputs, problem)


def test_the_message_counts_what_it_does_not_list():
    pairs = [(1, 2, "Q", 0)] * 80
    with pytest.raises(mbssa.ModelError, match=r"80 faults(.|\n)*… and 30 more"):
        mbssa.from_pairs(2, pairs, "planar")


def test_unknown_options_exit_2(run_mbssa):
    assert run_mbssa("decompose", "rotor", "--method", "guess").exit_code == 2
    assert run_mbssa("decompose", "rotor", "--format", "pdf").exit_code == 2
    assert run_mbssa("decompose").exit_code == 2
    assert run_mbssa("frobnicate").exit_code == 2
    with pytest.raises(ValueError, match="'matching' or 'exhaustive'"):
        mbssa.decompose(mbssa.load("rotor"), method="guess")


def test_as_a_process_too(tmp_path):
    """The same through the real command: nothing on standard output, one message on standard error."""
    path = tmp_path / "rubbish.toml"
    path.write_bytes(bytes(range(256)))
    done = subprocess.run(
        [sys.executable, "-m", "mbssa.cli", "decompose", str(path)],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 2
    assert done.stdout == ""
    assert done.stderr.startswith(f"error: {path}")
    assert "Traceback" not in done.stderr


PIN = """
format = 1
space = "planar"
bodies = 2
[[joint]]
bodies = [1, 2]
type = "R"
point = [0.0, 0.0]
driven = true
"""


def test_one_mistake_is_one_fault_with_its_remedy():
    for old, new, fault in [
        ('space = "planar"', 'space = "planer"', "space: is 'planer'; write 'planar' or 'spatial'"),
        ('space = "planar"', "space = 2", "space: is 2; write 'planar' or 'spatial'"),
        ('space = "planar"', 'spcae = "planar"', "spcae: unknown key; did you mean 'space'?"),
        (
            "bodies = [1, 2]",
            "bodeis = [1, 2]",
            "[[joint]] 1 (1, 2) bodeis: unknown key; did you mean 'bodies'?",
        ),
        (
            "driven = true",
            '[motion]\nduration = 1.0\n[motion.inputs]\n"1-2.angle" = { law = "speed", rate = 1.0 }',
            '[motion] 1-2.angle: is not driven; write driven = ["angle"] at joint 1-2, or leave the law out',
        ),
    ]:
        assert mbssa.load(PIN).n_joints == 1, new
        with pytest.raises(mbssa.ModelError) as caught:
            mbssa.load(PIN.replace(old, new))
        (only,) = caught.value.faults
        assert str(only).startswith(fault), new


def test_a_mechanism_is_not_written_over_a_file(tmp_path):
    path = tmp_path / "pin.toml"
    mbssa.save(mbssa.load(PIN), path)
    path.write_text(before := path.read_text() + "# mine\n")
    with pytest.raises(FileExistsError, match="force=True"):
        mbssa.save(mbssa.load(PIN), path)
    assert path.read_text() == before
    mbssa.save(mbssa.load(PIN), path, force=True)
    assert "# mine" not in path.read_text()


def test_one_is_singular():
    mechanism = mbssa.load(PIN)
    assert repr(mechanism).endswith("2 bodies with the frame, 1 joint, 1 driven coordinate>")
    assert "2 bodies with the frame, 1 joint; mobility 1" in str(mbssa.decompose(mechanism))
