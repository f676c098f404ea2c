"""Content of a picture of a motion: poses, and lines for bodies: links, guides, profiles, teeth."""

# A body with two joints is a link between them; three or more span a polygon, or a hull where they do not lie
# in one plane. A sliding joint is a block on a rail or, between two moving bodies with room for it, a rod in
# a tube.

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np

from groups.rotations import quaternion_of, rotation_of, turned
from groups.status import STATUS
from mbssa import decompose
from mbssa.arrays import Floats, Ints
from mbssa.joints.axes import in_space
from mbssa.joints.cams.contact import FLAT, POINT, touching
from mbssa.joints.cams.curves import ground
from mbssa.joints.cams.profiles import profile_from
from mbssa.joints.catalogue import JointType, type_of_joint
from mbssa.joints.poses import relative_pose
from mbssa.joints.relations import PairFrames, local_frames
from mbssa.pictures.hues import NO_GROUP, Hue, body_colours, group_hues
from mbssa.texts import listed

if TYPE_CHECKING:
    from groups.trajectory import Trajectory
    from mbssa import Group, Mechanism, Structure
    from mbssa.joints.cams.curves import Curve
    from mbssa.joints.frames import Frames


#: Points nearer than this part of the mechanism's size are one point.
_SAME = 1e-6

#: Points of a profile at least; share of a cam's size by which a flat face goes beyond where it is touched.
_PROFILE, _SPARE = 180, 0.08

#: Teeth of the smallest wheel at least; the largest denominator of a ratio of teeth; corners of a tooth along
#: and over the pitch line, modules.
_FEWEST, _DENOMINATOR = 14, 40
_TOOTH = np.array([[-0.36 * np.pi, -1.25], [-0.11 * np.pi, 1.0], [0.11 * np.pi, 1.0], [0.36 * np.pi, -1.25]])

#: Angles around rollers, smooth wheels, and rings with teeth inside.
_ROLLER, _SMOOTH, _RING = (np.linspace(0.0, 2 * np.pi, n) for n in (49, 73, 121))


@dataclass(frozen=True, eq=False)
class Mark(PairFrames):
    """One joint: its symbol sits on body ``bodies[seat]``, in the origin of its frame there."""

    joint: int
    type: JointType
    seat: int
    driven: bool
    pitch: Floats | None = None  # (2, 2) x, y where its wheels mesh at the reference, in these frames, m

    @property
    def radii(self) -> tuple[float, float] | None:
        """Pitch radii of its wheels, m."""
        return None if self.pitch is None else tuple(np.hypot(*self.pitch.T).tolist())


@dataclass(frozen=True, eq=False)
class Line:
    """Line on one body; a closed one ends where it begins and has material inside."""

    body: int
    points: Floats  # (n, 3) in the body's own frame, m
    # kind: link or edge between joints, facet of a hull, which has no edge itself; of a sliding joint rail,
    # slot, tube or rod, which slides in a tube; track that a wheel rolls on; others are rims and profiles
    kind: str = ""
    closed: bool = False
    joint: int = -1  # that slides or rolls on it
    foot: Floats | None = None  # where a guide of a moving body meets the rest of it
    across: Floats | None = None  # (3,) direction in which a slot is wide


