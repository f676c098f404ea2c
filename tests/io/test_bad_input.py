"""Every bad input: one message, all faults, the place and what to write instead."""

import subprocess
import sys

import pytest

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
    return [str(fault) for fault in caught.value.faults]


BAD = {
    "unknown type": (
        HEAD + 'bodies = 2\n[[joint]]\nbodies = [1, 2]\ntype = "RR"\n',
        "[[joint]] 1 (1, 2) type: 'RR'",
        "'R'",
    ),
    "spatial type": (
        HEAD + 'bodies = 2\n[[joint]]\nbodies = [1, 2]\ntype = "S"\n',
        "type",
        "only in spatial",
    ),
    "missing body": (
        HEAD + 'bodies = 2\n[[joint]]\nbodies = [1, 3]\ntype = "R"\n',
        "body 3",
        "1 (frame) to 2",
    ),
    "body zero": (HEAD + 'bodies = 2\n[[joint]]\nbodies = [0, 2]\ntype = "R"\n', "body 0", "1 (frame) to 2"),
    "unknown name": (
        HEAD + '[[body]]\nname = "crank"\n[[joint]]\nbodies = ["frame", "crnk"]\ntype = "R"\n',
        "'crnk'",
        "'crank'",
    ),
    "driven beyond grade": (
        HEAD + 'bodies = 2\n[[joint]]\nbodies = [1, 2]\ntype = "R"\ndriven = 2\n',
        "driven",
        "write 0 to 1",
    ),
    "negative driven": (
        HEAD + 'bodies = 2\n[[joint]]\nbodies = [1, 2]\ntype = "R"\ndriven = -1\n',
        "driven",
        "write 0 to 1",
    ),
    "unknown coordinate": (
        HEAD + 'bodies = 2\n[[joint]]\nbodies = [1, 2]\ntype = "R"\ndriven = ["slide"]\n',
        "'slide'",
        "'angle'",
    ),
    "driven twice": (
        HEAD + 'bodies = 2\n[[joint]]\nbodies = [1, 2]\ntype = "R"\ndriven = ["angle", "angle"]\n',
        "driven twice",
        "angle",
    ),
    "joined to itself": (
        HEAD + 'bodies = 2\n[[joint]]\nbodies = [2, 2]\ntype = "R"\n' + CRANK,
        "[[joint]] 1 (2, 2)",
        "itself",
    ),
    "not connected": (
        HEAD + 'bodies = 4\n[[joint]]\nbodies = [3, 4]\ntype = "R"\n' + CRANK,
        "3, 4",
        "not connected to the frame",
    ),
    "no joint": (HEAD + "bodies = 2\n", "no joint", "at least one"),
    "no body": (HEAD + CRANK, "body", "[[body]]"),
    "nothing at all": ("", "format", "format = 1"),
    "only the frame": (HEAD + "bodies = 1\n" + CRANK, "bodies", "2 or more"),
    "nan": (
        HEAD + "bodies = 2\n" + CRANK + "point = [nan, 0]\n",
        "[[joint]] 1 (1, 2) point[1]",
        "finite",
    ),
    "infinite": (HEAD + "bodies = 2\n" + CRANK + "point = [0, inf]\n", "point[2]", "finite"),
    "zero axis": (
        HEAD + 'bodies = 2\n[[joint]]\nbodies = [1, 2]\ntype = "P"\naxis = [0, 0.0]\n',
        "axis",
        "zero vector",
    ),
    "wrong dimension": (HEAD + "bodies = 2\n" + CRANK + "point = [1, 2, 3]\n", "point", "has 2"),
    "unread field": (HEAD + "bodies = 2\n" + CRANK + "pitch = 1.0\n", "pitch", "it takes point"),
    "missing field": (
        HEAD + 'bodies = 2\n[[joint]]\nbodies = [1, 2]\ntype = "SLOT"\npoint = [0, 0]\n',
        "axis",
        "is missing",
    ),
    "unknown key": (HEAD + "bodies = 2\n" + CRANK + "lenght = 1\n", "lenght", "did you mean 'length'"),
    "wrong version": ('format = 2\nspace = "planar"\nbodies = 2\n' + CRANK, "format", "write 1"),
    "wrong space": ('format = 1\nspace = "3D"\nbodies = 2\n' + CRANK, "space", "'spatial'"),
    "text for a number": (HEAD + "bodies = 2\n" + CRANK + 'length = "1"\n', "length", "a number"),
    "joint is no table": (HEAD + "bodies = 2\njoint = [3]\n", "[[joint]] 1", "a table"),
    "repeated name": (
        HEAD + '[[body]]\nname = "a"\n[[body]]\nname = "a"\n' + CRANK,
        "'a'",
        "name of its own",
    ),
    "name frame": (HEAD + '[[body]]\nname = "frame"\n' + CRANK, "'frame'", "name of its own"),
    "name is another number": (HEAD + '[[body]]\nname = "3"\n' + CRANK, "this is body 2", "letters"),
    "repeated id": (
        HEAD + "bodies = 2\n" + CRANK + 'id = "a"\n[[joint]]\nbodies = [1, 2]\ntype = "R"\nid = "a"\n',
        "'a'",
        "unique",
    ),
    "id takes another's default": (
        HEAD + "bodies = 2\n" + CRANK + '[[joint]]\nbodies = [1, 2]\ntype = "R"\nid = "1-2"\n',
        "'1-2'",
        "unique",
    ),
    "bodies twice": (HEAD + 'bodies = 2\n[[body]]\nname = "a"\n' + CRANK, "bodies", "not both"),
    "limits upside down": (
        HEAD + "bodies = 2\n" + CRANK + "limits = { angle = [1, 0] }\n",
        "limits.angle",
        "lowest",
    ),
    "limits of nothing": (
        HEAD + "bodies = 2\n" + CRANK + "limits = { slide = [0, 1] }\n",
        "limits.slide",
        "'angle'",
    ),
    "three bodies in a slot": (
        HEAD + 'bodies = 3\n[[joint]]\nbodies = [1, 2, 3]\ntype = "SLOT"\n',
        "3 bodies",
        "one joint per pair",
    ),
    "which pair is driven": (
        HEAD + 'bodies = 3\n[[joint]]\nbodies = [1, 2, 3]\ntype = "R"\ndriven = 1\n',
        "driven",
        "driven_pairs",
    ),
    "driven pairs in a ring": (
        HEAD + 'bodies = 3\n[[joint]]\nbodies = [1, 2, 3]\ntype = "R"\n'
        "driven_pairs = [[1, 2], [2, 3], [3, 1]]\n",
        "driven_pairs",
        "one fewer",
    ),
    "driven pair of another body": (
        HEAD + 'bodies = 4\n[[joint]]\nbodies = [1, 2, 3]\ntype = "R"\ndriven_pairs = [[1, 4]]\n',
        "driven_pairs",
        "no pair of two",
    ),
    "driven pairs of two bodies": (
        HEAD + 'bodies = 2\n[[joint]]\nbodies = [1, 2]\ntype = "R"\ndriven_pairs = [[1, 2]]\n',
        "driven_pairs",
        "write driven",
    ),
    "rod without length": (
        HEAD + 'bodies = 2\n[[joint]]\nbodies = [1, 2]\ntype = "ROD"\npoints = [[0, 0], [0, 0]]\n',
        "points",
        "coincide",
    ),
    "a distance of nothing": (
        HEAD + 'bodies = 2\n[[joint]]\nbodies = [1, 2]\ntype = "DIST"\npoints = [[1, 0], [1, 0]]\n',
        "points",
        "coincide",
    ),
    "a distance said twice": (
        HEAD + 'bodies = 2\n[[joint]]\nbodies = [1, 2]\ntype = "DIST"\npoints = [[1, 0], [2, 0]]\n'
        "at_reference = { distance = 1 }\n",
        "at_reference.distance",
        "leave it out",
    ),
    "motion of another coordinate": (
        TURNING + '"1-2.angel" = { law = "constant" }\n',
        "[motion] 1-2.angel",
        "did you mean '1-2.angle'",
    ),
    "motion without a law": (TURNING, "[motion] 1-2.angle: has no law", '{ law = "constant" }'),
    "no law": (TURNING + '"1-2.angle" = { rate = 1 }\n', "[motion] 1-2.angle: has no law", "one of constant"),
    "unknown law": (
        TURNING + '"1-2.angle" = { law = "sped" }\n',
        "[motion] 1-2.angle: 'sped' is not a law",
        "'speed'",
    ),
    "law is a number": (TURNING + '"1-2.angle" = 3\n', "[motion] 1-2.angle: is 3", "write a table"),
    "law without its rate": (
        TURNING + '"1-2.angle" = { law = "speed" }\n',
        "[motion] 1-2.angle rate: is missing",
        "write rate",
    ),
    "unknown parameter": (
        TURNING + '"1-2.angle" = { law = "speed", rate = 1, strat = 2 }\n',
        "[motion] 1-2.angle strat",
        "'start'",
    ),
    "law that is not finite": (
        TURNING + '"1-2.angle" = { law = "speed", rate = nan }\n',
        "[motion] 1-2.angle rate: is nan",
        "finite number",
    ),
    "times that fall": (
        TURNING + '"1-2.angle" = { law = "spline", times = [0, 1, 0.5], values = [0, 1, 2] }\n',
        "[motion] 1-2.angle times[3]: 0.5 follows 1.0",
        "increasing",
    ),
    "times that repeat": (
        TURNING + '"1-2.angle" = { law = "spline", times = [0, 0, 2], values = [0, 1, 2] }\n',
        "[motion] 1-2.angle times[2]: 0.0 follows 0.0",
        "increasing",
    ),
    "one point": (
        TURNING + '"1-2.angle" = { law = "spline", times = [0], values = [0] }\n',
        "[motion] 1-2.angle times",
        "at least 2",
    ),
    "as many values as not times": (
        TURNING + '"1-2.angle" = { law = "spline", times = [0, 2], values = [0, 1, 2] }\n',
        "[motion] 1-2.angle values",
        "3 numbers for 2 times",
    ),
    "spline that ends too early": (
        TURNING + '"1-2.angle" = { law = "spline", times = [0, 0.5], values = [0, 1] }\n',
        "[motion] 1-2.angle times",
        "lasts from 0 to 1.0 s",
    ),
    "ramp after the end": (
        TURNING + '"1-2.angle" = { law = "ramp", end = 1, begin = 2 }\n',
        "[motion] 1-2.angle begin",
        "ends at 1.0 s",
    ),
    "no duration": (
        TURNING.replace("[motion.inputs]", "duration = 0\n[motion.inputs]")
        + '"1-2.angle" = { law = "constant" }\n',
        "[motion] duration: is 0",
        "1e-09 or more",
    ),
    "no instants": (
        TURNING.replace("[motion.inputs]", "steps = 0\n[motion.inputs]")
        + '"1-2.angle" = { law = "constant" }\n',
        "[motion] steps: is 0",
        "1 or more",
    ),
    "motion is a number": (HEAD + "bodies = 2\nmotion = 3\n" + CRANK, "[motion]: is 3", "write a table"),
    "parallel axes": (
        'format = 1\nspace = "spatial"\nbodies = 2\n[[joint]]\nbodies = [1, 2]\ntype = "U"\n'
        "point = [0, 0, 0]\naxes = [[0, 0, 1], [0, 0, -2]]\n",
        "axes",
        "parallel",
    ),
    "frames and point": (
        HEAD
        + "bodies = 2\n"
        + CRANK
        + "point = [0, 0]\nframes = [{ origin = [0, 0] }, { origin = [0, 0] }]\n",
        "point",
        "one or the other",
    ),
    "more bodies than could be connected": (
        HEAD + "bodies = 999999999999\n" + CRANK,
        "bodies",
        "connect at most 2",
    ),
    "frames and at_reference": (
        HEAD
        + "bodies = 2\n"
        + CRANK
        + "frames = [{ origin = [0, 0] }, { origin = [0, 0] }]\nat_reference = { angle = 1.0 }\n",
        "at_reference",
        "leave it out",
    ),
    "a body twice on a pin": (
        HEAD + 'bodies = 3\n[[joint]]\nbodies = [1, 2, 2]\ntype = "R"\n',
        "bodies",
        "names a body twice",
    ),
    "an axis out of all proportion": (
        HEAD + 'bodies = 2\n[[joint]]\nbodies = [1, 2]\ntype = "P"\naxis = [1e200, 0]\n',
        "axis",
        "numbers near 1",
    ),
    "more bodies than any array": (HEAD + "bodies = 99999999999999999999\n" + CRANK, "bodies", "at most 2"),
    "nested without end": ("x = " + "[" * 5000, "TOML", "deeply"),
    "quaternion of no rotation": (
        'format = 1\nspace = "spatial"\n[[body]]\norientation = [1, 1, 0, 0]\n[[joint]]\n'
        'bodies = [1, 2]\ntype = "R"\n',
        "orientation",
        "unit quaternion",
    ),
    "syntax": (HEAD + "bodies = = 2\n", "TOML", "line 3"),
    "not text": (b"\x80\x03}q\x00\xff", "line 1", "not UTF-8"),
    "control bytes": (b"\x00\x01\x02\x03", "TOML", "line 1"),
    "bodies as list": (HEAD + "bodies = [1, 2]\n" + CRANK, "bodies", "whole number"),
    "body as fraction": (
        HEAD + 'bodies = 2\n[[joint]]\nbodies = [1, 1.5]\ntype = "R"\n',
        "bodies[2]",
        "whole number or a text",
    ),
}


