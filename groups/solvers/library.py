"""Table of the types of group and their solvers, made from the registry."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

import mbssa
from groups.truss import chain_of, truss_of
from mbssa import Group, Mechanism
from mbssa.group_library import CLOSED_FORMS as CLOSED_FORMS
from mbssa.group_library import COSTS as COSTS
from mbssa.joints import joint_type
from mbssa.joints.catalogue import CATALOGUE, Space
from mbssa.mechanism import JointGeometry

if TYPE_CHECKING:
    from groups.model import Model


def _driven(space: Space) -> tuple[str, ...]:
    """A body that each type of joint carries, with all its coordinates driven."""
    kinds = [kind for kind in CATALOGUE if kind.space == space and kind.pair is not None]
    return tuple(" ".join(["a x", kind.code, *kind.coordinates]) for kind in kinds)


#: Systematic types, joint by joint: "first second TYPE driven…". The frame is ``a``, another body that stands
#: already ``b``; all other bodies are the group's own.
PLANAR = (
    *_driven("planar"),
    "a x R, x y R, y b R",
    "a x R, x y R, y b P",
    "a x R, x y P, y b R",
    "a x R, x y P, y b P",
    "a x P, x y R, y b P",
    "a x P, x y P, y b P",
    "a x R, x b SLOT",
    "a x P, x b SLOT",
    "a x R, x b ROD",
    "a x P, x b ROD",
    "a x R, x y P slide, y z R, z b R",
    "a x R, x y R angle, y z P, z b R",
    "a x R, x w R, a y R, y w R, b z R, z w R",
    "a x P, x w R, a y R, y w R, b z R, z w R",
    "a x R, b y R, x w R, w y R, x z R, z y R",
)
SPATIAL = (
    *_driven("spatial"),
    "a x U, x y P, y b S",
    "a x S, x y P, y b U",
    "a x ER, x y P, y b S",
    "a x P, x y U, y b S",
    "a x P, x y S, y b U",
    "a x R, x y U, y b S",
    "a x R, x y S, y b U",
    "a x P, x y R angle, y z U, z b S",
    "a x R, x y U, y z P slide, z b S",
    "a x R, x y S, y b S",
    "a x P, x y S, y b S",
    "a x R, x b SPSP",
    "a x P, x b SPSP",
    "a x P, x y C, y b S",
    "a x R, x y C, y b S",
    "a x C, x y P, y b S",
    "a x C, x y R, y b S",
    "a x C slide, x y ER, y b S",
    "a x C angle, x y ER, y b S",
    "a x ER, x y C slide, y b S",
    "a x ER, x y C angle, y b S",
    "a x CR, x b S",
    "a x R, x y U angle_1, y z S, z b R",
    "a x R, x y R, y z R, z b S",
    "a x R, x y R, y z S, z b R",
    "a x P, x y P, y z P, z b S",
    "a x H, x y U, y b S",
    "a x C, x y C, y b C",
    "a x R, x y R, y z R, z w ER, w b C slide",
    "a x R, a y R, b z R, x w S, y w S, z w S",
    "a x U, x y P slide, y p S, a z U, z w P slide, w p S, a c U, c d P slide, d p S, "
    "b e U, e f P slide, f p S, b g U, g h P slide, h p S, b i U, i j P slide, j p S",
)


@dataclass(frozen=True, slots=True)
class LibraryRow:
    """One type of group and its solver."""

    type_name: str
    chain: str
    solver: str
    unknowns: int
    closing: str
    modes: int | None
    degree: int | None
    why: str
    models: tuple[str, ...] = ()


def table() -> tuple[LibraryRow, ...]:
    """Group type × solver × number of modes: all groups of the built-in models, and a systematic list."""
    import groups

    made: list[tuple[tuple[str, ...], Mechanism]] = [((), example(chain, "planar")) for chain in PLANAR]
    made += [((), example(chain, "spatial")) for chain in SPATIAL]
    made += [((name,), mbssa.load(name)) for name in mbssa.builtin_names()]
    found: dict[tuple[str, str, str], LibraryRow] = {}
    for models, mechanism in made:
        structure = mbssa.decompose(mechanism)
        model: Model | str
        try:
            model = groups.build(structure)
        except ValueError as refusal:
            model = str(refusal)
        for group in structure.groups if models else structure.groups[-1:]:
            row = _row(model, group)
            key = (row.type_name, row.chain, row.solver)
            before = found.get(key, row)
            found[key] = replace(before, models=tuple(dict.fromkeys((*before.models, *models))))
    return tuple(found.values())


def example(joints: str, space: Space, seed: int = 0) -> Mechanism:
    """A mechanism around a chain like those of :data:`PLANAR`, of random geometry closed at its reference."""
    rows = [joint.split() for joint in joints.split(",")]
    if any("b" in row[:2] for row in rows):
        rows.insert(0, ["a", "b", "R", "angle"])
    bodies = ["a", *sorted({body for row in rows for body in row[:2]} - {"a"})]
    rng = np.random.default_rng(seed)
    pairs, geometry = [], {}
    for k, (first, second, code, *driven) in enumerate(rows):
        pairs.append((bodies.index(first) + 1, bodies.index(second) + 1, code, driven))
        points, axes = rng.uniform(-1.0, 1.0, (2, 3)), np.linalg.qr(rng.normal(size=(3, 3)))[0]
        if space == "planar":
            points, axes = points[:, :2], axes[:, :2]
        made: dict[str, Any] = {
            "point": tuple(points[0].tolist()),
            "points": tuple(tuple(point) for point in points.tolist()),
            "axis": tuple(axes[0].tolist()),
            "axes": tuple(tuple(axis) for axis in axes[:2].tolist()),
            "pitch": float(rng.uniform(0.1, 0.5)),
            "radius": 0.3,
        }
        given = {name: made[name] for name in joint_type(code, space).required}
        geometry[k] = JointGeometry(**given)
    mechanism = mbssa.from_pairs(["frame", *bodies[1:]], pairs, space, name=joints)
    return replace(mechanism, joint_geometry=geometry)


def _row(model: Model | str, group: Group) -> LibraryRow:
    """The row of a group by its model, or by the reason why there is none."""
    truss, chain = truss_of(group), chain_of(group)
    if isinstance(model, str):
        return LibraryRow(group.type_name, chain, "refused", 0, "nothing", None, None, model)
    solver = model.solvers[group.number - 1]
    solver = solver.default or solver
    degree, why = solver.degree(group)
    title = solver.title if truss is None or truss.links == 3 else f"{solver.title}, shared by the {truss}"
    joints = solver.closing[: len(solver.closing) - solver.n_struts]  # then struts
    codes = [model.mechanism.joint(name).type.code for name in joints]
    counts = Counter(codes + ["rod"] * solver.n_struts)
    closing = ", ".join(f"{n} × {code}" if n > 1 else code for code, n in sorted(counts.items()))
    modes = solver.most_modes(group)
    return LibraryRow(
        group.type_name, chain, title, solver.n_unknowns, closing or "nothing", modes, degree, why
    )
