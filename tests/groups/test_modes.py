"""Assembly modes: they close every joint, each is another, numbers hold whichever is the reference."""

import itertools
from dataclasses import replace

import numpy as np
import pytest

import groups
import mbssa
from groups.assembly_modes import homotopy, starting_pose
from groups.assembly_modes.search import Assembly
from groups.motion import reference_inputs
from groups.rotations import quaternion_of
from groups.solvers import library
from groups.truss import modes_of
from mbssa.joints.system import rows_at
from mbssa.mechanism import BodyGeometry, JointFrame, JointGeometry

#: Models whose default motion stays in reach in other modes too, and the group that is tried.
MOVING = {
    "planar_four_bar": 2, "theo_jansen": 3, "rotor": 7, "spatial_four_bar": 2, "stewart_inverse": 2,
    "bricard": 2,
}  # fmt: skip


def build(name):
    return groups.build(mbssa.decompose(mbssa.load(name)))


def standing(model, mode):
    """The reference with one group in a mode."""
    position, rotation = model.reference.position.copy(), model.reference.rotation.copy()
    angle = model.reference.angle.copy()
    position[mode.bodies], rotation[mode.bodies] = mode.position, mode.rotation
    angle[mode.bodies] = np.arctan2(mode.rotation[:, 1, 0], mode.rotation[:, 0, 0])
    return replace(model.reference, position=position, rotation=rotation, angle=angle)


def check(model, found, case=""):
    """Every mode closes the group's joints by the catalogue's equations, at the inputs; no two are one."""
    size, wanted = model.frames.size, np.array(list(model.reference_inputs.values()))
    joints = model.structure.groups[found.group - 1].joint_indices
    assert [mode.number for mode in found] == list(range(1, len(found) + 1))
    for mode in found:
        at = standing(model, mode)
        rows = rows_at(model.mechanism, model.frames, at)
        misses = np.abs(rows.residual[np.isin(rows.joint, joints)])
        assert misses.max(initial=0.0) <= 1e-10, case
        assert mode.residual <= 1e-10 * size
        driven = np.flatnonzero(np.isin(rows.joint[rows.drive], joints))
        gap = (reference_inputs(model.mechanism, model.frames, at) - wanted)[driven]
        turns = np.round(gap / (2 * np.pi)) * 2 * np.pi
        assert np.minimum(np.abs(gap), np.abs(gap - turns)).max(initial=0.0) < 1e-9
    poses = np.array([[*mode.position.ravel() / size, *mode.rotation.ravel()] for mode in found])
    apart = np.abs(poses[:, None] - poses[None]).max(axis=2) + np.eye(len(poses))
    assert apart.min() > 1e-6, case
    bodies = found[found.reference].bodies
    assert np.abs(found[found.reference].position - model.reference.position[bodies]).max() < 1e-9
    assert np.abs(found[found.reference].rotation - model.reference.rotation[bodies]).max() < 1e-9


@pytest.mark.parametrize(
    "name",
    ["planar_four_bar", "theo_jansen", "cam_roller", "rotor", "bennett", "planetary",
     *(pytest.param(name, marks=pytest.mark.slow)
       for name in ("micromanipulator_driven", "stewart", "bricard"))],
)  # fmt: skip
def test_every_mode_of_every_kind_closes_and_is_another(name):
    model = build(name)
    for found, solver in zip(groups.modes(model), model.solvers, strict=True):
        check(model, found)
        assert found.most is None or len(found) <= found.most
        singular = found[found.reference].signs == (0,)
        assert singular == ("reference is singular" in found.search)
        stated = "no new one" in found.search or "led to no other" in found.search
        assert found.complete or singular or (solver.form == "Newton" and stated)


