"""The command forces: tables, files, pictures, refusals."""

import csv
import json

import numpy as np
import pytest

import groups
import mbssa
from groups.pictures import forces_over_time

ENGINE = """
format = 1
space = "planar"
units = { length = "mm", angle = "deg" }
gravity = [0, -9810]
[[body]]
name = "crank"
[[body]]
name = "rod"
[[body]]
name = "piston"
inertia = { mass = 1.5, centre = [500, 0] }
[[joint]]
bodies = ["frame", "crank"]
type = "R"
driven = true
point = [0, 0]
[[joint]]
bodies = ["crank", "rod"]
type = "R"
point = [100, 0]
[[joint]]
bodies = ["rod", "piston"]
type = "R"
point = [500, 0]
[[joint]]
bodies = ["frame", "piston"]
type = "P"
point = [500, 0]
axis = [1, 0]
[[force]]
type = "coordinate"
id = "gas"
coordinate = "1-4.slide"
force = -500
[motion]
duration = 0.05
steps = 21
inputs = { "1-2.angle" = { law = "speed", rate = 7200 } }
"""


@pytest.fixture
def engine(tmp_path):
    path = tmp_path / "engine.toml"
    path.write_text(ENGINE)
    return path


def found(engine):
    return groups.forces(groups.build(mbssa.decompose(mbssa.load(str(engine)))).solve())


def test_tables_are_in_the_units_of_the_file(run_mbssa, engine):
    done = run_mbssa("forces", str(engine))
    assert done.exit_code == 0, done.stderr
    forces = found(engine)
    for text in (
        "1-2.angle", f"{forces.driving.max() * 1e3:.4g}", "N mm", "Maximum moment (N mm)",
        "massless: crank, rod", "gas: power",
    ):  # fmt: skip
        assert text in done.stdout
    record = json.loads(run_mbssa("forces", str(engine), "--format", "json").stdout)
    assert record["ok"]
    assert record["drives"][0]["highest"] == pytest.approx(forces.driving.max() * 1e3)
    assert (record["drives"][0]["unit"], record["units"]["moment"]) == ("N mm", "N mm")
    assert record["indeterminate"] == []


def test_a_table_is_written_in_either_units(run_mbssa, engine, tmp_path):
    forces = found(engine)
    for units, unit, scale in (("file", "N mm", 1e3), ("si", "N m", 1.0)):
        path = tmp_path / f"{units}.csv"
        assert run_mbssa("forces", str(engine), "-o", str(path), "--units", units).exit_code == 0
        with path.open() as stream:
            rows = list(csv.DictReader(stream))
        given = [float(row[f"1-2.angle.driving [{unit}]"]) for row in rows]
        expected = forces.driving[:, 0] * scale
        np.testing.assert_allclose(given, expected, rtol=1e-12, atol=4e-15 * np.abs(expected).max())
        assert float(rows[3]["3-4.Fx [N]"]) == pytest.approx(forces.joint("3-4").force[3, 0])
        assert float(rows[3]["gas.power [W]"]) == pytest.approx(forces.element_power["gas"][3])
    again = run_mbssa("forces", str(engine), "-o", str(tmp_path / "si.csv"))
    assert again.exit_code == 2
    assert "exists" in again.stderr


def test_reactions_are_drawn(run_mbssa, engine, tmp_path):
    path = tmp_path / "forces.svg"
    done = run_mbssa("forces", str(engine), "--plot", str(path), "--curves", "2-3,1-2.angle.power")
    assert done.exit_code == 0, done.stderr
    assert path.stat().st_size > 5_000
    figure = forces_over_time(found(engine), ["2-3", "1-2.angle.power"], units="file")
    assert [axes.get_ylabel() for axes in figure.axes] == ["force (N)", "moment (N mm)", "power (W)"]
    drawn = figure.axes[0].lines[0].get_ydata()
    np.testing.assert_allclose(drawn, found(engine).joint("2-3").force[:, 0])


def test_what_is_wrong_is_said_at_once(run_mbssa, engine, tmp_path):
    done = run_mbssa("forces", str(engine), "-o", "a.txt", "--curves", "2-3")
    assert done.exit_code == 2
    assert "2 faults" in done.stderr
    assert "--curves: are for pictures" in done.stderr
    done = run_mbssa("forces", str(engine), "--plot", str(tmp_path / "a.svg"), "--curves", "2-3.Fz")
    assert done.exit_code == 2
    assert "'2-3.Fz'; did you mean '2-3.Mz'" in done.stderr
    done = run_mbssa("forces", str(engine), "--plot", str(tmp_path / "a.svg"), "--curves", "drives")
    assert "no force 'drives'; there are 1-2.angle, 1-2, 2-3, 3-4, 1-4, frame" in done.stderr
    assert not (tmp_path / "a.svg").exists()
    for drives, message in (
        ("9-9", "error: --drives: no joint '9-9'; the joints are 1-2, 2-3, 3-4, 1-4"),
        (",", "error: Invalid value for '--drives': names nothing"),
        ("1-2,1-4", "error: --drives 1-2.angle, 1-4.slide do not determine the mechanism"),
    ):
        done = run_mbssa("forces", str(engine), "--drives", drives, "--plot", str(tmp_path / "a.svg"))
        assert done.exit_code == 2
        assert " ".join(done.stderr.split()).startswith(message)


def test_open_reactions_are_named_and_given_on_request(run_mbssa, tmp_path):
    done = run_mbssa("forces", "slider_crank", "--steps", "25")
    assert done.exit_code == 0
    assert "12 components of reactions" in done.stdout
    done = run_mbssa("forces", "slider_crank", "--steps", "25", "--minimum-norm", "--format", "json")
    record = json.loads(done.stdout)
    assert len(record["indeterminate"]) == 12
    assert all(one["indeterminate"] == [] for one in record["joints"])


def test_a_model_without_masses_is_told(run_mbssa):
    done = run_mbssa("forces", "planar_four_bar", "--steps", "5")
    assert "no body has mass" in done.stdout


def test_parquet_needs_its_package_alone(engine, tmp_path):
    pytest.importorskip("pyarrow.parquet")
    import pyarrow.parquet

    path = tmp_path / "forces.parquet"
    forces = found(engine)
    forces.write(path, units="si")
    table = pyarrow.parquet.read_table(path)
    assert table.column("1-2.angle.power [W]").to_pylist() == forces.drive_power[:, 0].tolist()
