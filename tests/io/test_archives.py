"""Arrays in .npz files: what is kept, and what is wrong with an array."""

import contextlib
import io
import json
import random
import zipfile

import numpy as np
import pytest
from comparison import same_mechanism, says

import mbssa
from mbssa.io.formats import ENDINGS, reader, writer
from mbssa.io.npz_file import write_npz
from mbssa.io.toml_writer import write_toml


def archive(**changes):
    """The arrays of a four-bar linkage with some of them changed; None takes one out."""
    mechanism = mbssa.from_pairs(3, [(1, 2, "R", 1), (2, 3, "R", 0), (1, 3, "RD", 1)], "planar")
    with np.load(io.BytesIO(write_npz(mechanism)[0])) as arrays:
        columns = dict(arrays) | changes
    stream = io.BytesIO()
    np.savez(stream, **{name: column for name, column in columns.items() if column is not None})
    return stream.getvalue()


def about(**entries):
    return archive(about=np.frombuffer(json.dumps(entries).encode(), dtype=np.uint8))


def test_other_arrays_and_no_about_do_no_harm(put):
    assert mbssa.load(put("arrays.npz", archive(about=None, extra=np.zeros(3)))).n_joints == 3
    assert mbssa.load(put("arrays.npz", archive(joint_type=np.array([1, 1, 0], dtype=np.int8)))).n_joints == 3


def bad_archives():
    """By case, the bytes and what one of its faults says."""
    return {
        "missing": (archive(driven=None), "driven: missing", "joint_start"),
        "all missing": (
            archive(**dict.fromkeys(["space", "format", "driven"])),
            "format, space, driven: missing",
        ),
        "floats": (archive(joint_body=np.zeros(6)), "joint_body: is float64", "whole numbers"),
        "two dimensions": (archive(driven=np.zeros((3, 1), np.uint8)), "driven", "1-dimensional"),
        "wide driven": (archive(driven=np.zeros(3, np.uint16)), "driven: is uint16", "uint8"),
        "bytes": (archive(type_codes=np.array([b"R", b"RD"])), "type_codes", "text"),
        "pickled": (archive(joint_body=np.array([0, None], dtype=object)), "pickled"),
        "pickled about": (archive(about=np.array([{}], dtype=object)), "pickled"),
        "space": (archive(space=np.array("flat")), "space: 'flat'", "'planar' or 'spatial'"),
        "format": (archive(format=np.int64(2)), "format: 2", "reads 1"),
        "unknown code": (archive(type_codes=np.array(["R", "Q"])), "type_codes: 'Q'", "planar types"),
        "types beyond": (archive(joint_type=np.array([0, 1, 2])), "joint_type: runs from 0 to 2"),
        "negative type": (archive(joint_type=np.array([0, -1, 1])), "joint_type: runs from -1"),
        "negative body": (archive(joint_body=np.array([0, 1, -1, 2, 0, 2])), "joint_body: runs from -1"),
        "body beyond": (archive(joint_body=np.array([0, 1, 1, 3, 0, 2])), "joint_body", "write 0 to 2"),
        "unsigned beyond": (
            archive(joint_body=np.array([0, 1, 1, 2**64 - 1, 0, 2], np.uint64)),
            "joint_body",
        ),
        "start short": (archive(joint_start=np.array([0, 2, 6])), "joint_start: has 3 entries"),
        "start falls": (archive(joint_start=np.array([0, 4, 2, 6])), "joint_start: write 0 first, 6"),
        "start empty": (archive(joint_start=np.zeros(0, int)), "joint_start"),
        "one body": (archive(joint_start=np.array([0, 1, 4, 6])), "joint 1 (1): joins 1 bodies"),
        "three bodies": (
            archive(joint_start=np.array([0, 2, 4, 6]), joint_body=np.array([0, 1, 1, 1, 0, 2])),
            "itself",
        ),
        "driven short": (archive(driven=np.zeros(2, np.uint8)), "driven: has 2 entries"),
        "driven beyond": (
            archive(driven=np.array([2, 0, 0], np.uint8)),
            "joint 1 (1, 2): driven is 2",
            "0 to 1",
        ),
        "no body": (archive(n_bodies=np.int64(1)), "n_bodies"),
        "too many bodies": (archive(n_bodies=np.int64(2**62)), "n_bodies", "2 to 7 at most"),
        "not connected": (archive(n_bodies=np.int64(4)), "not connected", "4"),
        "no joint": (
            archive(
                joint_start=np.zeros(1, int),
                joint_body=np.zeros(0, int),
                joint_type=np.zeros(0, int),
                driven=b"",
            ),
            "driven",
        ),
        "about is no JSON": (archive(about=np.frombuffer(b"{", np.uint8)), "about: is no JSON"),
        "about is a list": (archive(about=np.frombuffer(b"[]", np.uint8)), "about: is []; write a table"),
        "about is text": (archive(about=np.array("{}")), "about: is <U2"),
        "about is deep": (archive(about=np.frombuffer(b"[" * 100_000, np.uint8)), "about: is no JSON"),
        "about unknown": (about(titel="x"), "about titel: unknown key"),
        "about title": (about(title=3), "about title: is 3; write a text"),
        "about notes": (about(notes=[3]), "about notes 0: is 3; write a text"),
        "names short": (about(body_names=["frame"]), "has 1 names; there are 3 bodies"),
        "names repeated": (about(body_names=["frame", "a", "a"]), "repeated"),
        "joint beyond": (about(joint_names={"9": "a"}), "'9' is no number; write 1 to 3"),
        "joint by word": (about(joint_names={"²": "a"}), "is no number"),
        "empty id": (about(joint_names={"1": " "}), "an id is empty"),
        "id repeated": (about(joint_names={"1": "a", "2": "a"}), "id 'a'", "unique"),
        "id is no text": (about(joint_names={"1": 5}), "about joint_names 1: is 5; write a text"),
        "geometry is no table": (about(joint={"1": 5}), "about joint 1: is 5; write a table"),
        "geometry": (about(joint={"1": {"point": [0]}}), "joint 1 (1, 2) point: 1 numbers"),
        "geometry shape": (about(joint={"1": {"point": "x"}}), "point: 'x' is no point of a body"),
        "geometry key": (about(joint={"2": {"pont": [0, 0]}}), "did you mean 'point'"),
        "geometry nan": (about(joint={"1": {"point": [float("nan"), 0]}}), "point[1]", "finite"),
        "body geometry": (about(body={"2": {"origin": [0]}}), "origin: 1 numbers"),
        "motion is no table": (about(motion=5), "about motion: is 5; write a table"),
        "motion of nothing": (about(motion={"steps": 0}), "motion", "1 or more"),
        "motion of others": (about(motion={"inputs": {"9-9.angle": {"law": "constant"}}}), "not driven"),
        "shared joint": (
            about(multiple_joints=[{"bodies": [1, 2, 3], "joints": [1, 1]}]),
            "about multiple_joints 1",
        ),
        "shared by others": (about(multiple_joints=[{"bodies": [1, 2, 9], "joints": [1, 2]}]), "one fewer"),
        "shared by no list": (about(multiple_joints=[5]), "about multiple_joints 1", "one fewer"),
        "shared by words": (about(multiple_joints=[{"bodies": "ab", "joints": [[]]}]), "one fewer"),
        "an array only": (
            (lambda s: (np.save(s, np.zeros(3)), s.getvalue())[1])(io.BytesIO()),
            "no .npz archive",
        ),
        "text": (b"format = 1", "no .npz archive"),
        "empty": (b"", "no .npz archive"),
        "binary": (bytes(range(256)), "no .npz archive"),
    }