@pytest.mark.parametrize("case", BAD)
def test_bad_file_is_told_where_and_what_instead(case, tmp_path):
    text, where, instead = BAD[case]
    faults = faults_of(tmp_path, text)
    assert any(where in fault and instead in fault for fault in faults), faults


@pytest.mark.parametrize("case", BAD)
def test_the_command_line_prints_no_traceback_and_exits_2(case, tmp_path, run_mbssa):
    text = BAD[case][0]
    path = tmp_path / "model.toml"
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    result = run_mbssa("decompose", str(path), "--output", str(tmp_path / "answer.txt"))
    assert result.exit_code == 2
    assert str(path) in result.stderr
    assert "Traceback" not in result.stderr
    assert result.stdout == ""
    assert [entry.name for entry in tmp_path.iterdir()] == ["model.toml"]


def test_all_faults_of_shape_and_meaning_come_at_once(tmp_path):
    faults = faults_of(
        tmp_path,
        'format = 1\nspace = "planar"\ntitel = "x"\nbodies = 4\n'
        '[[joint]]\nbodies = [1, 2]\ntype = "Q"\n'
        '[[joint]]\nbodies = [2, 9]\ntype = "R"\ndriven = 4\n'
        '[[joint]]\nbodies = [3, 3]\ntype = "R"\npoint = [0, 0]\naxis = [0, 1]\n'
        '[[joint]]\nbodies = [1.5, 4]\ntype = "R"\npoint = [0, nan]\n',
    )
    for expected in ("titel", "'Q'", "body 9", "driven", "itself", "axis", "bodies[1]", "point[2]"):
        assert any(expected in fault for fault in faults), (expected, faults)
    assert len(faults) == 8


