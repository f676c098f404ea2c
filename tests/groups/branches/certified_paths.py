"""The truth about a motion: the continuous branch from the reference, by a certified continuation.

Nothing of the solvers is used, only the joints' frames and the reference poses. The unknowns are absolute:
the position and a rotation vector (planar: an angle) of every body, and the slides; every joint says that
points coincide and that directions keep their cosine. With R = exp(v) R0 the second derivatives of these
equations are bounded by lengths: |D²exp(v)[h, k] p| <= |h| |k| |p|.

A step from a solution x0 at inputs u0 is certified so. J is the Jacobian at x0, S = -J⁻¹ F_u, and the tangent
path is x0 + S (u - u0). All along it, and in the ball of radius r about it, in the norm max |x_i| / w_i with
w no less than the way along the tangent path, ||J⁻¹ D²F|| <= a. For a <= 1/2 the map x - J⁻¹ F(x, u)
contracts the ball of radius r = (1 - a - sqrt(1 - 2 a)) / a into itself for every u of the step: one
solution, on one branch (Kantorovich; Deuflhard 2004, chapter 2). Rounding is not bounded:
a <= 0.45 leaves room for it. Positions enter linearly, so that only turns, slides and inputs count in the
norm.
"""

from bisect import bisect
from dataclasses import dataclass

import numpy as np

from mbssa.joints.frames import joint_frames

#: Largest a of a step, and how little of an input (rad or of the size) a step may lead.
SURE, LEAST = 0.45, 1e-9
#: Steps of one motion at most; weights below this share of the largest are raised to it.
MOST, FLOOR = 6_000, 0.02
#: Largest of a Newton correction that is left, rad or of the size.
CLOSED = 1e-12
#: Driven and undriven freedoms of the types that are understood.
SLIDING = {"P": "slide", "C": "slide"}
TYPES = {"planar": ("R", "P"), "spatial": ("R", "P", "C", "U", "S")}


@dataclass(frozen=True)
class Branch:
    """A branch over the instants of a motion.

    Attributes
    ----------
    position : (T, N, d) m and ``rotation`` : (T, N, d, d), of the instants before ``end`` alone
    end : s, up to which the branch is certified; None if it is over the whole motion
    singular : whether a singular pose is at that end, as far as :data:`LEAST` tells; else steps ran out
    slowest : the shortest certified step, of the input's way, rad or of the size: the distance from singular
    steps : certified steps
    walk : the continuation, which knows the poses between the instants
    """

    position: np.ndarray
    rotation: np.ndarray
    end: float | None
    singular: bool
    slowest: float
    steps: int
    walk: object

    def at(self, time):
        """The branch at other instants (T,) of the same motion."""
        known = time if self.end is None else time[time < self.end]
        poses = [self.walk.state_at(t) for t in known]
        whole = self.end is None or len(known) == len(time)
        end, singular = (None, False) if whole else (self.end, self.singular)
        return self.walk.branch(poses, end, singular)