def test_regular_modes_are_certified_and_places_beside_them_are_not():
    """Unknowns that are off by 1e-4 are no solution; a singular reference is none that is regular."""
    for name in ("theo_jansen", "cam_roller", "bennett", "planetary", "slider_crank", "stewart_inverse"):
        model = build(name)
        for found, group in zip(groups.modes(model, starts=20), model.structure.groups, strict=True):
            assert all(mode.proven for mode in found), name
            assembly = Assembly(model, group)
            off = [replace(mode._placement, column=mode._placement.column.copy()) for mode in found]
            for placement in off:
                placement.column[assembly.part.state] += 1e-4 * assembly.scale
            assert not (assembly.part.n and assembly.proven(off).any()), name
    assert not any(mode.proven for mode in groups.modes(build("micromanipulator"), 2))


def test_a_follower_touches_its_cam_on_the_near_side_alone():
    """The far side of the profile is as parallel to the follower's face, and Newton finds it as often."""
    model = build("cam_flat")
    found = groups.modes(model, 2, starts=60)
    check(model, found)
    assert len(found) == 1


#: Chains of several bodies that can be assembled: not the driven bodies, three slides, or what is singular.
ASSEMBLED = [
    chain
    for chain in (*library.PLANAR, *library.SPATIAL[:-3])
    if " b " in chain and chain != "a x P, x y P, y b P"
]


def test_every_mode_on_random_geometry_closes():
    for chain in ASSEMBLED:
        space = "planar" if chain in library.PLANAR else "spatial"
        model = groups.build(mbssa.decompose(library.example(chain, space, 1)))
        check(model, groups.modes(model, model.structure.n_groups), chain)


def test_a_crossed_four_bar_is_the_mirror_image_of_the_open_one():
    model = build("planar_four_bar")
    one, two = groups.modes(model, 2)
    joint = model.mechanism.joint("3-4").index
    ends = []
    for mode in (one, two):
        at = standing(model, mode)
        ends.append(at.position[2] + at.rotation[2] @ model.frames.origin[joint, 0])
    across = np.subtract(*ends)
    line = np.subtract(*(np.array([*model.mechanism.joint(name).geometry.point]) for name in ("1-4", "2-3")))
    assert abs(across[:2] @ line) < 1e-12
    assert one.signs == tuple(-sign for sign in two.signs)


def test_newton_finds_what_closed_forms_find():
    """The four-bar and the slider-crank drawn in space are over-constrained, and solved by Newton."""
    for drawn, flat in (("spatial_4r", "planar_four_bar"), ("slider_crank", "slider_crank_isostatic")):
        one, two = build(drawn), build(flat)
        here, there = groups.modes(one, 2), groups.modes(two, 2)
        assert here.complete
        assert "trace test" in here.search
        assert there.complete
        joint = [model.mechanism.joint("3-4").index for model in (one, two)]
        points = []
        for model, found, j in zip((one, two), (here, there), joint, strict=True):
            states = [standing(model, mode) for mode in found]
            points.append([at.position[2] + at.rotation[2] @ model.frames.origin[j, 0] for at in states])
        gap = np.linalg.norm(np.array(points[0])[:, None] - np.array(points[1])[None], axis=2)
        assert gap.min(axis=1).max() < 1e-9
        assert gap.min(axis=0).max() < 1e-9


@pytest.mark.parametrize(("name", "group", "count"), [("spatial_4r", 2, 2), ("double_parallelogram", 2, 1)])
def test_a_trace_test_notices_each_position_that_is_left_out(name, group, count):
    model = build(name)
    assembly, rng = Assembly(model, model.structure.groups[group - 1]), np.random.default_rng(0)
    system = homotopy.Sections(assembly, rng)
    states, side = system.random(rng, 24), None
    while side is None or not system.has_all(states, side):
        web = homotopy.Web(system, rng)
        web.lead(states)
        assert web.spin(homotopy.POINTS, assembly.told)
        states, side = web.fullest()
    for k in range(len(states)):
        assert not system.has_all(np.delete(states, k, axis=0), side)
    found = groups.modes(model, group)
    assert (len(found), found.complete) == (count, True)