def test_all_faults_of_a_motion_come_at_once_with_those_of_the_mechanism(tmp_path):
    faults = faults_of(
        tmp_path,
        HEAD + "bodies = 3\n" + CRANK + '[[joint]]\nbodies = [2, 3]\ntype = "R"\ndriven = true\npoint = [1]\n'
        "[motion]\nstps = 3\nduration = -1\n[motion.inputs]\n"
        '"1-2.angle" = { law = "speed", rte = 1 }\n"2-3.slide" = { law = "ramp", end = inf }\n',
    )
    for expected in ("point", "stps", "duration", "1-2.angle rte", "2-3.slide end"):
        assert any(expected in fault for fault in faults), (expected, faults)
    assert any("2-3.slide: is not driven" in fault for fault in faults)
    assert any("2-3.angle: has no law" in fault for fault in faults)
    assert len(faults) == 7


@pytest.mark.parametrize(
    ("kind", "given", "says"),
    [
        (
            "L",
            "points = [[0, 0], [0, 1]]\naxes = [[1, 0], [1, 0]]",
            "; an L needs it: the cam's curve",
        ),
        ("EO", "points = [[0, 0], [0, 1]]", "; an EO needs it: gears: radius of the second"),
        ("RP", "point = [0, 0]\naxis = [1, 0]", "; an RP needs it: of the sphere"),
        ("USER", 'unit = "m"', '; a USER needs it: "module:name"'),
        ("ROD", "pitch = 1.0", "a ROD does not read it"),
    ],
)
def test_types_have_their_article_and_what_they_miss_is_said_once(kind, given, says, tmp_path):
    text = f'{HEAD}bodies = 2\n[[joint]]\nbodies = [1, 2]\ntype = "{kind}"\n{given}\n'
    assert any(says in fault for fault in faults_of(tmp_path, text))


