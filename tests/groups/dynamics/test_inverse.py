"""Inverse dynamics against formulas, and against one dense system of all bodies."""

import dataclasses

import numpy as np
import pytest
from dense_forces import answer_at, assert_dense, with_masses
from random_mechanisms import CARRIERS, OTHERS, random_mechanism, swing

import groups
import mbssa
from groups.dynamics.inverse import acting_on, solve_backwards
from groups.dynamics.results import results_of
from groups.dynamics.state import State
from mbssa.mechanism import Inertia

MODELS = (
    "planar_four_bar", "theo_jansen", "cam_swing", "planetary", "rotor", "stewart", "bennett", "differential",
    "geneva", "rope_hoist", "kinematic_coupling", "rack_steering", "universal_shafts",
)  # fmt: skip


def solved(mechanism, **motion):
    return groups.build(mbssa.decompose(mechanism)).solve(
        groups.default_motion(mechanism, **motion), compiled=False
    )


@pytest.mark.parametrize("name", MODELS)
def test_groups_agree_with_one_dense_system(name):
    trajectory = solved(with_masses(mbssa.load(name)), steps=3)
    forces = groups.forces(trajectory)
    assert trajectory.ok
    assert forces.ok
    assert_dense(forces)


#: Groups of each type of joint, in the tree and closing.
GROUPS = {
    **{
        name: OTHERS[name]
        for name in (
            "H-U-S",
            "six rods",
            "six lengths",
            "spheres in cylinders",
            "cylinders on planes",
            "slotted cylinder",
            "plane",
        )
    },
    "turned C, U and S": ["a x C angle", "x y U", "y b S"],
    "driven S between": ["a x R", "x y S angle_x angle_y angle_z", "y z R", "z w R", "w b S"],
    "driven F between": ["a x R", "x y F x y z angle_x angle_y angle_z", "y z R", "z w R", "w b S"],
    "driven ER": ["a x ER angle_2", "x y U", "y b S"],
}


@pytest.mark.parametrize("case", GROUPS)
def test_joints_of_each_type_agree_with_one_dense_system(case):
    """Each joint with either of its bodies first."""
    for odd in range(2):
        for seed in range(odd, 80, 2):
            mechanism = with_masses(random_mechanism([*CARRIERS, *GROUPS[case]], seed, offset=0.2))
            model = groups.build(mbssa.decompose(mechanism))
            trajectory = model.solve(swing(model, 0.004, steps=3), compiled=False)
            if trajectory.ok and trajectory.condition.min() > 0.01:
                break
        else:
            raise AssertionError("of 40 random mechanisms none moves well")
        assert_dense(groups.forces(trajectory))


def test_powers_balance_the_change_of_kinetic_energy():
    """By finite differences of fourth order of the energy, which the balance of forces does not use."""
    for name in ("planar_four_bar", "rotor", "stewart", "planetary", "slider_crank"):
        mechanism = with_masses(mbssa.load(name), seed=1)
        whole = groups.default_motion(mechanism, steps=1001)
        near = {
            level: getattr(whole, level)[:, 368:373].copy() for level in ("value", "rate", "acceleration")
        }
        motion = dataclasses.replace(whole, time=whole.time[368:373].copy(), **near)
        trajectory = groups.build(mbssa.decompose(mechanism)).solve(motion, compiled=False)
        assert trajectory.ok, name
        forces = groups.forces(trajectory)
        energy, step = forces.kinetic_energy, motion.time[1] - motion.time[0]
        change = (energy[0] - 8 * energy[1] + 8 * energy[3] - energy[4]) / (12 * step)
        powers = np.concatenate([forces.drive_power[2], forces.gravity_power[2:3]])
        assert change == pytest.approx(powers.sum(), abs=1e-7 * np.abs(powers).max()), name
        assert np.abs(forces.balance).max() < 1e-9 * np.abs(forces.drive_power).max(), name


def pendulum(**keys):
    m = mbssa.Builder("planar").body("arm", inertia={"mass": 2.0, "centre": (0.5, 0.0), "moment": 0.1})
    m.gravity(0.0, -9.81).revolute("frame", "arm", point=(0, 0), driven=True)
    return m.motion({"1-2.angle": {"law": "harmonic", "amplitude": 1.0, "frequency": 0.5}}, **keys)