def test_equations_that_are_not_algebraic_have_no_trace_test():
    for chain in ("cam_roller", "involute_teeth", "a x H, x y U, y b S"):
        model = (
            groups.build(mbssa.decompose(library.example(chain, "spatial", 2)))
            if "," in chain
            else build(chain)
        )
        assert not homotopy.is_algebraic(Assembly(model, model.structure.groups[-1]))


#: Chains that a spherical joint closes.
SPHERICAL = [
    "a x R, x y R, y z R, z b S", "a x R, x y R, y z S, z b R", "a x R, x y P, y z S, z b P",
    "a x P, x y P, y z R, z b S", "a x R, x y P, y z R, z b S",
]  # fmt: skip


@pytest.mark.parametrize("joints", SPHERICAL)
def test_spherical_loops_of_special_axes_have_the_modes_that_newton_finds(joints):
    """Axes along those of the world are parallel or square: two equations of the loop may become one."""
    rng, regular = np.random.default_rng(0), 0
    for seed in range(6):
        mechanism = library.example(joints, "spatial", seed)
        geometry = {
            j: replace(g, axis=tuple(np.eye(3)[rng.integers(3)].tolist())) if g.axis is not None else g
            for j, g in mechanism.joint_geometry.items()
        }
        model = groups.build(mbssa.decompose(replace(mechanism, joint_geometry=geometry)))
        drawn = Assembly(model, model.structure.groups[-1])
        found, far = groups.modes(model, drawn.group.number), np.where(drawn.part.turns, np.pi, 2.0)
        drawn.add_from(drawn.start + rng.uniform(-1.0, 1.0, (3, 150)) * far[:, None])
        assert sum(any(mode.signs) for mode in found) == len(drawn.found), seed
        regular += len(drawn.found) > 0
    assert regular > 1


# --- numbers -----------------------------------------------------------------------------------------


def stood_anew(model, mode):
    """The same mechanism with its reference in another mode of one group."""
    at, frames, mechanism = standing(model, mode), model.frames, model.mechanism
    plane = mechanism.space == "planar"
    size = 2 if plane else 3

    def frame(joint, side):
        axes = frames.axes[joint, side]
        z = None if plane else tuple(axes[:, 2].tolist())
        return JointFrame(
            tuple(frames.origin[joint, side][:size].tolist()), z, tuple(axes[:size, 0].tolist())
        )

    geometry = {
        j: JointGeometry(
            frames=(frame(j, 0), frame(j, 1)),
            length=g.length or (float(frames.parameters["length"][j]) or None),
            pitch=g.pitch,
            offsets=g.offsets,
        )
        for j, g in mechanism.joint_geometry.items()
    }
    bodies = {}
    for body in range(1, mechanism.n_bodies):
        turn = (
            (float(at.angle[body]),)
            if plane
            else tuple(quaternion_of(at.rotation[None, None, body])[0, 0].tolist())
        )
        bodies[body] = BodyGeometry(origin=tuple(at.position[body][:size].tolist()), orientation=turn)
    return groups.build(mbssa.decompose(replace(mechanism, joint_geometry=geometry, body_geometry=bodies)))


#: A model and its last group, or a chain on random geometry.
RENUMBERED = [
    "planar_four_bar", "rotor", "a x R, x y P, y b R", "a x P, x b SLOT",
    "a x R, x y U angle_1, y z S, z b R", "a x C, x y R, y b S", "a x R, x y U, y b S",
    *(pytest.param(name, marks=pytest.mark.slow) for name in ("planar_3rrr", "a x H, x y U, y b S")),
]  # fmt: skip


@pytest.mark.parametrize("name", RENUMBERED)
def test_numbers_do_not_depend_on_which_mode_is_the_reference(name):
    space = "planar" if name in library.PLANAR else "spatial"
    mechanism = library.example(name, space, 2) if "," in name else mbssa.load(name)
    model = groups.build(mbssa.decompose(mechanism))
    group = model.structure.n_groups
    before = groups.modes(model, group)
    assert len(before) > 1 or name == "a x P, x b SLOT"
    for mode in before:
        after = groups.modes(stood_anew(model, mode), group)
        assert after.reference == mode.number
        assert len(after) == len(before)
        for one, two in zip(before, after, strict=True):
            assert np.abs(one.position - two.position).max() < 1e-9
            assert np.abs(one.rotation - two.rotation).max() < 1e-9


