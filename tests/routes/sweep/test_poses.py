"""A pose is the same in any order and beside any others: the one that a motion from the reference ends in."""

from importlib import import_module

import numpy as np
import pytest
from linkages import MOVING_CENTRES
from plans import model_of

import groups
import mbssa
from groups.motion import Motion
from groups.trajectory import PROOF, STATUS
from mbssa.io.toml_file import parse_toml
from routes.sweep import grid, sample, sweep, table
from routes.sweep.poses import solve_poses

#: Models, and how far (m and rad) inputs go from the reference; closed forms by sign, quartics, and Newton.
AWAY = {
    "planar_four_bar": 3.0, "planar_3rrr": 0.25, "theo_jansen": 3.0, "rotor": 0.1, "stewart_inverse": 0.2,
    "suspension": 0.03,
}  # fmt: skip


def spread(model, away, number):
    base = np.array(list(model.reference_inputs.values()))
    return base + away * np.random.default_rng(5).uniform(-1.0, 1.0, (number, len(base)))


@pytest.mark.parametrize("name", AWAY)
def test_a_pose_is_the_same_alone_in_any_order_and_beside_any_others(name):
    model = model_of(name)
    inputs = spread(model, AWAY[name], 8)
    bodies = np.arange(model.mechanism.n_bodies)
    whole = solve_poses(model, inputs, bodies)
    assert (whole.status == 0).all(axis=1).mean() > 0.9
    order = np.random.default_rng(6).permutation(8)
    mixed = solve_poses(model, inputs[order], bodies)
    alone = [solve_poses(model, inputs[k : k + 1], bodies) for k in range(0, 8, 4)]
    assert np.array_equal(mixed.status, whole.status[order])
    assert [one.status[0].tolist() for one in alone] == whole.status[::4].tolist()
    close = {"rtol": 0, "atol": 1e-9, "equal_nan": True}
    assert np.allclose(mixed.position, whole.position[order], **close)
    assert np.allclose([one.position[0] for one in alone], whole.position[::4], **close)


@pytest.mark.parametrize("choice", ["Newton", "global dense"])
def test_every_solver_of_a_group_gives_the_same_poses(tmp_path, choice):
    bar = mbssa.load("planar_four_bar")
    cases = grid({"2-3.point.x+": [0.0, 0.02], "1-2.angle": [0.8, 0.9, 1.1]})
    options = {"record": ["coupler.tracer", "1-4.angle"], "executor": "sequential"}
    one = sweep(bar, cases, store=tmp_path / "default", **options)
    other = groups.build(mbssa.decompose(bar), {2: choice})
    two = sweep(other, cases, store=tmp_path / "other", **options)
    assert one.counts == two.counts == {"ok": 6}
    for name in ("coupler.tracer.x", "coupler.tracer.y", "1-4.angle"):
        assert np.abs(one[name] - two[name]).max() < 1e-9


@pytest.mark.parametrize("name", AWAY)
def test_a_pose_is_where_a_straight_motion_from_the_reference_ends(name):
    model = model_of(name)
    mechanism = model.mechanism
    inputs = spread(model, AWAY[name], 2)
    poses = solve_poses(model, inputs, np.arange(mechanism.n_bodies))
    for case, goal in enumerate(inputs):
        trajectory = model.solve(straight(model, goal, 161))
        if not trajectory.ok:
            continue
        assert not poses.status[case].any()
        assert np.abs(trajectory.position[-1] - poses.position[case]).max() < 1e-8


def hinged(pins):
    """Structure of a planar linkage by its pins, of which the last one is driven."""
    names = sorted({body for pin in pins for body in pin[:2]} - {"frame"})
    bodies = "".join(f'[[body]]\nname = "{name}"\n' for name in names)
    joints = (f'[[joint]]\nbodies = ["{a}", "{b}"]\ntype = "R"\npoint = [{x}, {y}]\n' for a, b, x, y in pins)
    text = f'format = 1\nspace = "planar"\n{bodies}{"".join(joints)}driven = ["angle"]\n'
    return mbssa.decompose(parse_toml(text, "linkage", "linkage"))