def test_a_wrong_entry_does_not_raise_faults_of_its_own(tmp_path):
    """One slip, one fault: what could not be read is left out of the other checks."""
    faults = faults_of(
        tmp_path,
        HEAD + 'bodies = 3\n[[joint]]\nbodies = [1, "two"]\ntype = 5\n' + CRANK,
    )
    assert len(faults) == 1
    assert "type" in faults[0]


@pytest.mark.parametrize(
    ("name", "says"),
    [
        ("rotr", "did you mean rotor"),
        ("assur:IV-2", "assur:CLASS-COUNT"),
        ("assur:I-0", "assur:CLASS-COUNT"),
        ("nowhere.toml", "No such file"),
        ("", "neither a file"),
    ],
)
def test_unknown_models_are_told_the_names(name, says, run_mbssa):
    result = run_mbssa("decompose", name)
    assert result.exit_code == 2
    assert says in result.stderr


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
    with pytest.raises(mbssa.ModelError, match="folder"):
        mbssa.load(tmp_path)
    other = tmp_path / "model.yaml"
    other.write_text("x")
    with pytest.raises(mbssa.ModelError, match="yaml"):
        mbssa.load(other)


def test_a_large_file_is_sent_to_arrays(tmp_path):
    path = tmp_path / "large.toml"
    path.write_bytes(b"#" * 20_000_001)
    with pytest.raises(mbssa.ModelError, match="arrays"):
        mbssa.load(path)