@dataclass(frozen=True, eq=False)
class Scene:
    """Drawing of a mechanism at F instants of its motion; planar bodies lie in the plane z = 0."""

    structure: Structure
    frames: Frames
    bodies: tuple[int, ...]  # (K,) indices of the bodies that are drawn, the frame first
    position: Floats  # (F, K, 3) m, of the bodies' own origins; NaN where a body was not solved
    quaternion: Floats  # (F, K, 4) w, x, y, z
    instants: Ints  # (F,) numbers of the instants of the trajectory, ascending
    hues: Sequence[Hue] = ()  # of each body's group by index of the body; grey where it is in none
    colours: Sequence[str] = ()  # of the bodies by index, shades of their groups' hues
    points: Sequence[Floats] = ()  # (n, 3) joints and named points of each drawn body in its own frame, m
    lines: Sequence[Line] = ()  # links and edges between these; guides, rims, profiles
    marks: Sequence[Mark] = ()  # joints between drawn bodies
    box: Any = 0.0  # (2, 3) lowest and highest corner of what holds all of it at these instants, m

    def world(self, body: int, points: Floats) -> Floats:
        """World coordinates (F, n, 3) of points (n, 3) of a body, given in its own frame."""
        k = self.bodies.index(body)
        return self.position[..., k, None, :] + turned(self.quaternion[..., k, None, :], points)

    def place(self, mark: Mark, side: int | None = None) -> Floats:
        """World coordinates (F, 3) of a joint on its seat, or on the body of this side."""
        side = mark.seat if side is None else side
        return np.asarray(self.world(mark.bodies[side], mark.origin[side][None])[..., 0, :])

    @property
    def mechanism(self) -> Mechanism:
        return self.structure.mechanism

    @property
    def planar(self) -> bool:
        return self.mechanism.space == "planar"

    @property
    def groups(self) -> list[tuple[Group, str, Hue]]:
        """Structural groups of the bodies that are drawn, with names and hues."""
        hues, drawn = group_hues(self.structure), {*self.structure.group_of_body[[*self.bodies]].tolist()}
        some = [group for group in self.structure.groups if group.number in drawn]
        return [(group, f"SG-{group.number} {group.type_name}", hues[group.number]) for group in some]

    @property
    def size(self) -> float:
        """Diagonal of the box, m."""
        return float(np.linalg.norm(np.ptp(self.box, axis=0))) or 1.0

    def at(self, instant: int) -> Scene:
        """The scene at one of its instants; places in the world have no axis of time."""
        f = int(np.searchsorted(self.instants, instant))
        return replace(
            self, position=self.position[f], quaternion=self.quaternion[f], instants=self.instants[[f]]
        )


def scene_of(trajectory: Trajectory, most: int | Ints) -> Scene:
    """Drawing at these instants, or at no more than ``most``, evenly chosen."""
    mechanism, frames, place = trajectory.mechanism, trajectory.reference, np.flatnonzero(trajectory.kept)
    instants = chosen(len(trajectory.time), most) if isinstance(most, int) else np.asarray(most)
    solved, bodies = trajectory.instants(instants).spatial(), (0, *trajectory.kept[place].tolist())
    position = np.insert(solved.position[:, place], 0, frames.position[0], axis=1)
    quaternion = np.insert(solved.orientation[:, place], 0, quaternion_of(frames.rotation[:1])[0], axis=1)
    structure = decompose(mechanism)
    by_group, colours = group_hues(structure), body_colours(structure)
    hues = [by_group.get(g, Hue(NO_GROUP, 0)) for g in structure.group_of_body.tolist()]
    scene = Scene(structure, frames, bodies, position, quaternion, instants, hues, colours)
    guides, marks = _guides_of(scene, _marks_of(scene))
    lines = [*outlines_of(scene), *_rims_of(scene, marks, guides)]
    points, outlined = list[Floats](), set[int]()
    for body in bodies:
        if outline := (mechanism.geometry_of(body).visual or {}).get("outline"):
            rim = np.array([frames.on_body(body, at) for at in [*outline, outline[0]]])
            lines.append(Line(body, rim, closed=True))
            outlined.add(body)
        feet = [guide.foot for guide in guides if guide.body == body and guide.foot is not None]
        there = np.concatenate([_joints_of(scene, marks, body), np.reshape(feet, (-1, 3))])
        rounded = np.round(there / (_SAME * (frames.size or 1.0))) + 0.0  # no -0
        points.append(there[np.sort(np.unique(rounded, axis=0, return_index=True)[1])])
        if body and body not in outlined:
            lines += _lines_through(body, points[-1])
    lines += [guide for guide in guides if guide.body not in outlined]
    lines.sort(key=lambda line: line.body > 0)  # those of the frame first
    drawn = [*zip(bodies, points, strict=True), *((line.body, line.points) for line in lines)]
    places = np.concatenate([scene.world(*part).reshape(-1, 3) for part in drawn])
    known = np.isfinite(places).all(axis=1)
    places = places[known] if known.any() else np.array([[-0.5] * 3, [0.5] * 3])
    box = np.array([places.min(axis=0), places.max(axis=0)])
    return replace(scene, points=points, lines=lines, marks=marks, box=box)