class Closure:
    """The closure equations of a mechanism, at a state (position (N, d), rotation (N, d, d), slides)."""

    def __init__(self, mechanism):
        frames = joint_frames(mechanism)
        self.planar = mechanism.space == "planar"
        d, nr = (2, 1) if self.planar else (3, 3)
        self.d, self.nr, self.n_bodies = d, nr, mechanism.n_bodies
        self.size = frames.size
        n = mechanism.n_joints
        self.ends = np.array([mechanism.joint_bodies(j)[:2] for j in range(n)])
        self.origin, self.axes = frames.origin[:, :, :d], frames.axes[:, :, :d, :d]
        self.position, self.rotation = frames.position[:, :d].copy(), frames.rotation[:, :d, :d].copy()
        codes = [joint.type.code for joint in mechanism.joints]
        unknown = sorted(set(codes) - set(TYPES[mechanism.space]))
        assert not unknown, f"the truth does not know {unknown}"
        self.inputs = [(j, name) for j in range(n) for name in mechanism.joints[j].driven]
        blocks = (d + nr) * (mechanism.n_bodies - 1)
        #: By joint the unknown of its slide, or -1; the input of its slide and of its angle, or -1.
        self.slide, self.slide_input, self.angle_input = (np.full(n, -1) for _ in range(3))
        for row, (j, name) in enumerate(self.inputs):
            (self.slide_input if name == "slide" else self.angle_input)[j] = row
        self.n = blocks
        for j, code in enumerate(codes):
            if code in SLIDING and self.slide_input[j] < 0:
                self.slide[j], self.n = self.n, self.n + 1
        along = 0 if self.planar else 2
        self.along = self.axes[:, 0, :, along]
        #: Equations on directions: joint, local vectors on either side; those of one joint in a row.
        self.dots, self.turns = [], []
        for j, code in enumerate(codes):
            A, B = self.axes[j]
            if self.planar:
                if code == "P" or self.angle_input[j] >= 0:
                    self.turns.append(j)
                continue
            if code in ("R", "P", "C"):
                self.dots += [(j, A[:, 2], B[:, 0]), (j, A[:, 2], B[:, 1])]
            if code == "P":
                self.dots.append((j, A[:, 0], B[:, 1]))
            if code == "U":
                self.dots.append((j, A[:, 2], B[:, 2]))
        self.driven_turns = [] if self.planar else [j for j in range(n) if self.angle_input[j] >= 0]
        self.dot_joint = np.array([j for j, _, _ in self.dots], dtype=int)
        self.left, self.right = (np.array([dot[k] for dot in self.dots]) for k in (1, 2))
        #: First column of each body's rotation; of no meaning for the frame.
        self.columns = (d + nr) * (np.arange(self.n_bodies) - 1) + d
        self.passive = [] if self.planar else passive_rotations(self.ends, codes)
        rows = d * n + len(self.dots) + len(self.turns) + len(self.driven_turns) + len(self.passive)
        assert rows == self.n, f"{rows} equations of {self.n} unknowns"
        self.slides = np.zeros(n)
        for j in np.flatnonzero(self.slide >= 0):
            a, b = self.ends[j]
            gap = self.at(b, j, 1) - self.at(a, j, 0)
            self.slides[j] = gap @ self.rotation[a] @ self.along[j]

    def at(self, body, j, side):
        return self.position[body] + self.rotation[body] @ self.origin[j, side]

    def reference_inputs(self):
        """(D,) the driven coordinates at the reference."""
        found = []
        for j, name in self.inputs:
            a, b = self.ends[j]
            if name == "slide":
                found.append((self.at(b, j, 1) - self.at(a, j, 0)) @ self.rotation[a] @ self.along[j])
            else:
                C = (self.rotation[a] @ self.axes[j, 0]).T @ self.rotation[b] @ self.axes[j, 1]
                found.append(np.arctan2(C[1, 0], C[0, 0]))
        return np.array(found)


def passive_rotations(ends, codes):
    """Chains of bodies that spin between two balls: (bodies of the chain, its two S joints)."""
    found, joints_of = [], {}
    for j, pair in enumerate(ends.tolist()):
        for body in pair:
            joints_of.setdefault(body, []).append(j)
    seen = set()
    for body, own in sorted(joints_of.items()):
        if body == 0 or body in seen:
            continue
        kinds = sorted(codes[j] for j in own)
        if kinds == ["S", "S"]:
            found.append(([body], own))
        elif kinds == ["P", "S"]:
            (slide,) = [j for j in own if codes[j] == "P"]
            other = int(ends[slide].sum()) - body
            theirs = joints_of[other]
            if other and sorted(codes[j] for j in theirs) == ["P", "S"]:
                balls = [j for j in (*own, *theirs) if codes[j] == "S"]
                found.append(([body, other], balls))
                seen.add(other)
    return found


