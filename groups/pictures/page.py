"""One HTML file that plays a motion and turns the mechanism in 3D, in any browser and without a network."""

from __future__ import annotations

import base64
import html
import json
import os
import re
import sys
import tempfile
import warnings
import webbrowser
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from importlib.resources import files
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from groups.pictures.coordinates import every_curve, titles_of
from groups.pictures.paths import Point, PointName, points_of
from groups.pictures.scene import Scene, failed_at, scene_of
from groups.results.joints import body_motion, carried
from groups.results.table import required
from groups.rotations import rotation_of
from mbssa.allowed import Allowed, located
from mbssa.arrays import Floats
from mbssa.files import write_whole
from mbssa.io.toml_writer import write_toml
from mbssa.io.visual import MESHES
from mbssa.joints.axes import in_space
from mbssa.pictures.limits import refuse_beyond
from mbssa.texts import counted, printable
from mbssa.units import given_in, quantity_text

if TYPE_CHECKING:
    from groups.dynamics import Forces
    from groups.trajectory import Trajectory
    from mbssa import Mechanism


#: Bodies that a browser draws without stuttering, and poses (bodies times instants) in one page: 28 bytes
#: each, and a third more as text.
MOST_BODIES, MOST_POSES = 300, 400_000

#: Curves in one page, and values of them in all; triangles of all meshes, and bytes of one file of them.
_MOST_CURVES, _MOST_VALUES, MOST_TRIANGLES, _MOST_BYTES = 200, 600_000, 300_000, 100_000_000

#: Sentences about failed groups, and about shapes that are not shown.
_SENTENCES = 3

#: A mechanism whose thinnest side is below this part of its longest is shown from the front.
_FLAT = 0.05


def page(
    trajectory: Trajectory,
    path: str | os.PathLike[str],
    *,
    points: Sequence[PointName] | None = None,
    frames: int = 2000,
    forces: Forces | None = None,
) -> None:
    """Write a page that plays the motion: one HTML file with everything in it, which loads nothing else.

    Bodies are links between their joints, which have a symbol for each type (driven ones in orange); a line
    names the groups that failed at an instant, and bodies that were not solved there are left out. Instants
    are evenly chosen if there are too many, and the page says so; nothing is interpolated. Poses are float32
    about the middle of the mechanism. It draws with three.js (MIT licence), which is in the file. A
    ValueError for another ending, fewer frames than 1, points that are not there, or more than 300 bodies; an
    OSError where the file cannot be written.

    Parameters
    ----------
    path : a ``.html`` file, which is either whole or not there afterwards
    points : whose paths are drawn, as in :func:`paths`; ``()`` for none
    frames : at most this many instants, and no more than 400,000 poses in all
    forces : of this motion; arrows show the force that each joint exerts on its second body

    Examples
    --------
    >>> import groups, mbssa, pathlib, tempfile
    >>> trajectory = groups.build(mbssa.decompose(mbssa.load("slider_crank"))).solve()
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = pathlib.Path(folder, "crank.html")
    ...     groups.pictures.page(trajectory, path)
    ...     "Slider-crank" in path.read_text(encoding="utf-8")
    True
    """
    wrong = Path(path).suffix.lower() not in (".html", ".htm")
    faults = [f"{os.fspath(path)}: a page is written as .html"] * wrong
    faults += [f"frames = {frames}: give at least 1"] * (frames < 1)
    if faults:
        raise ValueError("; ".join(faults))
    write_whole(Path(path), page_text(trajectory, points=points, frames=frames, forces=forces).encode())