def _marks_of(scene: Scene) -> list[Mark]:
    """The joints that have geometry and join two drawn bodies, or one of them to one not drawn."""
    mechanism, frames = scene.mechanism, scene.frames
    marks = []
    for j in np.flatnonzero(frames.known).tolist():
        row, (a, b) = type_of_joint(mechanism, j), mechanism.joint_bodies(j)[:2]
        if not row.is_free and {a, b} & (set(scene.bodies) - {0}):
            seat = 0 if b not in scene.bodies or (row.guide is not None and b == 0) else 1
            mark = Mark((a, b), frames.origin[j], frames.axes[j], j, row, seat, bool(mechanism.driven[j]))
            marks.append(replace(mark, pitch=_pitch(frames, mark)) if row.wheels else mark)
    placed = [mark for mark in marks if mark.type.guide is None]
    for k, mark in enumerate(marks):
        geometry, bodies = mechanism.joint_geometry.get(mark.joint), [*mark.bodies]
        if mark.type.guide is None or geometry is None or geometry.point is not None or geometry.frames:
            continue
        # A sliding joint whose axis has no place in the model is at a point of one of its bodies.
        for side in (1 - mark.seat, mark.seat):
            points = _joints_of(scene, placed, bodies[side])
            if len(points) and bodies[side]:
                shift = frames.rotation[bodies[side]] @ (points.mean(axis=0) - mark.origin[side])
                marks[k] = replace(mark, origin=mark.origin + shift @ frames.rotation[bodies])
    return marks


def _joints_of(scene: Scene, marks: Sequence[Mark], body: int) -> Floats:
    """Joints and named points (n, 3) of a body in its own frame; of a slide the block, if it is its own."""
    points = [
        mark.origin[side]
        for mark in marks
        for side in (0, 1)
        if mark.bodies[side] == body and (mark.type.guide is None or mark.seat == side)
    ]
    points += [scene.frames.on_body(body, at) for at in scene.mechanism.geometry_of(body).points.values()]
    return np.array(points).reshape(-1, 3)


def _pitch(frames: Frames, mark: Mark) -> Floats | None:
    """Points of a joint in which its two wheels mesh; None where their axes are skew."""
    if mark.type.wheels == "track":
        return np.array([[0.0, 0.0], [0.0, -float(frames.parameters["radius"][mark.joint])]])
    ratio = float(frames.parameters["ratio"][mark.joint])
    bodies = [*mark.bodies]
    turn = frames.rotation[bodies] @ mark.axes
    centres = frames.position[bodies] + (frames.rotation[bodies] @ mark.origin[:, :, None])[..., 0]
    # Axis of the relative rotation of the wheels, which have the velocities ratio and -1 about their axes.
    spin, slip = ratio * turn[0, :, 2] + turn[1, :, 2], np.cross(turn[1, :, 2], centres[0] - centres[1])
    if spin @ spin < 1e-18 or abs(spin @ slip) > _SAME * frames.size * (spin @ spin):
        return None
    for wheel in (0, 1):  # the pitch point is in the plane of one of them
        away, axis = np.cross(spin, slip) / (spin @ spin) + centres[0] - centres[wheel], turn[wheel, :, 2]
        if abs(spin @ axis) > 1e-9:
            at = centres[wheel] + away - (away @ axis) / (spin @ axis) * spin
            pitch = np.array([(at - centres[side]) @ turn[side, :, :2] for side in (0, 1)])
            if np.hypot(*pitch[wheel]) > _SAME * frames.size:
                return pitch
    return None