class State:
    """Positions, rotations and slides, with all arms and directions in world axes."""

    def __init__(self, closure, position, rotation, slides):
        self.closure, self.position, self.rotation, self.slides = closure, position, rotation, slides

    def moved(self, step):
        """By a vector of unknowns: rotations are multiplied by exponentials."""
        c = self.closure
        blocks = step[: (c.d + c.nr) * (c.n_bodies - 1)].reshape(-1, c.d + c.nr)
        position = self.position.copy()
        position[1:] += blocks[:, : c.d]
        rotation = self.rotation.copy()
        rotation[1:] = exponential(blocks[:, c.d :]) @ rotation[1:]
        slides = self.slides.copy()
        sliding = c.slide >= 0
        slides[sliding] += step[c.slide[sliding]]
        return State(c, position, rotation, slides)

    def way_from(self, other):
        """The vector of unknowns that moves another state here."""
        c = self.closure
        step = np.zeros(c.n)
        blocks = step[: (c.d + c.nr) * (c.n_bodies - 1)].reshape(-1, c.d + c.nr)
        blocks[:, : c.d] = self.position[1:] - other.position[1:]
        blocks[:, c.d :] = logarithm(self.rotation[1:] @ other.rotation[1:].swapaxes(1, 2))
        sliding = c.slide >= 0
        step[c.slide[sliding]] = self.slides[sliding] - other.slides[sliding]
        return step

    def linearised(self, u):
        """Residuals (n,), Jacobian (n, n), derivative by the inputs (n, D), signed arms (n_joints, 2, d)."""
        c = self.closure
        d, nr, n_joints = c.d, c.nr, len(c.ends)
        F, J, Fu = np.zeros(c.n), np.zeros((c.n, c.n)), np.zeros((c.n, len(u)))
        a, b = c.ends.T
        slides = np.where(c.slide_input >= 0, u[c.slide_input], self.slides)
        local = c.origin.copy()
        local[:, 0] += slides[:, None] * c.along
        arms = np.einsum("jsab,jsb->jsa", self.rotation[c.ends], local)
        arms[:, 0] *= -1.0  # the equation is that of B less that of A
        along = np.einsum("jab,jb->ja", self.rotation[a], c.along)
        last = d * n_joints
        F[:last] = (self.position[b] - self.position[a] + arms[:, 0] + arms[:, 1]).ravel()
        rows = d * np.arange(n_joints)[:, None, None] + np.arange(d)[:, None]
        for side in (0, 1):
            on = c.ends[:, side] > 0
            k = c.columns[c.ends[on, side]][:, None, None]
            J[rows[on], k + np.arange(nr)] = turned_by(arms[on, side])
            J[rows[on, :, 0], k[:, 0] - d + np.arange(d)] = 2.0 * side - 1.0
        for wanted, matrix in ((c.slide, J), (c.slide_input, Fu)):
            on = wanted >= 0
            matrix[rows[on, :, 0], wanted[on][:, None]] = -along[on]
        if len(c.dots):
            j = c.dot_joint
            one = np.einsum("eab,eb->ea", self.rotation[a[j]], c.left)
            last = self.dots(F, J, last, j, one)
        for j in c.turns:
            X, Y = self.rotation[a[j]] @ c.axes[j, 0, :, 0], self.rotation[b[j]] @ c.axes[j, 1, :, 0]
            q = u[c.angle_input[j]] if c.angle_input[j] >= 0 else 0.0
            C, s = np.cos(q), np.sin(q)
            X = np.array([C * X[0] - s * X[1], s * X[0] + C * X[1]])
            F[last] = np.arctan2(X[0] * Y[1] - X[1] * Y[0], X @ Y)
            for sign, body in ((-1.0, a[j]), (1.0, b[j])):
                if body:
                    J[last, c.columns[body]] = sign
            if c.angle_input[j] >= 0:
                Fu[last, c.angle_input[j]] = -1.0
            last += 1
        for j in c.driven_turns:
            k = c.angle_input[j]
            C, s = np.cos(u[k]), np.sin(u[k])
            A = self.rotation[a[j]] @ c.axes[j, 0]
            one, two = C * A[:, 1] - s * A[:, 0], self.rotation[b[j]] @ c.axes[j, 1, :, 0]
            F[last], Fu[last, k] = one @ two, -(C * A[:, 0] + s * A[:, 1]) @ two
            turn = np.array([one[1] * two[2] - one[2] * two[1], one[2] * two[0] - one[0] * two[2],
                             one[0] * two[1] - one[1] * two[0]])  # fmt: skip
            for sign, body in ((1.0, a[j]), (-1.0, b[j])):
                if body:
                    J[last, c.columns[body] + np.arange(3)] = sign * turn
            last += 1
        for (bodies, _), line in zip(c.passive, self.spin_lines(), strict=True):
            k = c.columns[bodies[0]]
            J[last, k : k + 3] = line
            last += 1
        return F, J, Fu, arms

    def dots(self, F, J, row, j, one):
        """Equations on directions from a row on; the row after them."""
        c = self.closure
        two = np.einsum("eab,eb->ea", self.rotation[c.ends[j, 1]], c.right)
        rows = row + np.arange(len(j))
        F[rows] = (one * two).sum(axis=1)
        turn = one[:, [1, 2, 0]] * two[:, [2, 0, 1]] - one[:, [2, 0, 1]] * two[:, [1, 2, 0]]
        for side, sign in ((0, 1.0), (1, -1.0)):
            bodies = c.ends[j, side]
            on = bodies > 0
            J[rows[on][:, None], c.columns[bodies[on]][:, None] + np.arange(3)] = sign * turn[on]
        return row + len(j)

    def spin_lines(self):
        """Unit directions of the passive rotations."""
        c, found = self.closure, []
        for bodies, balls in c.passive:
            points = []
            for j in balls:
                side = 0 if c.ends[j, 0] in bodies else 1
                body = c.ends[j, side]
                points.append(self.position[body] + self.rotation[body] @ c.origin[j, side])
            line = points[1] - points[0]
            found.append(line / np.linalg.norm(line))
        return found


