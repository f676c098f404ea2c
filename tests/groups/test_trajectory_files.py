"""Trajectories in files: archives without loss, tables of text, labelled datasets; whole or not at all."""

import csv
import json
import subprocess
import sys
from dataclasses import replace

import numpy as np
import pytest

import groups
import mbssa
from groups.results.table import Column, write_table
from mbssa import files

ARRAYS = ("time", "position", "orientation", "velocity", "acceleration", "status", "residual", "iterations",
          "condition", "kept")  # fmt: skip


def solved(name, steps=31):
    mechanism = mbssa.load(name)
    return groups.build(mbssa.decompose(mechanism)).solve(
        groups.constant_speed(mechanism, rate=0.1, steps=steps)
    )


@pytest.fixture(scope="module")
def rotor():
    return solved("rotor")


@pytest.fixture(scope="module")
def four_bar():
    return solved("planar_four_bar")


def partial(trajectory, kept=(1, 2)):
    """Two bodies, positions only, with faults."""
    which = np.array(kept)
    status, position = trajectory.status.copy(), trajectory.position[:, which].copy()
    status[4:6, 1], position[4:6] = 4, np.nan
    return replace(
        trajectory,
        kept=which,
        position=position,
        orientation=trajectory.orientation[:, which],
        velocity=None,
        acceleration=None,
        status=status,
        causes=("",) * (status.shape[1] - 1) + ("2-3 R",),
        group_names=tuple(f"gruppe {g}, ä" for g in range(status.shape[1])),
    )


def same(one, two):
    for name in ARRAYS:
        a, b = getattr(one, name), getattr(two, name)
        if a is None or b is None:
            assert a is b
            continue
        assert a.dtype == b.dtype
        assert a.shape == b.shape
        assert a.tobytes() == b.tobytes(), name
    assert one.causes == two.causes
    assert one.named_groups == two.named_groups
    assert one.faults() == two.faults()


@pytest.mark.parametrize("name", ["rotor", "planar_four_bar", "suspension"])
def test_an_archive_gives_everything_back(name, tmp_path):
    whole = solved(name)
    for trajectory in (whole, partial(whole), whole.spatial(), whole.instants(slice(0, 0))):
        trajectory.save(tmp_path / "run.npz", force=True)
        back = groups.load_trajectory(tmp_path / "run.npz")
        same(trajectory, back)
        assert mbssa.to_networkx(back.mechanism).graph == mbssa.to_networkx(whole.mechanism).graph
        assert back.mechanism.name == name
        assert back.mechanism.joint_geometry == whole.mechanism.joint_geometry
        assert back.mechanism.body_geometry == whole.mechanism.body_geometry
        assert back.position[:, 0].flags.c_contiguous


def test_what_was_read_answers_like_what_was_solved(rotor, tmp_path):
    rotor.save(tmp_path / "run.npz")
    back = groups.load_trajectory(tmp_path / "run.npz")
    for joint in ("9-13", "11-14", "5-8"):
        for what in ("value", "rate", "acceleration"):
            assert (getattr(back.joint(joint), what) == getattr(rotor.joint(joint), what)).all()
    mine = groups.load_trajectory(tmp_path / "run.npz", rotor.mechanism)
    assert mine.mechanism is rotor.mechanism


def test_other_members_of_an_archive_are_left_out(four_bar, tmp_path):
    """As the tearing inputs that earlier versions kept."""
    four_bar.save(tmp_path / "run.npz")
    with np.load(tmp_path / "run.npz") as archive:
        arrays = dict(archive)
    np.savez(tmp_path / "old.npz", **arrays, borrowed=np.array("{}"), outer_status=np.zeros(3, np.int8))
    same(groups.load_trajectory(tmp_path / "old.npz"), four_bar)