#: A crank and seven links whose other end of a turn is another assembly mode.
EIGHT_LINKS = [
    ("b1", "b5", -0.8000180802887669, -0.6069144549676915),
    ("b1", "b7", -0.07716959598248185, 0.6504950837063674),
    ("b2", "b6", 0.6869032725678581, 0.1914650783037306),
    ("b2", "b7", -0.3625321364458651, -0.742303619921524),
    ("b3", "b7", -0.944969067883537, 0.5611645773822584),
    ("b3", "frame", 0.1758121916751434, -0.2284785078465459),
    ("b4", "b7", -0.27273645895299037, 0.07986684999991378),
    ("b4", "frame", -0.16098215741380462, -0.9953624611475513),
    ("b5", "frame", 0.10848731585124205, 0.0026621638493973254),
    ("b6", "frame", -0.6445254331349355, -0.23626602329267232),
]


@pytest.mark.parametrize(("branch", "proof"), [("proven", "proven"), ("checked", "checked")])
def test_a_line_goes_over_whole_turns(tmp_path, branch, proof):
    """The values are of a continuation by steps that is no part of this project."""
    cases = grid({"1-7.angle+": [-6.01424812956567, 0.0]})
    found = sweep(
        hinged(EIGHT_LINKS), cases, record=["2-6.angle"], store=tmp_path, executor="sequential", branch=branch
    )
    assert found.counts == {"ok": 2}
    assert found["2-6.angle"].round(4)[0] == -1.5928
    assert found.proofs == {proof: 2}
    assert found["proof"].tolist() == [proof] * 2


@pytest.mark.parametrize("branch", ["checked", "proven"])
def test_what_fails_on_the_way_is_no_pose_of_the_line(branch):
    """Frame 0.7, links 0.4: the crank cannot turn round, and its end of a turn is where it began."""
    pins = [
        ("coupler", "crank", 0.4, 0.0), ("coupler", "rocker", 0.55, 0.37), ("frame", "rocker", 0.7, 0.0),
        ("crank", "frame", 0.0, 0.0),
    ]  # fmt: skip
    model = groups.build(hinged(pins), {2: "Newton"})
    poses = solve_poses(model, np.array([[0.1], [2 * np.pi]]), np.arange(4), branch=branch)
    assert [STATUS[status] for status in poses.status[:, 1]] == ["ok", "passed a singular position"]
    assert [PROOF[proof] for proof in poses.proof[:, 1]] == [branch, "none"]


def test_turns_of_gears_are_counted_from_the_reference_in_every_case():
    model = groups.build(mbssa.decompose(parse_toml(MOVING_CENTRES, "gear", "gear")))
    start, far = np.array(list(model.reference_inputs.values())), np.array([14.0, -11.0, 9.0])
    share = np.linspace(0.0, 1.0, 401)
    value, rate = start[:, None] + np.outer(far, share), np.repeat(far[:, None], 401, axis=1)
    motion = Motion(share, tuple(model.reference_inputs), value, rate, np.zeros((3, 401)))
    turned = model.solve(motion).orientation[[200, 400]].T
    inputs = np.array([start + 0.5 * far, start + far])
    for order in ([0, 1], [1, 0]):
        poses = solve_poses(model, inputs[order], np.arange(model.mechanism.n_bodies))
        assert not poses.status.any()
        gap = poses.orientation[:, 4] - turned[4][order]
        assert np.abs(np.sin(gap / 2)).max() < 1e-9


@pytest.mark.parametrize("name", ["planar_four_bar", "rotor", "stewart_inverse", "rssr"])
def test_quantities_are_those_of_a_trajectory(name, tmp_path):
    model = model_of(name)
    mechanism = model.mechanism
    motion = groups.default_motion(mechanism, steps=8)
    trajectory = model.solve(motion, level="position")
    assert trajectory.ok
    record = [joint.id for joint in mechanism.joints if joint.type.code != "G"]
    record += [mechanism.body_name(b) for b in range(1, mechanism.n_bodies)]
    record += [
        f"{mechanism.body_name(b)}.{point}"
        for b, geometry in mechanism.body_geometry.items()
        for point in geometry.points
    ]
    cases = table(dict(zip(motion.names, motion.value, strict=True)))
    found = sweep(model, cases, record=record, store=tmp_path, executor="sequential")
    assert found.counts == {"ok": 8}
    coordinates = set()
    for joint in mechanism.joints:
        for coordinate in trajectory.joint(joint.id).names:
            one = trajectory.joint(joint.id)[coordinate]
            gap = found[one.name] - one.value
            assert np.abs(gap).max() < 1e-9, one.name
            coordinates.add(one.name)
    header, columns = trajectory.columns()
    for title, column in zip(header[1:], columns.T[1:], strict=True):
        if title in coordinates or title.endswith((".status", ".residual")):
            continue
        mine = found[title]
        if title.rpartition(".")[2] in ("qw", "qx", "qy", "qz"):
            assert np.abs(np.abs(mine) - np.abs(column)).max() < 1e-9
        elif title.endswith(".angle"):
            assert np.abs(np.sin((mine - column) / 2)).max() < 1e-9
        else:
            assert np.abs(mine - column).max() < 1e-9
    for b, geometry in mechanism.body_geometry.items():
        for point in geometry.points:
            path = trajectory.body(b + 1).point(point)
            for axis, column in zip("xyz", path.T, strict=False):
                assert np.abs(found[f"{mechanism.body_name(b)}.{point}.{axis}"] - column).max() < 1e-9