@pytest.mark.slow
def test_the_same_modes_every_time_and_no_fewer_with_more_starts():
    model = build("micromanipulator_driven")
    few, again, many = (groups.modes(model, 1, starts=starts) for starts in (30, 30, 90))
    assert len(few) == len(again) <= len(many)
    for one, two in zip(few, again, strict=True):
        assert np.array_equal(one.position, two.position)
    for mode in few:
        assert any(np.abs(mode.rotation - other.rotation).max() < 1e-6 for other in many)
    assert len(groups.modes(model, 1, starts=2)) < len(few)


@pytest.mark.slow
def test_modes_of_a_platform_differ_in_more_than_the_turns_of_its_legs():
    found = groups.modes(build("stewart"), 1)
    assert (len(found), found.complete, found.missing) == (8, True, 0.0)
    assert "8 are real, 20 are not, 12 end in singular positions or at infinity" in found.search
    apart = [
        np.abs(one.position[-1] - two.position[-1]).max() + np.abs(one.rotation[-1] - two.rotation[-1]).max()
        for one, two in itertools.combinations(found, 2)
    ]
    assert min(apart) > 1e-3
    assert len({mode.signs[1:] for mode in found}) == 1


# --- a platform with forty real poses ----------------------------------------------------------------

#: Points of the base and of the platform, and lengths of the legs: P. Dietmaier 1998, *The Stewart-Gough
#: platform of general geometry can have 40 real postures*, Advances in Robot Kinematics.
BASE = np.array([
    [0.0, 0.0, 0.0], [1.107915, 0.0, 0.0], [0.549094, 0.756063, 0.0], [0.735077, -0.223935, 0.525991],
    [0.514188, -0.526063, -0.368418], [0.590473, 0.094733, -0.205018],
])  # fmt: skip
TOP = np.array([
    [0.0, 0.0, 0.0], [0.542805, 0.0, 0.0], [0.956919, -0.528915, 0.0], [0.665885, -0.353482, 1.402538],
    [0.478359, 1.158742, 0.107672], [-0.137087, -0.235121, 0.353913],
])  # fmt: skip
LEGS = np.array([1.0, 0.645275, 1.086284, 1.503439, 1.281933, 0.771071])


def turned(vector):
    """Rotation matrix of a rotation vector, after Rodrigues."""
    angle = np.linalg.norm(vector)
    K = np.cross(np.eye(3), vector / angle)
    return np.eye(3) + np.sin(angle) * K + (1.0 - np.cos(angle)) * (K @ K)


def platform_poses(rng):
    """Poses of the platform, in an order drawn at random: Newton on the squared lengths alone."""
    while True:
        p, R = rng.normal(size=3), turned(rng.normal(size=3) * 2.0)
        for _ in range(50):
            arms = TOP @ R.T
            legs = p + arms - BASE
            miss = (legs**2).sum(axis=1) - LEGS**2
            if np.abs(miss).max() < 1e-13:
                yield p, R
                break
            step = np.linalg.lstsq(2.0 * np.hstack([legs, np.cross(arms, legs)]), -miss)[0]
            step *= min(1.0, 0.5 / np.abs(step).max())
            p, R = p + step[:3], turned(step[3:]) @ R


def on_six_legs(p, R):
    """The platform as a mechanism with S-P-S legs whose reference is one pose."""
    pairs, geometry = [], {}
    for leg, (foot, head) in enumerate(zip(BASE, TOP @ R.T + p, strict=True)):
        low, high, along = 2 + 2 * leg, 3 + 2 * leg, tuple((head - foot).tolist())
        for pair, where in (
            ((1, low, "S", 0), JointGeometry(point=tuple(foot.tolist()))),
            ((low, high, "P", 1), JointGeometry(point=tuple(foot.tolist()), axis=along)),
            ((high, 14, "S", 0), JointGeometry(point=tuple(head.tolist()))),
        ):
            geometry[len(pairs)] = where
            pairs.append(pair)
    mechanism = replace(mbssa.from_pairs(14, pairs, "spatial"), joint_geometry=geometry)
    return groups.build(mbssa.decompose(mechanism))