def test_what_an_archive_unpacks_to_is_bounded(four_bar, tmp_path, monkeypatch):
    import zipfile

    path = tmp_path / "run.npz"
    four_bar.save(path)
    monkeypatch.setattr("groups.results.files.ARRAY_BYTES", 1_000)
    monkeypatch.setattr("groups.results.files.ARCHIVE_BYTES", 1_000)
    assert np.array_equal(groups.load_trajectory(path).position, four_bar.position)  # no more than its bytes
    with zipfile.ZipFile(path) as archive:
        members = {name: archive.read(name) for name in archive.namelist()}

    def refused(message, **changed):
        with zipfile.ZipFile(tmp_path / "bad.npz", "w", zipfile.ZIP_DEFLATED) as archive:
            for name, data in {**members, **changed}.items():
                archive.writestr(name, data)
        with pytest.raises(ValueError, match=message):
            groups.load_trajectory(tmp_path / "bad.npz")

    time = members["time.npy"]
    refused("time: unpacks to .* MB; write 0 MB at most", **{"time.npy": time + bytes(1_000_000)})
    refused("time: is a member without an ending; name it time.npy", time=bytes(9))
    monkeypatch.undo()
    refused(r"is damaged: an array of shape \(99,\)", **{"time.npy": time.replace(b"(31,)", b"(99,)")})


def test_archives_that_are_none_are_refused(rotor, four_bar, tmp_path):
    path = tmp_path / "run.npz"
    four_bar.save(path)
    with pytest.raises(ValueError, match=r"planar.*spatial.*names"):
        groups.load_trajectory(path, rotor.mechanism)
    with np.load(path) as archive:
        arrays = dict(archive)

    def written(**change):
        given = {name: array for name, array in {**arrays, **change}.items() if array is not None}
        np.savez(tmp_path / "bad.npz", **given)
        return tmp_path / "bad.npz"

    for change, message in (
        ({"time": None, "status": None}, "time is missing; status is missing"),
        ({"mechanism": None}, "no trajectory: it holds no mechanism"),
        ({"mechanism": arrays["mechanism"][:-60]}, "its mechanism: is "),
        ({"format": np.array(2)}, "format is 2; this version reads 1"),
        (
            {"velocity": arrays["velocity"][:-1]},
            r"velocity has the shape \(30, 4, 3\); it needs \(31, 4, 3\)",
        ),
        ({"kept": np.array([0, 1, 3, 3])}, "kept has other bodies than 1 to 4"),
        ({"time": arrays["time"].astype(str)}, "time is <U.* it has 1, of floating-point numbers"),
        ({"time": np.array([None] * 31)}, "is damaged: pickled objects"),
    ):
        with pytest.raises(ValueError, match=message):
            groups.load_trajectory(written(**change))
    mbssa.save(rotor.mechanism, path, force=True)
    with pytest.raises(ValueError, match="no mechanism"):
        groups.load_trajectory(path)
    path.write_bytes(b"PK")
    with pytest.raises(ValueError, match=r"\.npz"):
        groups.load_trajectory(path)
    with pytest.raises(FileNotFoundError):
        groups.load_trajectory(tmp_path / "none.npz")


# --- text --------------------------------------------------------------------------------------------


def read(path):
    with path.open(encoding="utf-8", newline="") as stream:
        rows = list(csv.reader(stream))
    return rows[0], np.array([[float(text) for text in row] for row in rows[1:]])


def test_text_gives_the_same_numbers_back_and_says_their_units(rotor, four_bar, tmp_path):
    for trajectory in (rotor, four_bar):
        trajectory.write_csv(tmp_path / "run.csv", force=True)
        header, table = read(tmp_path / "run.csv")
        names, expected = trajectory.columns()
        zeroed = table != expected
        assert not table[zeroed].any()
        assert np.abs(expected[zeroed]).max(initial=0.0) < 4e-15 * np.abs(expected).max()
        assert [title.split(" [")[0] for title in header] == names
    assert header[:4] == [
        "time [s]",
        "1-2.angle [rad]",
        "1-2.angle.rate [rad/s]",
        "1-2.angle.acceleration [rad/s^2]",
    ]
    crank = header.index("crank.x [m]")
    assert header[crank:crank + 9] == [
        "crank.x [m]", "crank.y [m]", "crank.angle [rad]", "crank.vx [m/s]", "crank.vy [m/s]",
        "crank.wz [rad/s]", "crank.ax [m/s^2]", "crank.ay [m/s^2]", "crank.alz [rad/s^2]",
    ]  # fmt: skip
    assert header[-2:] == ["SG-2.status", "SG-2.residual [m]"]
    assert (table[:, -1] == four_bar.residual[:, 1]).all()


