"""All ways to place the bodies of one group where the bodies before it and the inputs are given.

Planar closed forms and struts are asked for each of their signs. In relative coordinates one unknown meets a
rod in two places, three unknowns a ball in up to four. All complex positions of a group that pins and rods
close are followed; elsewhere Newton starts from many places. The struts between bodies that stand are laid
last, as at the reference.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np

from groups.assembly_modes import homotopy
from groups.assembly_modes.closure import largest_miss
from groups.kernels import layout, loop_closure, meeting, newton, one_rod, relative, strut
from groups.kernels.path import recall
from groups.kernels.status import OK
from groups.kernels.vectors import ROTATION, STATE
from groups.solvers.families import PLANAR, RELATIVE, STRUT, plain_microseconds
from groups.solvers.planar_dyads import PlanarGroup, planar_modes, planar_state
from groups.solvers.registry import Solver
from groups.solvers.truss import truss_of
from mbssa import Group
from mbssa.arrays import Floats, Ints
from mbssa.compiled import chosen
from mbssa.joints.frames import Frames
from mbssa.joints.system import Configuration
from mbssa.progress import Progress

#: Newton steps from a random start.
STEPS = 60
#: Steps that a start takes on average, as a share of what an instant of a motion takes.
TAKEN = 10.0
#: Seconds that compiling Newton alone takes.
COMPILING = 50.0
#: Starts at most, as a multiple of those in a row that find nothing new, and starts that are drawn at once.
AT_MOST, LOT = 10, 100
#: Poses (rad, or of the size) that differ by less are one, and the miss that is none, over the size.
SAME, CLOSED = 1e-6, 1e-9
#: Condition below which a position that Newton finds is no mode: it can be left without opening anything.
FLAT = 1e-7


@dataclass(frozen=True, eq=False)
class Placing:
    """One way to place the own bodies of a group.

    Attributes
    ----------
    bodies : (n,) indices; position (n, 3), rotation (n, 3, 3), angle (n,) in the world, m and rad
    memory : what the group's kernel starts from in this mode
    branch : the sign that holds the root or the determinant; empty where nothing is unknown
    laid : the signs of the struts
    x, balls : unknowns (n,) and rotations (b, 3, 3) of the tree, empty for other forms
    residual : largest miss of a joint of the group, m or rad
    """

    bodies: Ints
    position: Floats
    rotation: Floats
    angle: Floats
    memory: Floats
    branch: tuple[int, ...]
    laid: tuple[int, ...]
    x: Floats
    balls: Floats
    residual: float = np.nan


@dataclass(frozen=True, eq=False)
class Task:
    """A group to be placed: ``at`` has the poses of all bodies, of which those before it count.

    ``inputs`` (D,) m and rad. ``starts`` of Newton in a row that find nothing new before it ends; ``near`` a
    memory from which Newton is led here as well; ``most`` positions that there can be, None where that is not
    known.
    """

    group: Group
    solver: Solver
    frames: Frames
    at: Configuration
    inputs: Floats
    starts: int
    near: Floats
    most: int | None
    told: Progress = lambda what, share: None


@dataclass(frozen=True, slots=True)
class Search:
    """Origin of a list of placings: a text, whether it is complete, and the number that it may lack."""

    text: str
    complete: bool
    missing: float = 0.0


#: The search of a closed form.
CLOSED_FORM = Search("a closed form gives all", complete=True)


def placings(task: Task) -> tuple[list[Placing], Search]:
    """All ways that are found, each once, closed to :func:`tolerance` and with no axis turned round."""
    search = CLOSED_FORM
    if task.solver.family == PLANAR:
        found = _planar(task)
    elif task.solver.family == STRUT:
        states = _states(task.at)
        found = list(_laid(task, states, task.solver.memory.copy(), (), np.zeros(0), np.zeros((0, 3, 3))))
    elif task.solver.family == RELATIVE:
        found, search = _relative(task)
    else:
        raise ValueError(f"{task.solver.name} lists no assembly modes; solve the group by Newton for that")
    if not found:
        return [], search
    misses = largest_miss(task.group, task.frames, placed_at(task.at, found), task.inputs).tolist()
    limit = task.frames.size * tolerance(task.solver)
    kept = [replace(p, residual=miss) for p, miss in zip(found, misses, strict=True) if miss <= limit]
    return kept, search


def placed_at(at: Configuration, found: list[Placing]) -> Configuration:
    """Poses of all bodies in M placings of a group: position (M, N, 3), rotation (M, N, 3, 3)."""
    position = np.repeat(at.position[None], len(found), axis=0)
    rotation = np.repeat(at.rotation[None], len(found), axis=0)
    for k, placing in enumerate(found):
        position[k, placing.bodies], rotation[k, placing.bodies] = placing.position, placing.rotation
    return Configuration(position, rotation, at.angle, at.centre)


def tolerance(solver: Solver) -> float:
    """Over the size: that of rows left out where there are any, else :data:`CLOSED`."""
    if not solver.redundant:
        return CLOSED
    size, _, left_out = layout.cuts_of(solver.ints, solver.floats).limit
    return float(left_out / size)


def same_place(a: Placing, b: Placing, size: float) -> bool:
    """Whether two placings have the same poses to :data:`SAME`."""
    return bool(
        np.abs(a.position - b.position).max(initial=0.0) <= SAME * size
        and np.abs(a.rotation - b.rotation).max(initial=0.0) <= SAME
    )


# --- in the plane ----------------------------------------------------------------------------------


def _planar(task: Task) -> list[Placing]:
    solver, bodies = task.solver, task.group.body_indices
    packed = PlanarGroup(
        solver.ints, solver.floats, solver.memory, solver.name, solver.roots or 1, None, bodies
    )
    found: list[Placing] = []
    for mode in planar_modes(packed, planar_state(task.at), task.inputs):
        c, s = mode.poses[:, 2], mode.poses[:, 3]
        rotation = np.tile(np.eye(3), (len(bodies), 1, 1))
        rotation[:, 0, 0], rotation[:, 1, 1], rotation[:, 0, 1], rotation[:, 1, 0] = c, c, -s, s
        position = np.column_stack([mode.poses[:, :2], np.zeros(len(bodies))])
        branch = (int(mode.memory[0]),) if packed.n_modes > 1 else ()
        none = np.zeros(0), np.zeros((0, 3, 3))
        angle = mode.poses[:, 4]
        placing = Placing(bodies, position, rotation, angle, mode.memory, branch, (), *none)
        if not any(same_place(placing, other, task.frames.size) for other in found):
            found.append(placing)
    return found


# --- in relative coordinates -----------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class _Room:
    """Data of a group in relative coordinates, and arrays for its kernels to work in."""

    memory: Floats
    work: Floats
    g: layout.Group
    rows: layout.Rows | None
    meeting: layout.Meeting

    @staticmethod
    def of(solver: Solver, memory: Floats, work: Floats) -> _Room:
        ints, floats = solver.ints, solver.floats
        return _Room(
            memory,
            work,
            layout.group_of(ints, floats, memory, work),
            layout.rows_of(ints, floats, work) if ints[layout.N_ROWS] > 0 else None,
            layout.meeting_of(ints, work),
        )

    def put(self, x: Floats, balls: Floats) -> None:
        """Set unknowns and balls."""
        self.g.pose.x[:], self.g.pose.ball[:] = x, balls.reshape(-1, 9)

    def taken(self) -> tuple[Floats, Floats]:
        """Unknowns and balls."""
        return self.g.pose.x.copy(), self.g.pose.ball.reshape(-1, 3, 3).copy()


class _Places:
    """Positions of a group's tree that differ by the poses of its bodies; flat ones are none."""

    def __init__(self, task: Task, room: _Room) -> None:
        self.task, self.room = task, room
        self.scale = np.repeat([task.frames.size, 1.0], [ROTATION, 9])
        self.poses, self.times = list[Floats](), list[int]()
        self.found = list[tuple[Floats, Floats, Floats, int]]()

    def add(self, x: Floats, balls: Floats) -> bool:
        """Whether this is a mode that was not there before."""
        room, task = self.room, self.task
        room.put(x, balls)
        newton.place(room.g.tree, room.g.pose, room.g.equations)
        poses = room.g.pose.stage[len(room.g.tree.known) :, : ROTATION + 9].copy()
        for k, known in enumerate(self.poses):
            if np.abs((poses - known) / self.scale).max() <= SAME:
                self.times[k] += 1
                return False
        memory, sign, condition = _memory(task, room, x, balls)
        if task.solver.ints[layout.METHOD] == layout.NEWTON and condition < FLAT:
            return False
        self.poses.append(poses)
        self.times.append(1)
        self.found.append((x, balls, memory, sign))
        return True

    def placings(self) -> Iterator[Placing]:
        """With the struts, as they are laid at the reference."""
        own = self.room.g.tree.own
        for (x, balls, memory, sign), poses in zip(self.found, self.poses, strict=True):
            states = _states(self.task.at)
            states[own, : ROTATION + 9, 0] = poses
            branch = (sign,) if len(x) else ()
            laid = list(_laid(self.task, states, memory, branch, x, balls))
            yield from laid[:1]


