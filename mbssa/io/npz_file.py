"""Columns as a NumPy archive, ``.npz``: for mechanisms of up to millions of bodies."""

# Format 1: joint j joins joint_body[joint_start[j]:joint_start[j + 1]] (0 is the frame); ``driven`` has a bit
# per coordinate in catalogue order, lowest first; ``about`` (optional) is JSON in UTF-8: texts, names,
# motion, forces and geometry under the keys of a model file, SI, numbers from 1. Nothing is pickled.

from __future__ import annotations

import io
import json
import math
import zipfile
import zlib
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Literal, get_args

import numpy as np
import numpy.typing as npt
from pydantic import Field, ValidationError

from mbssa.arrays import Ints
from mbssa.bounds import ABOUT_BYTES, ARCHIVE_BYTES, ARRAY_BYTES
from mbssa.faults import Fault, Faults, ModelError
from mbssa.files import refuse_device
from mbssa.io.build import checked
from mbssa.io.motion import lost_motion
from mbssa.io.table import Table, shape_fault
from mbssa.joints.catalogue import CATALOGUE, Space, joint_type
from mbssa.mechanism import FRAME, Mechanism

Arrays = dict[str, npt.NDArray[Any]]

#: Kind of the entries and number of dimensions of every array.
_COLUMNS = {
    "format": ("iu", 0),
    "space": ("U", 0),
    "n_bodies": ("iu", 0),
    "joint_start": ("iu", 1),
    "joint_body": ("iu", 1),
    "type_codes": ("U", 1),
    "joint_type": ("iu", 1),
    "driven": ("B", 1),
}
_KINDS = {"iu": "whole numbers", "B": "uint8", "U": "text"}


class _About(Table):
    """The texts and tables beside the columns; entries of single joints and bodies by number, from 1."""

    title: str = ""
    source: str = ""
    notes: tuple[str, ...] = ()
    unread: tuple[str, ...] = ()
    units: tuple[Literal["m", "mm", "cm", "in", "ft"], Literal["rad", "deg"]] = ("m", "rad")
    body_names: tuple[str, ...] | None = None
    multiple_joints: tuple[Any, ...] = ()
    motion: dict[str, Any] | None = None
    gravity: list[Any] | None = None
    force: list[Any] | None = None
    joint_names: dict[str, str] = Field(default_factory=dict)
    joint: dict[str, dict[str, Any]] = Field(default_factory=dict)
    body: dict[str, dict[str, Any]] = Field(default_factory=dict)


#: Exceptions of NumPy and zipfile, besides OSError, for an archive that is cut off or damaged.
_DAMAGED = (
    ValueError, EOFError, KeyError, MemoryError, RuntimeError, SyntaxError, TypeError, zipfile.BadZipFile,
    zlib.error,
)  # fmt: skip


def read_npz(path: Path) -> Mechanism:
    """Read an archive; its mechanism has the name of the file."""
    return _Archive(_arrays(path), str(path), path.stem).mechanism()


def write_npz(mechanism: Mechanism) -> tuple[bytes, list[str]]:
    """Archive of all columns and records; nothing is lost but a motion of other inputs."""
    rows, joint_rows = np.unique(mechanism.joint_type, return_inverse=True)
    archive = io.BytesIO()
    np.savez(
        archive,
        allow_pickle=False,
        format=np.int64(1),
        space=np.array(mechanism.space),
        n_bodies=np.int64(mechanism.n_bodies),
        joint_start=mechanism.joint_start,
        joint_body=mechanism.joint_body,
        type_codes=np.array([CATALOGUE[row].code for row in rows], dtype=np.str_),
        joint_type=joint_rows.astype(np.int64),
        driven=mechanism.driven,
        about=np.frombuffer(_about(mechanism), dtype=np.uint8),
    )
    return archive.getvalue(), lost_motion(mechanism)