def test_a_pendulum_by_its_formula():
    trajectory = solved(pendulum(steps=51).build())
    forces = groups.forces(trajectory)
    angle = trajectory.joint("1-2")["angle"]
    q, w, a = angle.value, angle.rate, angle.acceleration
    torque = (0.1 + 2.0 * 0.5**2) * a + 2.0 * 9.81 * 0.5 * np.cos(q)
    np.testing.assert_allclose(forces.driving[:, 0], torque, atol=1e-12)
    np.testing.assert_allclose(forces.drive_power[:, 0], torque * w, atol=1e-12)
    x = 2.0 * 0.5 * (-np.sin(q) * a - np.cos(q) * w**2)
    y = 2.0 * (0.5 * (np.cos(q) * a - np.sin(q) * w**2) + 9.81)
    pin = forces.joint("1-2")
    assert pin.body == "arm"
    np.testing.assert_allclose(pin.force, np.stack([x, y], axis=1), atol=1e-12)
    np.testing.assert_allclose(forces.joint("1-2", on="frame").force, -pin.force, atol=1e-12)
    np.testing.assert_allclose(forces.shaking_force, -pin.force, atol=1e-12)
    np.testing.assert_allclose(forces.shaking_moment, -torque, atol=1e-12)
    energy = 0.5 * (0.1 + 0.5) * w**2
    np.testing.assert_allclose(forces.kinetic_energy, energy, atol=1e-12)


def crank_mechanism():
    """Piston of 1.5 kg on a massless crank and rod: the whole of the textbook's force analysis."""
    piston = {"mass": 1.5, "centre": (0.5, 0.0)}
    m = mbssa.Builder("planar", name="engine").bodies("crank", "rod").body("piston", inertia=piston)
    m.revolute("frame", "crank", point=(0, 0), driven=True)
    m.revolute("crank", "rod", point=(0.1, 0)).revolute("rod", "piston", point=(0.5, 0))
    m.prismatic("frame", "piston", point=(0.5, 0), axis=(1, 0), at_reference={"slide": 0.5})
    return m.motion({"1-2.angle": {"law": "speed", "rate": 100.0}}, duration=0.06, steps=61)


def test_a_slider_crank_by_the_textbook():
    trajectory = solved(crank_mechanism().build())
    r, rod, w, mass = 0.1, 0.4, 100.0, 1.5
    theta = w * trajectory.time
    gas = 2000.0 * (1.0 + np.cos(theta))
    forces = groups.forces(trajectory, applied={"1-4.slide": -gas})
    phi = np.arcsin(r / rod * np.sin(theta))
    rate = r * w * np.cos(theta) / (rod * np.cos(phi))
    second = (-r * w**2 * np.sin(theta) + rod * np.sin(phi) * rate**2) / (rod * np.cos(phi))
    acceleration = -r * w**2 * np.cos(theta) - rod * np.cos(phi) * rate**2 - rod * np.sin(phi) * second
    along = gas + mass * acceleration  # of the rod's force on the piston, towards +x
    side = along * np.tan(phi)
    torque = -along * r * np.sin(theta + phi) / np.cos(phi)
    close = {"rtol": 1e-10, "atol": 1e-8}
    np.testing.assert_allclose(forces.driving[:, 0], torque, **close)
    np.testing.assert_allclose(forces.joint("3-4").force, np.stack([along, -side], axis=1), **close)
    np.testing.assert_allclose(forces.joint("1-4").force, np.stack([0 * side, side], axis=1), **close)
    np.testing.assert_allclose(forces.joint("2-3").force, np.stack([along, -side], axis=1), **close)
    # The gas pushes the frame as hard as the piston: what shakes the frame is the piston's inertia.
    inertia = np.stack([-mass * acceleration, 0 * side], axis=1)
    np.testing.assert_allclose(forces.shaking_force, inertia, **close)
    assert forces.element_power["1-4.slide"] == pytest.approx(
        -gas * trajectory.joint("1-4")["slide"].rate, abs=1e-8
    )