def _relative(task: Task) -> tuple[list[Placing], Search]:
    room = _staged(task)
    places = _Places(task, room)
    search = _find(task, room, places)
    return list(places.placings()), search


def _staged(task: Task) -> _Room:
    """Room for the kernels, with known bodies, inputs and the unknowns of ``near`` in place."""
    room = _Room.of(task.solver, task.near.copy(), np.zeros(task.solver.ints[layout.N_WORK]))
    for k, body in enumerate(room.g.tree.known.tolist()):
        room.g.pose.stage[k, :3] = task.at.position[body]
        room.g.pose.stage[k, 3:12] = task.at.rotation[body].ravel()
    room.g.pose.u[:] = task.inputs
    recall(room.g, room.rows)
    return room


def _find(task: Task, room: _Room, places: _Places) -> Search:
    """Find the positions of the tree that close."""
    method = int(task.solver.ints[layout.METHOD])
    start = room.taken()
    if len(start[0]) == 0:
        places.add(*start)
        return CLOSED_FORM
    if method == layout.NEWTON:
        return _searched(task, room, places)

    def polish() -> None:
        answer = newton.newton(room.g, None, newton.POLISH, True)
        if answer[0] == OK:
            places.add(*room.taken())

    if method == layout.REACH:
        for sign in (1.0, -1.0):
            room.put(*start)
            if one_rod.reach(room.g, sign) == OK:
                polish()
        return CLOSED_FORM
    count, _ = meeting.points_of(room.g, room.meeting)
    for k in range(count):
        meeting.go_to(room.g, room.meeting, room.meeting.found, k)
        polish()
    return CLOSED_FORM


