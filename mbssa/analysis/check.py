"""The whole diagnosis of a mechanism: count, generic rank, numeric rank, what follows, what to change."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import islice
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from mbssa.analysis.decompose import decompose, worth_treating
from mbssa.decomposition.incidence import initialise
from mbssa.decomposition.matching import match
from mbssa.io.multiple import count_choices, driven_pairs, paper_choices, spanning_choices
from mbssa.joints.frames import joint_frames
from mbssa.joints.system import Configuration, rows_at
from mbssa.singularities.contacts import ContactLost, contacts_lost
from mbssa.singularities.passive_rotations import free_motions, lifts, passive_rotations
from mbssa.singularities.proposals import Proposal, propose_inputs, propose_joints
from mbssa.singularities.ranks import (
    Rank,
    dependences,
    generic_rows,
    group_ranks,
    precision_of,
    tolerance_for,
)
from mbssa.singularities.redundancy import Examined, examine, examine_generic
from mbssa.threads import one_blas_thread
from mbssa.trust import REMEDY
from mbssa.units import given_in, quantity_text

if TYPE_CHECKING:
    from mbssa.decomposition.partition import Part
    from mbssa.decomposition.treatment import PassiveRotation, SpecialPart
    from mbssa.mechanism import Mechanism
    from mbssa.structure import Structure

Kind = Literal[
    "geometry",
    "assembly",
    "count",
    "inputs",
    "redundant",
    "rank",
    "spin",
    "mobility",
    "pose",
    "part",
    "choices",
    "rolling",
    "cam",
    "gear",
    "unread",
]


#: Distance over the size, or sine of an angle, from which a wheel is not where its bearing is.
ASKEW = 1e-4

#: Spanning choices of multiple joints that a check decomposes.
MOST_CHOICES = 1_000


@dataclass(frozen=True, slots=True)
class Finding:
    """A finding. A ``fatal`` one prevents the solution of the mechanism.

    ``bodies`` and ``joints`` are those that it is about: body numbers, joint ids.

    >>> import mbssa
    >>> [finding.kind for finding in mbssa.check(mbssa.load("spatial_4r")).findings]
    ['count', 'redundant', 'part', 'mobility']
    """

    kind: Kind
    text: str
    fatal: bool = False
    bodies: tuple[int, ...] = ()
    joints: tuple[str, ...] = ()


@dataclass(frozen=True, eq=False)
class Report:
    """Answer of :func:`check`.

    Attributes
    ----------
    structure : the groups, after the treatment of redundancy and passive rotations where there is one
    count : over- and under-constrained parts by count alone, before any treatment
    generic : ranks at random geometry of the joint types; None for mechanisms too large for it
    numeric : ranks at the given geometry; None without geometry
    group_ranks : per group, generic and numeric (None: not taken)
    findings : everything worth saying, the fatal first
    proposals : verified changes that make the mechanism solvable (or isostatic), smallest first
    solvable : whether it can be solved as given

    Examples
    --------
    >>> import mbssa
    >>> report = mbssa.check(mbssa.load("stewart"))
    >>> report
    <Report on stewart: solvable, 0 findings, 0 proposals>
    >>> report.solvable, report.numeric.all.rank, report.numeric.mobility
    (True, 78, 6)
    """

    structure: Structure
    count: tuple[Part, ...]
    generic: Examined | None
    numeric: Examined | None
    group_ranks: tuple[tuple[Rank | None, Rank | None], ...]
    findings: tuple[Finding, ...]
    proposals: tuple[Proposal, ...]
    contacts: tuple[ContactLost, ...]
    solvable: bool

    def to_dict(self) -> dict[str, Any]:
        """The report as plain data, ready for JSON."""
        from mbssa.reports.check import to_dict

        return to_dict(self)

    def __repr__(self) -> str:
        name = self.structure.mechanism.name or "a mechanism"
        verdict = "solvable" if self.solvable else "not solvable as given"
        return (
            f"<Report on {name}: {verdict}, {len(self.findings)} findings, {len(self.proposals)} proposals>"
        )

    def __str__(self) -> str:
        from mbssa.reports.check import check_report

        return check_report(self).text()

    def _repr_html_(self) -> str:
        from mbssa.reports.html import html_of

        return html_of(self, "mbssa.reports.check:check_report")


def check(mechanism: Mechanism, precision: float | None = None) -> Report:
    """Find out whether a mechanism can be solved as given, and if not, why and what would help.

    Three ranks are reported apart: by count, at random geometry of the declared joint types
    (generic), and at the given geometry after assembling it (numeric). Where the numeric rank falls
    short, a perturbed configuration tells a redundant constraint from a singular pose.

    Parameters
    ----------
    precision : of the numbers of the geometry, m; found from their digits if not given

    Examples
    --------
    >>> import mbssa
    >>> report = mbssa.check(mbssa.load("rssr"))
    >>> report.solvable
    True
    >>> [finding.text.partition(" through")[0] for finding in report.findings if finding.kind == "spin"]
    ['body 3 (rod): passive rotation about the line']
    """
    structure = decompose(mechanism, precision=precision)
    with one_blas_thread(mechanism.n_bodies):
        return _checked(mechanism, structure, precision)


def _checked(mechanism: Mechanism, structure: Structure, precision: float | None) -> Report:
    count = match(initialise(mechanism)).parts
    dense = worth_treating(mechanism)
    generic = examine_generic(mechanism) if dense else None
    numeric = None
    findings: list[Finding] = []
    if not mechanism.has_geometry:
        findings.append(_without_geometry(mechanism))
    else:
        numeric = examine(mechanism, precision) if dense else None
    pairs = _ranks_of_groups(structure, numeric, precision)
    analysis = numeric or generic
    findings += _count_findings(structure, count)
    findings += _choices_findings(mechanism)
    findings += _rolling_findings(mechanism, structure, analysis)
    findings += _cam_findings(mechanism)
    if mechanism.has_geometry:
        findings += _gear_findings(mechanism)
    if analysis is not None:
        findings += _rank_findings(mechanism, structure, analysis, generic)
    findings += _group_findings(structure, pairs, analysis)
    proposals: list[Proposal] = []
    fatal = any(finding.fatal for finding in findings)
    if analysis is not None and not analysis.fault:
        pose_is_bad = analysis.singular_pose or analysis.stuck
        if fatal and not pose_is_bad:
            proposals += propose_inputs(mechanism, analysis, precision)
        too_many = analysis.constraints.redundant or analysis.mobility < analysis.n_drives
        if too_many and not analysis.singular_pose:
            proposals += propose_joints(mechanism, analysis)
    findings += [Finding("unread", text, fatal=True) for text in mechanism.unread]
    contacts = contacts_lost(mechanism)
    findings.sort(key=lambda finding: not finding.fatal)
    return Report(
        structure,
        count,
        generic,
        numeric,
        pairs,
        tuple(findings),
        tuple(sorted(proposals, key=lambda proposal: proposal.size)),
        contacts,
        structure.determined and not any(finding.fatal for finding in findings),
    )


def rank_warnings(structure: Structure) -> list[str]:
    """Groups determined by the mobility count and not by rank, a sentence each."""
    pairs = _ranks_of_groups(structure, None, None)
    return [finding.text for finding in _group_findings(structure, pairs, None) if finding.fatal]


def _without_geometry(mechanism: Mechanism) -> Finding:
    missing = [mechanism.joint_ids[j] for j in mechanism.without_geometry]
    several = f"{len(missing)} joints have" if len(missing) != 1 else f"joint {missing[0]} has"
    lacking = [f"{several} no geometry"] if missing else []
    if mechanism.untrusted:
        lacking.append(untrusted_text(mechanism))
    text = f"{'; '.join(lacking)}; generic ranks decide: they hold for almost every geometry"
    names = (*missing, *(mechanism.joint_ids[j] for j in mechanism.untrusted))
    return Finding("geometry", text, joints=names)


def untrusted_text(mechanism: Mechanism) -> str:
    """Sentence on joints whose functions may not be run; empty if there are none."""
    if not mechanism.untrusted:
        return ""
    which = "joints" if len(mechanism.untrusted) > 1 else "joint"
    named = f"{which} {mechanism.untrusted_said}: code that the file names is not run"
    return f"{named}, and counts by its number of equations; {REMEDY}"


def _ranks_of_groups(
    structure: Structure, numeric: Examined | None, precision: float | None
) -> tuple[tuple[Rank | None, Rank | None], ...]:
    """Generic and numeric rank of every group of the untreated count."""
    mechanism = structure.mechanism
    if structure.treatment is not None:
        return ()
    generic = group_ranks(structure, generic_rows(mechanism))
    for seed in (2, 3):
        # A draw can only fall short of the generic rank; a large group needs luck with its margin.
        if all(rank is None or rank.full for rank in generic):
            break
        again = group_ranks(structure, generic_rows(mechanism, seed))
        generic = [
            new if old is not None and new is not None and new.rank > old.rank else old
            for old, new in zip(generic, again, strict=True)
        ]
    if numeric is not None:
        found = group_ranks(structure, numeric.rows, numeric.tolerance)
    elif mechanism.has_geometry and (frames := joint_frames(mechanism)).known.all():
        # Too large to assemble as a whole: as the file has it.
        rows = rows_at(mechanism, frames, Configuration.reference(frames))
        size = frames.size
        relative = precision_of(mechanism, size) if precision is None else precision / size
        tolerance = tolerance_for(relative)
        found = group_ranks(structure, rows, tolerance)
    else:
        found = [None] * len(generic)
    return tuple(zip(generic, found, strict=True))


def _count_findings(structure: Structure, count: tuple[Part, ...]) -> list[Finding]:
    from mbssa.reports.structure import part_sentence

    return [
        Finding(
            "count",
            "by count " + part_sentence(structure, part, advise=not structure.determined),
            fatal=not structure.determined,
            bodies=tuple(b + 1 for b in part.bodies),
            joints=tuple(structure.mechanism.joint_ids[j] for j in part.joints),
        )
        for part in count
    ]


def _choices_findings(mechanism: Mechanism) -> list[Finding]:
    """Multiple joints: how many spanning choices, and which structures they give."""
    if not mechanism.multiple_joints:
        return []
    findings = []
    total = 1
    for joint in mechanism.multiple_joints:
        n = len(joint.bodies)
        choices = count_choices(n, driven_pairs(mechanism, joint))
        total *= choices
        text = (
            f"{_bodies(mechanism, joint.bodies)} share one {mechanism.joints[joint.joints[0]].type.code}: "
            f"{choices} spanning choices of pairs (the paper's N_an counts {paper_choices(n)} sets of pairs)"
        )
        ids = tuple(mechanism.joint_ids[j] for j in joint.joints)
        findings.append(Finding("choices", text, bodies=tuple(b + 1 for b in joint.bodies), joints=ids))
    counted: dict[str, int] = {}
    for changed in islice(spanning_choices(mechanism), MOST_CHOICES):
        answer = decompose(changed, by_count=True)
        sizes = "+".join(str(len(group.bodies)) for group in answer.groups) or "none"
        sizes = sizes if answer.determined else "not determined"
        counted[sizes] = counted.get(sizes, 0) + 1
    looked = sum(counted.values())
    shown = "; ".join(f"{sizes} ({n} of {looked})" for sizes, n in sorted(counted.items()))
    more = f", of {total} choices {looked} looked at" if looked < total else ""
    findings.append(Finding("choices", f"groups of these sizes, by choice: {shown}{more}"))
    return findings


def _rolling_findings(mechanism: Mechanism, structure: Structure, analysis: Examined | None) -> list[Finding]:
    """Rolling wheels that nothing holds to their track."""
    # With geometry a free motion of the undriven mechanism lifts the wheel. Without it it is unknown whether
    # bearings hold it: then it must be too free by count, and have no contact with its track.
    touching = {frozenset(joint.bodies[:2]) for joint in mechanism.joints if joint.type.is_contact}
    rolling = [joint for joint in mechanism.joints if joint.type.rolls]
    at = None if analysis is None or analysis.fault else analysis.configuration
    if analysis is not None and analysis.frames is not None and at is not None:
        lifted = set(lifts(mechanism, analysis.frames, at, analysis.tolerance))
        loose = [joint for joint in rolling if joint.index in lifted]
    else:
        free = {body + 1 for part in structure.parts if part.kind == "under" for body in part.bodies}
        loose = [
            joint
            for joint in rolling
            if frozenset(joint.bodies[:2]) not in touching and free & set(joint.bodies[:2])
        ]
    findings = []
    for joint in loose:
        track, wheel = (mechanism.bodies[number - 1] for number in joint.bodies[:2])
        text = (
            f"{joint} binds rolling only; nothing keeps wheel {wheel} on its track, body {track}: "
            "add an RD with the same bodies, point, axis and radius"
        )
        fatal = not structure.determined
        findings.append(Finding("rolling", text, fatal, bodies=joint.bodies[:2], joints=(joint.id,)))
    return findings


def _gear_findings(mechanism: Mechanism) -> list[Finding]:
    """Wheels whose bearing is not where their gear has its centre or axis: most often a slip of the pen."""
    gears = [joint for joint in mechanism.joints if joint.type.is_gear]
    if not gears:
        return []
    frames = joint_frames(mechanism)
    findings = []
    for gear in gears:
        carriers = [b - 1 for b in gear.bodies[2:]] or [0]
        for side, wheel in enumerate(b - 1 for b in gear.bodies[:2]):
            for bearing in mechanism.joints:
                ends = [b - 1 for b in bearing.bodies[:2]]
                if not bearing.type.is_bearing or wheel not in ends or not {*ends} & {*carriers}:
                    continue
                own = ends.index(wheel)
                between = frames.origin[bearing.index, own] - frames.origin[gear.index, side]
                axis = frames.axes[gear.index, side][:, 2]
                lean = np.linalg.norm(np.cross(axis, frames.axes[bearing.index, own][:, 2]))
                planar = mechanism.space == "planar"
                if (np.linalg.norm(between) > ASKEW * frames.size) if planar else (lean > ASKEW):
                    what = "the centre" if planar else "the axis"
                    named = mechanism.bodies[wheel]
                    text = f"{gear}: {what} of wheel {named} is not that of its bearing {bearing}"
                    findings.append(Finding("gear", text, bodies=(wheel + 1,), joints=(bearing.id, gear.id)))
    return findings


def _cam_findings(mechanism: Mechanism) -> list[Finding]:
    """Followers that cannot touch all of their profile, so that they leave the law it was made by."""
    from mbssa.joints.cams.profiles import profile_from
    from mbssa.joints.cams.properties import examine

    findings = []
    for joint in mechanism.joints:
        if joint.geometry is None or joint.geometry.profile is None:
            continue
        for fault in examine(profile_from(joint.geometry.profile), mechanism.units).faults:
            findings.append(Finding("cam", f"{joint}: {fault}", bodies=joint.bodies, joints=(joint.id,)))
    return findings


def _rank_findings(
    mechanism: Mechanism, structure: Structure, analysis: Examined, generic: Examined | None
) -> list[Finding]:
    """Verdict of the ranks of the whole mechanism."""
    if analysis.fault:
        return [Finding("assembly", f"cannot be assembled: {analysis.fault}", fatal=True)]
    findings = _corrections(mechanism, analysis)
    where = "at the given geometry" if analysis.basis == "numeric" else "for almost every geometry"
    spins = passive_rotations(
        mechanism, analysis.rows, analysis.frames, analysis.configuration, analysis.tolerance
    )
    if analysis.singular_pose and analysis.elsewhere is not None:
        extra = analysis.elsewhere.constraints.rank - analysis.constraints.rank
        findings.append(
            Finding(
                "pose",
                f"the reference is a singular pose: {_units(extra)} more hold at a configuration nearby",
                fatal=True,
            )
        )
    if analysis.stuck:
        findings.append(
            Finding(
                "pose",
                "the reference is infinitesimally mobile (shaky): its rank leaves "
                f"{_motions(analysis.mobility)}, but none leads away from it",
                fatal=True,
            )
        )
    if analysis.constraints.redundant and not analysis.singular_pose and not analysis.stuck:
        findings += _redundant_findings(mechanism, analysis, where)
    if analysis.dependent_drives:
        findings.append(_inputs_finding(mechanism, analysis, generic, where))
    if structure.treatment is not None:
        findings += [_part_finding(mechanism, part) for part in structure.treatment.parts]
    findings += [_rotation_finding(mechanism, spin) for spin in spins]
    left = analysis.all.free - len(spins)
    if left > 0 and not analysis.dependent_drives:
        bodies = _moving_bodies(mechanism, analysis, spins)
        findings.append(
            Finding(
                "mobility",
                f"{_motions(left)} not driven, of {_bodies(mechanism, bodies)}",
                fatal=True,
                bodies=tuple(b + 1 for b in bodies),
            )
        )
    useful = analysis.mobility - len(spins)
    if spins or analysis.mobility != mechanism.mobility:
        text = f"mobility {analysis.mobility} by rank {where}, {mechanism.mobility} by count (Eq. (2))"
        if spins:
            text += f"; {len(spins)} of them passive rotations, {useful} without these"
        findings.append(Finding("mobility", text))
    return findings


def _corrections(mechanism: Mechanism, analysis: Examined) -> list[Finding]:
    """Correction that closed the reference."""
    assembly = analysis.assembly
    if assembly is None or analysis.frames is None:
        return []
    moved = np.flatnonzero((assembly.moved > 1e-9 * analysis.frames.size) | (assembly.turned > 1e-9))
    if not len(moved):
        return []
    way, turn = float(assembly.moved.max()), float(assembly.turned.max())
    much = [
        quantity_text(value, unit, mechanism.units, ".3g")
        for value, unit, least in ((way, "m", 1e-9 * analysis.frames.size), (turn, "rad", 1e-9))
        if value > least
    ]
    text = (
        f"the reference was corrected until it closed: {_bodies(mechanism, moved.tolist())} by up to "
        f"{' and '.join(much)}"
    )
    bodies = tuple(int(b) + 1 for b in moved)
    findings = [Finding("assembly", text, bodies=bodies)]
    if assembly.outside:
        text = f"no assembly was found within the limits of the joints; the nearest have {assembly.outside}"
        findings.append(Finding("assembly", text, bodies=bodies))
    return findings


def _redundant_findings(mechanism: Mechanism, analysis: Examined, where: str) -> list[Finding]:
    """Families of dependent constraints: rows that share a dependence."""
    rows = analysis.rows.constraints
    null = dependences(analysis.matrix[~analysis.rows.drive], analysis.constraints)
    share = np.abs(null @ null.T) > 1e-7
    families: dict[tuple[int, ...], int] = {}
    seen = np.zeros(len(rows), dtype=bool)
    for r in np.flatnonzero(np.diag(share)).tolist():
        if seen[r]:
            continue
        family = {r}
        front = [r]
        while front:
            near = set(np.flatnonzero(share[front.pop()]).tolist()) - family
            family |= near
            front += sorted(near)
        members = sorted(family)
        seen[members] = True
        units = round(float(np.trace((null @ null.T)[np.ix_(members, members)])))
        joints = tuple(dict.fromkeys(rows.joint[members].tolist()))
        families[joints] = families.get(joints, 0) + units
    findings = []
    for joints, units in families.items():
        names = ", ".join(str(mechanism.joints[j]) for j in joints)
        several = "constraints are" if units > 1 else "constraint is"
        text = f"{units} {several} redundant {where}, among the joints {names}"
        ids = tuple(mechanism.joint_ids[j] for j in joints)
        findings.append(Finding("redundant", text, joints=ids))
    return findings


def _inputs_finding(
    mechanism: Mechanism, analysis: Examined, generic: Examined | None, where: str
) -> Finding:
    """The inputs contradict each other or the constraints."""
    null = dependences(analysis.matrix, analysis.all)
    involved = np.flatnonzero((np.linalg.norm(null, axis=1) > 1e-7) & analysis.rows.drive)
    names = [
        f"{mechanism.joint_ids[analysis.rows.joint[r]]}.{analysis.rows.name[r]}" for r in involved.tolist()
    ]
    depend = "depends" if analysis.dependent_drives == 1 else "depend"
    text = (
        f"{analysis.dependent_drives} of the {_inputs(analysis.n_drives)} {depend} on the rest {where}: "
        f"{', '.join(names)} cannot be driven together"
    )
    if analysis.mobility < analysis.n_drives:
        allowed = f"only {_motions(analysis.mobility)}" if analysis.mobility else "no motion at all"
        text = f"{_inputs(analysis.n_drives)} for a mechanism that has {allowed} {where}: {', '.join(names)}"
    elif analysis.dead_point:
        text += "; at a configuration nearby they can, so the reference is a dead point of these inputs"
    elif generic is not None and generic.constraints.redundant == 0:
        if generic.dependent_drives:
            text += f"; for every geometry the rank is at most {generic.all}"
        text += (
            f"; the undriven mechanism has generic mobility {generic.mobility} and nothing redundant, "
            "so only the choice of inputs is bad"
        )
    return Finding("inputs", text, fatal=True, joints=tuple(name.rpartition(".")[0] for name in names))


def _part_finding(mechanism: Mechanism, part: SpecialPart) -> Finding:
    plane = part.kind == "planar"
    unit, scale = ("", 1.0) if plane else given_in("m", mechanism.units)
    # A component like -2e-16 is a 0.
    about = ", ".join(f"{v / scale:.3g}" for v in np.round(part.about, 12) + 0.0)
    what = f"parallel to one plane (normal {about})" if plane else f"about one point ({about}) {unit}"
    verb = "moves" if len(part.bodies) == 1 else "move"
    return Finding(
        "part",
        f"{_bodies(mechanism, part.bodies)} {verb} {what}: a {part.kind} part, counted with B = 3",
        bodies=tuple(b + 1 for b in part.bodies),
        joints=tuple(mechanism.joint_ids[j] for j in part.joints),
    )


def _rotation_finding(mechanism: Mechanism, spin: PassiveRotation) -> Finding:
    common = "common " if len(spin.bodies) > 1 else ""
    text = f"{_bodies(mechanism, spin.bodies)}: {common}passive rotation"
    if spin.point is not None and spin.direction is not None:
        unit, scale = given_in("m", mechanism.units)
        point = ", ".join(f"{v / scale:.3f}" for v in spin.point)
        direction = ", ".join(f"{v:.3f}" for v in spin.direction)
        text += f" about the line through ({point}) {unit} along ({direction})"
    return Finding("spin", text, bodies=tuple(b + 1 for b in spin.bodies))


def _moving_bodies(mechanism: Mechanism, analysis: Examined, spins: list[PassiveRotation]) -> list[int]:
    free = free_motions(analysis.matrix, analysis.tolerance)
    share = np.linalg.norm(free.reshape(mechanism.n_bodies - 1, -1), axis=1)
    idle = {b for spin in spins for b in spin.bodies}
    return [b for b in range(1, mechanism.n_bodies) if share[b - 1] > 1e-7 and b not in idle]


def _group_findings(
    structure: Structure,
    pairs: tuple[tuple[Rank | None, Rank | None], ...],
    analysis: Examined | None,
) -> list[Finding]:
    """Groups determined by the mobility count and not by rank."""
    findings = []
    for group, (generic, numeric) in zip(structure.groups, pairs, strict=False):
        if generic is not None and not generic.full:
            text = f"{group} {group.type_name} has rank {generic} for every geometry"
            if numeric is not None and numeric.rank < generic.rank:
                text += f", {numeric} at the given one"
        elif numeric is not None and not numeric.full:
            text = f"{group} {group.type_name} has rank {numeric} at the given geometry"
            if analysis is not None and analysis.dead_point:
                text += " (a dead point)"
        elif generic is None and numeric is None and len(group.bodies) > 1:
            findings.append(Finding("rank", f"{group} is too large for a rank: not taken"))
            continue
        else:
            continue
        findings.append(Finding("rank", text, fatal=True, bodies=group.bodies))
    return findings


def _bodies(mechanism: Mechanism, bodies: list[int] | tuple[int, ...]) -> str:
    names = [str(mechanism.bodies[b]) for b in bodies]
    shown = ", ".join(names[:20]) + (f" and {len(names) - 20} more" if len(names) > 20 else "")
    return f"{'body' if len(names) == 1 else 'bodies'} {shown}"


def _inputs(number: int) -> str:
    return f"{number} input{'' if number == 1 else 's'}"


def _units(number: int) -> str:
    return f"{number} constraint{'' if number == 1 else 's'}"


def _motions(number: int) -> str:
    return f"{number} motion{'' if number == 1 else 's'}"
