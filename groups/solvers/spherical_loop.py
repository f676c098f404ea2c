"""Three unknowns, closed by a spherical joint: a curve of one end meets a surface of the other."""

from __future__ import annotations

from dataclasses import dataclass

from groups.setting import Setting
from groups.solvers.solver import Solver, is_elementary, motions, sides_of
from groups.tree import GroupTree
from mbssa import Group
from mbssa.joints.catalogue import type_of_joint

#: Loci of a point on one joint, and on two in a row, by whether they are slides.
CURVES = {0: "a circle", 1: "a line"}
SURFACES = {(0, 0): "a torus", (0, 1): "a hyperboloid", (1, 0): "a cylinder", (1, 1): "a plane"}
#: Number of intersections of the curve and the surface, by whether their joints are slides.
MEETINGS = {
    (0, 0, 0): 4, (0, 0, 1): 4, (0, 1, 0): 4, (0, 1, 1): 2,
    (1, 0, 0): 4, (1, 0, 1): 2, (1, 1, 0): 2, (1, 1, 1): 1,
}  # fmt: skip


@dataclass(frozen=True, eq=False)
class SphericalLoop(Solver):
    """Solver of three turns or slides that a spherical joint closes; up to four roots."""

    slides: tuple[bool, ...] = ()

    form = "closed form"

    @classmethod
    def match(cls, tree: GroupTree, setting: Setting) -> SphericalLoop | None:
        mechanism = setting.mechanism
        if setting.planar or len(tree.cuts) != 1 or tree.rods or not is_elementary(tree, setting):
            return None
        (cut,) = tree.cuts
        if not type_of_joint(mechanism, cut).is_ball or mechanism.n_driven_of_joint[cut]:
            return None
        # The first motion moves one end alone, the others the other end, one after another.
        _, (one, other) = sides_of(tree, cut, setting)
        found = [*one, *other[::-1]]
        around = [j for j, _ in found]
        if len(found) != 3 or any(around.count(j) > len(motions(setting, j)) for j in around):
            return None
        slides = tuple(step.kind != "turn" for _, step in (found if len(one) < 2 else found[::-1]))
        why = "three unknowns, and a ball closes them: a quartic at most"
        return cls.of(tree, setting, "spherical-loop closure", why, slides=slides)

    def degree(self, group: Group) -> tuple[int | None, str]:
        """Number of intersections of the two loci."""
        one, two, three = map(int, self.slides)
        loci = f"{CURVES[one]} meets {SURFACES[two, three]}"
        return MEETINGS[one, two, three], f"{self.why.partition(':')[0]}: {loci}"