def _guides_of(scene: Scene, marks: Sequence[Mark]) -> tuple[list[Line], list[Mark]]:
    """Rails, tracks, tubes and rods as long as the motion needs, and the marks, those of tubes at mouths."""
    guides, moved = list[Line](), list(marks)
    for k, mark in enumerate(marks):
        rolls, others = mark.type.wheels == "track", [*marks[:k], *marks[k + 1 :]]
        if not set(mark.bodies) <= set(scene.bodies) or (mark.type.guide is None and not rolls):
            continue
        # The symbol sits on the body that slides or rolls; the other one has the guide.
        sides = [1 - mark.seat, mark.seat]
        (holder, rider), (at, to) = (mark.bodies[side] for side in sides), mark.origin[sides]
        axis, ridden = mark.axes[sides][:, :, mark.type.guide or 0]
        feet = (_joints_of(scene, others, holder) - at) @ axis
        heads = (_joints_of(scene, others, rider) - to) @ ridden
        start, end = np.moveaxis(scene.world(holder, np.array([at, at + axis])), 1, 0)
        way = ((scene.place(mark) - start) * (end - start)).sum(axis=1)
        ways = way[np.isfinite(way)].tolist() or [0.0]
        near, far = min(ways), max(ways)
        if holder and rider and mark.type.telescopes and len(feet) and len(heads):
            foot, head = float(feet.mean()), float(heads.mean())
            least, most = sorted((near + head - foot, far + head - foot), key=abs)
            # They nest where the distance keeps its sign and does not change too much for one scene.
            if least and 1.0 <= most / least <= 1.7:
                length = min(0.9 * least, 0.55 * most, key=abs)
                tube = at + np.outer([foot, foot + most - length + 0.06 * least], axis)
                rod = to + np.outer([head, head - length], ridden)
                guides += [Line(holder, tube, "tube", joint=mark.joint, foot=tube[0])]
                guides += [Line(rider, rod, "rod", joint=mark.joint, foot=rod[0])]
                origin = mark.origin.copy()
                origin[sides[0]] = tube[1]
                moved[k] = replace(mark, origin=origin, seat=sides[0])
                continue
        spare = 1.2 * mark.radii[1] if mark.radii else max(0.12 * scene.frames.size, 0.15 * (far - near))
        low, high = near - spare, far + spare
        nearest = low if rolls else float(np.clip(feet.mean() if len(feet) else near, low, high))
        low_foot_high = at + np.outer([low, nearest, high], axis)
        kind = "track" if rolls else "slot" if mark.type.solid == "rider" else "rail"
        across = np.cross(mark.axes[sides[0]][:, 2], axis)
        guides.append(Line(holder, low_foot_high[::2], kind, False, mark.joint, low_foot_high[1], across))
    return guides, moved


def _lines_through(body: int, points: Floats) -> list[Line]:
    """A link, a polygon, or the edges and facets of a hull through points (n, 3) of a body."""
    if len(points) < 2:
        return []
    middle = points - points.mean(axis=0)
    _, extents, directions = np.linalg.svd(middle, full_matrices=True)
    rank = int((extents > 1e-3 * extents[0]).sum())
    if rank == 1:
        along = middle @ directions[0]
        return [Line(body, points[[along.argmin(), along.argmax()]], "link")]
    from scipy.spatial import ConvexHull

    hull = ConvexHull(middle @ directions[:rank].T)
    if rank == 2:
        return [Line(body, points[[*hull.vertices, hull.vertices[0]]], "edge", True)]
    # An edge between two facets of one plane only halves a polygon.
    normals = hull.equations[:, :3]
    facet, corner = np.nonzero((normals[:, None] * normals[hull.neighbors]).sum(axis=2) < 1.0 - 1e-6)
    edges = np.sort(hull.simplices[facet][np.arange(3) != corner[:, None]].reshape(-1, 2), axis=1)
    lines = [Line(body, points[edge], "edge") for edge in np.unique(edges, axis=0)]
    facets = np.column_stack([hull.simplices, hull.simplices[:, 0]])
    return lines + [Line(body, points[facet], "facet", True) for facet in facets]


# --- profiles that touch --------------------------------------------------------------------------