def straight(model, goal, steps):
    """Motion from the reference straight to a row of inputs."""
    base = np.array(list(model.reference_inputs.values()))
    share, way = np.linspace(0.0, 1.0, steps), goal - base
    rate = np.repeat(way[:, None], steps, axis=1)
    value = base[:, None] + np.outer(way, share)
    return Motion(share, tuple(model.reference_inputs), value, rate, np.zeros_like(rate))


def test_angles_count_their_turns_from_the_reference(tmp_path):
    bar = model_of("planar_four_bar")
    ends = [-40.0, -6.3, 0.6, 3.0, 29.0]
    found = sweep(
        bar, grid({"1-2.angle": ends}), record=["1-4", "2-3", "coupler"], store=tmp_path,
        quantities={"turn": "2 * 2-3.angle"}, limits={"2-3.angle": (-8.0, 8.0), "1-2.angle": (-20.0, 40.0)},
        executor="sequential",
    )  # fmt: skip
    assert found.counts == {"ok": 5}
    for case, end in enumerate(ends):
        trajectory = bar.solve(straight(bar, np.array([end]), 1_001))
        for joint in ("1-4", "2-3"):
            one = trajectory.joint(joint)["angle"].value[-1]
            assert found[f"{joint}.angle"][case] == pytest.approx(one, abs=1e-9)
        coupler = trajectory.body("coupler").orientation
        assert found["coupler.angle"][case] == pytest.approx(coupler[-1], abs=1e-9)
    assert np.allclose(found["turn"], 2 * found["2-3.angle"])
    assert abs(found["2-3.angle"][0]) > 35.0
    assert found["within"].tolist() == [False, True, True, True, False]


#: A body on a turning arm, with cardan angles against the frame: the middle one goes over the gimbal.
GIMBAL = """
format = 1
space = "spatial"
[[body]]
name = "a"
[[body]]
name = "b"
[[joint]]
bodies = ["frame", "a"]
type = "R"
driven = true
point = [0.0, 0.0, 0.0]
axis = [0.0, 1.0, 0.0]
[[joint]]
bodies = ["a", "b"]
type = "R"
driven = true
point = [1.0, 0.0, 0.0]
axis = [0.0, 0.0, 1.0]
[[joint]]
bodies = ["frame", "b"]
type = "F"
"""


def test_cardan_angles_go_on_over_the_gimbal(tmp_path):
    inputs = {"1-2.angle": [1.0, 2.0, 9.0, -5.0], "2-3.angle": [0.3, 0.3, 0.2, 0.1]}
    body = parse_toml(GIMBAL, "gimbal", "gimbal")
    found = sweep(body, table(inputs), record=["1-3"], store=tmp_path, executor="sequential")
    for name, wanted in (("x", [0.0] * 4), ("y", inputs["1-2.angle"]), ("z", inputs["2-3.angle"])):
        assert np.allclose(found[f"1-3.angle_{name}"], wanted, rtol=0, atol=1e-9)