def test_an_output_that_cannot_be_written_is_a_sentence(tmp_path, run_mbssa):
    result = run_mbssa("decompose", "rotor", "--output", str(tmp_path / "no" / "such" / "folder.txt"))
    assert result.exit_code == 2
    assert "there is no folder" in result.stderr


def test_pairs_report_every_row():
    with pytest.raises(mbssa.ModelError) as caught:
        mbssa.from_pairs(
            3,
            [(1, 2, "R", 2), (2, 4, "Q", 0), (3, 3, "P", 0), (2, "x", "R", 0), (1, 0, "R", 0), "R", (1, 2)],
            "planar",
        )
    faults = [str(fault) for fault in caught.value.faults]
    for expected in (
        "write 0 to 1",
        "'Q'",
        "body 4",
        "itself",
        "'x'",
        "body 0",
        "'R' is not (i",
        "(1, 2) is not (i",
    ):
        assert any(expected in fault for fault in faults), (expected, faults)


def test_pairs_as_arrays_report_the_same(np):
    with pytest.raises(mbssa.ModelError) as caught:
        mbssa.from_pairs(
            3,
            (np.array([1, 2, 3]), np.array([2, 4, 3]), np.array(["R", "Q", "R"]), np.array([2, 0, 0])),
            "planar",
        )
    faults = [str(fault) for fault in caught.value.faults]
    for expected in ("write 0 to 1", "'Q'", "body 4", "itself"):
        assert any(expected in fault for fault in faults), (expected, faults)
    with pytest.raises(mbssa.ModelError, match="different lengths"):
        mbssa.from_pairs(3, (np.array([1, 2]), np.array([2]), np.array(["R"] * 3), 0), "planar")
    with pytest.raises(mbssa.ModelError, match="integer arrays"):
        mbssa.from_pairs(3, (np.array([1.0]), np.array([2]), "R", 0), "planar")