class Bound:
    """How fast J⁻¹ F bends at a solution: second derivatives by turns, slides and inputs."""

    def __init__(self, state, inverse, arms):
        c = state.closure
        d, nr, n_joints = c.d, c.nr, len(c.ends)
        self.closure = c
        moving = c.n_bodies - 1
        turning = (np.arange(moving)[:, None] * (d + nr) + d + np.arange(nr)).ravel()
        sliding = c.slide[c.slide >= 0]
        #: Rows of the inverse by turning body (M, nr, n) and by slide (K, 1, n), brought to one form.
        rows = np.zeros((moving + len(sliding), nr, c.n))
        rows[:moving] = inverse[turning].reshape(moving, nr, c.n)
        rows[moving:, 0] = inverse[sliding]
        by_point = rows[:, :, : d * n_joints].reshape(len(rows), nr, n_joints, d)
        signed = np.zeros((n_joints, c.n_bodies, d))
        for side in (0, 1):
            signed[np.arange(n_joints), c.ends[:, side]] += arms[:, side]
        signed = signed[:, 1:]
        if self.closure.planar:
            turned = np.stack([-signed[..., 1], signed[..., 0]], axis=-1)
            both = [np.einsum("mrjd,jbd->mb", by_point, arm) for arm in (signed, turned)]
            self.by_turns = np.hypot(*both)
        else:
            # |<M, G>| <= |M|_F |G|_F, and |M|_F <= sqrt(2) for M = D²exp at unit vectors.
            outer = np.einsum("mrjd,jbe->mbrde", by_point, signed)
            self.by_turns = np.sqrt(2.0 * (outer**2).sum(axis=(2, 3, 4)))
        self.by_points = np.sqrt((by_point**2).sum(axis=(1, 3)))
        row = d * n_joints
        # Equations on directions of one joint count together, but for the third of a slide.
        square = (rows[:, :, row : row + len(c.dots)] ** 2).sum(axis=1)
        self.paired, place = np.unique(c.dot_joint, return_inverse=True)
        self.pairs = np.zeros((len(rows), len(self.paired)))
        np.add.at(self.pairs.T, place, square.T)
        many = np.bincount(place, minlength=len(self.paired)) > 2
        self.pairs = np.sqrt(self.pairs * np.where(many, 2.0, 1.0))
        row += len(c.dots)
        self.sliding = np.flatnonzero((c.slide >= 0) | (c.slide_input >= 0))
        self.slide_place = np.where(
            c.slide[self.sliding] >= 0, c.slide[self.sliding] - (d + nr) * moving + moving, 0
        )
        row += len(c.turns)
        self.driven = []
        for j in c.driven_turns:
            self.driven.append((j, np.sqrt((rows[:, :, row] ** 2).sum(axis=1))))
            row += 1

    def weights(self, way, away):
        """(M + K,) ways of turns and slides along the tangent; ``away``: more, of inputs off the chord."""
        c = self.closure
        moving = c.n_bodies - 1
        blocks = (c.d + c.nr) * moving

        def sizes(vector):
            turns = vector[:blocks].reshape(moving, -1)[:, c.d :]
            return np.concatenate([np.sqrt((turns**2).sum(axis=1)), np.abs(vector[blocks:])])

        found = sizes(way) + sizes(away)
        unit = np.ones(len(found))
        unit[moving:] = c.size
        return np.maximum(found, FLOOR * (found / unit).max() * unit)

    def bend(self, weight, inputs):
        """The constant a for a step with these weights and these largest changes of the inputs."""
        c = self.closure
        moving = c.n_bodies - 1
        turn = np.concatenate([[0.0], weight[:moving]])
        found = self.by_turns @ weight[:moving] ** 2
        if len(self.sliding):
            j = self.sliding
            slides = np.where(c.slide_input[j] >= 0, inputs[c.slide_input[j]], weight[self.slide_place])
            turned = turn[c.ends[j, 0]]
            found = found + self.by_points[:, j] @ (2.0 * slides * turned * (1.0 + turned))
        if len(self.paired):
            found = found + self.pairs @ turn[c.ends[self.paired]].sum(axis=1) ** 2
        for j, size in self.driven:
            a, b = c.ends[j]
            found = found + size * (turn[a] + turn[b] + inputs[c.angle_input[j]]) ** 2
        return float((found / weight).max())


