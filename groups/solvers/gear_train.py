"""Groups that gears and rolling alone close: their coordinates are ratios times inputs."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

from groups.gearing import Gearing
from groups.setting import Setting
from groups.solvers.relative import RelativeSolver
from groups.tree import GroupTree


@dataclass(frozen=True, eq=False)
class GearTrain(RelativeSolver):
    """Solver of a group whose coordinates the gear ``ratios`` give."""

    ratios: Gearing = field(default_factory=dict)

    form = "closed form"

    @classmethod
    def match(cls, tree: GroupTree, setting: Setting) -> GearTrain | None:
        """Return the solver of a group that gears alone close; None for other groups."""
        ratios = setting.geared.get(tree.number)
        if not ratios:
            return None
        why = "gears lead it: its coordinates are ratios times inputs"
        joint_ids = setting.mechanism.joint_ids
        unknowns = tuple(f"{joint_ids[joint]}.{name}" for joint, name in ratios)
        return replace(cls.of(tree, setting, "gears", why, roots=1), unknowns=unknowns, ratios=ratios)