@pytest.mark.slow
def test_forty_real_poses_are_found_from_any_reference():
    poses, seen = platform_poses(np.random.default_rng(4)), []
    for p, R in itertools.islice(poses, 3):
        found = groups.modes(on_six_legs(p, R), 1)
        assert (len(found), found.most, found.complete) == (40, 40, True)
        for mode in found:
            # The platform's frame coincides with the world's at the reference.
            feet = mode.position[-1] + (TOP @ R.T + p) @ mode.rotation[-1].T - BASE
            assert np.abs(np.linalg.norm(feet, axis=1) - LEGS).max() < 1e-9
        turns = np.array([mode.rotation[-1] @ R for mode in found])
        seen.append(turns[np.lexsort(np.round(turns.reshape(40, 9), 4).T)])
    for other in seen[1:]:
        assert np.abs(seen[0] - other).max() < 1e-4  # two of the poses are almost one


def test_places_around_a_singular_reference_are_no_modes():
    """Similar triangles on parallel legs, out of the general case: Newton scatters about a double root."""
    made, feet = (
        mbssa.Builder("planar").bodies("a", "b", "c", "table"),
        [(-0.519, 1.462), (-0.544, 0.866), (1.11, -0.327)],
    )
    for name, (x, y) in zip("abc", feet, strict=True):
        made.revolute("frame", name, point=(x, y)).revolute(name, "table", point=(x / 2, y / 2))
    (listed,) = groups.modes(groups.build(mbssa.decompose(made.build())))
    assert (len(listed), listed.reference, listed.complete) == (1, 1, False)


def test_a_singular_reference_is_a_mode_of_its_own():
    """The micro-manipulator's published inputs leave axes that run through both centres: any turn closes."""
    found = groups.modes(build("micromanipulator"), 2)
    assert (len(found), found.reference, found.complete) == (1, 1, False)
    assert found[1].signs == (0,)


# --- trusses -----------------------------------------------------------------------------------------

#: Triangles of the frame and of the platform; a pose of the platform gives the lengths of three legs.
FRAME = np.array([[0.0, 0.0], [2.4, 0.0], [1.1, 1.3]])
PLATFORM = np.array([[0.0, 0.0], [1.7, 0.1], [0.6, 1.4]])


def platform_at(turn, place):
    """The platform's points in a pose, and so the lengths of the legs."""
    c, s = np.cos(turn), np.sin(turn)
    return PLATFORM @ np.array([[c, s], [-s, c]]) + place


def cut(points, fixed):
    """The five-link truss as a mechanism with one link fixed, and an idle crank that is driven.

    Links: 0 frame triangle, 1 platform, 2 to 4 legs. Bodies: the fixed link, then the others.
    """
    others = [link for link in range(5) if link != fixed]
    number = {fixed: 1, **{link: k + 2 for k, link in enumerate(others)}}
    pairs, geometry = [(1, 6, "R", 1)], {0: JointGeometry(point=(5.0, 5.0))}
    for leg in range(3):
        for link, corners in ((0, FRAME), (1, points)):
            geometry[len(pairs)] = JointGeometry(point=tuple(corners[leg].tolist()))
            pairs.append((number[link], number[2 + leg], "R", 0))
    mechanism = replace(mbssa.from_pairs(6, pairs, "planar"), joint_geometry=geometry)
    return groups.build(mbssa.decompose(mechanism)), number


