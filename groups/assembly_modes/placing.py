"""All ways to place the bodies of one group where the bodies before it and the inputs are given.

Planar closed forms and struts are asked for each of their signs. In relative coordinates one unknown meets a
rod in two places, three unknowns a ball in up to four; elsewhere Newton starts from many places. The struts
between bodies that stand are laid last, each in all its ways.
"""

from __future__ import annotations

import itertools
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from groups.assembly_modes.closure import largest_miss, spread
from groups.closed_form.planar import PlanarGroup, planar_modes, planar_state
from groups.kernels import closing, record, span, strut, tree, unknowns
from groups.kernels.linear import factorise
from groups.kernels.status import OK
from groups.kernels.vectors import ROTATION, STATE
from groups.plain_costs import COMPILING, plain_microseconds
from groups.registry import Solver
from mbssa import Group
from mbssa.compiled import chosen
from mbssa.joints.frames import Frames
from mbssa.joints.system import Configuration

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]

#: Newton steps from a random start.
STEPS = 60
#: Steps that a start takes on average, as a share of what an instant of a motion takes.
TAKEN = 10.0
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

    ``inputs`` (D,) m and rad. ``starts`` of Newton; ``near`` a memory from which Newton is led here as well.
    """

    group: Group
    solver: Solver
    frames: Frames
    at: Configuration
    inputs: Floats
    starts: int
    near: Floats


def placings(task: Task) -> list[Placing]:
    """All ways that are found, each once, closed to :func:`tolerance` and with no axis turned round."""
    if task.solver.code == span.PLANAR:
        found = _planar(task)
    elif task.solver.code == span.STRUT:
        states = _states(task.at)
        found = _laid(task, states, task.solver.memory.copy(), (), np.zeros(0), np.zeros((0, 3, 3)))
    else:
        found = _relative(task)
    if not found:
        return []
    position, rotation = np.array([p.position for p in found]), np.array([p.rotation for p in found])
    placed = spread(task.at, found[0].bodies, position, rotation)
    misses = largest_miss(task.group, task.frames, placed, task.inputs).tolist()
    limit = task.frames.size * tolerance(task.solver)
    return [replace(p, residual=miss) for p, miss in zip(found, misses, strict=True) if miss <= limit]


def tolerance(solver: Solver) -> float:
    """Over the size: that of rows left out where there are any, else :data:`CLOSED`."""
    if not solver.redundant:
        return CLOSED
    size, _, left_out = solver.floats[solver.ints[record.SIZE] :][:3]
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


def _relative(task: Task) -> list[Placing]:
    ints, floats = task.solver.ints, task.solver.floats
    n, links = int(ints[record.N_UNKNOWNS]), int(ints[record.N_LINKS])
    work = _staged(task)
    trees: list[tuple[Floats, Floats, Floats]] = []
    for x, balls in _unknowns(task, work):
        _put(ints, work, x, balls)
        tree.forward(ints, floats, work)
        at = work[ints[record.STAGE] + STATE * ints[record.N_KNOWN] :][: STATE * links].reshape(links, STATE)
        poses = at[:, : ROTATION + 9].copy()
        scale = np.repeat([task.frames.size, 1.0], [ROTATION, 9])
        if all(np.abs((poses - known) / scale).max() > SAME for *_, known in trees):
            trees.append((x, balls, poses))
    found: list[Placing] = []
    for x, balls, poses in trees:
        memory, sign, condition = _memory(task, work, x, balls, poses)
        if ints[record.METHOD] == record.NEWTON and condition < FLAT:
            continue
        states = _states(task.at)
        states[ints[ints[record.OWN] :][:links], 0, : ROTATION + 9] = poses
        found += _laid(task, states, memory, (sign,) if n else (), x, balls)
    return found


def _staged(task: Task) -> Floats:
    """Room for the kernels, with known bodies, inputs and the unknowns of ``near`` in place."""
    ints = task.solver.ints
    work = np.zeros(ints[record.N_WORK])
    for k, body in enumerate(ints[ints[record.KNOWN] :][: ints[record.N_KNOWN]].tolist()):
        at = ints[record.STAGE] + STATE * k
        work[at : at + 3] = task.at.position[body]
        work[at + 3 : at + 12] = task.at.rotation[body].ravel()
    work[ints[record.U] :][: len(task.inputs)] = task.inputs
    unknowns.recall(ints, work, task.near)
    return work


def _put(ints: Ints, work: Floats, x: Floats, balls: Floats) -> None:
    work[ints[record.X] :][: len(x)] = x
    work[ints[record.BALL] :][: balls.size] = balls.ravel()


def _taken(ints: Ints, work: Floats) -> tuple[Floats, Floats]:
    n, balls = int(ints[record.N_UNKNOWNS]), int(ints[record.N_BALLS])
    return (
        work[ints[record.X] :][:n].copy(),
        work[ints[record.BALL] :][: 9 * balls].reshape(balls, 3, 3).copy(),
    )


def _unknowns(task: Task, work: Floats) -> list[tuple[Floats, Floats]]:
    """Unknowns and balls of every position of the tree that closes; positions may repeat."""
    ints, floats = task.solver.ints, task.solver.floats
    method = int(ints[record.METHOD])
    start = _taken(ints, work)
    if ints[record.N_UNKNOWNS] == 0:
        return [start]
    if method == record.NEWTON:
        return _searched(task, work)
    found = []

    def polish() -> None:
        answer = unknowns.newton(ints, floats, work, task.near, unknowns.POLISH, True)
        if answer[0] == OK:
            found.append(_taken(ints, work))

    if method == record.REACH:
        for sign in (1.0, -1.0):
            _put(ints, work, *start)
            if unknowns.by_reach(ints, floats, work, sign) == OK:
                polish()
        return found
    # The kernel chooses one of the places that it finds and leaves all of them behind.
    places = work[ints[record.FOUND] :][:12].reshape(4, 3)
    places[:] = np.nan
    memory = task.near.copy()
    unknowns.by_meeting(ints, floats, work, memory)
    for k in np.flatnonzero(np.isfinite(places[:, 0])).tolist():
        unknowns.go_to(ints, work, int(ints[record.FOUND]) + 3 * k)
        polish()
    return found


def _searched(task: Task, work: Floats) -> list[tuple[Floats, Floats]]:
    """Newton from ``near``, led from there, and from many places drawn from a fixed seed."""
    ints, floats = task.solver.ints, task.solver.floats
    limit = floats[ints[record.SIZE] + 2]
    memory = task.near.copy()
    found = []
    if unknowns.position(ints, floats, work, memory, 0.0, 0)[0] == OK:
        found.append(_taken(ints, work))
    x, balls = _drawn(task)
    seconds = 1e-6 * TAKEN * task.starts * plain_microseconds(task.solver)
    # The addresses of users' functions are those of Python here.
    newton = chosen(
        unknowns.newton, seconds, compiling=COMPILING["newton"], ask=False if task.solver.users else None
    )
    checked = task.solver.redundant
    for k in range(task.starts):
        _put(ints, work, x[k], balls[k])
        if newton(ints, floats, work, memory, STEPS, False)[0] != OK:
            continue
        if not checked or closing.left_out(ints, floats, work, memory) <= limit:
            found.append(_taken(ints, work))
    return found


def _drawn(task: Task) -> tuple[Floats, Floats]:
    """Starts: turns all round, slides within twice the size of where they are, balls in any attitude."""
    ints = task.solver.ints
    n, balls, steps = (int(ints[k]) for k in (record.N_UNKNOWNS, record.N_BALLS, record.N_STEPS))
    rng = np.random.default_rng(task.solver.number)
    x = rng.uniform(-1.0, 1.0, (task.starts, n))
    kind, unknown = (ints[ints[part] :][:steps] for part in (record.KIND, record.UNKNOWN))
    turns = np.isin(np.arange(n), unknown[kind == record.TURN])
    small = np.isin(np.arange(n), unknown[kind >= record.BALL_X])
    x *= np.where(small, 0.0, np.where(turns, np.pi, 2.0 * task.frames.size))
    x += task.near[ints[record.LAST_X] :][:n]
    q = rng.normal(size=(task.starts, balls, 4))
    w, v = q[..., :1, None], q[..., 1:]
    square = (q * q).sum(axis=-1)[..., None, None]
    skew = np.cross(v[..., None, :], np.eye(3))
    return x, np.eye(3) + 2.0 * (w * skew + skew @ skew) / square


def _memory(task: Task, work: Floats, x: Floats, balls: Floats, poses: Floats) -> tuple[Floats, int, float]:
    """What the kernel starts from at these unknowns, the sign of the determinant there, and its condition."""
    ints, floats = task.solver.ints, task.solver.floats
    n, known = int(ints[record.N_UNKNOWNS]), int(ints[record.N_KNOWN])
    memory = task.solver.memory.copy()
    memory[ints[record.LAST_X] :][:n] = x
    memory[ints[record.LAST_BALL] :][: balls.size] = balls.ravel()
    stage = work[ints[record.STAGE] :][: STATE * known].reshape(known, STATE)
    memory[ints[record.LAST_KNOWN] :][: 12 * known] = stage[:, :12].ravel()
    memory[ints[record.LAST_U] :][: len(task.inputs)] = task.inputs
    if ints[record.PLANAR] == 1:
        of = ints[ints[record.KNOWN] :][:known]
        memory[ints[record.LAST_TURNED] :][:known] = _angles(task, of, stage[:, 3:12].reshape(-1, 3, 3))
    if n == 0:
        return memory, 1, 1.0
    _put(ints, work, x, balls)
    tree.forward(ints, floats, work)
    scale = closing.slopes(ints, floats, work, task.solver.memory, False)
    sign, smallest = factorise(work, ints[record.MATRIX], ints[record.ORDER], n)
    if not task.solver.redundant:
        memory[record.SIGN] = sign
    else:  # other rows may be the better choice here; the kernel sees their sign
        chosen = memory.copy()
        if closing.choose_rows(ints, floats, work, chosen) == n:
            memory = chosen
    return memory, int(sign), smallest / scale


# --- struts ----------------------------------------------------------------------------------------


def _laid(
    task: Task, states: Floats, memory: Floats, branch: tuple[int, ...], x: Floats, balls: Floats
) -> list[Placing]:
    """The group with its struts laid in all ways between bodies that stand."""
    ints = task.solver.ints
    alone = task.solver.code == span.STRUT
    count = 1 if alone else int(ints[record.N_STRUTS])
    i, f, m = (
        (0, 0, 0) if alone else (int(ints[k]) for k in (record.STRUT, record.STRUT_NUMBER, record.STRUT_SIGN))
    )
    ways = [_ways(task, states, i + k * strut.INTS, f + k * strut.FLOATS) for k in range(count)]
    bodies = task.group.body_indices
    found: list[Placing] = []
    for choice in itertools.product(*ways):
        mine, laid = memory.copy(), states[:, 0].copy()
        for k, (signs, own, poses) in enumerate(choice):
            mine[m + k * strut.SIGNS :][: strut.SIGNS] = signs
            laid[own, : ROTATION + 9] = poses
        position, rotation = laid[bodies, :3], laid[bodies, 3:12].reshape(-1, 3, 3)
        angle = _angles(task, bodies, rotation)
        turns = tuple(int(sign) for held, *_ in choice for sign in held)
        found.append(Placing(bodies, position, rotation, angle, mine, branch, turns, x, balls))
    return found


def _ways(task: Task, states: Floats, i: int, f: int) -> list[tuple[tuple[float, float], list[int], Floats]]:
    """Signs, bodies and poses (b, 12) of every way to lay one strut."""
    ints, floats = task.solver.ints, task.solver.floats
    own = [int(body) for body in ints[i + strut.FIRST : i + strut.LAST + 1] if body >= 0]
    free = ints[i + strut.LAST] >= 0 and ints[i + strut.DRIVE] < 0
    inputs = tuple(column[:, None] for column in (task.inputs, 0.0 * task.inputs, 0.0 * task.inputs))
    scratch = np.empty(strut.SCRATCH)
    found: list[tuple[tuple[float, float], list[int], Floats]] = []
    for signs in itertools.product((1.0, -1.0) if free else (1.0,), (1.0, -1.0)):
        S = states.copy()
        with np.errstate(divide="ignore", invalid="ignore"):  # NaN is how the kernel says no
            strut.place(ints, i, floats, f, S, 0, 1, inputs, 0, np.array(signs), 0, 0, scratch)
        poses = S[own, 0, : ROTATION + 9]
        if scratch[strut.cell(strut.STATUS, 0)] != OK:
            continue
        if all(np.abs(poses - other).max() > 1e-9 for *_, other in found):
            found.append((signs, own, poses))
    return found


# --- what is common --------------------------------------------------------------------------------


def _states(at: Configuration) -> Floats:
    """(N, 1, 24) states of all bodies at rest."""
    states = np.zeros((len(at.position), 1, STATE))
    states[:, 0, :3], states[:, 0, 3:12] = at.position, at.rotation.reshape(-1, 9)
    return states


def _angles(task: Task, bodies: Ints, rotation: Floats) -> Floats:
    """Turns about z, those nearest to where the bodies are in the configuration; rad."""
    angle = np.arctan2(rotation[:, 1, 0], rotation[:, 0, 0])
    turns: Floats = np.round((task.at.angle[bodies] - angle) / (2 * np.pi))
    nearest: Floats = angle + 2 * np.pi * turns
    return nearest