def follow(mechanism, path, time):
    """The branch of a mechanism over a motion, from its reference.

    Parameters
    ----------
    path : by piece of time, from instant to instant, the inputs as cubics: (T - 1, 4, D) coefficients of
        s⁰ … s³ with s from 0 to 1. From the reference to the first instant inputs go straight.
    time : (T,) s
    """
    closure = Closure(mechanism)
    state = State(closure, closure.position, closure.rotation, closure.slides)
    u = closure.reference_inputs()
    goal = path[0, 0]
    turns = np.array([name != "slide" for _, name in closure.inputs])
    u = np.where(turns, u + 2 * np.pi * np.round((goal - u) / (2 * np.pi)), u)
    walk = Walk(state, u, path, time)
    poses = [walk.state] if np.abs(goal - u).max() < 1e-9 else []
    if not poses:
        if walk.along(np.array([u, goal - u, 0 * u, 0 * u])) < 1.0:
            return walk.branch([], float(time[0]), walk.steps < MOST)
        poses.append(walk.state)
    for k, cubic in enumerate(path):
        share = walk.along(cubic, k)
        if share < 1.0:
            end = float(time[k] + share * (time[k + 1] - time[k]))
            return walk.branch(poses, end, walk.steps < MOST)
        poses.append(walk.state)
    return walk.branch(poses, None, False)