def outlines_of(scene: Scene) -> list[Line]:
    """Profiles of cams, contacts, terrains and their followers on drawn bodies."""
    # Frames of two bodies, the curves on them, the kind of the follower, and the radius of its roller, m: of
    # joints; of force elements that press profiles on each other, and of terrains with their wheels.
    pressed: list[tuple[PairFrames, tuple[Curve, ...], int, float]] = []
    for _, relations in sorted(scene.frames.relations.items()):
        if relations.curves:
            (contact,) = relations.constraints[0].terms
            pressed.append((relations.pairs[0], relations.curves, contact.numbers[0], contact.parameter))
    world, poses = (np.eye(3), np.eye(3)), scene.frames.reference
    for force in scene.mechanism.forces:
        if force.profile is not None and force.points is not None:
            profile = profile_from(force.profile)
            (a, b), (first, second) = force.bodies, map(in_space, force.points)
            pair = local_frames((a, b), (first, second), world, poses)
            pressed.append((pair, profile.curves, profile.kind, profile.radius))
        elif force.terrain is not None and force.point is not None and force.radius is not None:
            pair = local_frames((0, force.bodies[0]), (np.zeros(3), in_space(force.point)), world, poses)
            pressed.append((pair, (ground(force.terrain),), POINT, force.radius))
    found: list[Line] = []
    for pair, curves, kind, radius in pressed:
        for side, curve in enumerate(curves):
            even = np.linspace(curve.breaks[0], curve.breaks[-1], _PROFILE)
            points = curve.at(np.union1d(curve.breaks, even))[0]
            if curve.closed:
                points[-1] = points[0]
            found.append(_placed(pair, side, points, curve.closed))
        if len(curves) == 1 and kind == FLAT:
            found.append(_placed(pair, 1, np.outer(_face(scene, pair, curves[0]), [1.0, 0.0]), False))
        elif len(curves) == 1 and radius:  # a knife has none
            found.append(_placed(pair, 1, _around(_ROLLER, radius), True))
    return [line for line in found if line.body in scene.bodies]


def _face(scene: Scene, pair: PairFrames, curve: Curve) -> tuple[float, float]:
    """Ends of a flat face, from where to where it is touched and a little more, m."""
    if set(pair.bodies) <= set(scene.bodies):
        places = [scene.bodies.index(body) for body in pair.bodies]
        ends = [(scene.position[:, k], rotation_of(scene.quaternion[:, k])) for k in places]
        d, C = relative_pose(ends, pair.origin, pair.axes)[:2]
        sound = np.isfinite(d).all(axis=1) & np.isfinite(C).all(axis=(1, 2))
        if sound.any():
            along, spare = touching(curve, None, FLAT, d[sound], C[sound])[1], _SPARE * curve.size
            return float(along.min()) - spare, float(along.max()) + spare
    return -0.5 * curve.size, 0.5 * curve.size


# --- gears, wheels and racks: teeth that mesh at the reference, of a visible size ------------------

# The model has pitch circles and ratios; how many teeth there are is chosen here, in the ratio of the radii.