def _about(mechanism: Mechanism) -> bytes:
    from mbssa.io.records import about_record, body_record, check_writable, plain

    check_writable(mechanism)
    about = about_record(mechanism, range(1, mechanism.n_joints + 1)) | {
        "body_names": mechanism.body_names,
        "joint_names": {j + 1: name for j, name in mechanism.joint_names.items()},
        "joint": {j + 1: plain(geometry) for j, geometry in mechanism.joint_geometry.items()},
        "body": {index + 1: body_record(mechanism, index) for index in mechanism.body_geometry},
    }
    try:
        said = json.dumps({key: value for key, value in about.items() if value}, ensure_ascii=False)
        return said.encode()
    except (TypeError, ValueError) as error:
        name = mechanism.name or "mechanism"
        raise ModelError(
            name, [Fault("", f"cannot be written as .npz: {error}; write it as text", "unsupported")]
        ) from None


# --- reading ---------------------------------------------------------------------------------------


def _arrays(path: Path) -> Arrays:
    try:
        refuse_device(path)
        if not zipfile.is_zipfile(path):
            raise ModelError(str(path), [Fault("", "is no .npz archive; mbssa convert writes one", "file")])
        with zipfile.ZipFile(path) as archive:
            most = dict.fromkeys(_COLUMNS, ARRAY_BYTES) | {"about": ABOUT_BYTES}
            members = members_within(archive, str(path), most, ARCHIVE_BYTES)
            return {name: read_array(archive, member) for name, member in members.items()}
    except ModelError:
        raise
    except OSError as error:
        what = f"cannot be read: {error.strerror}" if error.strerror else f"is damaged: {error}"
        raise ModelError(str(path), [Fault("", what)]) from None
    except _DAMAGED as error:
        what = "holds pickled objects, which are not read; write numbers and texts"
        if "pickle" not in str(error):
            what = f"is damaged: {str(error) or type(error).__name__}"
        raise ModelError(str(path), [Fault("", what)]) from None


def members_within(
    archive: zipfile.ZipFile, source_name: str, bounds: Mapping[str, int], of_all: int
) -> dict[str, zipfile.ZipInfo]:
    """Members that are read, by the names of their arrays; each unpacks to bytes within its bound."""
    faults, found = Faults(), dict[str, zipfile.ZipInfo]()
    for member in archive.infolist():
        name = member.filename.removesuffix(".npy")
        if name not in bounds:
            continue
        most = bounds[name]
        if name == member.filename:
            faults.add(name, f"is a member without an ending; name it {name}.npy", "unsupported")
        elif name in found:
            faults.add(name, "is there twice; write one", "duplicate")
        elif member.file_size > most:
            what = f"unpacks to {member.file_size / 1e6:,.0f} MB; write {most / 1e6:,.0f} MB at most"
            faults.add(name, what, "size")
        found[name] = member
    total = sum(member.file_size for member in found.values())
    if total > of_all and not faults:
        what = f"unpacks to {total / 1e6:,.0f} MB; write {of_all / 1e6:,.0f} MB at most"
        faults.add("", what, "size")
    faults.raise_if_any(source_name)
    return found


def read_array(archive: zipfile.ZipFile, member: zipfile.ZipInfo) -> npt.NDArray[Any]:
    """Array of a member; a ValueError where its header does not say just the bytes that follow."""
    with archive.open(member) as stream:
        version = np.lib.format.read_magic(stream)
        first = version == (1, 0)
        read = np.lib.format.read_array_header_1_0 if first else np.lib.format.read_array_header_2_0
        shape, _, dtype = read(stream)
        if dtype.hasobject:
            raise ValueError("pickled objects")
        rest = member.file_size - stream.tell()
        if min(shape, default=0) < 0 or not dtype.itemsize or math.prod(shape) * dtype.itemsize != rest:
            raise ValueError(f"an array of shape {shape} has {rest} bytes")
        stream.seek(0)
        found: npt.NDArray[Any] = np.lib.format.read_array(stream, allow_pickle=False)
        return found