def seen_from_the_frame(model, number, found):
    """(M, 3) cosine, sine and first coordinate of the platform as the frame triangle sees it."""
    seen = []
    for mode in found:
        at = standing(model, mode)
        base, top = (number[link] - 1 for link in (0, 1))
        turn = at.rotation[base].T @ at.rotation[top]
        place = at.rotation[base].T @ (at.position[top] - at.position[base])
        seen.append([turn[0, 0], turn[1, 0], place[0]])
    return np.array(sorted(np.round(seen, 6).tolist()))


@pytest.mark.slow
@pytest.mark.parametrize(("turn", "place", "count"), [(0.9, (0.5, 0.3), None), (0.23, (0.33, 1.79), 6)])
def test_groups_cut_from_one_truss_have_the_same_modes(turn, place, count):
    """Class III with a ternary link fixed, class IV with a binary one, whichever."""
    points = platform_at(turn, np.array(place))
    answers = []
    for fixed in range(5):
        model, number = cut(points, fixed)
        group = next(k for k, each in enumerate(model.structure.groups, 1) if len(each.bodies) == 4)
        found = groups.modes(model, group)
        assert found.complete
        assert (found.most, str(found.truss)) == (6, "5-link Baranov truss")
        answers.append(seen_from_the_frame(model, number, found))
    assert len(answers[0]) == count if count is not None else len(answers[0]) in (2, 4, 6)
    for other in answers[1:]:
        assert other.shape == answers[0].shape
        assert np.abs(other - answers[0]).max() < 1e-5


#: The three trusses of seven links, and three of the 28 of nine.
SEVEN = [
    [(0, 1), (0, 2), (0, 3), (1, 4), (1, 5), (2, 4), (2, 6), (3, 5), (3, 6)],
    [(0, 1), (0, 2), (0, 3), (0, 4), (1, 5), (2, 5), (5, 6), (3, 6), (4, 6)],
    [(0, 4), (4, 1), (1, 5), (5, 2), (2, 6), (6, 3), (0, 2), (1, 3), (0, 3)],
]


NINE = {
    38: "03 04 13 15 24 26 37 48 56 57 68 78",
    30: "04 05 14 16 25 27 36 37 48 58 68 78",
    58: "03 04 15 16 27 28 35 37 46 48 58 67",
}


@pytest.mark.slow
@pytest.mark.parametrize(
    "edges", [*SEVEN, *([(int(a), int(b)) for a, b in text.split()] for text in NINE.values())]
)
def test_trusses_have_as_many_complex_positions_as_their_degree(edges):
    """The search does not know the degree. One link is fixed, beside an idle crank that is driven."""
    n = 1 + max(map(max, edges))
    rng, crank = np.random.default_rng(3), (1, n + 1, "R", 1)
    pairs = [crank, *((a + 1, b + 1, "R", 0) for a, b in edges)]
    at = rng.uniform(-1, 1, (len(pairs), 2)).tolist()
    points = {k: JointGeometry(point=tuple(point)) for k, point in enumerate(at)}
    mechanism = replace(mbssa.from_pairs(n + 1, pairs, "planar"), joint_geometry=points)
    model = groups.build(mbssa.decompose(mechanism))
    number = next(k for k, group in enumerate(model.structure.groups, 1) if len(group.bodies) == n - 1)
    found = groups.modes(model, number)
    assert found.complete
    assert found.most in ((14, 16, 18) if n == 7 else NINE)
    assert len(found) <= found.most
    assert len(found) % 2 == 0


def test_trusses_are_told_apart_and_recognised():
    """The three trusses of seven links, numbered at random, and one with another hinge, which is none."""
    rng = np.random.default_rng(1)
    for edges, modes in zip(SEVEN, (14, 18, 16), strict=True):
        for _ in range(10):
            number = rng.permutation(7).tolist()
            order = rng.permutation(len(edges)).tolist()
            assert modes_of([(number[edges[k][0]], number[edges[k][1]]) for k in order]) == modes
    assert modes_of([*SEVEN[0][:-1], (0, 6)]) is None


# --- motions in other modes --------------------------------------------------------------------------


