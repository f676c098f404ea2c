"""Units of length and angle of what is printed: those of the model file, or of ``--units``."""

import inspect
import json
import math
from pkgutil import resolve_name

import numpy as np
import pytest

import groups
import mbssa
from mbssa.cli import COMMANDS
from mbssa.cli.options import UNITS
from mbssa.units import chosen_units, given_in, quantity_text

MM, DEG = 1e-3, math.pi / 180

PLANAR = """
format = 1
space = "planar"
units = { length = "mm", angle = "deg" }
gravity = [0, -9810]
body = [
  { name = "crank", inertia = { mass = 1.0, centre = [15, 20], moment = 200.0 } },
  { name = "rod", inertia = { mass = 1.0, centre = [90, 20], moment = 900.0 } },
  { name = "slide", inertia = { mass = 1.0, centre = [150, 0], moment = 100.0 } },
]
joint = [
  { bodies = ["frame", "crank"], type = "R", point = [0, 0], driven = true },
  { bodies = ["crank", "rod"], type = "R", point = [30, 40] },
  { bodies = ["rod", "slide"], type = "R", point = [150, 0] },
  { bodies = ["frame", "slide"], type = "P", point = [150, 0], axis = [1, 0] },
]
[motion]
duration = 1.0
steps = 5
inputs = { "1-2.angle" = { law = "speed", rate = 30 } }
"""

SPATIAL = """
format = 1
space = "spatial"
units = { length = "mm", angle = "deg" }
body = [{ name = "crank" }, { name = "rod" }, { name = "slide" }]
joint = [
  { bodies = ["frame", "crank"], type = "R", point = [0, 0, 0], axis = [0, 0, 1], driven = true },
  { bodies = ["crank", "rod"], type = "S", point = [30, 40, 0] },
  { bodies = ["rod", "slide"], type = "S", point = [150, 0, 20] },
  { bodies = ["frame", "slide"], type = "P", point = [150, 0, 20], axis = [1, 0, 0] },
]
[motion]
duration = 1.0
steps = 3
inputs = { "1-2.angle" = { law = "speed", rate = 30 } }
"""

#: Commands that print no number with a unit of length or angle.
WITHOUT = {
    "models", "new", "joints", "schema", "decompose", "convert", "loops", "transform", "transformations",
    "solvers", "routes", "studio",
}  # fmt: skip


@pytest.fixture(params=[PLANAR, SPATIAL], ids=["planar", "spatial"])
def model(request, tmp_path):
    path = tmp_path / "model.toml"
    path.write_text(request.param)
    return path


@pytest.fixture
def planar(tmp_path):
    path = tmp_path / "planar.toml"
    path.write_text(PLANAR)
    return path


def values_by_unit(record):
    """Numbers beside their ``unit``, and named numbers with those of the ``units`` object above them."""
    found = []

    def look(value):
        if isinstance(value, dict):
            unit = value.get("unit")
            if isinstance(unit, str):
                found.extend((key, unit, each) for key, each in value.items() if isinstance(each, float))
            for each in value.values():
                look(each)
        elif isinstance(value, list):
            for each in value:
                look(each)

    look(record)
    return found


@pytest.mark.parametrize(
    ("unit", "name", "scale"),
    [
        ("m", "mm", MM), ("rad/s^2", "deg/s^2", DEG), ("N m", "N mm", MM), ("m/rad", "mm/deg", MM / DEG),
        ("m/rad³", "mm/deg³", MM / DEG**3), ("1/rad²", "1/deg²", DEG**-2), ("kg m²", "kg mm²", MM**2),
        ("m^2", "mm^2", MM**2), ("m^-1", "mm^-1", 1 / MM), ("J", "J", 1.0), ("", "", 1.0),
    ],
)  # fmt: skip
def test_compound_units_follow_from_those_of_the_file(unit, name, scale):
    found, factor = given_in(unit, ("mm", "deg"))
    assert (found, factor) == (name, pytest.approx(scale, rel=1e-14))
    assert given_in(unit, ("m", "rad")) == (unit, 1.0)


def test_units_are_chosen_by_words():
    file = ("mm", "deg")
    texts = {"file": file, "SI": ("m", "rad"), "si": ("m", "rad"), "cm": ("cm", "deg"), "rad": ("mm", "rad")}
    assert {text: chosen_units(text, file) for text in texts} == texts
    assert chosen_units("rad, in", file) == chosen_units("in,rad", file) == ("in", "rad")
    for wrong in ("", "km", "mm,cm", "deg,rad", "mm,deg,s"):
        with pytest.raises(ValueError, match="write file, SI"):
            chosen_units(wrong, file)
    assert quantity_text(0.0188, "m", file, ".3g") == "18.8 mm"


def test_commands_that_print_numbers_share_one_option(run_mbssa, planar):
    for name, place in COMMANDS.items():
        option = inspect.signature(resolve_name(place)).parameters.get("units")
        callback = getattr(option and option.default, "callback", None)
        assert callback is (None if name in WITHOUT else UNITS.callback), name
    done = run_mbssa("check", str(planar), "--units", "furlong")
    assert (done.exit_code, "--units" in done.stderr) == (2, True)