def test_rounding_is_written_as_0_beside_numbers_of_the_same_unit(tmp_path):
    units = {"a.x": "m", "a.z": "m", "a.vz": "m/s", "SG-1.residual": "m"}
    rows = [[2.0, -3e-17, 5e-17, 1e-17], [1.0, 1e-12, 4e-17, 0.0]]
    found = [
        Column(name, unit, values, name.endswith("residual"))
        for (name, unit), values in zip(units.items(), np.transpose(rows), strict=True)
    ]
    write_table(found, tmp_path / "run.csv")
    assert read(tmp_path / "run.csv")[1].tolist() == [[2.0, 0.0, 5e-17, 1e-17], [1.0, 1e-12, 4e-17, 0.0]]


def test_blocks_of_rows_are_one_table(rotor, tmp_path, monkeypatch):
    rotor.write_csv(tmp_path / "once.csv")
    monkeypatch.setattr("groups.results.table._BLOCK", 1_000)
    rotor.write_csv(tmp_path / "blocks.csv")
    assert (tmp_path / "once.csv").read_bytes() == (tmp_path / "blocks.csv").read_bytes()


def test_columns_are_chosen(rotor, four_bar):
    names, table = rotor.columns(quantities=["driven"])
    assert names[1:] == [
        f"{driven}{level}"
        for driven in ("9-13.angle", "13-15.angle", "11-14.angle_1")
        for level in ("", ".rate", ".acceleration")
    ]
    assert (table[:, -3] == rotor.joint("11-14")["angle_1"].value).all()
    names, _ = rotor.columns(quantities=["joints"], joints=["11-14", "9-13.angle"])
    assert names[1::3] == ["11-14.angle_1", "11-14.angle_2", "9-13.angle"]
    assert rotor.columns(quantities=["joints"], joints="11-14.angle_2")[0][1:] == names[4:7]
    every = four_bar.columns()[0]
    assert len(every) == len(set(every))
    assert [name for name in every if name.endswith("angle") and "-" in name] == [
        "1-2.angle", "2-3.angle", "3-4.angle", "1-4.angle",
    ]  # fmt: skip
    names, table = four_bar.columns(quantities=["points"], bodies=["coupler"])
    tracer = four_bar.body("coupler")
    expected = [tracer.point("tracer"), tracer.point_velocity("tracer"), tracer.point_acceleration("tracer")]
    which = [names.index(f"coupler.tracer.{name}") for name in ("x", "y", "vx", "vy", "ax", "ay")]
    assert (table[:, which] == np.concatenate(expected, axis=1)).all()
    with pytest.raises(KeyError, match=r"1-2 .*'slide'"):
        four_bar.columns(joints=["1-2.slide"])
    with pytest.raises(KeyError, match="no joint '7-9'"):
        four_bar.columns(joints="7-9")
    with pytest.raises(ValueError, match=r"'poses'.*driven, joints, .*'mm'"):
        four_bar.columns(quantities=["poses"], units="mm")


def test_units_of_the_file(tmp_path):
    trajectory = solved("cam_roller")
    assert trajectory.mechanism.units == ("mm", "deg")
    data, si = trajectory.to_pandas(units="file"), trajectory.to_pandas()
    assert data.index.name == "time [s]"
    for metric, degrees in (("[m]", 0), ("[rad/s]", 1), ("[m/s^2]", 0)):
        label = next(label for label in si.columns if label.endswith(metric))
        scale = 180 / np.pi if degrees else 1e3
        other = label.replace("[rad", "[deg").replace("[m", "[mm")
        np.testing.assert_allclose(data[other], si[label] * scale, rtol=1e-14)
    assert "SG-1.residual [mm]" in data.columns