def page_text(
    trajectory: Trajectory, *, points: Sequence[PointName] | None = None, frames: int = 2000,
    forces: Forces | None = None,
) -> str:  # fmt: skip
    """The page of :func:`page` as a text."""
    drawn = len({0, *trajectory.kept.tolist()})
    refuse_beyond(MOST_BODIES, drawn, "bodies", "one page", "keep fewer when solving")
    scene = scene_of(trajectory, min(frames, max(MOST_POSES // drawn, 1)))
    data = _data(trajectory, scene, points_of(scene, points), forces)
    text = json.dumps(data, separators=(",", ":"), allow_nan=False, default=_encoded)
    folders = [files("groups.pictures").joinpath(folder) for folder in ("viewer", "vendor")]
    parts = {part.name: part.read_text(encoding="utf-8").strip() for of in folders for part in of.iterdir()}
    parts["title"] = html.escape(printable(scene.mechanism.title or scene.mechanism.name or "A mechanism"))
    # No name can end the script that holds it.
    parts["data"] = text.replace("<", r"\u003c").replace(">", r"\u003e").replace("&", r"\u0026")
    return re.sub(r"\{\{([\w.]+)\}\}", lambda place: parts[place[1]], parts["page.html"])


def _data(trajectory: Trajectory, scene: Scene, points: list[Point], forces: Forces | None) -> dict[str, Any]:
    """Data of the motion for the page: places less ``centre``, long arrays in single precision."""
    centre, size, instants = scene.box.mean(axis=0), scene.size, scene.instants
    shown, mechanism, units = trajectory.instants(instants), scene.mechanism, scene.mechanism.units
    reasons = {"": 0}
    says = [reasons.setdefault(failed_at(trajectory, i), len(reasons)) for i in instants.tolist()]
    solids = solids_of(mechanism, scene.bodies)
    meshed = {body for body, _ in solids}  # these have a mesh instead of lines between joints
    # Half the thickness of a link: small beside the mechanism, and beside its shorter links.
    links = [np.diff(line.points, axis=0) for line in scene.lines if line.kind in ("link", "edge")]
    short = np.quantile(np.linalg.norm(np.concatenate(links), axis=1), 0.2) if links else size
    # A length that is round in the unit of the model file: about a twelfth of the mechanism's size.
    metre = given_in("m", units)[1]
    steps = metre * 10.0 ** np.floor(np.log10(size / metre / 6)) * np.array([0.1, 0.2, 0.5, 1.0])
    cell = float(steps[steps <= size / 8].max())
    left, there, n = mechanism.n_bodies - len(scene.bodies), len(trajectory.time), len(instants)
    joints = counted(mechanism.n_joints, "joint")
    about = [
        f"{mechanism.space}, {mechanism.n_bodies} bodies with the frame, {joints}",
        f"{n:,} of the {there:,} instants, evenly chosen" if n < there else counted(there, "instant"),
        f"{left} {'bodies were' if left > 1 else 'body was'} not kept" if left else "",
        f"one square of the grid is {quantity_text(cell, 'm', units)}",
    ]
    try:
        model = write_toml(mechanism)[0].decode()
    except ValueError:  # it cannot be written as a file
        model = ""
    return {
        "name": printable(mechanism.name or "mechanism"),
        "planar": scene.planar,
        "centre": centre,
        **dict(zip(("low", "high"), scene.box - centre, strict=True)),
        **_view(scene),
        "radius": float(np.clip(0.12 * short, 0.004 * size, 0.011 * size)),
        "cell": cell,
        "about": "; ".join(filter(None, about)),
        "note": "; ".join(trajectory.faults()[:_SENTENCES]),
        "groups": [
            {"number": group.number, "label": label, "level": group.level, "colour": hue.colour}
            for group, label, hue in scene.groups
        ],
        "bodies": [
            {
                "index": body,
                "name": mechanism.body_name(body),
                "label": str(mechanism.bodies[body]),
                "colour": scene.colours[body],
                "sg": int(scene.structure.group_of_body[body]),
                "layer": layer,
                "points": corners,
            }
            for body, layer, corners in zip(scene.bodies, _layers(scene), scene.points, strict=True)
        ],
        "lines": [
            vars(line) for line in scene.lines if line.body not in meshed or not line.kind or line.joint >= 0
        ],
        "solids": [{"body": body, "corners": np.float32(corners)} for body, corners in solids],
        "marks": [
            vars(mark) | {"type": [mark.type.solid, mark.type.guide, mark.type.line]}
            for mark in scene.marks
            if not mark.type.is_coupling
        ],
        "paths": [
            vars(point)
            | {"rates": [*map(np.float32, carried(body_motion(shown, point.body), point.at, True)[1:])]}
            for point in points
        ],
        "forces": [] if forces is None else _forces(forces, scene, centre),
        "open": forces is not None and bool(forces.indeterminate),
        "curves": [
            {
                "label": curve.name,
                "unit": given_in(curve.unit, units)[0],
                "driven": curve.name in mechanism.driven_coordinates,
                "parts": [np.float32(level[instants] / scale) for level in curve.levels],
                "titles": titles_of(curve.unit, units),
            }
            for curve in every_curve(trajectory)[: min(_MOST_CURVES, _MOST_VALUES // n)]
            for unit, scale in [given_in(curve.unit, units)]
        ],
        "model": model,
        "reasons": list(reasons),
        "time": shown.time,
        # (F, K, 7): x, y, z, quaternion w, x, y, z; and the place (F,) of each instant's reason.
        "poses": np.concatenate([scene.position - centre, scene.quaternion], axis=2, dtype=np.float32),
        "says": np.array(says, dtype=np.uint16),
    }


def _forces(forces: Forces, scene: Scene, centre: Floats) -> list[dict[str, Any]]:
    """Force of each joint on its second body, N, and its place, less ``centre``; NaN where unknown."""
    found = []
    for joint in scene.mechanism.joints:
        if set(scene.mechanism.joint_bodies(joint.index)) <= set(scene.bodies):
            one = forces.joint(joint.index)
            at, force = (in_space(part[scene.instants]) for part in (one.point, one.force))
            # Components that redundant constraints leave open are zero.
            known = np.isfinite(one.force[scene.instants]).any(axis=1, keepdims=True)
            force = np.where(known, np.nan_to_num(force), np.nan)
            found.append({"label": joint.id, "at": np.float32(at - centre), "force": np.float32(force)})
    return found


def _layers(scene: Scene) -> list[int]:
    """Layers of planar bodies: those that share a joint differ, and the frame has the lowest."""
    pins: dict[tuple[float, ...], set[int]] = {}
    for mark in scene.marks if scene.planar else ():
        pin = (scene.place(mark)[0] / scene.size).round(6)
        pins.setdefault(tuple(pin.tolist()), set()).update(mark.bodies)
    layers = dict.fromkeys(scene.bodies, 0)
    for body in scene.bodies[1:] if scene.planar else ():
        taken = {0} | {layers.get(other, 0) for pinned in pins.values() if body in pinned for other in pinned}
        layers[body] = min(set(range(len(taken) + 1)) - taken)
    return list(layers.values())


def _view(scene: Scene) -> dict[str, Any]:
    """Vertical direction, direction of view, and whether the mechanism lies in a plane of constant z."""
    extent = np.ptp(scene.box, axis=0)
    x, y, z = (extent < _FLAT * extent.max()).tolist()
    view = [0.62, -1.0, 0.5] if x == y else [0.35, -1.0, 0.3] if y else [1.0, -0.35, 0.3]
    if flat := scene.planar or z:
        view = [0.18, 0.22, 1.0] if scene.planar else [0.3, 0.35, 1.0]
    return {"up": [0, 1, 0] if flat else [0, 0, 1], "view": view, "flat": flat}


def _encoded(array: npt.NDArray[Any]) -> Any:
    """An array for JSON: of single precision or small integers as base64 text, else as lists."""
    if array.dtype in (np.float32, np.uint16):
        return base64.b64encode(array.astype(array.dtype.newbyteorder("<")).tobytes()).decode("ascii")
    return array.tolist()


# --- meshes and simple shapes of bodies --------------------------------------------------------------


def solids_of(mechanism: Mechanism, bodies: Sequence[int]) -> list[tuple[int, Floats]]:
    """Bodies of meshes and shapes, corners (n, 3, 3) of their triangles, m; warn of those not shown."""
    found, missing, room = list[tuple[int, Floats]](), list[str](), MOST_TRIANGLES
    for body in bodies:
        visual = mechanism.geometry_of(body).visual or {}
        mesh, parts = visual.get("mesh"), visual.get("parts")
        whole = {"shape": "mesh", "file": mesh, "scale": visual.get("scale", 1.0)}
        parts = [*([whole] if isinstance(mesh, str) else []), *(parts if isinstance(parts, list) else [])]
        for part in (part for part in parts if isinstance(part, dict)):
            try:
                corners = _corners(mechanism.folder, part)
                if len(corners) > room:
                    raise ValueError(f"a page shows {MOST_TRIANGLES:,} triangles; simplify the meshes")
            except (ImportError, KeyError, OSError, TypeError, ValueError) as error:
                name = f"{part.get('shape')} {part.get('file', '')}".strip()
                missing.append(f"{name} of body {mechanism.body_name(body)} is not shown: {error}")
                continue
            room -= len(corners)
            turn = rotation_of(np.array(part.get("orientation", [1.0, 0.0, 0.0, 0.0])))
            found.append((body, corners @ turn.T + part.get("origin", [0.0, 0.0, 0.0])))
    if missing:
        more = f"; and {len(missing) - _SENTENCES} more" if len(missing) > _SENTENCES else ""
        warnings.warn("; ".join(missing[:_SENTENCES]) + more, stacklevel=2)
    return found


def _corners(folder: str, part: Mapping[str, Any]) -> Floats:
    """Corners (n, 3, 3) of the triangles of a mesh or of a simple shape, m, in the frame of the part."""
    trimesh, shape = required("trimesh", "meshes need trimesh", "meshes"), part.get("shape")
    name = part.get("file")
    if name is None:
        if shape == "box":
            solid = trimesh.creation.box(extents=part["size"])
        elif shape == "cylinder":
            solid = trimesh.creation.cylinder(part["radius"], part["length"], sections=24)
        elif shape == "sphere":
            solid = trimesh.creation.icosphere(2, part["radius"])
        else:
            raise ValueError("pictures have meshes, boxes, cylinders and spheres")
        return np.asarray(solid.triangles, dtype=np.float64)
    if not str(name).lower().endswith(MESHES):
        raise ValueError(f"pictures have meshes in {' and '.join(MESHES)}")
    path = Path(folder, name if isinstance(name, Allowed) else located(name, folder))
    if path.stat().st_size > _MOST_BYTES:
        raise ValueError(f"it is larger than {_MOST_BYTES // 10**6} MB")
    try:
        mesh: Any = trimesh.load_mesh(path, process=False, skip_materials=True)
        corners: Floats = np.asarray(mesh.triangles, dtype=np.float64).reshape(-1, 3, 3)
    except Exception as error:  # a damaged file makes trimesh raise anything; the cause is in the message
        raise ValueError(f"it cannot be read ({type(error).__name__}: {error})") from error
    if not len(corners) or not np.isfinite(corners).all():
        raise ValueError("it has no triangles, or corners that are no numbers")
    return corners * np.asarray(part.get("scale", 1.0), dtype=np.float64)


# --- shown in a notebook or in a browser -------------------------------------------------------------


@dataclass(frozen=True)
class Player:
    """A page that plays a motion; a notebook shows it in place as the value of a cell.

    ``html`` is the page, complete in itself, ``path`` the file that a browser was asked to open (None in a
    notebook), ``height`` that of the frame in a notebook, pixels.

    >>> Player("<!doctype html>", height=300)._repr_html_()[:41]
    '<iframe srcdoc="&lt;!doctype html&gt;" st'
    """

    html: str = field(repr=False)
    path: Path | None = None
    height: int = 480

    def _repr_html_(self) -> str:
        style = f"width:100%;height:{self.height}px;border:0"
        return f'<iframe srcdoc="{html.escape(self.html)}" style="{style}" allow="fullscreen"></iframe>'


def show(trajectory: Trajectory, points: Sequence[PointName] | None = None, *, height: int = 480) -> Player:
    """Play a motion: in place in a notebook, else in the browser, from a file; raises as :func:`page`.

    Paths of ``points`` are drawn as in :func:`paths`; ``height`` is that of the frame in a notebook, pixels.

    >>> import groups, mbssa
    >>> groups.build(mbssa.decompose(mbssa.load("slider_crank"))).solve().show()  # doctest: +SKIP
    """
    text = page_text(trajectory, points=points)
    if in_notebook():
        return Player(text, height=height)
    path = Path(tempfile.mkdtemp(prefix="mbssa-"), "motion.html")
    write_whole(path, text.encode())
    webbrowser.open(path.as_uri())
    return Player(text, path, height)


def in_notebook() -> bool:
    """Whether this process runs the cells of a notebook: Jupyter, VS Code, Colab or marimo."""
    marimo, ipython = sys.modules.get("marimo"), sys.modules.get("IPython")
    if marimo is not None and marimo.running_in_notebook():
        return True
    return ipython is not None and hasattr(ipython.get_ipython(), "kernel")