def _searched(task: Task, room: _Room, places: _Places) -> Search:
    """Follow all complex positions where that can be done, else start Newton from many places.

    Newton finds some before, which are followed as well: what it finds must be there in the end.
    """
    ints = task.solver.ints
    if not homotopy.applies(ints, task.solver.floats):
        return _started(task, room, places)
    search = _started(replace(task, starts=min(task.starts, LOT)), room, places)
    known = [(x, balls) for x, balls, _, _ in places.found]
    if search.complete:
        return search
    # A loop of a larger truss that does not close by as much in all positions has more of them.
    truss = truss_of(task.group)
    degree = task.most if truss is None or truss.links <= 5 else None
    answer = homotopy.positions(room.g, known, degree, task.told)
    if answer is None or not answer.sound:
        return _started(task, room, places)
    for x, balls in answer.real:
        room.put(x, balls)
        if newton.newton(room.g, None, newton.POLISH, True)[0] == OK:
            places.add(*room.taken())
    if len(answer.real) != len(places.found):
        return _started(task, room, places)
    return Search(answer.text(degree), complete=task.most in (answer.count, answer.ended))


def _started(task: Task, room: _Room, places: _Places) -> Search:
    """Newton from ``near``, led from there, and from many places drawn from a fixed seed.

    It ends where as many modes are found as there can be, or where ``starts`` in a row found no new one. What
    is missing is estimated from how many modes were met once and twice (Chao 1984, a lower bound).
    """
    limit = room.g.cuts.limit[2]
    if relative.iterate(room.g, room.rows, 0)[0] == OK:
        places.add(*room.taken())
    seconds = 1e-6 * TAKEN * task.starts * plain_microseconds(task.solver)
    # The addresses of users' functions are those of Python here.
    kernel = newton.cuts_from if room.rows is None else newton.rows_from
    solve = chosen(kernel, seconds, compiling=COMPILING, ask=False if task.solver.users else None)
    checked = room.rows if task.solver.redundant else None
    rng = np.random.default_rng(task.solver.number)
    starts, closed, last = 0, 0, 0
    while starts - last < task.starts and starts < AT_MOST * task.starts:
        if starts % LOT == 0:
            x, balls = _drawn(task, room, rng)
        if len(places.found) == task.most:
            break
        room.put(x[starts % LOT], balls[starts % LOT])
        with np.errstate(all="ignore"):
            status = solve(task.solver.ints, task.solver.floats, room.memory, room.work, STEPS)
        starts += 1
        if status == OK and (checked is None or loop_closure.left_out(room.g, checked) <= limit):
            closed += 1
            if places.add(*room.taken()):
                last = starts
        task.told("starting Newton", (starts - last) / task.starts)
    if len(places.found) == task.most:
        return Search(f"Newton found as many as there can be, after {starts} starts", complete=True)
    once, twice = (places.times.count(k) for k in (1, 2))
    missing = once * (once - 1) / (2.0 * (twice + 1))
    return Search(
        f"Newton from {starts} places, of which {closed} led to a mode; the last {starts - last} found no "
        f"new one; about {missing:.0f} more are expected from how often each was met",
        complete=False,
        missing=missing,
    )


