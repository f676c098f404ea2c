"""Newton on the closure of a group in relative coordinates: any number of unknowns."""

from __future__ import annotations

from dataclasses import replace

from groups.setting import Setting
from groups.solvers.solver import Solver, checked_rows, unknowns_of
from groups.tree import GroupTree, open_group
from groups.truss import chain_of, truss_of
from mbssa import Group
from mbssa.texts import counted

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


class Newton(Solver):
    """Solver of any group that can be solved."""

    form = "Newton"

    @classmethod
    def match(cls, tree: GroupTree, setting: Setting) -> Newton:
        n, checked = len(unknowns_of(tree, setting)), checked_rows(tree, setting)
        unknowns = counted(n, "unknown")
        if checked:
            are = "equation is" if len(checked) == 1 else "equations are"
            why = f"over-constrained: {len(checked)} {are} only checked ({', '.join(checked)})"
        else:
            at_once = "that closes alone" if n == 1 else "that close at once"
            why = f"no closed form is known for {unknowns} {at_once}"
        return cls.of(tree, setting, f"Newton, {unknowns}", why, n_checked=len(checked))

    @classmethod
    def instead(cls, group: Group, setting: Setting, default: Solver, why: str) -> Newton:
        """Return the solver of a group whose default is another."""
        if default.form == "driven":
            raise ValueError("it is driven, so that nothing is unknown in relative coordinates")
        tree = setting.forest.trees[group.number - 1]
        if not tree.links:  # a leg alone has unknowns if it is no strut
            tree = open_group(group, setting.frames, struts=False)
        return replace(cls.match(tree, setting), why=why, default=default)

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