class Walk:
    """A certified continuation, piece by piece."""

    def __init__(self, state, u, path, time):
        self.path, self.time = path, time
        self.steps, self.slowest, self.marks = 0, np.inf, []
        found = self.closed(state, u)
        assert found is not None, "the reference is singular or does not close"
        self.take(*found, u)

    def take(self, state, inverse, Fu, arms, u):
        self.state, self.inverse, self.u = state, inverse, u
        self.response = -inverse @ Fu
        self.bound = Bound(state, inverse, arms)

    def closed(self, state, u):
        """The solution near a state: (it, J⁻¹, F_u, arms) there; None if Newton does not end."""
        for _ in range(12):
            F, J, Fu, arms = state.linearised(u)
            try:
                inverse = np.linalg.inv(J)
            except np.linalg.LinAlgError:
                return None
            step = -inverse @ F
            size = np.abs(step).max() / max(1.0, state.closure.size)
            if not size < 1.0:
                return None
            if size < CLOSED * max(1.0, np.abs(inverse).max() * 1e-3):
                return state, inverse, Fu, arms
            state = state.moved(step)
        return None

    def along(self, cubic, piece=None, s=0.0):
        """Go along a cubic of the inputs from s on; where it is certified to, 1 for all of it."""
        scale = np.array([1.0 if n != "slide" else self.state.closure.size
                          for _, n in self.state.closure.inputs])  # fmt: skip
        bent = np.abs(6 * cubic[3]) + np.abs(2 * cubic[2])
        fastest = max(np.abs(cubic[1:].sum(axis=0) / scale).max(), np.abs(bent / scale).max(), 1e-12)
        least = LEAST / fastest
        step = 1.0
        while s < 1.0:
            if piece is not None:
                self.marks.append((piece + s, self.state, self.inverse, self.response, self.bound, self.u))
            if self.steps >= MOST:
                return s
            step = min(step, 1.0 - s)
            start = value(cubic, s)
            while True:
                end = value(cubic, s + step) if s + step < 1.0 else cubic.sum(axis=0)
                off = np.maximum(np.abs(second(cubic, s)), np.abs(second(cubic, s + step))) * step**2 / 8
                change = end - self.u
                off = off + np.abs(start - self.u)
                way = self.response @ change
                weight = self.bound.weights(way, np.abs(self.response) @ off)
                a = self.bound.bend(weight, np.abs(change) + off)
                if a <= SURE:
                    break
                step *= max(0.05, min(0.95, 0.95 * SURE / a))
                if step < least:
                    return s
            if not self.step_to(end, way, weight, a):
                step *= 0.5
                if step < least:
                    return s
                continue
            s = min(s + step, 1.0) if s + step < 1.0 - 1e-12 else 1.0
            self.slowest = min(self.slowest, step * fastest)
            step *= 2.0 if a < 0.25 else min(1.3, 1.1 * SURE / max(a, 1e-3))
        return 1.0

    def step_to(self, u, way, weight, a):
        """Newton, and whether what it found lies in the tube."""
        c = self.state.closure
        # A guess of second order; the tube says whether what comes of it is the branch.
        found = self.closed(self.state.moved(way), u)
        if found is None:
            return False
        apart = found[0].way_from(self.state) - way
        moving = c.n_bodies - 1
        blocks = (c.d + c.nr) * moving
        turns = np.sqrt((apart[:blocks].reshape(moving, -1)[:, c.d :] ** 2).sum(axis=1))
        off = np.concatenate([turns, np.abs(apart[blocks:])])
        radius = (1.0 - a - np.sqrt(1.0 - 2.0 * a)) / max(a, 1e-300) if a > 1e-9 else a
        if (off > radius * weight * (1 + 1e-6) + 1e-10).any():
            return False
        self.take(*found, u)
        self.steps += 1
        return True

    def state_at(self, t):
        """The state at a time, by a step from the last certified one."""
        k = int(np.clip(np.searchsorted(self.time, t, side="right") - 1, 0, len(self.path) - 1))
        place = k + (t - self.time[k]) / (self.time[k + 1] - self.time[k])
        mark = self.marks[bisect([m[0] for m in self.marks], place + 1e-12) - 1]
        _, self.state, self.inverse, self.response, self.bound, self.u = mark
        cubic = self.path[k]
        u = value(cubic, place - k)
        if np.abs(u - self.u).max() > 1e-13:
            change = u - self.u
            off = np.abs(second(cubic, 0.0)) + np.abs(second(cubic, 1.0))
            off = off * (place - mark[0]) ** 2 / 8
            way = self.response @ change
            weight = self.bound.weights(way, np.abs(self.response) @ off)
            a = self.bound.bend(weight, np.abs(change) + off)
            assert a <= 0.5, "between two certified states"
            assert self.step_to(u, way, weight, a)
        return self.state

    def branch(self, poses, end, singular):
        c = self.state.closure
        shape = (len(poses), c.n_bodies)
        position = np.array([p.position for p in poses]).reshape(*shape, c.d)
        rotation = np.array([p.rotation for p in poses]).reshape(*shape, c.d, c.d)
        return Branch(position, rotation, end, singular, self.slowest, self.steps, self)