def test_a_bad_archive_is_told_its_array(put, run_mbssa):
    for data, *parts in bad_archives().values():
        path = put("arrays.npz", data)
        says(path, *parts)
    result = run_mbssa("decompose", str(path))
    assert (result.exit_code, result.stdout) == (2, "")
    assert "Traceback" not in result.stderr


def test_an_archive_of_something_else(put):
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w") as other:
        other.writestr("driven.npy", b"no array")
        other.writestr("space", b"planar")
    says(put("arrays.npz", stream.getvalue()))


def test_cut_off_and_damaged_files_raise_nothing_else(put):
    for ending in ENDINGS:
        data = writer(ending)(mbssa.load("planar_four_bar"))[0]
        dice = random.Random(ending)
        spoilt = [data[: dice.randrange(len(data))] for _ in range(20)]
        for _ in range(60):
            wrong = bytearray(data)
            for _ in range(dice.choice([1, 1, 3, 20])):
                wrong[dice.randrange(len(data))] = dice.randrange(256)
            spoilt.append(bytes(wrong))
        read = reader(ending)
        for one in spoilt:
            path = put(f"spoilt{ending}", one)
            with contextlib.suppress(mbssa.ModelError):
                read(path)


@pytest.mark.slow
def test_a_million_joints_as_arrays(tmp_path):
    """Columns go in and out as they are: this is a matter of a second, not of minutes."""
    crank = 2 + 2 * np.arange(300_000)
    i = np.stack([np.ones_like(crank), crank, crank + 1], axis=1).ravel()
    j = np.stack([crank, crank + 1, np.ones_like(crank)], axis=1).ravel()
    mechanism = mbssa.from_pairs(600_001, (i, j, "R", np.zeros_like(i)), "planar", name="large")
    assert mbssa.save(mechanism, tmp_path / "large.npz") == []
    same_mechanism(mechanism, mbssa.load(tmp_path / "large.npz"))
    with pytest.raises(mbssa.ModelError, match=r"more than 20 MB"):
        write_toml(mechanism)
    for ending in (".m", ".csv"):
        with pytest.raises(mbssa.ModelError, match=r"600001 bodies.*\.npz"):
            writer(ending)(mechanism)
