"""mbssa solve and mbssa solvers through other inputs: the same answers, the record, and what is refused."""

import json

import numpy as np
import pytest
from random_mechanisms import distance

import groups
import mbssa

#: Models, the inputs that are borrowed, and how many of them are unknown.
THROUGH = {
    "triad": ("1-5.angle", 1),
    "rotor": ("1-2.slide,1-13.slide,13-15.angle", 2),
    "stewart": (",".join(f"1-14.{c}" for c in ("x", "y", "z", "angle_x", "angle_y", "angle_z")), 6),
}


def direct(name, steps, duration=None):
    mechanism = mbssa.load(name)
    return groups.build(mbssa.decompose(mechanism)).solve(
        groups.default_motion(mechanism, steps=steps, duration=duration)
    )


@pytest.fixture
def solved(run_mbssa, tmp_path):
    """Solve through other inputs: what was printed as JSON, and the trajectory."""

    def run(name, through, *more):
        path = tmp_path / "through.npz"
        done = run_mbssa("solve", name, "--through", through, "-f", "json", "-o", str(path), "--force", *more)
        assert done.exit_code in (0, 1), done.stderr
        return json.loads(done.stdout), groups.load_trajectory(path)

    return run


# --- answers ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", THROUGH)
def test_the_answer_is_that_of_the_model_as_it_is_driven(name, solved):
    through, unknowns = THROUGH[name]
    record, trajectory = solved(name, through, "--steps", "61")
    assert max(distance(trajectory, direct(name, 61))) < 1e-9
    assert record["ok"]
    assert record["borrowed"]["inputs"] == through.split(",")
    assert len(record["borrowed"]["unknowns"]) == unknowns
    assert record["borrowed"]["chosen"] == "user"
    assert record["fallback"] == []
    driven = [row["name"] for row in record["inputs"]]
    assert driven == list(groups.driven_coordinates(mbssa.load(name)))


def test_the_page_says_by_which_inputs_and_by_whose_choice(run_mbssa):
    done = run_mbssa("solve", "triad", "--through", "1-5", "--steps", "21")
    assert done.exit_code == 0
    for text in ("RRR dyad", "1-5.angle", "1 unknown", "1-2.angle", "every group was solved"):
        assert text in done.stdout, done.stdout
    assert "Newton, 4" not in done.stdout


def test_groups_of_a_choice_are_shown_before_anything_is_solved(run_mbssa):
    done = run_mbssa("solvers", "triad", "--through", "1-5", "-f", "json")
    assert done.exit_code == 0
    rows = json.loads(done.stdout)
    assert [row["type"] for row in rows] == ["1R2D", "3R2D", "3R2D"]
    assert {row["form"] for row in rows} == {"driven", "closed form"}


def test_a_choice_made_automatically_is_repeated_by_its_record(solved):
    record, chosen = solved("triad", "auto", "--steps", "41")
    assert record["borrowed"]["chosen"] == "automatic"
    again, repeated = solved("triad", ",".join(record["borrowed"]["inputs"]), "--steps", "41")
    assert again["borrowed"]["inputs"] == record["borrowed"]["inputs"]
    assert np.array_equal(chosen.position, repeated.position)
    assert np.array_equal(chosen.acceleration, repeated.acceleration)
    assert max(distance(chosen, direct("triad", 41))) < 1e-9


def test_where_the_rocker_turns_back_the_direct_structure_steps_in_and_is_named(run_mbssa, solved, tmp_path):
    """A full turn of the crank comes twice to a pose in line with the rod."""
    turn = tmp_path / "turn.toml"
    turn.write_text(
        'duration = 1\nsteps = 181\n[inputs]\n"1-2.angle" = { law = "speed", rate = 6.283185307179586 }'
    )
    record, trajectory = solved("triad", "1-5", "--motion", str(turn))
    mechanism = mbssa.load("triad")
    whole = groups.build(mbssa.decompose(mechanism)).solve(groups.read_motion(mechanism, turn))
    assert record["ok"]
    assert max(distance(trajectory, whole)) < 1e-9
    crank = whole.body("crank").point((-0.08, 0.06))
    rod = whole.body("rod").point((0.24, 0.66)) - crank
    sine = (crank[:, 0] * rod[:, 1] - crank[:, 1] * rod[:, 0]) / (0.1 * 0.68)
    dead = np.flatnonzero(np.diff(np.sign(sine)))
    assert len(dead) == 2
    assert all({instant, instant + 1} & set(record["fallback"]) for instant in dead.tolist())
    assert np.abs(sine[record["fallback"]]).max() < 0.2
    page = run_mbssa("solve", "triad", "--through", "1-5", "--motion", str(turn))
    assert "solved with the direct structure" in page.stdout


