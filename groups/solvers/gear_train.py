"""Groups that gears and rolling alone close: their coordinates are ratios times inputs."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

from groups.encoding.joint_steps import Gearing
from groups.setting import Setting
from groups.solvers.driven import Driven
from groups.tree import GroupTree


@dataclass(frozen=True, eq=False)
class GearTrain(Driven):
    """Solver of a group whose coordinates the gear ``ratios`` give; its kernel has no unknowns."""

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
        solver = cls.of(tree, setting.relative(tree), "gears", why, roots=1)
        return replace(solver, unknowns=unknowns, ratios=ratios)
