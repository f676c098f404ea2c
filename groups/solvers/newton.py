"""Newton with analytic Jacobian on the closure of a group in relative coordinates: any number of unknowns."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from groups.encoding.chain_names import chain_of
from groups.encoding.relative_coordinates import RelativeGroup, encode_relative
from groups.kernels import layout, loop_closure, newton, platform
from groups.kernels.relative import iterate, solve_cuts
from groups.placing import homotopy
from groups.placing.placing import Search, Task
from groups.placing.relative import Places, Room
from groups.setting import Setting
from groups.solvers.relative import RelativeSolver
from groups.solvers.solver import Kernel, Solver
from groups.status import OK
from groups.tree import GroupTree, open_group
from groups.truss import truss_of
from mbssa import Group
from mbssa.arrays import Floats
from mbssa.compiled import chosen

#: Newton steps from a random start.
STEPS = 60
#: Time of a start, as a multiple of that of an instant of a motion.
TAKEN = 10.0
#: Seconds that compiling Newton alone takes.
COMPILING = 50.0
#: Starts at most, as a multiple of those in a row that find nothing new, and starts that are drawn at once.
AT_MOST, LOT = 10, 100

_SIX = "a loop of six hinges; 8 where the cylinder's axis meets the slotted ball's centre"
#: Degrees of the polynomials that Newton stands for, by chain, as the literature has them.
DEGREES = {
    "1 body on R-P, 2 × R-R": (6, "a coupler curve of degree six meets a line"),
    "1 body on 6 × S-P*-U": (40, "the general platform on six legs has 40 positions"),
    "1 body on F, 6 × S-P*-U": (40, "the general platform on six legs has 40 positions"),
    "1 body on 6 × S-P*-S": (40, "the general platform on six legs has 40 positions"),
    "1 body on 3 × R-S": (16, "three circles carry a triangle: degree 8 in the square of a half-tangent"),
    "C[slide]-ER-R-R-R": (16, _SIX),
    "ER-C[slide]-R-R-R": (16, _SIX),
    "C-C-C": (2, "directions close like a spherical four-bar, then slides are linear"),
}
#: Chains without a degree, and the reason.
WITHOUT_DEGREE = {"H-U-S": "a helix meets a sphere: no polynomial equation"}
#: Chains that are singular for any lengths, by type name.
SINGULAR = {"2S3D": "singular: two balls share the direction of the line through them (rank 5 of 6)"}


class Newton(RelativeSolver):
    """Solver of any group that can be solved."""

    form = "Newton"

    @classmethod
    def match(cls, tree: GroupTree, setting: Setting) -> Newton:
        """Return the solver of a group."""
        return cls.of_group(tree, setting.relative(tree))

    @classmethod
    def instead(cls, group: Group, setting: Setting, default: Solver, why: str) -> Newton:
        """Return the solver of a group whose default is another."""
        if default.form == "driven":
            raise ValueError("it is driven, so that nothing is unknown in relative coordinates")
        tree = setting.forest.trees[group.number - 1]
        if not tree.links:  # a leg alone has unknowns if it is no strut
            tree = open_group(group, setting.frames, struts=False)
        found = cls.of_group(tree, encode_relative(tree, setting, newton=True))
        return replace(found, why=why, default=default)

    @classmethod
    def of_group(cls, tree: GroupTree, group: RelativeGroup) -> Newton:
        """Return the solver of an encoded group."""
        unknowns = counted(len(group.unknowns))
        if group.left_out:
            are = "equation is" if len(group.left_out) == 1 else "equations are"
            names = ", ".join(group.left_out)
            why = f"over-constrained: {len(group.left_out)} {are} only checked ({names})"
        else:
            at_once = "that closes alone" if len(group.unknowns) == 1 else "that close at once"
            why = f"no closed form is known for {unknowns} {at_once}"
        return cls.of(tree, group, f"Newton, {unknowns}", why)

    @property
    def kernel(self) -> Kernel:
        """Kernel of pins and rods, or of joint equations."""
        if self.ints[layout.N_ROWS] > 0:
            return super().kernel
        if platform.is_simple(self.ints, self.floats):
            return Kernel(platform.solve_platform, 30.0, 480.0)
        return Kernel(solve_cuts, 25.0, self.iteration)

    @property
    def of_modes(self) -> Solver:
        """The solver that lists the assembly modes: the default, if it is in relative coordinates too."""
        return self.default if isinstance(self.default, RelativeSolver) else self

    def degree(self, group: Group) -> tuple[int | None, str]:
        """Number of positions of its Baranov truss or of its chain, where the literature has it."""
        if group.type_name in SINGULAR:
            return None, SINGULAR[group.type_name]
        why, chain, truss = self.why.partition(" (")[0], chain_of(group), truss_of(group)
        if self.redundant:
            return None, f"{why}; the number of modes of such special lengths is not known"
        if truss is not None and truss.modes is not None:
            return truss.modes, f"{why}; all groups cut from the {truss} have its modes"
        if chain in DEGREES:
            degree, reason = DEGREES[chain]
            return degree, f"{why}; {reason}"
        return None, f"{why}; {WITHOUT_DEGREE.get(chain, 'the number of modes is not known')}"

    def search(self, task: Task, room: Room, places: Places) -> Search:
        """Follow all complex positions where that can be done, else start Newton from many places."""
        if not homotopy.applies(self.ints, self.floats):
            return self._from_random_starts(task, room, places)
        search = self._from_random_starts(replace(task, starts=min(task.starts, LOT)), room, places)
        known = [(x, balls) for x, balls, _, _ in places.found]
        if search.complete:
            return search
        # A loop of a larger truss that does not close by as much in all positions has more of them.
        truss = truss_of(task.group)
        degree = task.most if truss is None or truss.links <= 5 else None
        answer = homotopy.positions(room.g, known, degree, task.told)
        if answer is None or not answer.sound:
            return self._from_random_starts(task, room, places)
        for x, balls in answer.real:
            room.put(x, balls)
            places.add_polished()
        if len(answer.real) != len(places.found):
            return self._from_random_starts(task, room, places)
        return Search(answer.text(degree), complete=task.most in (answer.count, answer.ended))

    def _from_random_starts(self, task: Task, room: Room, places: Places) -> Search:
        """Newton from ``near``, continued from there, and from many places drawn from a fixed seed."""
        limit = room.g.cuts.limit[2]
        if iterate(room.g, room.rows, 0)[0] == OK:
            places.add(*room.taken())
        seconds = 1e-6 * TAKEN * task.starts * self.microseconds
        # The addresses of users' functions are those of Python here.
        kernel = newton.cuts_from if room.rows is None else newton.rows_from
        solve = chosen(kernel, seconds, compiling=COMPILING, ask=False if self.users else None)
        checked = room.rows if self.redundant else None
        rng = np.random.default_rng(self.number)
        starts, closed, last = 0, 0, 0
        while starts - last < task.starts and starts < AT_MOST * task.starts:
            if starts % LOT == 0:
                x, balls = _drawn(task, room, rng)
            if len(places.found) == task.most:
                break
            room.put(x[starts % LOT], balls[starts % LOT])
            with np.errstate(all="ignore"):
                status = solve(self.ints, self.floats, room.memory, room.work, STEPS)
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
            f"Newton from {starts} places, of which {closed} led to a mode; the last {starts - last} found "
            f"no new one; about {missing:.0f} more are expected from how often each was met",
            complete=False,
            missing=missing,
        )


def _drawn(task: Task, room: Room, rng: np.random.Generator) -> tuple[Floats, Floats]:
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


def counted(unknowns: int) -> str:
    """Number of unknowns in words."""
    return f"{unknowns} unknown{'s' if unknowns > 1 else ''}"
