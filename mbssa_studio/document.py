"""Edits of a model file as functions from text to text: comments and whatever is not edited stay."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import combinations
from typing import Any

import numpy as np
import tomlkit
from tomlkit.exceptions import TOMLKitError

from mbssa.faults import Fault, ModelError
from mbssa.io.toml_text import toml_tables
from mbssa.mechanism import FRAME_NAMES

#: A model without links, in millimetres and degrees as drawings are.
EMPTY = """\
format = 1
space = "planar"

[units]
length = "mm"
angle = "deg"
"""

#: Distance in the unit of the file below which two points are one; numbers are written with 12 digits.
COINCIDENT = 1e-6

#: Coordinates beyond are none, nor is what is not finite.
_LARGEST = 1e300

Tables = dict[str, Any]


def tables_of(text: str) -> Tables:
    """Plain tables of a model text."""
    return toml_tables(text, "model")


def body_tables(tables: Any) -> list[Any]:
    """Tables of the moving bodies; empty ones where the file has only their number."""
    found = tables.get("body")
    if isinstance(found, list) and all(isinstance(body, dict) for body in found):
        return found
    number = tables.get("bodies")
    return [{} for _ in range(number - 1)] if isinstance(number, int) and 0 < number <= 1000 else []


def joint_tables(tables: Any) -> list[Any]:
    """Tables of the joints."""
    found = tables.get("joint")
    return [joint for joint in found if isinstance(joint, dict)] if isinstance(found, list) else []


def number_of(body: Any, bodies: Sequence[Any]) -> int | None:
    """Number of a body that a joint names; None where it does not exist."""
    if body in FRAME_NAMES:
        return 1
    if isinstance(body, int):
        return int(body) if 1 <= body <= len(bodies) + 1 else None
    names = [each.get("name") for each in bodies]
    return names.index(body) + 2 if body in names else None


def numbers_of(joint: Any, bodies: Sequence[Any]) -> list[int]:
    """Numbers of the bodies of a joint, without those that do not exist."""
    ends = joint.get("bodies")
    found = [number_of(body, bodies) for body in ends] if isinstance(ends, list) else []
    return [number for number in found if number is not None]


def point_of(joint: Any, bodies: Sequence[Any]) -> list[float] | None:
    """Coordinates of a joint's point, in the unit of the file; None where it has none."""
    at = joint.get("point")
    if isinstance(at, str):
        owner, _, name = at.rpartition(".")
        number = number_of(int(owner) if owner.isdigit() else owner, bodies)
        points = bodies[number - 2].get("points") if number is not None and number > 1 else None
        at = points.get(name) if isinstance(points, dict) else None
    return [float(c) for c in at] if _is_point(at) and at is not None else None


def named_points(body: Any) -> dict[str, list[float]]:
    """Points of a body's table by name, in the unit of the file, without those that are none."""
    points = body.get("points")
    return {name: at for name, at in points.items() if _is_point(at)} if isinstance(points, dict) else {}


def points_of(joint: Any) -> list[list[float] | None]:
    """Coordinates of the points of a joint that has one for each body; None for one that is named."""
    points = joint.get("points")
    return [point_of({"point": at}, []) for at in points] if isinstance(points, list) else []


def add_link(text: str, points: Sequence[Sequence[float]]) -> str:
    """Add a link through two or more points, and pin it where one of them meets a joint or another link.

    A point on a joint makes the link one of its bodies; on another link, at a named point or between its
    points, a revolute joint.
    """
    return _edited(text, lambda document: _add_link(document, points))


