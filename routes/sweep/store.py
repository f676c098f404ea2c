"""Folder of a sweep: its manifest, and a Parquet file for every block of cases."""

# sweep.json describes the sweep; parts/part-000000.parquet … hold the cases, each file either whole or not
# there. A folder belongs to one run at a time, by a lock that the system drops with the process.

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from io import BytesIO
from pathlib import Path
from typing import TYPE_CHECKING, Any

from mbssa.files import remove_temporaries, whole, write_whole
from routes.lock import NAME as LOCK

if TYPE_CHECKING:
    import pyarrow
    import pyarrow.parquet

FORMAT = 2
MANIFEST = "sweep.json"
PARTS = "parts"

#: Entries of a manifest that a resumed run must share with the first one.
_MUST_AGREE = (
    "cases",
    "mechanism",
    "solvers",
    "record",
    "quantities",
    "limits",
    "modes",
    "motion",
    "branch",
    "block",
)


class SweepError(RuntimeError):
    """A sweep that failed; written cases remain, and the text has the remedy.

    >>> str(SweepError("block 3 (case 96): MemoryError")).partition(":")[0]
    'block 3 (case 96)'
    """


def part_path(folder: Path, block: int) -> Path:
    """Path of the cases of a block."""
    return folder / PARTS / f"part-{block:06d}.parquet"


def read_manifest(folder: Path) -> dict[str, Any]:
    """Manifest of a sweep."""
    place = folder / MANIFEST
    try:
        found = json.loads(place.read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise ValueError(f"{folder} holds no sweep: there is no {MANIFEST} in it") from None
    except ValueError as error:
        raise ValueError(f"{place} is no JSON: {error}") from None
    if not isinstance(found, dict) or found.get("format") != FORMAT:
        version = found.get("format") if isinstance(found, dict) else None
        raise ValueError(f"{place} has the format {version}; this version reads {FORMAT}")
    return found


#: Keys of a part's metadata: its envelopes, the first refused case of each status with the reason, as JSON, and
#: the SHA-256 of the file with zeros in place of the sum.
ENVELOPE, REASONS, SUM = b"envelope", b"reasons", b"sum"
#: Before the sum, and the sum before it is known; metadata stand at the end of a file as they were given.
_MARK, _NO_SUM = b"sha256:", b"0" * 64


def open_store(folder: Path, manifest: Mapping[str, Any], *, resume: bool, force: bool = False) -> None:
    """Start a sweep in a folder, or continue the sweep there; with ``force`` a new one replaces it."""
    if force and not resume and (folder / MANIFEST).exists():
        for part in (folder / PARTS).glob("part-*.parquet"):
            part.unlink()
        (folder / MANIFEST).unlink()  # last: until then the folder holds a sweep
    if (folder / MANIFEST).exists():
        there = read_manifest(folder)
        if not resume:
            raise ValueError(
                f"{folder} holds a sweep already; resume it, replace it with force, or name another folder"
            )
        differing = [
            f"{key} was {_short(there.get(key))}, now {_short(manifest[key])}"
            for key in _MUST_AGREE
            if there.get(key) != json.loads(json.dumps(manifest[key]))
        ]
        if differing:
            raise ValueError("\n  ".join([f"{folder} holds another sweep", *differing]))
        _check_versions(folder, there.get("versions", {}), manifest["versions"])
        (folder / PARTS).mkdir(exist_ok=True)
        remove_temporaries(folder / MANIFEST)
        for left in (folder / PARTS).glob(".part-*"):
            left.unlink()
        return
    found = sorted(folder.iterdir()) if folder.is_dir() else []
    strange = [path.name for path in found if not _has_no_manifest_yet(path)]
    if strange:
        raise ValueError(f"{folder} is not empty ({strange[0]}) and holds no sweep; name another folder")
    folder.mkdir(parents=True, exist_ok=True)
    remove_temporaries(folder / MANIFEST)
    write_whole(folder / MANIFEST, (json.dumps(manifest, indent=1, ensure_ascii=False) + "\n").encode())
    (folder / PARTS).mkdir(exist_ok=True)


def _has_no_manifest_yet(path: Path) -> bool:
    """Whether a path may be of a run that was killed before it wrote its manifest."""
    if path.name == PARTS:
        return path.is_dir() and not any(path.iterdir())
    return path.name == LOCK or path.name.startswith(f".{MANIFEST}.")


def _check_versions(folder: Path, there: Mapping[str, str], here: Mapping[str, str]) -> None:
    """Refuse other versions, which may draw other cases and give other results."""
    differing = [
        f"{name} was {there.get(name, 'not recorded')}, now {number}"
        for name, number in here.items()
        if there.get(name) != number
    ]
    if differing:
        advice = "install these versions, or name another folder"
        raise ValueError("\n  ".join([f"{folder} was started with other versions; {advice}", *differing]))


def _short(value: object) -> str:
    text = json.dumps(value, ensure_ascii=False)
    return text if len(text) <= 160 else f"{text[:100]} … {text[-50:]}"


def write_part(
    folder: Path, block: int, table: pyarrow.Table, envelope: bytes = b"", reasons: bytes = b"{}"
) -> None:
    """Write the cases of a block and their envelopes, atomically, with a sum that :func:`sound` checks."""
    import pyarrow.parquet

    metadata = {SUM: _MARK + _NO_SUM, REASONS: reasons} | ({ENVELOPE: envelope} if envelope else {})
    with whole(part_path(folder, block)) as place, place.open("wb") as stream:
        written = BytesIO()
        pyarrow.parquet.write_table(
            table.replace_schema_metadata(metadata), written, use_dictionary=["status", "proof"],
            compression="snappy",
        )  # fmt: skip
        data, at = written.getvalue(), _place_of_sum(written.getvalue())
        stream.write(data[:at] + hashlib.sha256(data).hexdigest().encode() + data[at + len(_NO_SUM) :])


def _place_of_sum(data: bytes) -> int:
    return data.rfind(_MARK) + len(_MARK)


def sound(data: bytes) -> bool:
    """Whether a part is as it was written, by its sum."""
    at = _place_of_sum(data)
    rest = data[:at] + _NO_SUM + data[at + len(_NO_SUM) :]
    return hashlib.sha256(rest).hexdigest().encode() == data[at : at + len(_NO_SUM)]


def read_part(path: Path) -> pyarrow.parquet.ParquetFile:
    """A part, which is as it was written."""
    import pyarrow
    import pyarrow.parquet

    data = path.read_bytes()
    if not sound(data):
        raise SweepError(f"{path}: is damaged; run the sweep once more with resume, which computes it again")
    return pyarrow.parquet.ParquetFile(pyarrow.BufferReader(data))


def is_done(folder: Path, block: int, cases: int) -> bool:
    """Whether a block is there, with this number of cases; a SweepError where it is damaged."""
    try:
        return int(read_part(part_path(folder, block)).metadata.num_rows) == cases
    except FileNotFoundError:
        return False