def test_pairs_need_a_space_and_bodies():
    with pytest.raises(mbssa.ModelError, match="'planar' or 'spatial'"):
        mbssa.from_pairs(2, [(1, 2, "R", 1)], "flat")
    with pytest.raises(mbssa.ModelError, match="no movable body"):
        mbssa.from_pairs(1, [(1, 1, "R", 1)], "planar")
    with pytest.raises(mbssa.ModelError, match="no joint"):
        mbssa.from_pairs(2, [], "planar")
    with pytest.raises(mbssa.ModelError, match="repeated"):
        mbssa.from_pairs(["frame", "a", "a"], [(1, 2, "R", 1), (2, 3, "R", 1)], "planar")


FOUR_BAR = [["-", "R", "-", "P"], ["R", "-", "S", "-"], ["-", "S", "-", "C"], ["P", "-", "C", "-"]]
INPUTS = [[0, 1, 0, 0], [1, 0, 0, 0], [0, 0, 0, 0], [0, 0, 0, 0]]


def change(matrix, **cells):
    copy = [list(row) for row in matrix]
    for cell, value in cells.items():
        copy[int(cell[1])][int(cell[2])] = value
    return copy


@pytest.mark.parametrize(
    ("matrix", "inputs", "problem", "says"),
    [
        (change(FOUR_BAR, c01="P"), INPUTS, 6, r"M\(1,2\): 'P', but M\(2,1\) is 'R'"),
        (change(FOUR_BAR, c01="X", c10="X"), INPUTS, 6, "'X' is not a joint type"),
        (change(FOUR_BAR, c22="R"), INPUTS, 6, r"M\(3,3\).*itself"),
        (FOUR_BAR[:3], INPUTS, 6, "square"),
        (FOUR_BAR, INPUTS[:3], 6, "shape"),
        (FOUR_BAR, change(INPUTS, c10=0), 6, r"KnownInputs\(1,2\).*symmetric"),
        (FOUR_BAR, change(INPUTS, c01=2, c10=2), 6, "write 0 to 1"),
        (FOUR_BAR, change(INPUTS, c02=1, c20=1), 6, "form no pair"),
        (FOUR_BAR, change(INPUTS, c11=1), 6, r"KnownInputs\(2,2\)"),
        (FOUR_BAR, INPUTS, 4, "ProblemType"),
        (FOUR_BAR, INPUTS, 3, "only in spatial"),
        ([], [], 6, "no movable body"),
    ],
)
def test_bad_adjacency_matrices(matrix, inputs, problem, says):
    with pytest.raises(mbssa.ModelError, match=says):
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


@pytest.mark.parametrize(
    ("old", "new", "fault"),
    [
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
    ],
)
def test_one_mistake_is_one_fault_with_its_remedy(old, new, fault):
    assert mbssa.load(PIN).n_joints == 1
    with pytest.raises(mbssa.ModelError) as caught:
        mbssa.load(PIN.replace(old, new))
    (only,) = caught.value.faults
    assert str(only).startswith(fault)


def test_a_mechanism_is_not_written_over_a_file(tmp_path):
    path = tmp_path / "pin.toml"
    mbssa.save(mbssa.load(PIN), path)
    path.write_text(before := path.read_text() + "# mine\n")
    with pytest.raises(FileExistsError, match="exists; write force=True to replace it"):
        mbssa.save(mbssa.load(PIN), path)
    assert path.read_text() == before
    mbssa.save(mbssa.load(PIN), path, force=True)
    assert "# mine" not in path.read_text()


def test_one_is_singular():
    mechanism = mbssa.load(PIN)
    assert repr(mechanism).endswith("2 bodies with the frame, 1 joint, 1 driven coordinate>")
    assert "2 bodies with the frame, 1 joint; mobility 1" in str(mbssa.decompose(mechanism))
