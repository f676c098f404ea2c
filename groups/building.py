"""Making a model of a structure: a solver for each group."""

from __future__ import annotations

from collections.abc import Mapping

from groups.model import Model
from groups.setting import Setting
from groups.solvers.registry import alternatives, choose_all
from mbssa import Mechanism, Structure, decompose


def model_of(given: Model | Structure | Mechanism) -> Model:
    """A model itself, or that of a structure or mechanism with the solvers that its groups get by default."""
    if isinstance(given, Mechanism):
        given = decompose(given)
    return build(given) if isinstance(given, Structure) else given


def build(structure: Structure, solvers: Mapping[int, str] | None = None) -> Model:
    """A solvable model of a structure.

    A ValueError says what and where: not determined, without geometry, a type without equations, or a
    reference that cannot close; or all groups and solvers that there are not.

    Parameters
    ----------
    solvers : by number of the group, where it shall not be the one that it gets by default, ``closed form``,
        ``Newton``, ``global dense`` or ``global sparse``; :func:`solvers_of` says which a group can have

    Examples
    --------
    >>> import groups, mbssa
    >>> structure = mbssa.decompose(mbssa.load("planar_four_bar"))
    >>> [solver.choice for solver in groups.build(structure).solvers]
    ['driven', 'closed form']
    >>> [solver.choice for solver in groups.build(structure, {2: "Newton"}).solvers]
    ['driven', 'Newton']
    """
    if solvers is not None and not isinstance(solvers, Mapping):
        raise TypeError(f"solvers are named by number of the group, as {{2: 'Newton'}}, not as {solvers!r}")
    setting = Setting.of(structure)
    chosen = choose_all(setting, solvers or {})
    return Model(structure, setting.frames, setting.reference, chosen)


def solvers_of(of: Model | Structure, group: int) -> tuple[str, ...]:
    """Names of the solvers that :func:`build` can give a group, its default first.

    A ValueError for a group that there is not, or a structure that cannot be solved.

    >>> import groups, mbssa
    >>> structure = mbssa.decompose(mbssa.load("planar_four_bar"))
    >>> groups.solvers_of(structure, 2)
    ('closed form', 'Newton', 'global dense', 'global sparse')
    """
    model = model_of(of)
    found, given = model.structure.group(group), model.solver(group)
    setting = Setting.at(model.structure, model.frames, model.reference)
    return alternatives(found, setting, given.default or given)