#: A wheel on an arm that a screw turns: its angle is 5 + 20 rad/m of the slide, several turns.
COUPLED = """
format = 1
space = "spatial"
[[body]]
name = "arm"
[[body]]
name = "wheel"
[[joint]]
id = "S"
bodies = ["frame", "arm"]
type = "P"
point = [0.0, 0.0, 0.0]
axis = [1.0, 0.0, 0.0]
driven = true
at_reference = { slide = 0.2 }
[[joint]]
id = "W"
bodies = ["arm", "wheel"]
type = "R"
point = [0.5, 0.2, 0.1]
axis = [0.0, 1.0, 0.0]
[[joint]]
bodies = ["frame", "arm", "wheel"]
type = "COUPLING"
couples = ["S.slide", "W.angle"]
multiplier = 20.0
offset = 5.0
[[body]]
name = "hand"
[[joint]]
id = "H"
bodies = ["arm", "hand"]
type = "R"
point = [0.5, 0.2, 0.1]
axis = [0.0, 1.0, 0.0]
[[joint]]
bodies = ["arm", "wheel", "hand"]
type = "COUPLING"
couples = ["W.angle", "H.angle"]
multiplier = -0.3
"""


def test_coupled_angles_count_their_turns_by_the_coupling(tmp_path):
    model = groups.build(mbssa.decompose(parse_toml(COUPLED, "screw", "screw")))
    cases = grid({"S.slide": [0.2, 0.15, 0.9, -2.0]})
    found = sweep(model, cases, record=["W.angle", "H.angle"], store=tmp_path, executor="sequential")
    assert np.allclose(found["W.angle"], 5.0 + 20.0 * found["S.slide"], rtol=0, atol=1e-9)
    assert np.allclose(found["H.angle"], -0.3 * found["W.angle"], rtol=0, atol=1e-9)
    one = model.solve(straight(model, np.array([0.9]), 11)).joint("W")["angle"].value
    assert np.allclose(one, 5.0 + 20.0 * np.linspace(0.2, 0.9, 11), rtol=0, atol=1e-9)


#: Two wheels on the frame, of which the second turns ten times as fast.
FAST = """
format = 1
space = "planar"
[[body]]
name = "wheel"
[[body]]
name = "other"
[[joint]]
bodies = ["frame", "wheel"]
type = "R"
driven = true
point = [0.0, 0.0]
[[joint]]
bodies = ["frame", "other"]
type = "R"
point = [1.0, 0.2]
[[joint]]
bodies = ["wheel", "other", "frame"]
type = "EO"
points = [[0.0, 0.0], [1.0, 0.2]]
ratio = 0.1
"""


def test_wheels_of_gears_count_their_turns(tmp_path):
    wheels = parse_toml(FAST, "gear", "gear")
    cases = grid({"1-2.angle": [-1.0, 0.1, 1.4, 8.0]})
    found = sweep(wheels, cases, record=["1-3", "other"], store=tmp_path, executor="sequential")
    for name in ("1-3.angle", "other.angle"):
        assert np.allclose(found[name], -10.0 * found["1-2.angle"], rtol=0, atol=1e-9)


def test_failures_have_a_name_and_a_group_and_no_numbers(tmp_path):
    reach = grid({"2-3.slide+": [0.0, 0.05, 5.0]})
    found = sweep(
        mbssa.load("stewart"), reach, record=["platform.centre"], store=tmp_path, executor="sequential",
        branch="checked",
    )  # fmt: skip
    assert found["status"].tolist()[:2] == ["ok", "ok"]
    assert found["status"][2] in ("branch jump", "not converged", "out of reach")
    group = found.table(["group"]).column("group").to_pylist()
    assert group == [None, None, 1]
    assert np.isnan(found["platform.centre.x"]).tolist() == [False, False, True]
    bar = sweep(
        mbssa.load("planar_four_bar"), grid({"3-4.point.x": [0.9, 9.0]}), record=["3-4.angle"],
        motion="own", store=tmp_path / "bar", executor="sequential",
    )  # fmt: skip
    assert bar["status"].tolist() == ["ok", "out of reach"]
    assert bar["solved"][0] == 1.0
    assert 0.0 < bar["solved"][1] < 1.0
    assert np.isnan(bar["failed_at"][0])
    assert bar["failed_at"][1] > 0.0