def _drawn(task: Task, room: _Room, rng: np.random.Generator) -> tuple[Floats, Floats]:
    """Starts: turns all round, slides within twice the size of where they are, balls in any attitude."""
    tree = room.g.tree
    n, balls = len(room.g.pose.x), len(room.g.pose.ball)
    x = rng.uniform(-1.0, 1.0, (LOT, n))
    kind, unknown = tree.kind, tree.unknown
    turns = np.isin(np.arange(n), unknown[kind == layout.TURN])
    small = np.isin(np.arange(n), unknown[kind >= layout.BALL_X])
    x *= np.where(small, 0.0, np.where(turns, np.pi, 2.0 * task.frames.size))
    x += room.g.memory.x
    q = rng.normal(size=(LOT, balls, 4))
    w, v = q[..., :1, None], q[..., 1:]
    square = (q * q).sum(axis=-1)[..., None, None]
    skew = np.cross(v[..., None, :], np.eye(3))
    return x, np.eye(3) + 2.0 * (w * skew + skew @ skew) / square


def _memory(task: Task, room: _Room, x: Floats, balls: Floats) -> tuple[Floats, int, float]:
    """Initial memory of the kernel at these unknowns, sign of the determinant there, and its condition."""
    memory = task.solver.memory.copy()
    there = _Room.of(task.solver, memory, room.work)
    g, last = there.g, there.g.memory
    known = len(last.known)
    last.x[:], last.ball[:], last.u[:] = x, balls.reshape(-1, 9), task.inputs
    last.known[:] = g.pose.stage[:known, :12]
    if g.tree.planar == 1:
        last.turned[:] = _angles(task, g.tree.known, g.pose.stage[:known, 3:12].reshape(-1, 3, 3))
    if len(x) == 0:
        return memory, 1, 1.0
    there.put(x, balls)
    newton.place(g.tree, g.pose, g.equations)
    sign, condition = newton.linearise(g, there.rows)
    if there.rows is None or not task.solver.redundant:
        last.head[layout.SIGN] = sign
    else:  # other rows may be the better choice here; the kernel sees their sign
        kept = last.solved.copy()
        if loop_closure.choose_rows(g, there.rows) != len(x):
            last.solved[:] = kept
    return memory, int(sign), condition