def test_legs_of_a_platform_carry_its_weight_and_inertia():
    """Six forces along the legs and nothing else hold a platform with massless legs."""
    stewart = mbssa.load("stewart")
    names = stewart.body_names
    platform = names.index("platform")
    trajectory = solved(with_masses(stewart, only=[platform]), steps=7)
    forces = groups.forces(trajectory)
    inertia = trajectory.mechanism.bodies[platform].geometry.inertia
    balls = [joint for joint in stewart.joints if joint.type.is_ball]
    body = trajectory.body("platform")
    for t in range(7):
        centre = body.point(list(inertia.centre))[t]
        ends = np.array([forces.joint(ball.id).point[t] for ball in balls])
        starts = np.array(
            [
                forces.joint(next(j.id for j in stewart.joints if 1 in j.bodies and leg in j.bodies)).point[t]
                for leg in _first_leg_bodies(stewart, balls)
            ]
        )
        lines = (ends - starts) / np.linalg.norm(ends - starts, axis=1)[:, None]
        wrenches = np.concatenate([lines, np.cross(ends - centre, lines)], axis=1)
        world = body.rotation[t] @ inertia.matrix @ body.rotation[t].T
        w, alpha = body.velocity[t, 3:], body.acceleration[t, 3:]
        acceleration = body.point_acceleration(list(inertia.centre))[t]
        push = inertia.mass * (acceleration - np.array(trajectory.mechanism.gravity))
        needed = np.concatenate([push, world @ alpha + np.cross(w, world @ w)])
        along = np.linalg.solve(wrenches.T, needed)
        np.testing.assert_allclose(forces.driving[t], along, rtol=1e-8)


def _first_leg_bodies(stewart, balls):
    """Number of the leg body at the base, by ball: base, U, lower body, P, upper body, S, platform."""
    for ball in balls:
        upper = min(ball.bodies)
        guide = next(j for j in stewart.joints if j.driven and upper in j.bodies)
        yield next(number for number in guide.bodies if number != upper)


def test_all_bodies_in_one_block_give_the_same():
    """As where the equations of a group alone do not hold its bodies."""
    for name in ("rotor", "spatial_4r", "planetary", "rssr"):
        trajectory = solved(with_masses(mbssa.load(name)), steps=2)
        structure, state = mbssa.decompose(trajectory.mechanism), State.of(trajectory)
        acting = acting_on(state, None)
        whole = solve_backwards(state, acting.all, structure, together=True)
        found = results_of(state, acting, whole, structure, minimum_norm=False)
        forces = groups.forces(trajectory)
        scale = np.abs(forces.driving).max()
        assert found.ok, name
        assert set(found.indeterminate) == set(forces.indeterminate), name
        np.testing.assert_allclose(found.driving, forces.driving, atol=1e-9 * scale, err_msg=name)
        for joint in trajectory.mechanism.joint_ids:
            expected = forces.joint(joint).force
            close = {"atol": 1e-8 * np.nanmax(np.abs(expected)), "err_msg": f"{name} {joint}"}
            np.testing.assert_allclose(found.joint(joint).force, expected, **close)


# --- redundant constraints and passive rotations -----------------------------------------------------


def test_noise_of_a_stated_precision_leaves_the_drive_determined():
    """A planar four-bar in space, with points and axes off by 1e-7, moves with that play."""
    shift = np.random.default_rng(4).uniform(-1e-7, 1e-7, (4, 2, 3))
    ends = [("frame", "crank"), ("crank", "coupler"), ("coupler", "rocker"), ("frame", "rocker")]
    points = [(0.0, 0.0, 0.0), (0.1, 0.2, 0.0), (0.6, 0.45, 0.0), (0.7, 0.0, 0.0)]
    found = []
    for noise in (shift, 0.0 * shift):
        m = mbssa.Builder("spatial").gravity(0.0, -9.81, 0.0)
        for name in ("crank", "coupler", "rocker"):
            m.body(name, inertia={"mass": 2.0, "centre": (0.2, 0.1, 0.0), "moments": (0.02, 0.03, 0.04)})
        for two, point, (off, tilt) in zip(ends, points, noise, strict=True):
            m.revolute(*two, point=np.add(point, off), axis=np.add((0, 0, 1), tilt), driven=two[1] == "crank")
        structure = mbssa.decompose(m.build(), precision=1e-6)
        trajectory = groups.build(structure).solve(
            groups.constant_speed(structure.mechanism, steps=9), compiled=False
        )
        assert trajectory.ok
        found.append(groups.forces(trajectory, structure))
        assert found[-1].ok
        assert {name.rpartition(".")[2] for name in found[-1].indeterminate} == {"Fz", "Mx", "My"}
    np.testing.assert_allclose(found[0].driving, found[1].driving, atol=1e-5 * np.abs(found[1].driving).max())


