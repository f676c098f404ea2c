"""The whole diagnosis of a mechanism: count, generic rank, numeric rank, what follows, what to change."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from itertools import islice, product
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from mbssa.analysis.decompose import decompose, worth_treating
from mbssa.decomposition.flow import connected_pieces
from mbssa.decomposition.incidence import initialise
from mbssa.decomposition.matching import match
from mbssa.io.multiple import count_choices, driven_pairs, paper_choices, spanning_choices
from mbssa.joints.catalogue import CATALOGUE
from mbssa.joints.frames import joint_frames
from mbssa.joints.system import rows_at
from mbssa.singularities.passive_rotations import free_motions
from mbssa.singularities.proposals import Proposal, coordinate_rows, propose_inputs, propose_joints
from mbssa.singularities.ranks import (
    Rank,
    dependences,
    generic_rows,
    group_ranks,
    precision_of,
    tolerance_for,
)
from mbssa.singularities.redundancy import Examined, examine, examine_generic
from mbssa.texts import bodies_text, counted
from mbssa.threads import one_blas_thread
from mbssa.trust import REMEDY
from mbssa.units import given_in, quantity_text

if TYPE_CHECKING:
    from mbssa.decomposition.partition import Part
    from mbssa.mechanism import Mechanism
    from mbssa.structure import Structure

#: Contacts examined at most: each costs a search.
MOST_CONTACTS = 100

Kind = Literal[
    "geometry", "assembly", "count", "inputs", "redundant", "rank", "spin", "mobility", "pose", "part",
    "choices", "rolling", "cam", "gear", "unread",
]  # fmt: skip


#: Distance over the size, or sine of an angle, from which a wheel is not where its bearing is.
ASKEW = 1e-4

#: Spanning choices of multiple joints that a check decomposes.
MOST_CHOICES = 1_000


@dataclass(frozen=True, slots=True)
class ContactLost:
    """Mobility count of a mechanism without one contact."""

    joint: int  # index of the contact
    missing: int  # units after its loss
    parts: tuple[Part, ...]  # over- and under-constrained ones then


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
        count = match(initialise(mechanism)).parts
        dense = worth_treating(mechanism)
        generic = examine_generic(mechanism) if dense else None
        numeric = examine(mechanism, precision) if dense and mechanism.has_geometry else None
        pairs = _ranks_of_groups(structure, numeric, precision)
        analysis = numeric or generic
        found = _Findings(structure, analysis, generic)
        found.without_geometry()
        found.count(count)
        found.choices()
        found.rolling()
        found.cams()
        found.gears()
        found.ranks()
        found.groups(pairs)
        proposals: list[Proposal] = []
        if analysis is not None and not analysis.fault:
            pose_is_bad = analysis.singular_pose or analysis.stuck
            if any(finding.fatal for finding in found.all) and not pose_is_bad:
                proposals += propose_inputs(analysis, precision)
            too_many = analysis.constraints.redundant or analysis.mobility < analysis.n_drives
            if too_many and not analysis.singular_pose:
                proposals += propose_joints(analysis)
        for text in mechanism.unread:
            found.say("unread", text, fatal=True)
        return Report(
            structure,
            count,
            generic,
            numeric,
            pairs,
            tuple(sorted(found.all, key=lambda finding: not finding.fatal)),
            tuple(sorted(proposals, key=lambda proposal: proposal.size)),
            contacts_lost(mechanism),
            structure.determined and not any(finding.fatal for finding in found.all),
        )


def contacts_lost(mechanism: Mechanism) -> tuple[ContactLost, ...]:
    """Loss of each contact, in the order of the joints; of very many, the first 100."""
    # A driven contact takes its inputs with it.
    answers = []
    incidence = initialise(mechanism)
    contacts = [j for j, row in enumerate(mechanism.joint_type.tolist()) if CATALOGUE[row].is_contact]
    for j in contacts[:MOST_CONTACTS]:
        # The joint remains, without units, so that joint numbers do not change.
        units = incidence.units.copy()
        units[j] = 0
        parts = match(replace(incidence, units=units)).parts
        missing = sum(part.units for part in parts if part.kind == "under")
        answers.append(ContactLost(j, int(missing), parts))
    return tuple(answers)


def rank_warnings(structure: Structure) -> list[str]:
    """Groups determined by the mobility count and not by rank, a sentence each."""
    found = _Findings(structure)
    found.groups(_ranks_of_groups(structure, None, None))
    return [finding.text for finding in found.all if finding.fatal]


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
    # A draw can only fall short of the generic rank; a large group needs luck with its margin.
    for seed in (2, 3):
        if any(rank is not None and not rank.full for rank in generic):
            again = group_ranks(structure, generic_rows(mechanism, seed))
            pairs = zip(generic, again, strict=True)
            generic = [max(pair, key=lambda rank: -1 if rank is None else rank.rank) for pair in pairs]
    if numeric is not None:
        found = group_ranks(structure, numeric.rows, numeric.tolerance)
    elif mechanism.has_geometry and (frames := joint_frames(mechanism)).known.all():
        # Too large to assemble as a whole: as the file has it.
        rows = rows_at(mechanism, frames, frames.reference)
        tolerance = tolerance_for(precision_of(mechanism, frames.size, precision))
        found = group_ranks(structure, rows, tolerance)
    else:
        found = [None] * len(generic)
    return tuple(zip(generic, found, strict=True))


@dataclass
class _Findings:
    """Findings about a mechanism, in the order in which they are looked for."""

    structure: Structure
    analysis: Examined | None = None  # at the given geometry, else at random geometry
    generic: Examined | None = None
    all: list[Finding] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.mechanism = self.structure.mechanism

    def say(
        self,
        kind: Kind,
        text: str,
        *,
        fatal: bool = False,
        bodies: Iterable[int] = (),
        joints: Iterable[int] = (),
    ) -> None:
        """Enter a finding about bodies and joints, by index."""
        ids = tuple(self.mechanism.joint_ids[j] for j in joints)
        self.all.append(Finding(kind, text, fatal, tuple(b + 1 for b in bodies), ids))

    def named(self, bodies: Sequence[int]) -> str:
        """Bodies with their names."""
        return bodies_text(self.mechanism, bodies, 20)

    def without_geometry(self) -> None:
        """Joints for which there are generic ranks alone."""
        mechanism, missing = self.mechanism, self.mechanism.without_geometry
        if mechanism.has_geometry:
            return
        lacking = f"{len(missing)} joints have no geometry" if missing else ""
        if len(missing) == 1:
            lacking = f"joint {mechanism.joint_ids[missing[0]]} has no geometry"
        reasons = "; ".join(filter(None, (lacking, untrusted_text(mechanism))))
        text = f"{reasons}; generic ranks decide: they hold for almost every geometry"
        self.say("geometry", text, joints=[*missing, *mechanism.untrusted])

    def count(self, parts: tuple[Part, ...]) -> None:
        """Parts that the count does not determine."""
        from mbssa.reports.structure import part_sentence

        fatal = not self.structure.determined
        for part in parts:
            text = "by count " + part_sentence(self.structure, part, advise=fatal)
            self.say("count", text, fatal=fatal, bodies=part.bodies, joints=part.joints)

    def choices(self) -> None:
        """Multiple joints: how many spanning choices, and which structures they give."""
        total = 1
        for joint in self.mechanism.multiple_joints:
            n = len(joint.bodies)
            choices = count_choices(n, driven_pairs(self.mechanism, joint))
            total *= choices
            text = (
                f"{self.named(joint.bodies)} share one {self.mechanism.joints[joint.joints[0]].type.code}: "
                f"{choices} spanning choices of pairs "
                f"(the paper's N_an counts {paper_choices(n)} sets of pairs)"
            )
            self.say("choices", text, bodies=joint.bodies, joints=joint.joints)
        if not self.mechanism.multiple_joints:
            return
        by_sizes: Counter[str] = Counter()
        for changed in islice(spanning_choices(self.mechanism), MOST_CHOICES):
            answer = decompose(changed, by_count=True)
            sizes = "+".join(str(len(group.bodies)) for group in answer.groups) or "none"
            by_sizes[sizes if answer.determined else "not determined"] += 1
        looked = by_sizes.total()
        shown = "; ".join(f"{sizes} ({n} of {looked})" for sizes, n in sorted(by_sizes.items()))
        more = f", of {total} choices {looked} looked at" if looked < total else ""
        self.say("choices", f"groups of these sizes, by choice: {shown}{more}")

    def rolling(self) -> None:
        """Rolling wheels that nothing holds to their track."""
        # With geometry a free motion of the undriven mechanism lifts the wheel. Without it it is unknown
        # whether bearings hold it: then it must be too free by count, and have no contact with its track.
        mechanism, analysis = self.mechanism, self.analysis
        loose = [joint for joint in mechanism.joints if joint.type.rolls]
        if loose and analysis is not None and analysis.frames is not None and not analysis.fault:
            heights = coordinate_rows(analysis)
            heights = heights.select(np.flatnonzero(np.array(heights.name) == "lift"))
            free = free_motions(analysis.matrix[~analysis.rows.drive], analysis.tolerance)
            moved = np.linalg.norm(heights.matrix(np.arange(1, mechanism.n_bodies)) @ free, axis=1)
            loose = [joint for joint in loose if joint.index in heights.joint[moved > 1e-7]]
        else:
            touching = {frozenset(joint.bodies[:2]) for joint in mechanism.joints if joint.type.is_contact}
            under = {b + 1 for part in self.structure.parts if part.kind == "under" for b in part.bodies}
            loose = [j for j in loose if {*j.bodies[:2]} not in touching and under & {*j.bodies[:2]}]
        for joint in loose:
            track, wheel = (mechanism.bodies[number - 1] for number in joint.bodies[:2])
            text = (
                f"{joint} binds rolling only; nothing keeps wheel {wheel} on its track, body {track}: "
                "add an RD with the same bodies, point, axis and radius"
            )
            ends = [track.index, wheel.index]
            self.say("rolling", text, fatal=not self.structure.determined, bodies=ends, joints=[joint.index])

    def gears(self) -> None:
        """Wheels whose bearing is not where their gear has its centre or axis: mostly a slip of the pen."""
        mechanism = self.mechanism
        gears = [joint for joint in mechanism.joints if joint.type.is_gear]
        if not gears or not mechanism.has_geometry:
            return
        frames, planar = joint_frames(mechanism), mechanism.space == "planar"
        bearings = [joint for joint in mechanism.joints if joint.type.is_bearing]
        for gear, side, bearing in product(gears, (0, 1), bearings):
            wheel, ends = gear.bodies[side], bearing.bodies[:2]
            if wheel not in ends or not {*ends} & {*(gear.bodies[2:] or [1])}:
                continue
            own = ends.index(wheel)
            between = frames.origin[bearing.index, own] - frames.origin[gear.index, side]
            axis = frames.axes[gear.index, side][:, 2]
            lean = np.linalg.norm(np.cross(axis, frames.axes[bearing.index, own][:, 2]))
            if (np.linalg.norm(between) > ASKEW * frames.size) if planar else (lean > ASKEW):
                what = "the centre" if planar else "the axis"
                named = mechanism.bodies[wheel - 1]
                text = f"{gear}: {what} of wheel {named} is not that of its bearing {bearing}"
                self.say("gear", text, bodies=[wheel - 1], joints=[bearing.index, gear.index])

    def cams(self) -> None:
        """Followers that cannot touch all of their profile, so that they leave the law it was made by."""
        from mbssa.joints.cams.profiles import profile_from
        from mbssa.joints.cams.properties import examine

        for joint in self.mechanism.joints:
            if joint.geometry is None or joint.geometry.profile is None:
                continue
            for fault in examine(profile_from(joint.geometry.profile), self.mechanism.units).faults:
                bodies = self.mechanism.joint_bodies(joint.index)
                self.say("cam", f"{joint}: {fault}", bodies=bodies, joints=[joint.index])

    def ranks(self) -> None:
        """Verdict of the ranks of the whole mechanism."""
        mechanism, analysis = self.mechanism, self.analysis
        if analysis is None:
            return
        if analysis.fault:
            self.say("assembly", f"cannot be assembled: {analysis.fault}", fatal=True)
            return
        self.corrections(analysis)
        where = "at the given geometry" if analysis.basis == "numeric" else "for almost every geometry"
        spins = analysis.passive_rotations
        if analysis.singular_pose and analysis.elsewhere is not None:
            extra = analysis.elsewhere.constraints.rank - analysis.constraints.rank
            more = f"{counted(extra, 'constraint')} more hold at a configuration nearby"
            self.say("pose", f"the reference is a singular pose: {more}", fatal=True)
        if analysis.stuck:
            text = (
                "the reference is infinitesimally mobile (shaky): its rank leaves "
                f"{counted(analysis.mobility, 'motion')}, but none leads away from it"
            )
            self.say("pose", text, fatal=True)
        if analysis.constraints.redundant and not analysis.singular_pose and not analysis.stuck:
            self.redundant(analysis, where)
        if analysis.dependent_drives:
            self.inputs(analysis, where)
        for part in () if self.structure.treatment is None else self.structure.treatment.parts:
            plane = part.kind == "planar"
            unit, scale = ("", 1.0) if plane else given_in("m", mechanism.units)
            # A component like -2e-16 is a 0.
            about = ", ".join(f"{v / scale:.3g}" for v in np.round(part.about, 12) + 0.0)
            what = f"parallel to one plane (normal {about})" if plane else f"about one point ({about}) {unit}"
            verb = "moves" if len(part.bodies) == 1 else "move"
            text = f"{self.named(part.bodies)} {verb} {what}: a {part.kind} part, counted with B = 3"
            self.say("part", text, bodies=part.bodies, joints=part.joints)
        for spin in spins:
            text = f"{self.named(spin.bodies)}: {'common ' * (len(spin.bodies) > 1)}passive rotation"
            if spin.point is not None and spin.direction is not None:
                unit, scale = given_in("m", mechanism.units)
                point = ", ".join(f"{v / scale:.3f}" for v in spin.point)
                direction = ", ".join(f"{v:.3f}" for v in spin.direction)
                text += f" about the line through ({point}) {unit} along ({direction})"
            self.say("spin", text, bodies=spin.bodies)
        left = analysis.all.free - len(spins)
        if left > 0 and not analysis.dependent_drives:
            free = free_motions(analysis.matrix, analysis.tolerance)
            share = np.linalg.norm(free.reshape(mechanism.n_bodies - 1, -1), axis=1)
            idle = {b for spin in spins for b in spin.bodies}
            bodies = [b for b in range(1, mechanism.n_bodies) if share[b - 1] > 1e-7 and b not in idle]
            text = f"{counted(left, 'motion')} not driven, of {self.named(bodies)}"
            self.say("mobility", text, fatal=True, bodies=bodies)
        if spins or analysis.mobility != mechanism.mobility:
            text = f"mobility {analysis.mobility} by rank {where}, {mechanism.mobility} by count (Eq. (2))"
            if spins:
                useful = analysis.mobility - len(spins)
                text += f"; {len(spins)} of them passive rotations, {useful} without these"
            self.say("mobility", text)

    def corrections(self, analysis: Examined) -> None:
        """Correction that closed the reference."""
        assembly = analysis.assembly
        if assembly is None or analysis.frames is None:
            return
        least = 1e-9 * analysis.size
        moved = np.flatnonzero((assembly.moved > least) | (assembly.turned > 1e-9)).tolist()
        if not moved:
            return
        most = (assembly.moved.max(), "m", least), (assembly.turned.max(), "rad", 1e-9)
        much = [
            quantity_text(float(value), unit, self.mechanism.units, ".3g")
            for value, unit, limit in most
            if value > limit
        ]
        text = (
            f"the reference was corrected until it closed: {self.named(moved)} by up to {' and '.join(much)}"
        )
        self.say("assembly", text, bodies=moved)
        if assembly.outside:
            nearest = f"the nearest have {assembly.outside}"
            text = f"no assembly was found within the limits of the joints; {nearest}"
            self.say("assembly", text, bodies=moved)

    def redundant(self, analysis: Examined, where: str) -> None:
        """Families of dependent constraints: rows that share a dependence."""
        rows = analysis.rows.constraints
        null = dependences(analysis.matrix[~analysis.rows.drive], analysis.constraints)
        shared = null @ null.T
        family = connected_pieces(len(rows), *np.nonzero(np.triu(np.abs(shared) > 1e-7)))
        families: Counter[tuple[int, ...]] = Counter()
        for number in dict.fromkeys(family[np.diag(shared) > 1e-7].tolist()):
            members = np.flatnonzero(family == number)
            joints = tuple(dict.fromkeys(rows.joint[members].tolist()))
            families[joints] += round(float(np.diag(shared)[members].sum()))
        for joints, units in families.items():
            names = ", ".join(str(self.mechanism.joints[j]) for j in joints)
            several = "constraints are" if units > 1 else "constraint is"
            text = f"{units} {several} redundant {where}, among the joints {names}"
            self.say("redundant", text, joints=joints)

    def inputs(self, analysis: Examined, where: str) -> None:
        """The inputs contradict each other or the constraints."""
        null, generic = dependences(analysis.matrix, analysis.all), self.generic
        involved = np.flatnonzero((np.linalg.norm(null, axis=1) > 1e-7) & analysis.rows.drive).tolist()
        joints = analysis.rows.joint[involved].tolist()
        names = ", ".join(
            f"{self.mechanism.joint_ids[j]}.{analysis.rows.name[r]}"
            for j, r in zip(joints, involved, strict=True)
        )
        inputs = counted(analysis.n_drives, "input")
        depend = "depends" if analysis.dependent_drives == 1 else "depend"
        text = f"{analysis.dependent_drives} of the {inputs} {depend} on the rest {where}: "
        text += f"{names} cannot be driven together"
        if analysis.mobility < analysis.n_drives:
            motions = counted(analysis.mobility, "motion")
            allowed = f"only {motions}" if analysis.mobility else "no motion at all"
            text = f"{inputs} for a mechanism that has {allowed} {where}: {names}"
        elif analysis.dead_point:
            text += "; at a configuration nearby they can, so the reference is a dead point of these inputs"
        elif generic is not None and generic.constraints.redundant == 0:
            if generic.dependent_drives:
                text += f"; for every geometry the rank is at most {generic.all}"
            text += (
                f"; the undriven mechanism has generic mobility {generic.mobility} and nothing redundant, "
                "so only the choice of inputs is bad"
            )
        self.say("inputs", text, fatal=True, joints=joints)

    def groups(self, pairs: tuple[tuple[Rank | None, Rank | None], ...]) -> None:
        """Groups determined by the mobility count and not by rank."""
        for group, (generic, numeric) in zip(self.structure.groups, pairs, strict=False):
            name = f"{group} {group.type_name}"
            if generic is not None and not generic.full:
                text = f"{name} has rank {generic} for every geometry"
                if numeric is not None and numeric.rank < generic.rank:
                    text += f", {numeric} at the given one"
            elif numeric is not None and not numeric.full:
                text = f"{name} has rank {numeric} at the given geometry"
                if self.analysis is not None and self.analysis.dead_point:
                    text += " (a dead point)"
            elif generic is None and numeric is None and len(group.bodies) > 1:
                self.say("rank", f"{group} is too large for a rank: not taken")
                continue
            else:
                continue
            self.say("rank", text, fatal=True, bodies=group.body_indices.tolist())
