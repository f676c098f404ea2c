"""Why a mechanism cannot be solved as given, and what would help, before anything is computed."""

from __future__ import annotations

from typing import TYPE_CHECKING

from groups.building import build
from groups.model import Model
from groups.motion import driven_coordinates
from mbssa import Mechanism, Structure
from mbssa.analysis.check import check
from mbssa.joints.catalogue import is_length
from mbssa.trust import REMEDY

if TYPE_CHECKING:
    from mbssa.analysis.check import Report

#: Joints, findings and proposals that a message lists before it only counts the rest.
_LISTED = 40


class RefusedError(Exception):
    """The mechanism cannot be solved as given; the text says why and what would help."""


def solvable_model(mechanism: Mechanism, name: str) -> Model:
    """The model of a mechanism whose geometry is there and whose inputs determine it.

    Parameters
    ----------
    name : how the user called the mechanism

    Raises
    ------
    RefusedError
        Every reason at once, the joints without geometry, and inputs or joints that were verified to work.

    Examples
    --------
    >>> import mbssa
    >>> solvable_model(mbssa.load("rotor"), "rotor").structure.n_groups
    7
    >>> dyad = mbssa.from_pairs(3, [(1, 2, "R", 0), (2, 3, "R", 0), (1, 3, "R", 0)], "planar")
    >>> solvable_model(dyad, "dyad.toml")
    Traceback (most recent call last):
    groups.cli.refusal.RefusedError: dyad.toml cannot be solved as given
      - no geometry at 1-2 R (point), 2-3 R (point), 1-3 R (point): write these keys at the joints
    """
    report = check(mechanism)
    bare = _without_geometry(mechanism)
    if bare or mechanism.untrusted or not report.solvable:
        raise RefusedError(_reasons(report, bare, name))
    return model_of(report.structure, name)


def model_of(structure: Structure, name: str) -> Model:
    """:func:`groups.build`, with its refusal as a sentence about what the user called ``name``."""
    try:
        return build(structure)
    except ValueError as error:
        raise RefusedError(f"{name} cannot be solved as given\n  - {error}") from None


def motion_to_write(mechanism: Mechanism) -> str:
    """A ``[motion]`` that would do for a mechanism, with its own driven coordinates.

    >>> import mbssa
    >>> print(motion_to_write(mbssa.load("planar_four_bar")))
    [motion]
    duration = 1.0
    steps = 101
    <BLANKLINE>
    [motion.inputs]
    "1-2.angle" = { law = "harmonic", amplitude = 0.1, frequency = 1.0 }
    """
    lines = ["[motion]", "duration = 1.0", "steps = 101"]
    names = driven_coordinates(mechanism)
    if names:
        lines += ["", "[motion.inputs]"]
    for name in names:
        amplitude = 0.01 if is_length(name) else 0.1
        lines.append(f'"{name}" = {{ law = "harmonic", amplitude = {amplitude}, frequency = 1.0 }}')
    return "\n".join(lines)


def _without_geometry(mechanism: Mechanism) -> list[str]:
    """Joints that have none, each with the fields that its type takes."""
    return [
        f"{mechanism.joint_ids[j]} {mechanism.joints[j].type.code}"
        f" ({', '.join(mechanism.joints[j].type.required)})"
        for j in mechanism.without_geometry
    ]


def _reasons(report: Report, bare: list[str], name: str) -> str:
    lines = [f"{name} cannot be solved as given"]
    if bare:
        lines.append(f"  - no geometry at {_shortened(bare)}: write these keys at the joints")
    if untrusted := report.structure.mechanism.untrusted_said:
        lines.append(f"  - code that the file names is not run, at {untrusted}; {REMEDY}")
    fatal = [finding.text for finding in report.findings if finding.fatal]
    lines += [f"  - {text}" for text in fatal[:_LISTED]]
    if len(fatal) > _LISTED:
        lines.append(f"  - … and {len(fatal) - _LISTED} more")
    if report.proposals and not report.solvable:
        lines.append("what would help, each verified")
        lines += [f"  - {text}" for text in _proposed(report)]
    if not report.solvable:
        lines.append(f"mbssa check {name} says more")
    return "\n".join(lines)


def _proposed(report: Report) -> list[str]:
    texts = []
    for proposal in report.proposals[:_LISTED]:
        text = proposal.text
        if proposal.kind == "inputs":
            changed = proposal.apply(report.structure.mechanism)
            text += f"; then driven: {_shortened(list(driven_coordinates(changed)))}"
        texts.append(text)
    return texts


def _shortened(names: list[str]) -> str:
    more = len(names) - _LISTED
    return ", ".join(names[:_LISTED]) + (f" and {more} more" if more > 0 else "")