def test_written_columns_are_in_the_units_of_the_file_and_read_back_in_si(tmp_path):
    bar = replace(mbssa.load("stewart"), units=("mm", "deg"))
    trajectory = groups.build(mbssa.decompose(bar)).solve(groups.default_motion(bar, steps=5), compiled=False)
    chosen = {"quantities": ["driven"], "joints": "driven"}
    trajectory.write(tmp_path / "run.csv", **chosen)
    assert (tmp_path / "run.csv").read_text().startswith("time [s],2-3.slide [mm],2-3.slide.rate [mm/s],")
    again = groups.read_motion(bar, tmp_path / "run.csv")
    header, table = trajectory.columns(**chosen)
    for name, value, rate in zip(again.names, again.value, again.rate, strict=True):
        for label, found in ((name, value), (f"{name}.rate", rate)):
            wanted = table[:, header.index(label)]
            np.testing.assert_allclose(found, wanted, rtol=2.3e-16, atol=1e-15, err_msg=label)
    trajectory.write(tmp_path / "si.csv", units="si", **chosen)
    assert (tmp_path / "si.csv").read_text().startswith("time [s],2-3.slide [m],")
    trajectory.save(tmp_path / "run.npz")
    assert groups.load_trajectory(tmp_path / "run.npz").mechanism.units == ("mm", "deg")


def test_parquet_has_the_columns_of_the_text(rotor, tmp_path):
    import pyarrow.parquet

    rotor.write(tmp_path / "run.parquet")
    rotor.write(tmp_path / "run.csv")
    table = pyarrow.parquet.read_table(tmp_path / "run.parquet")
    header, expected = read(tmp_path / "run.csv")
    assert table.column_names == header
    numbers = np.stack([np.asarray(column) for column in table.columns], axis=1)
    assert (numbers == expected)[expected != 0].all()


def test_only_what_was_kept_has_columns(rotor, tmp_path):
    part = partial(rotor)
    names, table = part.columns(quantities=["joints", "bodies"])
    bodies = [rotor.mechanism.body_name(b) for b in (1, 2)]
    assert names[-14:] == [f"{b}.{c}" for b in bodies for c in ("x", "y", "z", "qw", "qx", "qy", "qz")]
    assert not [name for name in names if name.endswith(".rate")]
    assert {name.split(".")[0] for name in names[1:-14]} == {
        joint.id for joint in rotor.mechanism.joints if set(joint.bodies) <= {1, 2, 3}
    }
    part.write_csv(tmp_path / "part.csv", quantities=["bodies"])
    assert np.isnan(read(tmp_path / "part.csv")[1][4:6, 1:4]).all()
    assert table.shape == (31, len(names))


def test_names_with_commas_are_quoted(four_bar, tmp_path):
    odd = replace(four_bar.mechanism, body_names=("frame", 'the "long", bent one', "b", "c"))
    replace(four_bar, mechanism=odd).write_csv(tmp_path / "run.csv", quantities=["bodies"])
    header, table = read(tmp_path / "run.csv")
    assert header[1] == 'the "long", bent one.x [m]'
    assert table.shape == (31, 28)


# --- labelled datasets -------------------------------------------------------------------------------


def test_a_dataset_has_labels_and_units(rotor, four_bar):
    data = rotor.to_xarray()
    name = rotor.mechanism.body_name(8)
    assert (data.position.sel(body=name, axis="z") == rotor.body(name).position[:, 2]).all()
    assert (data.angular_velocity.sel(body=name) == rotor.body(name).velocity[:, 3:]).all()
    assert (data.orientation.sel(body=name, component="w") == rotor.body(name).orientation[:, 0]).all()
    assert data.position.dims == ("time", "body", "axis")
    units = {key: variable.attrs.get("units") for key, variable in data.variables.items()}
    assert units["time"] == "s"
    assert (units["velocity"], units["angular_acceleration"]) == ("m/s", "rad/s^2")
    assert data.status.attrs["flag_meanings"].split()[4] == "out_of_reach"
    assert np.shares_memory(data.position.values, rotor.position)
    slide = data.joint_rate.sel(coordinate="1-2.slide")
    np.testing.assert_array_equal(slide, rotor.joint("1-2")["slide"].rate)
    assert str(slide.coordinate_unit.values) == "m"
    flat = four_bar.to_xarray()
    assert flat.orientation.dims == flat.angular_velocity.dims == ("time", "body")
    assert flat.axis.values.tolist() == ["x", "y"]
    assert set(partial(rotor).to_xarray().data_vars) == {
        "position", "orientation", "joint_coordinate", "status", "residual", "iterations", "condition",
    }  # fmt: skip