def _add_link(document: Any, points: Sequence[Sequence[float]]) -> None:
    if len(points) < 2 or any(_near(a, b) for a, b in combinations(points, 2)):
        raise _refused("link", "two of its points coincide; draw it between different points")
    bodies = _bodies_written(document)
    taken = {body.get("name") for body in bodies}
    name = next(f"link{k}" for k in range(len(bodies) + 2, 10**6) if f"link{k}" not in taken)
    joined = [_meets(document, point) for point in points]
    table = tomlkit.table()
    table["name"] = name
    table["points"] = _inline({"ABCDEFGHIJ"[k % 10] + "1" * (k // 10): _at(p) for k, p in enumerate(points)})
    _append(document, "body", table)
    for point, (joint, links) in zip(points, joined, strict=True):
        if joint is not None and joint.get("type") == "R":
            joint["bodies"] = [*joint["bodies"], name]
            _driven_pairs(joint)
        elif links:
            _append_joint(document, [_name(bodies, links[-1]), name], "R", point)


def add_joint(
    text: str, bodies: Sequence[int], code: str, point: Sequence[float], axis: Sequence[float] | None = None
) -> str:
    """Add a joint of a type between bodies, by their numbers (1 is the frame), at a point."""

    def edit(document: Any) -> None:
        written = _bodies_written(document)
        if len(set(bodies)) < 2:
            raise _refused("joint", "joins a body with itself; choose two bodies")
        names = [_name(written, number) for number in bodies]
        _append_joint(document, names, code, point, axis)

    return _edited(text, edit)


def add_gear(text: str, bodies: Sequence[int], centres: Sequence[Sequence[float]], ratio: float) -> str:
    """Let two wheels mesh, which turn about these centres: bodies by number, ratio of their radii r2/r1."""

    def edit(document: Any) -> None:
        written = _bodies_written(document)
        if len(set(bodies)) != 2 or 1 in bodies:
            raise _refused(
                "gear", "meshes two moving bodies; drag from the pivot of one to that of the other"
            )
        table = tomlkit.table()
        table["bodies"] = [_name(written, number) for number in bodies]
        table["type"] = "EO"
        table["points"] = [_at(centre) for centre in centres]
        table["ratio"] = float(ratio)
        _append(document, "joint", table)

    return _edited(text, edit)


def add_cam(
    text: str, bodies: Sequence[int], centres: Sequence[Sequence[float]], rise: float, radius: float
) -> str:
    """Let a cam lift a roller: rise, dwell, return, dwell; how its follower moves says what cam that is.

    Parameters
    ----------
    bodies : numbers of the cam and of the follower, which has a slider or a pin on the frame
    centres : of the cam's pivot and of the roller, where the roller is lowest
    rise : of the follower; in units of length on a slider, of angle on a pin
    radius : of the roller
    """

    def edit(document: Any) -> None:
        written = _bodies_written(document)
        if len(set(bodies)) != 2 or 1 in bodies:
            raise _refused("cam", "lifts a moving body; drag from the cam's pivot to the roller's centre")
        pivot, roller = (np.array(centre, dtype=float) for centre in centres)
        distance = float(np.linalg.norm(roller - pivot))
        if not 0.0 < radius < distance or not rise > 0.0:
            raise _refused("cam", f"write a rise over 0 and a radius between 0 and {distance:g}")
        held = [
            joint
            for joint in joint_tables(document)
            if sorted(numbers_of(joint, written)) == [1, bodies[1]] and joint.get("type") in ("P", "R")
        ]
        if not held:
            raise _refused("cam", "its follower has no pin or slider on the frame; draw that first")
        turn = 360.0 if document.get("units", {}).get("angle") == "deg" else 2 * np.pi
        law = [
            {"rise": float(rise), "over": turn / 3, "kind": "345"},
            {"dwell": turn / 6},
            {"return": float(rise), "over": turn / 3, "kind": "345"},
            {"dwell": turn / 6},
        ]
        profile: dict[str, Any] = {"base": distance - radius, "radius": float(radius), "follower": "roller"}
        if held[0]["type"] == "P":
            upwards = np.array(held[0].get("axis", [1.0, 0.0]), dtype=float)
            upwards *= np.sign(upwards @ (roller - pivot)) or 1.0
            upwards /= np.linalg.norm(upwards)
            profile["offset"] = float(_turn(upwards, roller - pivot))
        else:
            about = np.array(point_of(held[0], written), dtype=float)
            upwards, arm = about - pivot, roller - about
            side = "left" if _turn(upwards, arm) > 0 else "right"
            lengths = (float(np.linalg.norm(each)) for each in (upwards, arm))
            profile["swing"] = dict(zip(("pivot", "arm"), lengths, strict=True)) | {"side": side}
        table = tomlkit.table()
        table["bodies"] = [_name(written, number) for number in bodies]
        table["type"] = "L"
        table["points"] = [_at(centre) for centre in centres]
        table["axes"] = [_at(upwards.tolist()), [1.0, 0.0]]
        table["profile"] = profile | {"law": law}
        _append(document, "joint", table)

    return _edited(text, edit)


def add_ground(text: str, point: Sequence[float]) -> str:
    """Pin the link that is here to the frame; a pin of several links gets the frame as one more body."""

    def edit(document: Any) -> None:
        joint, links = _meets(document, point)
        if joint is not None and joint.get("type") == "R":
            if 1 in numbers_of(joint, _bodies_written(document)):
                raise _refused("ground", "this pin is on the frame already")
            joint["bodies"] = ["frame", *joint["bodies"]]
            _driven_pairs(joint)
            return
        if not links:
            raise _refused("ground", "no link is here; draw the link first")
        _append_joint(document, ["frame", _name(_bodies_written(document), links[-1])], "R", point)

    return _edited(text, edit)


def add_slider(text: str, point: Sequence[float], axis: Sequence[float]) -> str:
    """Guide the link that is here along the frame: by a pin in a slot; a link along the guide by a slider.

    A link without joints has a slider too.
    """

    def edit(document: Any) -> None:
        bodies = _bodies_written(document)
        _, links = _meets(document, point)
        if not links or not any(axis):
            raise _refused("slider", "no link is here; draw the link first" if any(axis) else "its axis is 0")
        guide, points = np.array(axis, dtype=float) / np.linalg.norm(axis), _points_of_links(document)
        aside = {link: _turn(guide, (np.array(points[link], dtype=float) - point).T) for link in links}
        along = [link for link in links if np.abs(aside[link]).max() < COINCIDENT]
        link = (along or links)[-1]
        joined = any(link in numbers_of(joint, bodies) for joint in joint_tables(document))
        code = "SLOT" if joined and not along else "P"
        _append_joint(document, ["frame", _name(bodies, link)], code, point, axis)

    return _edited(text, edit)


def add_point(text: str, body: int, name: str, point: Sequence[float]) -> str:
    """Name a point of a moving body."""

    def edit(document: Any) -> None:
        bodies = _bodies_written(document)
        _name(bodies, body)
        if body == 1:
            raise _refused("point", "points belong to moving bodies")
        table = bodies[body - 2]
        if "points" not in table:
            table["points"] = tomlkit.inline_table()
        table["points"][name] = _at(point)

    return _edited(text, edit)


def move_point(text: str, before: Sequence[float], after: Sequence[float]) -> str:
    """Move everything that is at one point: joints and named points."""

    def edit(document: Any) -> None:
        for joint in joint_tables(document):
            if _is_at(joint.get("point"), before):
                joint["point"] = _at(after)
            for k, at in enumerate(points_of(joint)):
                if at is not None and _is_at(at, before):
                    joint["points"][k] = _at(after)
        for body in document.get("body", []):
            for name, at in list(body.get("points", {}).items()):
                if _is_at(at, before):
                    body["points"][name] = _at(after)

    return _edited(text, edit)


#: What take_pose can write: other tables, fields and types of joints are measured from the old reference.
_POSED = {"model": {"format", "space", "units", "title", "body", "joint"}, "body": {"name", "points"}}
_POSED["joint"] = {"bodies", "type", "point", "points", "axis", "ratio", "driven", "driven_pairs", "id"}


def take_pose(text: str, poses: Sequence[Sequence[float]]) -> str:
    """Make a pose of a planar mechanism its reference: displacements (x, y, angle) of the bodies."""

    def edit(document: Any) -> None:
        bodies, joints = _bodies_written(document), joint_tables(document)
        tables = [("model", document), *(("body", each) for each in bodies), *(("joint", j) for j in joints)]
        other = {key for kind, table in tables for key in table if key not in _POSED[kind]}
        other |= {str(joint.get("type")) for joint in joints} - {"R", "P", "SLOT", "EO"}
        if other or len(poses) != len(bodies) + 1:
            what = f"{', '.join(sorted(other))}: measured from the reference that there is"
            raise _refused("reference", f"{what}; delete it first, or move points by Shift")

        def moved(number: int, at: Sequence[float], shift: float = 1.0) -> list[float]:
            x, y, angle = poses[number - 1]
            cosine, sine = np.cos(angle), np.sin(angle)
            return _at([cosine * at[0] - sine * at[1] + shift * x, sine * at[0] + cosine * at[1] + shift * y])

        points = [(k, body["points"]) for k, body in enumerate(bodies, start=2) if "points" in body]
        names = [(link, table, name, list(table[name])) for link, table in points for name in table]
        for link, table, name, before in names:
            table[name] = moved(link, before)
        for joint in joints:
            ends = numbers_of(joint, bodies)
            if isinstance(at := joint.get("point"), list):
                carrier = min(ends) if joint["type"] == "R" else ends[-1]  # pins on the frame stay
                after = joint["point"] = moved(carrier, before := list(at))
                for link, table, name, place in names:  # to the last digit what the joint has
                    if link in ends and _is_at(place, before):
                        table[name] = after
            if "points" in joint:
                joint["points"] = [moved(body, at) for body, at in zip(ends, joint["points"], strict=True)]
            if "axis" in joint:
                joint["axis"] = moved(ends[0], joint["axis"], 0.0)

    return _edited(text, edit)


def delete_body(text: str, number: int) -> str:
    """Delete a moving body and the joints that are then left with one body."""

    def edit(document: Any) -> None:
        bodies = _bodies_written(document)
        _name(bodies, number)
        if number == 1:
            raise _refused("delete", "the frame stays; delete a joint on it")
        plain = [dict(body) for body in bodies]
        for k, joint in reversed(list(enumerate(joint_tables(document)))):
            ends = [(body, number_of(body, plain)) for body in joint.get("bodies", [])]
            kept = [(body, at) for body, at in ends if at != number]
            if len(kept) < 2:
                del document["joint"][k]
                continue
            renumbered = [b - 1 if isinstance(b, int) and at and at > number else b for b, at in kept]
            if list(joint["bodies"]) != renumbered:
                joint["bodies"] = renumbered
        del document["body"][number - 2]
        if not document["body"]:
            del document["body"]
        if "joint" in document and not document["joint"]:
            del document["joint"]

    return _edited(text, edit)


def delete_joint(text: str, index: int) -> str:
    """Delete a joint by its place in the file, from 0."""

    def edit(document: Any) -> None:
        _joint(document, index)
        del document["joint"][index]
        if not document["joint"]:
            del document["joint"]

    return _edited(text, edit)


def set_field(text: str, index: int, field: str, value: Any) -> str:
    """Write one cell of the table of pairs; ``None`` deletes it. What is wrong is written too, and marked."""

    def edit(document: Any) -> None:
        joint = _joint(document, index)
        if field not in ("bodies", "type", "driven", "point", "axis", "id"):
            raise _refused("table", f"{field!r} is no column")
        if value is None:
            joint.pop(field, None)
        else:
            joint[field] = value

    return _edited(text, edit)


def set_cell(text: str, i: int, j: int, codes: str) -> str:
    """Write one cell of the extended adjacency matrix: types with + between them, "-" for none."""

    def edit(document: Any) -> None:
        bodies = _bodies_written(document)
        names = [_name(bodies, i), _name(bodies, j)]
        if i == j:
            raise _refused(f"M({i}, {j})", "is on the diagonal; a body has no joint with itself")
        wanted = [code.strip() for code in codes.split("+") if code.strip() not in ("", "-", "–")]
        here = [
            k
            for k, joint in enumerate(joint_tables(document))
            if sorted(numbers_of(joint, bodies)) == sorted((i, j))
        ]
        for k, code in zip(here, wanted, strict=False):
            if document["joint"][k].get("type") != code:
                document["joint"][k]["type"] = code
        for k in reversed(here[len(wanted) :]):
            del document["joint"][k]
        for code in wanted[len(here) :]:
            _append_joint(document, names, code, None)
        if "joint" in document and not document["joint"]:
            del document["joint"]

    return _edited(text, edit)


def drop_motion(text: str) -> str:
    """Delete the motion of a model, which then has its usual one."""
    return _edited(text, lambda document: document.pop("motion", None))


# --- parts ------------------------------------------------------------------------------------------


def _edited(text: str, edit: Callable[[Any], Any]) -> str:
    tables_of(text)  # its message has the line
    try:
        document = tomlkit.parse(text)
        edit(document)
        return tomlkit.dumps(document)
    except TOMLKitError as error:
        raise _refused("TOML", str(error)) from None
    except (AttributeError, KeyError, IndexError, TypeError) as error:
        raise _refused("model", f"has tables of another shape ({error}); mend the text first") from None


def _refused(where: str, what: str) -> ModelError:
    return ModelError("edit", [Fault(where, what)])


def _bodies_written(document: Any) -> Any:
    """Tables of the bodies, written out where the file has only their number."""
    if "body" not in document and isinstance(document.get("bodies"), int):
        number = int(document["bodies"])
        del document["bodies"]
        for _ in range(min(number, 1000) - 1):
            _append(document, "body", tomlkit.table())
    return document.get("body", [])


def _append(document: Any, key: str, table: Any) -> None:
    table.add(tomlkit.nl())
    if key in document:
        document[key].append(table)
    else:
        array = tomlkit.aot()
        array.append(table)
        document.append(key, array)


def _append_joint(
    document: Any,
    bodies: Sequence[int | str],
    code: str,
    point: Sequence[float] | None,
    axis: Sequence[float] | None = None,
) -> None:
    table = tomlkit.table()
    table["bodies"] = list(bodies)
    table["type"] = code
    if point is not None:
        table["point"] = _at(point)
    if axis is not None:
        table["axis"] = _at(axis)
    _append(document, "joint", table)


def _driven_pairs(joint: Any) -> None:
    """A driven pin that several links share says which two bodies its coordinate is between."""
    if joint.pop("driven", None):
        joint["driven_pairs"] = [list(joint["bodies"][:2])]


def _meets(document: Any, point: Sequence[float]) -> tuple[Any, list[int]]:
    """Joint at a point, and the links there: by a point or joint of theirs, else between these."""
    joints = [j for j in joint_tables(document) if _is_at(point_of(j, document.get("body", [])), point)]
    points = _points_of_links(document)
    links = [link for link, places in points.items() if any(_is_at(place, point) for place in places)]
    links = links or [link for link, places in points.items() if _is_between(places, point)]
    return (joints[0] if joints else None), links


def _points_of_links(document: Any) -> dict[int, list[list[float]]]:
    """Points by which each link is drawn: its named ones and its joints."""
    bodies = [dict(body) for body in _bodies_written(document)]
    points = {}
    for k, body in enumerate(bodies, start=2):
        named = [point_of({"point": at}, bodies) for at in body.get("points", {}).values()]
        points[k] = [at for at in named if at is not None]
    for joint in joint_tables(document):
        at = point_of(joint, bodies)
        for number in numbers_of(joint, bodies):
            if at is not None and number != 1:
                points[number].append(at)
    return points


def _is_between(points: Sequence[Sequence[float]], point: Sequence[float]) -> bool:
    """Return whether a point is in the convex hull of others: seen from it, they span half a turn or more."""
    away = np.array([at for at in points if len(at) == len(point) == 2], dtype=float).reshape(-1, 2) - point
    if not len(away):
        return False
    angles = np.sort(np.arctan2(away[:, 1], away[:, 0]))
    gaps = np.diff(np.append(angles, angles[0] + 2 * np.pi))
    return bool(gaps.max() <= np.pi + COINCIDENT / np.linalg.norm(away, axis=1).min())


def _name(bodies: Sequence[Any], number: int) -> int | str:
    if not 1 <= number <= len(bodies) + 1:
        raise _refused(f"body {number}", f"does not exist; the bodies are 1 (frame) to {len(bodies) + 1}")
    return "frame" if number == 1 else bodies[number - 2].get("name", number)


def _joint(document: Any, index: int) -> Any:
    joints = joint_tables(document)
    if not 0 <= index < len(joints):
        raise _refused(f"joint {index + 1}", f"does not exist; there are {len(joints)}")
    return joints[index]


def _inline(values: Tables) -> Any:
    table = tomlkit.inline_table()
    table.update(values)
    return table


def _at(point: Sequence[float]) -> list[float]:
    return [float(f"{float(value):.12g}") + 0.0 for value in point]


def _turn(a: Any, b: Any) -> Any:
    """Over 0 where b points to the left of a."""
    return a[0] * b[1] - a[1] * b[0]


def _is_point(at: Any) -> bool:
    numbers = isinstance(at, list) and len(at) in (2, 3) and all(isinstance(c, int | float) for c in at)
    return numbers and all(abs(c) < _LARGEST for c in at)


def _is_at(at: Any, point: Sequence[float]) -> bool:
    return isinstance(at, list) and len(at) == len(point) and _near(at, point)


def _near(a: Sequence[float], b: Sequence[float]) -> bool:
    return all(abs(u - v) < COINCIDENT for u, v in zip(a, b, strict=True))