# --- struts ----------------------------------------------------------------------------------------


def _laid(
    task: Task, states: Floats, memory: Floats, branch: tuple[int, ...], x: Floats, balls: Floats
) -> Iterator[Placing]:
    """The group with its struts laid between bodies that stand: as in ``memory``, then in all other ways."""
    ints, floats, memory_of_legs = _legs(task, memory)
    ways = []
    for k in range(len(memory_of_legs) // strut.SIGNS):
        held = tuple(memory_of_legs[k * strut.SIGNS :][: strut.SIGNS].tolist())
        of_leg = _ways(task, states, ints[k * strut.INTS :], floats[k * strut.FLOATS :])
        same = [way for way in of_leg if way[0] == held]
        ways.append(same + [way for way in of_leg if way[0] != held])
    bodies = task.group.body_indices
    for choice in itertools.product(*ways):
        mine, laid = memory.copy(), states[:, :, 0].copy()
        held_signs = _legs(task, mine)[2]
        for k, (signs, own, poses) in enumerate(choice):
            held_signs[k * strut.SIGNS :][: strut.SIGNS] = signs
            laid[own, : ROTATION + 9] = poses
        position, rotation = laid[bodies, :3], laid[bodies, 3:12].reshape(-1, 3, 3)
        angle = _angles(task, bodies, rotation)
        turns = tuple(int(sign) for held, *_ in choice for sign in held)
        yield Placing(bodies, position, rotation, angle, mine, branch, turns, x, balls)


def _legs(task: Task, memory: Floats) -> tuple[Ints, Floats, Floats]:
    """Constants of a group's struts, and the part of a memory that holds their signs."""
    if task.solver.family == STRUT:
        return task.solver.ints, task.solver.floats, memory[: strut.SIGNS]
    legs = layout.legs_of(task.solver.ints, task.solver.floats, memory)
    return legs.ints, legs.floats, legs.signs


def _ways(
    task: Task, states: Floats, ints: Ints, floats: Floats
) -> list[tuple[tuple[float, float], list[int], Floats]]:
    """Signs, bodies and poses (b, 12) of every way to lay the strut whose data begin here."""
    own = [int(body) for body in ints[strut.FIRST : strut.LAST + 1] if body >= 0]
    free = ints[strut.LAST] >= 0 and ints[strut.DRIVE] < 0
    inputs = tuple(column[:, None] for column in (task.inputs, 0.0 * task.inputs, 0.0 * task.inputs))
    W, leg = np.empty((strut.ROWS, strut.LANES)), strut.strut_in(ints, 0, floats, 0)
    found: list[tuple[tuple[float, float], list[int], Floats]] = []
    for signs in itertools.product((1.0, -1.0) if free else (1.0,), (1.0, -1.0)):
        S = states.copy()
        with np.errstate(divide="ignore", invalid="ignore"):  # NaN is how the kernel says no
            strut.place(leg, np.array(signs), 0, S, 0, 1, inputs, 0, 0, W)
        poses = S[own, : ROTATION + 9, 0]
        if W[strut.STATUS, 0] != OK:
            continue
        if all(np.abs(poses - other).max() > 1e-9 for *_, other in found):
            found.append((signs, own, poses))
    return found


# --- what is common --------------------------------------------------------------------------------


def _states(at: Configuration) -> Floats:
    """(N, 24, 1) states of all bodies at rest."""
    states = np.zeros((len(at.position), STATE, 1))
    states[:, :3, 0], states[:, 3:12, 0] = at.position, at.rotation.reshape(-1, 9)
    return states


def _angles(task: Task, bodies: Ints, rotation: Floats) -> Floats:
    """Turns about z, those nearest to where the bodies are in the configuration; rad."""
    angle = np.arctan2(rotation[:, 1, 0], rotation[:, 0, 0])
    turns: Floats = np.round((task.at.angle[bodies] - angle) / (2 * np.pi))
    nearest: Floats = angle + 2 * np.pi * turns
    return nearest