@pytest.mark.parametrize("make", [lambda t: t, partial], ids=["whole", "partial"])
def test_netcdf_gives_the_dataset_back(rotor, four_bar, make, tmp_path):
    import xarray

    for trajectory in (make(rotor), make(four_bar)):
        data = trajectory.to_xarray()
        trajectory.write_netcdf(tmp_path / "run.nc", force=True)
        with xarray.open_dataset(tmp_path / "run.nc", engine="scipy") as stored:
            back = stored.load()
        assert set(back.variables) == set(data.variables)
        for name, variable in data.variables.items():
            assert (back[name].values == variable.values)[back[name].notnull()].all(), name
            assert (back[name].isnull() == variable.isnull()).all()
            assert back[name].attrs.get("units") == variable.attrs.get("units")
        assert back.attrs["mechanism"] == trajectory.mechanism.name


def test_arrays_that_netcdf_cannot_take_are_refused(rotor, monkeypatch, tmp_path):
    monkeypatch.setattr("groups.results.files._MOST", 10_000)
    with pytest.raises(ValueError, match=r"velocity, .*4 GB"):
        rotor.write_netcdf(tmp_path / "run.nc")
    assert list(tmp_path.iterdir()) == []


def test_without_the_extra_the_message_says_what_to_install(four_bar, monkeypatch, tmp_path):
    monkeypatch.setitem(sys.modules, "xarray", None)
    for wanted in (four_bar.to_xarray, lambda: four_bar.write(tmp_path / "run.nc")):
        with pytest.raises(ModuleNotFoundError, match=r"\[xarray\]"):
            wanted()


def test_solving_imports_no_xarray():
    script = """
import json, sys, groups, mbssa
print(json.dumps(sorted({name.split(".")[0] for name in sys.modules})))
"""
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert not {"xarray", "pandas", "matplotlib"} & set(json.loads(done.stdout))


# --- any file ----------------------------------------------------------------------------------------


def test_the_ending_says_the_format(four_bar, tmp_path):
    for ending, start in ((".npz", b"PK"), (".CSV", b"time [s],"), (".nc", b"CDF"), (".parquet", b"PAR1")):
        path = tmp_path / f"run{ending}"
        four_bar.write(path)
        assert path.read_bytes().startswith(start)
        with pytest.raises(FileExistsError, match="force=True"):
            four_bar.write(path)
        four_bar.write(path, force=True)
    for name, said in (
        ("run.txt", "the ending '.txt' is not a supported format"),
        ("run", "it has no ending"),
    ):
        with pytest.raises(ValueError, match=rf"{said}; .*\.csv, \.parquet, \.npz, \.nc"):
            four_bar.write(tmp_path / name)
        with pytest.raises(ValueError, match=rf"{said}; write \.npz"):
            four_bar.save(tmp_path / name)


@pytest.mark.parametrize("ending", [".npz", ".csv", ".nc", ".parquet"])
def test_a_file_is_whole_or_as_it_was(four_bar, ending, tmp_path, monkeypatch):
    path = tmp_path / f"run{ending}"
    path.write_text("before")
    path.chmod(0o640)

    def fails(*_):
        raise OSError(28, "No space left on device", "somewhere else")

    with monkeypatch.context() as patch:
        patch.setattr(files.os, "replace", fails)
        with pytest.raises(OSError, match=rf"run\{ending}"):
            four_bar.write(path, force=True)
    assert path.read_text() == "before"
    assert [one.name for one in tmp_path.iterdir()] == [path.name]
    four_bar.write(path, force=True)
    assert path.read_bytes()[:6] != b"before"
    assert path.stat().st_mode & 0o777 == 0o640
    with pytest.raises(OSError, match="No such file"):
        four_bar.write(tmp_path / "nowhere" / f"run{ending}")