class _Archive:
    """One pass over the arrays of an archive, collecting faults."""

    def __init__(self, arrays: Arrays, source_name: str, name: str) -> None:
        self.arrays = arrays
        self.source_name = source_name
        self.name = name
        self.faults = Faults()

    def mechanism(self) -> Mechanism:
        from mbssa.io.records import parts_from_record, with_multiple_joints

        self.check_kinds()
        self.stop()
        given, n_bodies = str(self.arrays["space"]), int(self.arrays["n_bodies"])
        if given not in get_args(Space):
            self.faults.add("space", f"{given!r}; write 'planar' or 'spatial'")
        if int(self.arrays["format"]) != 1:
            self.faults.add("format", f"{int(self.arrays['format'])}; this version reads 1", "unsupported")
        self.stop()
        space: Space = "planar" if given == "planar" else "spatial"
        row = self.catalogue_rows(space)
        self.check_columns(row)
        self.stop()
        about = self.about()
        self.check_names(about.body_names)
        joint_names = self.numbered(about.joint_names, "joint_names", len(row))
        joints = self.numbered(about.joint, "joint", len(row))
        bodies = self.numbered(about.body, "body", n_bodies)
        if any(not name.strip() for name in joint_names.values()):
            self.faults.add("about joint_names", "an id is empty; leave it out or write one")
        self.stop()
        record: dict[str, Any] = {"format": 1, "space": space, "body": list(bodies.values())}
        record["joint"] = [
            entry | {"bodies": [body + 1 for body in self.bodies(j)], "type": CATALOGUE[row[j]].code}
            for j, entry in joints.items()
        ]
        record |= about.model_dump(include={"gravity", "force", "motion"}, exclude_none=True)
        numbers = {name: index for index, name in enumerate(about.body_names or (FRAME,))}
        columns = Mechanism(
            space=space,
            n_bodies=n_bodies,
            joint_start=self.arrays["joint_start"],
            joint_body=self.arrays["joint_body"],
            joint_type=row,
            driven=self.arrays["driven"],
            joint_names=joint_names,
            name=self.name,
            **about.model_dump(include={"body_names", "title", "source", "notes", "unread", "units"}),
            **parts_from_record(record, bodies, joints, numbers, n_bodies, self.source_name),
        )
        mechanism = checked(columns, self.source_name, self.where, Faults())
        by_number = {j + 1: j for j in range(len(row))} if about.multiple_joints else {}
        place = "about multiple_joints"
        return with_multiple_joints(mechanism, about.multiple_joints, by_number, place, self.source_name)

    def bodies(self, joint: int) -> list[int]:
        """Indices of the bodies of a joint."""
        start = self.arrays["joint_start"]
        bodies = self.arrays["joint_body"][int(start[joint]) : int(start[joint + 1])]
        return list(map(int, bodies))

    # --- columns ---

    def check_kinds(self) -> None:
        missing = [name for name in _COLUMNS if name not in self.arrays]
        if missing:
            what = f"missing; the arrays are {', '.join(_COLUMNS)} and about; mbssa convert writes them"
            self.faults.add(", ".join(missing), what, "missing")
        for name in [name for name in _COLUMNS if name in self.arrays]:
            (kind, dimensions), array = _COLUMNS[name], self.arrays[name]
            if {array.dtype.kind, array.dtype.char}.isdisjoint(kind) or array.ndim != dimensions:
                shape = "one" if dimensions == 0 else f"{dimensions}-dimensional"
                what = f"is {array.dtype} of shape {array.shape}; write {shape}, {_KINDS[kind]}"
                self.faults.add(name, what)

    def catalogue_rows(self, space: Space) -> Ints:
        """Row of the catalogue of each joint."""
        rows = []
        for code in self.arrays["type_codes"].tolist():
            try:
                rows.append(joint_type(code, space).index)
            except KeyError as error:
                self.faults.add("type_codes", error.args[0], "unknown")
                rows.append(-1)
        kind = self.arrays["joint_type"]
        if len(kind) and (kind.min() < 0 or kind.max() >= len(rows)):
            what = f"runs from {kind.min()} to {kind.max()}; type_codes has {len(rows)}"
            self.faults.add("joint_type", what)
            return np.zeros(len(kind), dtype=np.int64)
        return np.array(rows, dtype=np.int64)[kind] if rows else np.zeros(0, dtype=np.int64)

    def check_columns(self, row: Ints) -> None:
        start, body, driven = (self.arrays[name] for name in ("joint_start", "joint_body", "driven"))
        n_joints, n_bodies = len(row), int(self.arrays["n_bodies"])
        for name, length, wanted in (
            ("joint_start", len(start), n_joints + 1),
            ("driven", len(driven), n_joints),
        ):
            if length != wanted:
                self.faults.add(name, f"has {length} entries; {n_joints} joints need {wanted}")
        if len(start) == 0 or start[0] != 0 or start[-1] != len(body) or (start[1:] < start[:-1]).any():
            what = f"write 0 first, {len(body)} (the length of joint_body) last, rising"
            self.faults.add("joint_start", what)
        if len(body) and (body.min() < 0 or body.max() >= n_bodies):
            what = f"runs from {body.min()} to {body.max()}; write 0 to {n_bodies - 1}"
            self.faults.add("joint_body", what)
        if not 2 <= n_bodies <= len(body) + 1:
            self.faults.add("n_bodies", f"is {n_bodies}; the joints connect 2 to {len(body) + 1} at most")
        self.stop()
        if (row < 0).any():
            return
        grade, most = (
            np.array([getattr(kind, key) for kind in CATALOGUE]) for key in ("grade", "max_bodies")
        )
        sizes = np.diff(start)
        for joint in np.flatnonzero((sizes < 2) | (sizes > most[row]))[:12].tolist():
            self.faults.add(self.where(joint), f"joins {sizes[joint]} bodies; write 2 to {most[row[joint]]}")
        for joint in np.flatnonzero(driven.astype(np.int64) >> grade[row])[:12].tolist():
            highest = (1 << int(grade[row[joint]])) - 1
            self.faults.add(self.where(joint), f"driven is {driven[joint]}; write the bits 0 to {highest}")

    def where(self, joint: int) -> str:
        return f"joint {joint + 1} ({', '.join(str(body + 1) for body in self.bodies(joint)[:4])})"

    # --- about ---

    def about(self) -> _About:
        array = self.arrays.get("about")
        if array is None:
            return _About()
        if array.dtype != np.uint8 or array.ndim != 1:
            self.faults.add("about", f"is {array.dtype}; write JSON in UTF-8 as uint8")
            return _About()
        try:
            return _About.model_validate_json(array.tobytes())
        except ValidationError as error:
            for problem in error.errors():
                place = " ".join(map(str, ("about", *problem["loc"])))
                self.faults.append(shape_fault(place, [problem], _About))
        self.stop()
        return _About()

    def check_names(self, names: tuple[str, ...] | None) -> None:
        n_bodies = int(self.arrays["n_bodies"])
        if names is not None and len(names) != n_bodies:
            what = f"has {len(names)} names; there are {n_bodies} bodies"
            self.faults.add("about body_names", what, "conflict")
        if names is not None and len(set(names)) != len(names):
            what = "names are repeated; each body has a name of its own"
            self.faults.add("about body_names", what, "duplicate")

    def numbered(self, entries: dict[str, Any], key: str, most: int) -> dict[int, Any]:
        """Entries by index from entries by number."""
        found = {}
        for number, value in entries.items():
            if number.isascii() and number.isdigit() and len(number) < 19 and 1 <= int(number) <= most:
                found[int(number) - 1] = value
            else:
                self.faults.add(f"about {key}", f"{number!r} is no number; write 1 to {most}")
        return found

    def stop(self) -> None:
        self.faults.raise_if_any(self.source_name)