@pytest.mark.parametrize(
    "words",
    [("solve", "--no-compiled"), ("modes", "--group", "2"), ("partition",), ("check",)],
    ids=lambda w: w[0],
)
def test_json_is_in_the_units_of_the_file_and_names_them(run_mbssa, model, words):
    found = {
        units: json.loads(
            run_mbssa(words[0], str(model), *words[1:], "--format", "json", "--units", units).stdout
        )
        for units in ("file", "SI")
    }
    first = {units: (one[0] if isinstance(one, list) else one) for units, one in found.items()}
    assert [(one["units"]["length"], one["units"]["angle"]) for one in first.values()] == [
        ("mm", "deg"), ("m", "rad"),
    ]  # fmt: skip
    scales = {"mm": MM, "deg": DEG, "N mm": MM, "N": 1.0}
    pairs = list(zip(values_by_unit(found["file"]), values_by_unit(found["SI"]), strict=True))
    assert pairs or words[0] in ("modes", "check")
    for (key, unit, value), (_, _, si) in pairs:
        assert value * scales[unit] == pytest.approx(si, rel=1e-12, abs=1e-15), key


def test_modes_and_check_convert_lengths_and_angles(run_mbssa, planar):
    mm, m = (
        json.loads(
            run_mbssa("modes", str(planar), "--group", "2", "--format", "json", "--units", units).stdout
        )
        for units in ("file", "SI")
    )
    # The other intersection of the rod's circle, radius √(120² + 40²) about (30, 40), with the guide.
    assert mm[0]["modes"][0]["coordinates"]["1-4.slide"] == pytest.approx(-90 - 150, rel=1e-12)
    for one, other in zip(mm[0]["modes"], m[0]["modes"], strict=True):
        for name, value in one["coordinates"].items():
            scale = MM if name.endswith("slide") else DEG
            assert value * scale == pytest.approx(other["coordinates"][name])
        np.testing.assert_allclose(np.array(one["position"]) * MM, other["position"], atol=1e-15)
    text = run_mbssa("modes", str(planar), "--group", "2").stdout
    assert "-240.0000" in text
    assert "lengths divided by 70.5 mm" in run_mbssa("check", str(planar)).stdout
    assert "lengths divided by 0.0705 m" in run_mbssa("check", str(planar), "--units", "SI").stdout


def test_a_passive_rotation_is_placed_in_the_unit_of_the_file(run_mbssa, tmp_path):
    path = tmp_path / "spatial.toml"
    path.write_text(SPATIAL)
    for units, middle in (("file", "(90.000, 20.000, 10.000) mm"), ("SI", "(0.090, 0.020, 0.010) m")):
        done = run_mbssa("check", str(path), "--units", units)
        assert f"the line through {middle} along (0.937, -0.312, 0.156)" in " ".join(done.stdout.split())


def test_small_motions_by_the_units_of_the_file(run_mbssa, planar):
    mm, m = (
        json.loads(run_mbssa("linearise", str(planar), "--format", "json", "--units", units).stdout)
        for units in ("file", "SI")
    )
    assert (mm["units"]["moment"], mm["coordinates"][0]["unit"]) == ("N mm", "deg")
    for name in ("mass", "stiffness"):
        assert mm[name][0][0] == pytest.approx(m[name][0][0] * DEG / MM, rel=1e-12)
    frequency = math.sqrt(mm["stiffness"][0][0] / mm["mass"][0][0]) / (2 * math.pi)
    assert frequency == pytest.approx(mm["modes"][0]["frequency"], rel=1e-6)
    assert mm["modes"][0]["shape"]["1-2.angle"][0] == pytest.approx(1.0)


def test_the_axes_of_a_sweep(planar, tmp_path):
    pytest.importorskip("pyarrow")
    pytest.importorskip("matplotlib")
    from routes.plots.sweep import sweep_picture
    from routes.sweep import grid, sweep

    angles = np.radians([0.0, 20.0, 40.0])
    found = sweep(
        mbssa.load(planar), grid({"1-2.angle": angles}), record=["1-4.slide"], store=tmp_path / "cases",
        executor="sequential",
    )  # fmt: skip
    (axes,) = sweep_picture(found, units=("mm", "deg")).axes
    assert (axes.get_xlabel(), axes.get_ylabel()) == ("1-2.angle (deg)", "(mm)")
    x, y = axes.lines[0].get_data()
    np.testing.assert_allclose(x, [0, 20, 40], atol=1e-12)
    turned = np.radians([0, 20, 40]) + math.atan2(40, 30)
    slide = 50 * np.cos(turned) + np.sqrt(16000 - (50 * np.sin(turned)) ** 2)
    np.testing.assert_allclose(y, slide - 150, atol=1e-9)


def test_faults_of_forces_name_the_inputs(planar):
    model = groups.build(mbssa.decompose(mbssa.load(planar)))
    motion = groups.default_motion(model.mechanism)
    forces = groups.forces(model.solve(motion, compiled=False))
    forces.status[3, 1] = 1
    (text,) = forces.faults(motion)
    assert text.endswith("at 1 of 5 instants, first at t = 0.75 s (1-2.angle = 22.5 deg)")


def test_a_page_has_a_grid_that_is_round_in_the_unit_of_the_file(tmp_path, read):
    from groups.pictures import page

    model = groups.build(mbssa.decompose(read(PLANAR.replace('"mm"', '"in"'))))
    page(model.solve(compiled=False), tmp_path / "page.html")
    assert "one square of the grid is 10 in" in (tmp_path / "page.html").read_text()