@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=[pytest.mark.slow] * (name == "bricard")) for name in MOVING]
)
def test_a_motion_in_another_mode_closes_and_stays_in_it(name):
    """From the mode's own pose, without a jump: halving the step halves the way from instant to instant."""
    model, group = build(name), MOVING[name]
    motion = groups.default_motion(model.mechanism, steps=61)
    for mode in groups.modes(model, group):
        trajectory = model.solve(motion, modes={group: mode.number}, compiled=False)
        assert trajectory.ok, trajectory.faults()
        assert trajectory.residual.max() < 1e-11 * max(1.0, model.frames.size)
        linear = trajectory.position.shape[2]
        # Where the inputs stand at the reference the group stands in its mode.
        start = np.array(list(model.reference_inputs.values()))
        gap = np.abs(motion.value - start[:, None]).max(axis=0)
        if gap.min() < 1e-12:
            at = int(np.argmin(gap))
            there = trajectory.position[at, mode.bodies]
            assert np.abs(there - mode.position[:, :linear]).max() < 1e-9
        # The way from instant to instant is what the velocities say: a jump has none.
        dt = np.diff(trajectory.time)[:, None, None]
        mean = 0.5 * (trajectory.velocity[1:, :, :linear] + trajectory.velocity[:-1, :, :linear])
        bend = np.abs(trajectory.acceleration[:, :, :linear]).max()
        assert np.abs(np.diff(trajectory.position, axis=0) - dt * mean).max() <= dt.max() ** 2 * bend


def test_groups_below_a_changed_one_go_together_again():
    """In the same sense as before: of all signs only that of the changed group is another."""
    model = build("theo_jansen")
    other, before = model.solve(modes={3: 1}), model.solve()
    assert other.ok
    below = [body - 1 for body in model.structure.groups[3].bodies]
    assert np.abs(other.position[0, below] - before.position[0, below]).max() > 1e-3


def test_the_mode_of_the_reference_changes_nothing():
    for name in ("rotor", "stewart_inverse"):
        model = build(name)
        same = {found.group: found.reference for found in groups.modes(model)}
        assert starting_pose(model, same) is model.reference


def test_modes_and_groups_that_there_are_not_are_refused_at_once():
    model = build("rotor")
    with pytest.raises(ValueError, match=r"(?s)9.*SG-2 .*not 2.*SG-4 .*1 to 4 .*not 0"):
        starting_pose(model, {9: 1, 2: 2, 4: 0})
    with pytest.raises(ValueError, match=r"SG-2 .* 1 to 8"):
        starting_pose(build("universal_shafts"), {2: 99})
    with pytest.raises(ValueError, match=r"8.*1 to 7"):
        groups.modes(model, 8)
    with pytest.raises(IndexError, match=r"SG-3 .*1 to 2, not 5"):
        groups.modes(model, 3)[5]


def test_a_group_that_cannot_go_together_below_is_named():
    with pytest.raises(ValueError, match=r"SG-5 .*SG-4 in mode 1: out of reach"):
        build("rotor").solve(modes={4: 1})


@pytest.mark.slow
def test_rods_that_are_turned_by_half_a_turn_make_no_modes(tmp_path):
    """A Delta robot: each of its rods fits between its two universal joints in two ways."""
    from importlib import resources

    text = resources.files("mbssa.io.templates").joinpath("delta.toml").read_text("utf-8")
    model = groups.build(mbssa.decompose(mbssa.load(text)))
    found = groups.modes(model, 4, starts=24)
    platform = found[1].bodies.tolist().index(model.mechanism.body_names.index("platform"))
    poses = np.array([[*mode.position[platform], *mode.rotation[platform].ravel()] for mode in found])
    apart = np.abs(poses[:, None] - poses[None]).max(axis=2) + np.eye(len(poses))
    assert len(found) > 4
    assert apart.min() > 1e-5
    reference = model.reference.position[found[1].bodies]
    np.testing.assert_allclose(found[found.reference].position, reference, atol=1e-9)