def test_where_its_own_inputs_are_best_nothing_is_borrowed_and_that_is_said(run_mbssa):
    done = run_mbssa("solve", "planar_four_bar", "--through", "auto", "--steps", "5", "-f", "json")
    assert done.exit_code == 0
    record = json.loads(done.stdout)
    assert (record["borrowed"], record["fallback"], record["notes"]) == (None, [], [])
    assert "own are taken" in done.stderr


def test_all_coordinates_of_a_joint_may_be_written_as_one(run_mbssa):
    done = run_mbssa("solvers", "stewart", "--through", "1-14.*", "-f", "json")
    assert [row["type"] for row in json.loads(done.stdout)] == ["1F3D", *["1P1U1S3D"] * 6]


def test_groups_of_the_borrowed_structure_may_have_other_solvers(solved):
    record, trajectory = solved("triad", "1-5", "--solver", "2=Newton", "--steps", "41")
    assert [group["form"] for group in record["groups"]] == ["driven", "Newton", "closed form"]
    assert max(distance(trajectory, direct("triad", 41))) < 1e-9


# --- refusals --------------------------------------------------------------------------------------


#: Arguments of solve, and what is named in the refusal.
REFUSED = [
    (["rotor", "--through", "1-2.slide"], "3"),
    (["triad", "--through", "1-5,1-6"], "1"),
    (["triad", "--through", "1-99.angle"], "1-99"),
    (["rotor", "--through", "1-2.angle,1-99.slide,13-15"], "1-99"),
    (["triad", "--through", ""], "names no coordinate"),
    (["triad", "--through", "auto,1-5"], "auto"),
    (["triad", "--through", "1-5", "--workers", "2"], "--workers"),
    (["triad", "--through", "1-5", "--executor", "threads"], "--executor"),
    (["triad", "--through", "1-5", "--plan", "plan.json"], "--plan"),
    (["triad", "--through", "1-5", "--checkpoint", "folder"], "--checkpoint"),
    (["triad", "--through", "1-5", "--resume"], "--resume"),
]


def test_what_cannot_be_is_refused_before_anything_is_solved(run_mbssa, monkeypatch):
    def solve(*_arguments, **_options):
        pytest.fail("solved before the refusal")

    monkeypatch.setattr(groups.Model, "solve", solve)
    for arguments, said in REFUSED:
        done = run_mbssa("solve", *arguments)
        assert (done.exit_code, done.stdout) == (2, ""), arguments
        assert said in done.stderr, arguments


def test_inputs_that_are_not_valid_say_why(run_mbssa):
    """A leg of the rotor driven beside two that already move its end leaves no rank."""
    done = run_mbssa("solve", "rotor", "--through", "1-2,1-13,1-10.angle_1")
    assert done.exit_code == 2
    assert "1-10.angle_1" in done.stderr or "rank" in done.stderr or "bodies" in done.stderr


def test_solvers_without_a_model_has_no_inputs_to_borrow(run_mbssa):
    done = run_mbssa("solvers", "--through", "auto")
    assert done.exit_code == 2
    assert "--through" in done.stderr


def test_where_nothing_can_be_driven_that_is_said(run_mbssa, tmp_path):
    path = tmp_path / "triangle.toml"
    corners = {"[1, 2]": [0, 0], "[2, 3]": [1, 1], "[1, 3]": [2, 0]}
    joints = [f'[[joint]]\nbodies = {a}\ntype = "R"\npoint = {b}\n' for a, b in corners.items()]
    path.write_text('format = 1\nspace = "planar"\nbodies = 3\n' + "".join(joints))
    done = run_mbssa("solve", str(path), "--through", "auto")
    assert done.exit_code == 2
    assert "triangle: has no free motion" in done.stderr


@pytest.mark.parametrize("what", ["drives", "borrow"])
def test_what_is_no_list_of_names_is_refused(what):
    structure = mbssa.decompose(mbssa.load("planar_four_bar"))
    with pytest.raises(TypeError, match=f"{what} .*Mechanism"):
        groups.build(structure, **{what: structure.mechanism})
    with pytest.raises(ValueError, match=f"{what}: 5"):
        groups.build(structure, **{what: [5]})