def _rims_of(scene: Scene, marks: Sequence[Mark], guides: Sequence[Line]) -> list[Line]:
    """Rims of the wheels on drawn bodies, once each, and racks toothed along their tracks."""
    frames, tracks = scene.frames, {guide.joint: guide for guide in guides if guide.kind == "track"}
    # Teeth of each wheel, and the angle of one of them in the frame of the joint.
    wheels: dict[tuple[int, ...], tuple[int, float]] = {}
    rims: list[Line] = []
    for mark in marks:
        if mark.pitch is None or mark.radii is None:
            continue
        radii, toward = mark.radii, np.arctan2(*mark.pitch.T[::-1]).tolist()
        if mark.type.wheels == "track":
            track = tracks.get(mark.joint)
            if track is None or not mark.type.rolls or 0 in mark.bodies:  # on the frame it is smooth
                rims.append(_placed(mark, 1, _around(_SMOOTH, radii[1]), True))
                continue
            module = 2.0 * radii[1] / _FEWEST
            low, high = (track.points - mark.origin[0]) @ mark.axes[0][:, 0] / (np.pi * module)
            rims.append(_placed(mark, 0, _teeth(int(np.ceil(low)), int(np.floor(high)) + 1, module), False))
            # At the reference the wheel stands over the origin of the track: a gap over a tooth.
            rims += _rim(mark, 1, _FEWEST, toward[1] + np.pi / _FEWEST)
            continue
        # One wheel in all its meshes: body, place and radius to six digits.
        digits = np.round(np.column_stack([mark.origin, radii]) / (frames.size or 1.0) * 1e6)
        keys = [(body, *place) for body, place in zip(mark.bodies, digits.astype(int).tolist(), strict=True)]
        new = [side for side in (0, 1) if keys[side] not in wheels]
        ratio = radii[1] / radii[0]
        # The larger wheel is a ring with teeth inside.
        internal = mark.type.wheels == "gear" and float(frames.parameters["ratio"][mark.joint]) < 0.0
        if len(new) == 2:
            parts = Fraction(ratio).limit_denominator(_DENOMINATOR)
            times = -(-_FEWEST // max(min(parts.numerator, parts.denominator), 1))
            wheels[keys[0]] = max(times * parts.denominator, 3), toward[0]
        for side in new[-1:]:  # a gap where the other one has a tooth
            teeth, start = wheels[keys[1 - side]]
            pitches = (start - toward[1 - side]) * teeth / (2 * np.pi)
            own = max(round(teeth * (ratio if side else 1.0 / ratio)), 3)
            after = ((pitches if internal else -pitches) + 0.5) * 2 * np.pi / own
            wheels[keys[side]] = own, toward[side] + after
        for side in new:
            rims += _rim(mark, side, *wheels[keys[side]], internal and radii[side] == max(radii))
    return [rim for rim in rims if rim.body in scene.bodies]


def _rim(mark: Mark, side: int, teeth: int, start: float, ring: bool = False) -> list[Line]:
    """A toothed rim, and of a ring with teeth inside a circle around it."""
    radius = (mark.radii or (0.0, 0.0))[side]
    module = 2.0 * radius / teeth
    along, height = _teeth(0, teeth, module).T
    rim = _around(start + along / radius, radius + (-height if ring else height))
    lines = [_placed(mark, side, np.concatenate([rim, rim[:1]]), not ring)]
    return [*lines, _placed(mark, side, _around(_RING, radius + 3.0 * module), False)] if ring else lines


def _teeth(first: int, end: int, module: float) -> Floats:
    """Corners (4 n, 2) of teeth by number: places along the pitch line, heights over it, m."""
    corners = _TOOTH + np.outer(np.arange(first, end), [np.pi, 0.0])[:, None]
    return np.asarray(module * corners.reshape(-1, 2))


def _around(angle: Floats, radius: Floats | float) -> Floats:
    return np.stack([radius * np.cos(angle), radius * np.sin(angle)], axis=1)


def _placed(mark: PairFrames, side: int, line: Floats, closed: bool) -> Line:
    points = mark.origin[side] + line @ mark.axes[side][:, :2].T
    return Line(mark.bodies[side], points, closed=closed)


# --- instants ---------------------------------------------------------------------------------------


def chosen(there: int, most: int) -> Ints:
    """At most ``most`` of the instants 0 … there - 1, evenly, the first and the last among them."""
    return np.unique(np.round(np.linspace(0, there - 1, min(there, max(most, 1)))).astype(np.int64))


def failed_at(trajectory: Trajectory, instant: int) -> str:
    """One line about an instant, ``SG-2, SG-4 singular``; empty where all groups were solved."""
    by_reason: dict[int, list[str]] = {}
    for g, reason in enumerate(trajectory.status[instant].tolist(), 1):
        by_reason.setdefault(reason, []).append(f"SG-{g}")
    return "; ".join(f"{listed(names, 4)} {STATUS[code]}" for code, names in by_reason.items() if code)


def sentence(trajectory: Trajectory) -> str:
    """The first failure and how often it occurs, and the number of others; empty if there are none."""
    counts = Counter((g, int(trajectory.status[f, g])) for f, g in np.argwhere(trajectory.status).tolist())
    if not counts:
        return ""
    (group, code), count = next(iter(counts.items()))
    text = f"SG-{group + 1} {STATUS[code]} at {count:,} of {len(trajectory.status):,} instants"
    return text + (f", and {len(counts) - 1} more" if len(counts) > 1 else "")
