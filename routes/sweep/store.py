"""Folder of a sweep: its manifest, and a Parquet file for every block of cases."""

# sweep.json describes the sweep; parts/part-000000.parquet … hold the cases, each file either whole or not
# there. A folder belongs to one run at a time, by a lock that the system drops with the process.

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Mapping
from io import BytesIO
from pathlib import Path
from typing import TYPE_CHECKING, Any

from mbssa.files import remove_temporaries, whole, write_whole
from routes.lock import NAME as LOCK

if TYPE_CHECKING:
    import pyarrow
    import pyarrow.parquet

FORMAT = 3
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
    place, remedy = folder / MANIFEST, "replace the sweep with force, or name another folder"
    try:
        found = json.loads(place.read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise ValueError(f"{folder} holds no sweep: there is no {MANIFEST} in it") from None
    except OSError as error:
        raise ValueError(f"{place}: {error.strerror}; name another folder") from None
    except ValueError as error:
        raise ValueError(f"{place} is damaged, no JSON: {error}; {remedy}") from None
    if not isinstance(found, dict) or found.get("format") != FORMAT:
        version = found.get("format") if isinstance(found, dict) else None
        raise ValueError(f"{place} has the format {version}; this version reads {FORMAT}; {remedy}")
    missing = [key for key in ("number", "parameters", *_MUST_AGREE) if key not in found]
    if missing:
        raise ValueError(f"{place} is damaged, without {', '.join(missing)}; {remedy}")
    return found


def identity(manifest: Mapping[str, Any]) -> str:
    """Digest of what all parts of a sweep share; it is the same before a manifest is written and after."""
    shared = {key: manifest[key] for key in _MUST_AGREE}
    return hashlib.sha256(json.dumps(shared, sort_keys=True).encode()).hexdigest()


def parts_of(folder: Path, manifest: Mapping[str, Any]) -> tuple[Path, ...]:
    """Parts of a sweep, in the order of the cases; a SweepError where one is none of its parts."""
    blocks = -(-manifest["number"] // manifest["block"])
    found = list((folder / PARTS).glob("part-*.parquet"))
    strange = [path.name for path in found if not 0 <= block_of(path) < blocks or not path.is_file()]
    if strange:
        raise SweepError(
            f"{folder / PARTS}: {', '.join(sorted(strange))}: no part of this sweep, which has {blocks}; "
            "move it elsewhere"
        )
    return tuple(sorted(found, key=block_of))


def block_of(part: Path) -> int:
    """Block whose cases a part holds by its name, -1 for another name."""
    number = re.fullmatch(r"part-(\d{6,})\.parquet", part.name)
    block = int(number[1]) if number else -1
    return block if part.name == part_path(part.parent, block).name else -1


#: Keys of a part's metadata: its envelopes; as JSON the first refused case of each status with its reason;
#: the SHA-256 of the sweep's identity, the block and the file with zeros in place of the sum.
ENVELOPE, REASONS, SUM = b"envelope", b"reasons", b"sum"
#: Before the sum, and the sum before it is known; metadata stand at the end of a file as they were given.
_MARK, _NO_SUM = b"sha256:", b"0" * 64


def open_store(folder: Path, manifest: Mapping[str, Any], *, resume: bool, force: bool = False) -> None:
    """Start a sweep in a folder, or continue the sweep there; with ``force`` a new one replaces it."""
    replaced = force and not resume and (folder / MANIFEST).is_file()
    if replaced:
        _refuse_strangers(folder, replaced)
        for part in (folder / PARTS).glob("*part-*"):
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
            raise ValueError("\n  ".join([f"{folder} holds another sweep; name another folder", *differing]))
        _check_versions(folder, there.get("versions", {}), manifest["versions"])
        parts_of(folder, manifest)
        (folder / PARTS).mkdir(exist_ok=True)
        remove_temporaries(folder / MANIFEST)
        for left in (folder / PARTS).glob(".part-*"):
            left.unlink()
        return
    _refuse_strangers(folder, replaced)
    folder.mkdir(parents=True, exist_ok=True)
    remove_temporaries(folder / MANIFEST)
    write_whole(folder / MANIFEST, (json.dumps(manifest, indent=1, ensure_ascii=False) + "\n").encode())
    (folder / PARTS).mkdir(exist_ok=True)


def _refuse_strangers(folder: Path, replaced: bool) -> None:
    """Refuse a folder with more than a sweep that is replaced, or that has no manifest yet."""
    found = sorted(folder.iterdir()) if folder.is_dir() else []
    strange = [path.name for path in found if not _is_own(path, replaced)]
    if strange and replaced:
        raise ValueError(
            f"{folder} holds more than a sweep ({', '.join(strange)}), and nothing of it was replaced; move "
            "that elsewhere, or name another folder"
        )
    if strange:
        raise ValueError(f"{folder} is not empty ({strange[0]}) and holds no sweep; name another folder")


def _is_own(path: Path, replaced: bool) -> bool:
    """Whether a path is of a sweep that is replaced, or of a run that was killed before its manifest."""
    if path.name == PARTS:
        parts = sorted(path.iterdir()) if path.is_dir() else [path]
        return all(
            replaced and part.is_file() and (block_of(part) >= 0 or part.name.startswith(".part-"))
            for part in parts
        )
    return path.name == LOCK or path.name.startswith(f".{MANIFEST}.") or (replaced and path.name == MANIFEST)


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
    folder: Path, block: int, table: pyarrow.Table, sweep: str, envelope: bytes = b"", reasons: bytes = b"{}"
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
        stream.write(data[:at] + _sum(data, sweep, block) + data[at + len(_NO_SUM) :])


def _place_of_sum(data: bytes) -> int:
    return data.rfind(_MARK) + len(_MARK)


def _sum(data: bytes, sweep: str, block: int) -> bytes:
    return hashlib.sha256(f"{sweep} {block} ".encode() + data).hexdigest().encode()


def sound(data: bytes, sweep: str, block: int) -> bool:
    """Whether a part is as it was written for a block of a sweep, by its sum."""
    at = _place_of_sum(data)
    rest = data[:at] + _NO_SUM + data[at + len(_NO_SUM) :]
    return _sum(rest, sweep, block) == data[at : at + len(_NO_SUM)]


def read_part(path: Path, sweep: str) -> pyarrow.parquet.ParquetFile:
    """A part, which is as it was written for the block of its name."""
    import pyarrow
    import pyarrow.parquet

    data = path.read_bytes()
    if not sound(data, sweep, block_of(path)):
        raise SweepError(
            f"{path}: is damaged, or of another sweep or place; run the sweep once more with resume, which "
            "computes it again"
        )
    return pyarrow.parquet.ParquetFile(pyarrow.BufferReader(data))


def is_done(folder: Path, block: int, cases: int, sweep: str) -> bool:
    """Whether a block is there, with this number of cases; a SweepError where it is damaged."""
    try:
        return int(read_part(part_path(folder, block), sweep).metadata.num_rows) == cases
    except FileNotFoundError:
        return False
