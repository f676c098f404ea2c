"""Three unknowns, closed by a spherical joint: a curve of one end meets a surface of the other."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from groups.setting import Setting
from groups.solvers.relative import RelativeSolver, held_bodies, is_elementary, motions, rods
from groups.tree import GroupTree
from mbssa import Group
from mbssa.joints.catalogue import type_of_joint

if TYPE_CHECKING:
    from groups.engine.numbers import Name

#: Loci of a point on one joint, and on two in a row, by whether they are slides.
CURVES = {0: "a circle", 1: "a line"}
SURFACES = {(0, 0): "a torus", (0, 1): "a hyperboloid", (1, 0): "a cylinder", (1, 1): "a plane"}
#: Number of intersections of the curve and the surface, by whether their joints are slides.
MEETINGS = {
    (0, 0, 0): 4, (0, 0, 1): 4, (0, 1, 0): 4, (0, 1, 1): 2,
    (1, 0, 0): 4, (1, 0, 1): 2, (1, 1, 0): 2, (1, 1, 1): 1,
}  # fmt: skip


@dataclass(frozen=True)
class Loop:
    """Unknowns x, y, z around a loop, whether they are slides, and the side of the ball that y moves."""

    names: tuple[Name, ...]
    slides: tuple[bool, ...]
    inner: int


@dataclass(frozen=True, eq=False)
class SphericalLoop(RelativeSolver):
    """Solver of three turns or slides that a spherical joint closes; up to four roots."""

    slides: tuple[bool, ...] = ()

    form = "closed form"

    @classmethod
    def match(cls, tree: GroupTree, setting: Setting) -> SphericalLoop | None:
        """Return the solver of three unknowns closed by a spherical joint; None for other groups."""
        loop = loop_of(tree, setting)
        if loop is None:
            return None
        why = "three unknowns, and a ball closes them: a quartic at most"
        return replace(cls.of(tree, setting, "spherical-loop closure", why), slides=loop.slides)

    def degree(self, group: Group) -> tuple[int | None, str]:
        """Number of intersections of the two loci."""
        one, two, three = map(int, self.slides)
        loci = f"{CURVES[one]} meets {SURFACES[two, three]}"
        return MEETINGS[one, two, three], f"{self.why.partition(':')[0]}: {loci}"


def loop_of(tree: GroupTree, setting: Setting) -> Loop | None:
    """The loop of a group of three elementary motions and a spherical joint; None for other groups."""
    mechanism = setting.mechanism
    if mechanism.space == "planar" or len(tree.cuts) != 1 or rods(tree) or held_bodies(tree, setting):
        return None
    (cut,) = tree.cuts
    if not type_of_joint(mechanism, cut).is_ball or mechanism.n_driven_of_joint[cut]:
        return None
    if not is_elementary(tree, setting):
        return None
    link_of = {link.body: link for link in tree.links}
    sides = []
    for body in mechanism.joint_bodies(cut)[:2]:
        path: list[tuple[Name, bool]] = []
        while body in link_of:
            link = link_of[body]
            names = type_of_joint(mechanism, link.joint).coordinates
            steps = motions(setting, link.joint)[:: -1 if link.forward else 1]
            path += [((link.joint, names[step.coordinate or 0]), step.kind != "turn") for step in steps]
            body = link.parent
        sides.append(path)
    around = [*sides[0], *sides[1][::-1]]
    if len({name for name, _ in around}) != 3 or len(around) != 3:
        return None
    inner = 0 if len(sides[0]) >= 2 else 1
    z, y, x = around if inner == 0 else around[::-1]
    return Loop((x[0], y[0], z[0]), (x[1], y[1], z[1]), inner)