def value(cubic, s):
    return cubic[0] + s * (cubic[1] + s * (cubic[2] + s * cubic[3]))


def second(cubic, s):
    return 2 * cubic[2] + 6 * s * cubic[3]


def turned_by(arms):
    """Derivatives of exp(v) arm by v at 0, (n, d, nr), of arms (n, d)."""
    if arms.shape[1] == 2:
        return np.stack([-arms[:, 1], arms[:, 0]], axis=1)[:, :, None]
    found = np.zeros((len(arms), 3, 3))
    found[:, 0, 1], found[:, 1, 2], found[:, 2, 0] = arms[:, 2], arms[:, 0], arms[:, 1]
    return found - found.transpose(0, 2, 1)


def exponential(v):
    """Rotations of vectors (n, 3), or of angles (n, 1)."""
    if v.shape[1] == 1:
        c, s = np.cos(v[:, 0]), np.sin(v[:, 0])
        return np.array([[c, -s], [s, c]]).transpose(2, 0, 1)
    size = np.linalg.norm(v, axis=1)
    safe = np.where(size > 1e-12, size, 1.0)
    K = np.zeros((len(v), 3, 3))
    K[:, 0, 1], K[:, 0, 2], K[:, 1, 2] = -v[:, 2], v[:, 1], -v[:, 0]
    K -= K.transpose(0, 2, 1)
    one = np.where(size > 1e-12, np.sin(safe) / safe, 1.0)[:, None, None]
    two = np.where(size > 1e-12, 2 * (np.sin(safe / 2) / safe) ** 2, 0.5)[:, None, None]
    return np.eye(3) + one * K + two * (K @ K)


def logarithm(R):
    """Vectors (n, 3) or angles (n, 1) of rotations by less than half a turn."""
    if R.shape[1] == 2:
        return np.arctan2(R[:, 1, 0], R[:, 0, 0])[:, None]
    w = 0.5 * np.stack([R[:, 2, 1] - R[:, 1, 2], R[:, 0, 2] - R[:, 2, 0], R[:, 1, 0] - R[:, 0, 1]], axis=1)
    sine = np.linalg.norm(w, axis=1)
    angle = np.arctan2(sine, 0.5 * (np.trace(R, axis1=1, axis2=2) - 1.0))
    return w * np.where(sine > 1e-12, angle / np.where(sine > 1e-12, sine, 1.0), 1.0)[:, None]


def cubics(motion):
    """The inputs of a motion piece by piece: (T - 1, 4, D), through values and rates."""
    h = np.diff(motion.time)
    q, v = motion.value, motion.rate
    rise = np.diff(q, axis=1)
    one, two = v[:, :-1] * h, v[:, 1:] * h
    parts = [q[:, :-1], one, 3 * rise - 2 * one - two, one + two - 2 * rise]
    return np.array(parts).transpose(2, 0, 1)