def test_limits_count_with_their_ends(tmp_path):
    inverse = mbssa.load("stewart_inverse")
    model = groups.build(mbssa.decompose(inverse))
    cases = sample({"1-14.x": (-0.6, 0.6), "1-14.z": (0.6, 1.5)}, 512)
    found = sweep(model, cases, store=tmp_path, executor="sequential")
    slides = np.array([found[name] for name in found.column_names if name.endswith(".slide")])
    assert len(slides) == 6
    assert np.array_equal(found["within"], ((slides >= 0.8) & (slides <= 1.6)).all(axis=0))
    assert 50 < found.within < 500
    room = np.minimum(slides - 0.8, 1.6 - slides).min(axis=0) / 0.4
    assert np.allclose(found["margin"], room, rtol=0, atol=1e-12)
    ends = (float(found["2-3.slide"].min()), float(found["2-3.slide"].max()))
    wide = {name: (0.0, 9.0) for name in found.column_names if name.endswith(".slide")}
    every = sweep(
        model, cases, store=tmp_path / "ends", executor="sequential", limits=wide | {"3-2.slide": ends}
    )
    assert every.within == 512
    assert abs(every["margin"].min()) < 1e-12


EXPRESSIONS = {
    "planar_four_bar": {
        "reach": "distance(coupler.tracer, frame.origin)",
        "tilt": "angle(world.x, coupler.x, world.z)",
        "sum": "1-4.angle - 2 * 2-3.angle + deg(3)",
        "height": "coupler.tracer.y / mm(1)",
    },
    "stewart_inverse": {
        "leg": "2-3.slide^2",
        "lean": "angle(platform.z, world.z)",
        "turn": "angle(world.x, platform.x, platform.z)",
        "still": "norm(cross(world.x, frame.y))",
    },
}


@pytest.mark.parametrize("name", EXPRESSIONS)
def test_expressions_are_those_of_a_trajectory(name, tmp_path):
    model = model_of(name)
    trajectory = model.solve(groups.default_motion(model.mechanism, steps=9), level="position")
    motion = groups.default_motion(model.mechanism, steps=9)
    cases = table(dict(zip(motion.names, motion.value, strict=True)))
    found = sweep(model, cases, quantities=EXPRESSIONS[name], store=tmp_path / "poses", executor="sequential")
    assert found.counts == {"ok": 9}
    whole = sweep(
        model, table({"1-2.point.x+" if name == "planar_four_bar" else "2-3.point.x+": [0.0]}), motion=motion,
        quantities=EXPRESSIONS[name], store=tmp_path / "motion", executor="sequential",
    )  # fmt: skip
    for column, text in EXPRESSIONS[name].items():
        wanted = trajectory.quantity(text)
        gap = found[column] - wanted.value
        if wanted.unit == "rad":
            gap -= 2 * np.pi * np.round(gap / (2 * np.pi))
        assert np.abs(gap).max() < 1e-9, column
        assert found.unit(column) == wanted.unit
        ends = [whole[f"{column}.{end}"][0] for end in ("min", "max", "final")]
        assert np.allclose(ends, [wanted.value.min(), wanted.value.max(), wanted.value[-1]], atol=1e-9)


def test_what_is_wrong_with_expressions_is_said_at_once(tmp_path):
    wrong = {"a": "coupler.tip.x", "b": "crank.x"}
    with pytest.raises(ValueError, match=r"(?s)a=.*no 'coupler.tip.x'.*b=.*vector"):
        sweep(
            model_of("planar_four_bar"), table({"1-2.angle": [1.0]}), quantities=wrong, store=tmp_path / "no"
        )
    with pytest.raises(ValueError, match="quantity status: "):
        sweep(
            model_of("planar_four_bar"),
            table({"1-2.angle": [1.0]}),
            quantities={"status": "pi"},
            store=tmp_path,
        )
    assert not list(tmp_path.iterdir())


def test_poses_many_turns_away_are_followed_in_parts_or_refused(monkeypatch):
    model = model_of("cam_roller")
    inputs = np.array([[1.0], [30.0], [-40.0]]) + model.reference_inputs["1-2.angle"]
    bodies, whole = np.arange(3), solve_poses(model, inputs, np.arange(3))
    assert not whole.status.any()
    for module in ("groups.branches.poses", "routes.sweep.poses"):
        monkeypatch.setattr(import_module(module), "LONGEST", 30)
    parts = solve_poses(model, inputs, bodies)
    assert np.allclose(parts.position, whole.position, rtol=0, atol=1e-12)
    assert np.array_equal(parts.status, whole.status)
    with pytest.raises(ValueError, match="write 47 rad at most"):
        solve_poses(model, inputs + 50.0, bodies)
