"""Records of tearing inputs, written with the trajectory and read again."""

import json
from dataclasses import fields

import numpy as np
import pytest

import groups
import mbssa
from groups.tearing import Borrowed

PARTS = ("fallback", "status", "group", "residual", "iterations", "condition")


@pytest.fixture(scope="module")
def fallen():
    """A turn of the crank, through two dead points of the borrowed rocker."""
    model = groups.build(mbssa.decompose(mbssa.load("triad")), borrow=["1-5.angle"])
    found = model.solve(groups.constant_speed(model.mechanism, rate=2 * np.pi, duration=1.0, steps=91))
    assert found.fallback.any()
    return found


def test_an_archive_gives_the_loop_back(fallen, tmp_path):
    for trajectory in (fallen, fallen.instants(slice(10, 40)), fallen.instants(slice(0, 0))):
        trajectory.save(tmp_path / "run.npz", force=True)
        back = groups.load_trajectory(tmp_path / "run.npz")
        assert back.outer.borrowed == fallen.outer.borrowed
        assert back.outer.sentences() == trajectory.outer.sentences()
        for name in PARTS:
            mine, theirs = getattr(back.outer, name), getattr(trajectory.outer, name)
            assert mine.dtype == theirs.dtype
            np.testing.assert_array_equal(mine, theirs)
        np.testing.assert_array_equal(back.fallback, trajectory.fallback)
    assert len(PARTS) + 2 == len(fields(back.outer))  # nothing is forgotten


def test_where_nothing_is_borrowed_nothing_is_kept(tmp_path):
    """Such an archive is one of before there were tearing inputs."""
    bar = mbssa.load("planar_four_bar")
    groups.build(mbssa.decompose(bar)).solve(groups.constant_speed(bar, steps=5)).save(tmp_path / "run.npz")
    with np.load(tmp_path / "run.npz") as archive:
        assert not [name for name in archive.files if "outer" in name or "borrowed" in name]
    assert groups.load_trajectory(tmp_path / "run.npz").outer is None


def test_arrays_of_the_loop_that_do_not_fit_are_refused(fallen, tmp_path):
    fallen.save(tmp_path / "run.npz")
    with np.load(tmp_path / "run.npz") as archive:
        arrays = dict(archive)
    record = json.loads(str(arrays["borrowed"]))
    for change, message in (
        ({"outer_status": None, "borrowed": None}, "borrowed.*outer_status"),
        ({"outer_residual": arrays["outer_residual"][1:]}, "outer_residual"),
        ({"outer_fallback": arrays["outer_fallback"] + 0.5}, "outer_fallback"),
        ({"outer_group": arrays["outer_group"] + 9}, "outer_group"),
        ({"borrowed": np.array("{")}, "borrowed is no record"),
        ({"borrowed": np.array("[]")}, "should be an object"),
        ({"borrowed": np.array(json.dumps({**record, "groups": 5}))}, "5 groups.*3"),
    ):
        given = {name: array for name, array in {**arrays, **change}.items() if array is not None}
        np.savez(tmp_path / "bad.npz", **given)
        with pytest.raises(ValueError, match=message):
            groups.load_trajectory(tmp_path / "bad.npz")


def test_a_record_of_other_fields_is_refused_with_all_its_faults(fallen):
    record = fallen.outer.borrowed.to_dict()
    assert Borrowed.from_json(json.dumps(record)) == fallen.outer.borrowed
    with pytest.raises(ValueError, match="chosen: "):
        Borrowed.from_json(json.dumps({**record, "chosen": "unknown"}))
    del record["loop"]
    with pytest.raises(ValueError, match=r"inputs: .*loop: .*more: "):
        Borrowed.from_json(json.dumps({**record, "inputs": 3, "more": 1}))


def test_netcdf_has_the_loop(fallen, tmp_path):
    xarray = pytest.importorskip("xarray")
    fallen.write_netcdf(tmp_path / "run.nc")
    with xarray.open_dataset(tmp_path / "run.nc", engine="scipy") as stored:
        np.testing.assert_array_equal(stored["fallback"].astype(bool), fallen.fallback)
        for name in PARTS[1:]:
            np.testing.assert_array_equal(stored[f"outer_{name}"], getattr(fallen.outer, name))
        assert Borrowed.from_json(stored.attrs["borrowed"]) == fallen.outer.borrowed


def test_of_a_model_without_borrowed_inputs_netcdf_has_no_loop():
    pytest.importorskip("xarray")
    bar = mbssa.load("planar_four_bar")
    data = groups.build(mbssa.decompose(bar)).solve(groups.constant_speed(bar, steps=5)).to_xarray()
    assert "fallback" not in data
    assert "borrowed" not in data.attrs