def test_a_hyperstatic_slider_crank_names_what_is_not_determined():
    """All four axes are parallel: nothing tells how forces along them and moments across them are shared."""
    trajectory = solved(with_masses(mbssa.load("slider_crank")), steps=7)
    forces = groups.forces(trajectory)
    assert forces.ok
    hinges = {f"{joint}.{part}" for joint in ("1-2", "2-3", "3-4") for part in ("Fz", "Mx", "My")}
    # The guide's axis z is the slide; the hinges' direction is in its plane across.
    guide = {name for name in forces.indeterminate if name.startswith("1-4")}
    assert set(forces.indeterminate) - guide == hinges
    assert len(guide) == 3
    pin = forces.joint("2-3")
    assert np.isnan(pin.force[:, 2]).all()
    assert np.isfinite(pin.force[:, :2]).all()
    assert np.isfinite(forces.driving).all()
    assert np.isfinite(forces.shaking_force).all()
    isostatic = with_masses(mbssa.load("slider_crank_isostatic"))
    geometry = trajectory.mechanism.body_geometry
    kept = {
        b: dataclasses.replace(isostatic.body_geometry[b], inertia=geometry[b].inertia) for b in (1, 2, 3)
    }
    same = groups.forces(solved(dataclasses.replace(isostatic, body_geometry=kept), steps=7))
    np.testing.assert_allclose(forces.driving, same.driving, rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("name", ["slider_crank", "bennett", "sarrus"])
def test_the_minimum_norm_is_across_every_self_stress(name):
    trajectory = solved(with_masses(mbssa.load(name)), steps=2)
    mechanism, size = trajectory.mechanism, trajectory.reference.size
    forces = groups.forces(trajectory, minimum_norm=True)
    assert forces.indeterminate
    assert forces.ok
    for t in range(2):
        answer = answer_at(trajectory, t)
        product, largest = 0.0, 0.0
        for joint, stress in answer.stress.items():
            for _slot, body in enumerate(mechanism.joint_bodies(joint)):
                of = forces.joint(mechanism.joint_ids[joint], on=body + 1)
                second = mechanism.joint_bodies(joint)[1]
                if second == 0:
                    stress, second = -stress, mechanism.joint_bodies(joint)[0]
                lever = answer.centre[second] - of.point[t]
                sign = 1.0 if body == second else -1.0
                push, turn = stress[:, :3], stress[:, 3:] + np.cross(lever, stress[:, :3])
                product += sign * (push @ of.force[t] * size**2 + turn @ of.moment[t])
                largest = max(largest, np.abs(of.force[t]).max() * size)
        assert np.abs(product).max() < 1e-8 * largest


def rod_between_balls(axial):
    """The RSSR with masses everywhere, its rod slender with the centre of mass on its line."""
    rssr = mbssa.load("rssr")
    mechanism = with_masses(rssr, only=[1, 3])
    ends = np.array([rssr.joint(name).geometry.point for name in ("2-3", "3-4")])
    along = (ends[1] - ends[0]) / np.linalg.norm(ends[1] - ends[0])
    matrix = 0.02 * (np.eye(3) - np.outer(along, along)) + axial * np.outer(along, along)
    products = (matrix[0, 1], matrix[0, 2], matrix[1, 2])
    centre = tuple(ends.mean(axis=0).tolist())
    slender = Inertia(2.0, centre, None, tuple(matrix.diagonal().tolist()), products)
    kept = mechanism.body_geometry.get(2, mbssa.BodyGeometry())
    geometry = {**mechanism.body_geometry, 2: dataclasses.replace(kept, inertia=slender)}
    return dataclasses.replace(mechanism, body_geometry=geometry)


def test_a_slender_rod_between_balls_needs_nothing_that_holds_its_spin():
    trajectory = solved(rod_between_balls(0.0), steps=5)
    forces = groups.forces(trajectory)
    assert forces.ok
    assert forces.held["rod"].max() < 1e-12
    for t in range(5):
        answer = answer_at(trajectory, t)
        given = [answer.driving[name] for name in forces.drives]
        np.testing.assert_allclose(forces.driving[t], given, rtol=1e-8)


def test_a_moment_holds_the_spin_of_a_rod_to_the_convention():
    """By the balance of moments about the line, on which the balls exert none."""
    trajectory = solved(rod_between_balls(0.001), steps=9)
    forces = groups.forces(trajectory)
    assert forces.ok
    assert forces.held["rod"].max() > 1e-4
    rod, inertia = trajectory.body("rod"), trajectory.mechanism.bodies[2].geometry.inertia
    ends = [rod.point(list(trajectory.mechanism.joint(name).geometry.point)) for name in ("2-3", "3-4")]
    line = (ends[1] - ends[0]) / np.linalg.norm(ends[1] - ends[0], axis=1)[:, None]
    spin, faster = rod.velocity[:, 3:], rod.acceleration[:, 3:]
    world = rod.rotation @ inertia.matrix @ rod.rotation.swapaxes(1, 2)
    momentum = np.einsum("tab,tb->ta", world, spin)
    rate = np.einsum("tab,tb->ta", world, faster) + np.cross(spin, momentum)
    needed = np.einsum("ta,ta->t", line, rate)
    # The pins of the convention are across the line at the reference alone, so that the moment has a part
    # across the line too.
    assert (forces.held["rod"] >= np.abs(needed) - 1e-12).all()
    assert forces.held["rod"][0] == pytest.approx(abs(needed[0]), rel=1e-9)
    assert np.abs(forces.balance).max() < 1e-9 * np.abs(forces.drive_power).max()


# --- instants without an answer, and bad input -------------------------------------------------------


def test_forces_are_missing_where_the_motion_is():
    bar = mbssa.load("planar_four_bar")
    trajectory = solved(with_masses(bar), steps=5)
    trajectory.position[2, 2:] = np.nan
    trajectory.status[2, 1] = 4
    forces = groups.forces(trajectory)
    assert forces.status[:, 1].tolist() == [0, 0, 1, 0, 0]
    assert np.isnan(forces.driving[2]).all()
    assert np.isfinite(np.delete(forces.driving, 2, axis=0)).all()
    assert "t = 0.5 s" in forces.faults()[0]
    assert "1 of 5" in forces.faults()[0]


def test_what_was_not_kept_is_said():
    model = groups.build(mbssa.decompose(mbssa.load("planar_four_bar")))
    with pytest.raises(ValueError, match="all bodies"):
        groups.forces(model.solve(bodies=["crank"]))
    with pytest.raises(ValueError, match="accelerations"):
        groups.forces(model.solve(level="velocity"))


def test_applied_forces_are_checked_all_at_once():
    trajectory = groups.build(mbssa.decompose(mbssa.load("planar_four_bar"))).solve()
    applied = {"7-8.angle": 1.0, "1-4.slide": 1.0, "1-2.angle": [1.0, 2.0], "2-3": 1.0, "2-3.angle": 1e300}
    with pytest.raises(ValueError, match="applied") as error:
        groups.forces(trajectory, applied=applied)
    said = str(error.value)
    for text in ("'7-8'", "1-4 has 1-4.angle", "(361,)", "'2-3': joint 2-3 has 2-3.angle", "is 1e+300;"):
        assert text in said
    with pytest.raises(TypeError, match=r"applied takes forces by coordinate.*not 5"):
        groups.forces(trajectory, applied=5)


def test_a_body_of_another_joint_is_refused():
    forces = groups.forces(solved(crank_mechanism().build(), steps=2))
    with pytest.raises(KeyError, match=r"'rod'.* frame, crank"):
        forces.joint("1-2", on="rod")
    for wrong in (99, -1, None):
        with pytest.raises(KeyError, match=f"no joint {wrong}; joints have ids, and indices from 0"):
            forces.joint(wrong)
    with pytest.raises(ValueError, match="write 'si' or 'file'"):
        forces.columns("SI")


def test_a_structure_of_other_inputs_is_refused():
    bar = mbssa.load("planar_four_bar")
    trajectory = solved(with_masses(bar), steps=2)
    with pytest.raises(ValueError, match="other joints or driven coordinates"):
        groups.forces(trajectory, mbssa.decompose(mbssa.with_inputs(bar, ["1-4.angle"])))
    with pytest.raises(ValueError, match="other joints"):
        groups.forces(trajectory, mbssa.decompose(mbssa.load("slider_crank")))
    with pytest.raises(TypeError, match="a Mechanism is no structure"):
        groups.forces(trajectory, bar)


def test_a_motion_of_the_global_approach_has_the_same_forces():
    mechanism = with_masses(mbssa.load("planar_four_bar"))
    structure = mbssa.decompose(mechanism)
    motion = groups.default_motion(mechanism, steps=9)
    by_groups = groups.forces(groups.build(structure).solve(motion))
    globally = groups.forces(groups.solve_globally(structure, motion))
    assert globally.status.shape == (9, 2)
    np.testing.assert_allclose(globally.driving, by_groups.driving, rtol=1e-9, atol=1e-9)
