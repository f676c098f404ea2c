"""Numbers, tables and archives beyond what a mechanism can have are refused, in little time and memory."""

import io
import tracemalloc
import zipfile
from pathlib import Path

import numpy as np
import pytest
from refusals import refused

import groups
import mbssa
from mbssa.files import read_bytes
from mbssa.io.toml_file import parse_toml
from mbssa.joints.assembly import assemble
from mbssa.joints.frames import joint_frames
from mbssa.joints.system import rows_at

HEAD = """format = 1
space = "planar"
[[body]]
[[body]]
[[joint]]
bodies = [1, 2]
type = "R"
driven = ["angle"]
point = [0, 0]
[[joint]]
bodies = [1, 3]
type = "P"
axis = [0, 1]
point = [0, 0.05]
"""

CAM = """[[joint]]
bodies = [2, 3]
type = "L"
points = [[0, 0], [0, 0.05]]
axes = [[1, 0], [1, 0]]
profile.follower = "knife"
"""

RANGE = "magnitude of 1e+09 at most"


def refusal_of(text):
    with pytest.raises(mbssa.ModelError) as refusal:
        parse_toml(text, "m.toml", "m")
    return str(refusal.value)


def test_geometry_beyond_the_range_is_refused_at_its_place():
    for number in ["1e160", "-1e308", "2e9"]:
        for place, line in [
            ("[[joint]] 3 (2, 3) point", 'bodies = [2, 3]\ntype = "R"\npoint = [{}, 0.0]'),
            (
                "[[joint]] 3 (2, 3) frames[2] origin",
                'bodies = [2, 3]\ntype = "R"\nframes = [{{ origin = [0, 0] }}, {{ origin = [0, {}] }}]',
            ),
            (
                "[[joint]] 3 (2, 3) at_reference.angle",
                'bodies = [2, 3]\ntype = "R"\npoint = [0, 0]\nat_reference = {{ angle = {} }}',
            ),
            ("[[joint]] 3 (2, 3) points", 'bodies = [2, 3]\ntype = "ROD"\npoints = [[0, 0], [1, {}]]'),
        ]:
            said = refusal_of(f"{HEAD}[[joint]]\n{line.format(number)}\n")
            assert f"{place}: is {float(number):.6g}" in said, (place, number)
            assert RANGE in said, (place, number)


def test_sizes_have_a_least_value_and_coordinates_none():
    rod = 'bodies = [2, 3]\ntype = "ROD"\npoints = [[0, 0], [1e-17, 1]]\n'
    parse_toml(f"{HEAD}[[joint]]\n{rod}", "m.toml", "m")
    assert "length: is 1e-320 m; write a magnitude of 1e-09 or more" in refusal_of(
        f"{HEAD}[[joint]]\n{rod}length = 1e-320\n"
    ).replace("9.99989e-321", "1e-320")


def test_profiles_of_any_number_end_at_once():
    """They were endless: a step that is not a number was neither good nor bad."""
    for number in ["1e308", "1e200", "1e-320", "1e12"]:
        for curve in [
            "circle = {{ radius = {} }}",
            'formula = {{ r = "0.05", range = [0, {}] }}',
            'formula = {{ r = "0.05", unit = {} }}',
            'formula = {{ r = "{}*(2 + cos(s))" }}',
            "ellipse = {{ semi_axes = [{}, 0.05] }}",
            "points = [[0, 0], [{0}, 0], [0, {0}]]",
        ]:
            said = refusal_of(f"{HEAD}{CAM}profile.{curve.format(number)}\n")
            assert "profile." in said, (curve, number)


def test_a_dotted_key_of_many_parts_is_refused_before_it_is_read():
    tracemalloc.start()
    said = refusal_of(f"format = 1\n{'.'.join(['a'] * 100_000)} = 1\n")
    _, most = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert "line 2: a dotted key of more than 50 parts" in said
    assert most < 20e6
    assert "dotted key" in refusal_of('x = 1\n[ "a" . ' + " . ".join(["'b'"] * 60) + " ]\n")


def test_toml_that_python_does_not_take_is_a_fault_of_the_file():
    for text in ["x = " + "9" * 5_000, "x = " + "[" * 20_000, "x = " + "{a=" * 20_000]:
        assert refusal_of(text).startswith("m.toml: TOML: "), text[:9]


def test_a_text_with_dots_is_no_key():
    parse_toml(f"{HEAD}{CAM}profile.circle.radius = 0.05\n".replace(
        "[[body]]", f'title = "{"a." * 40}"\n[[body]]', 1), "m.toml", "m")  # fmt: skip


def test_an_archive_that_unpacks_to_gigabytes_is_refused_unread(tmp_path):
    path = tmp_path / "m.npz"
    mbssa.save(mbssa.load("planar_four_bar"), path)
    with zipfile.ZipFile(path) as archive:
        members = {name: archive.read(name) for name in archive.namelist()}
    header = io.BytesIO()
    np.lib.format.write_array_header_1_0(
        header, {"descr": "<i8", "fortran_order": False, "shape": (50_000_000,)}
    )
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED, compresslevel=1) as archive:
        for name, data in members.items():
            if name != "joint_body.npy":
                archive.writestr(name, data)
        with archive.open("joint_body.npy", "w", force_zip64=True) as member:
            member.write(header.getvalue())
            for _ in range(400):
                member.write(bytes(1_000_000))
    with refused("size at joint_body"):
        mbssa.load(path)


def test_motions_have_bounds(tmp_path):
    for line, what in [
        ("steps = 400000000", "steps: is 400000000"),
        ("duration = 1e200", "duration: is 1e+200"),
        ("duration = 1e-200", "duration: is 1e-200"),
    ]:
        path = tmp_path / "motion.toml"
        path.write_text(f'{line}\n[inputs]\n"1-2.angle" = {{ law = "ramp", end = 1.0 }}\n')
        with pytest.raises(mbssa.ModelError) as refusal:
            groups.read_motion(mbssa.load("planar_four_bar"), path)
        assert what in str(refusal.value), line


def test_steps_are_counted_for_all_inputs_together():
    with pytest.raises(ValueError, match=r"4,000,000 .*3,333,333"):
        groups.default_motion(mbssa.load("rotor"), steps=4_000_000)


def test_a_law_that_overflows_is_told_as_such():
    four_bar = mbssa.load("planar_four_bar")
    with pytest.raises(ValueError, match=r"1-2.angle is 1e\+10.*1e\+09"):
        groups.sample(four_bar, {"1-2.angle": groups.speed(1e10)}, [0.0, 1.0])
    with pytest.raises(ValueError, match="is not finite"):
        groups.sample(four_bar, {"1-2.angle": groups.polynomial(0.0, 0.0, 1e308)}, [0.0, 1.0, 1e5])


@pytest.mark.parametrize("far", ["1e8", "5e3"])
def test_profiles_too_far_apart_to_touch_are_told(tmp_path, far):
    """An involute tooth moved by 100 km or 5 m: the equation has no value, which is no closed joint."""
    text = groups_text("involute_teeth").replace('y = "48*(sin(s)', f'y = "{far} + 48*(sin(s)')
    mechanism = parse_toml(text, "teeth.toml", "teeth")
    frames = joint_frames(mechanism)
    rows = rows_at(mechanism, frames, frames.reference)
    assert np.isfinite(rows.jacobian).all()
    assert str(mbssa.check(mechanism))
    found = assemble(mechanism, frames)
    assert found.closed == np.isfinite(found.residual)


def groups_text(name):
    from importlib import resources

    return resources.files("mbssa.io.models").joinpath(f"{name}.toml").read_text("utf-8")


def test_axes_at_right_angles_are_those_that_stand_so():
    text = groups_text("universal_shafts")
    assert "axes" in text
    crank = """format = 1
space = "spatial"
[[body]]
[[joint]]
bodies = [1, 2]
type = "{}"
point = [0, 0, 0]
axes = [[0, 0, 1], [0, {}, {}]]
"""
    for code in ("U", "ER", "CR"):
        said = refusal_of(crank.format(code, 0.3, 1))
        assert "axes: stand at 16.7° to each other; write right angles, for the second [0, 1, 0]" in said
        parse_toml(crank.format(code, 1, 0.003), "m.toml", "m")


def test_the_correction_of_the_reference_is_one_figure():
    text = """format = 1
space = "spatial"
[[body]]
name = "rod"
[[joint]]
bodies = [1, 2]
type = "U"
driven = true
point = [0.1, 0, 0]
axes = [[0, 0, 1], [0, 1, 0.003]]
"""
    mechanism = parse_toml(text, "m.toml", "m")
    (said,) = [one.text for one in mbssa.check(mechanism).findings if one.kind == "assembly"]
    assert said == "the reference was corrected until it closed: body 2 (rod) by up to 0.003 rad"
    turned = groups.build(mbssa.decompose(mechanism)).reference.rotation[1]
    assert np.arccos((np.trace(turned) - 1) / 2) == pytest.approx(0.003, rel=1e-3)


def test_joints_in_one_place_but_for_rounding_have_the_size_one():
    mechanism = mbssa.load("planar_four_bar")
    from dataclasses import replace

    geometry = {
        j: replace(known, point=(0.1 + 1e-17 * j, 0.1 * 3 if j % 2 else 0.3), at_reference={})
        for j, known in mechanism.joint_geometry.items()
    }
    assert joint_frames(replace(mechanism, joint_geometry=geometry)).size == 1.0


@pytest.mark.parametrize("name", ["about", "n_bodies"])
def test_members_without_an_ending_or_twice_are_refused_unread(tmp_path, name):
    path = tmp_path / "m.npz"
    mbssa.save(mbssa.load("planar_four_bar"), path)
    with zipfile.ZipFile(path, "a") as archive:
        archive.writestr(name, b"x")
    with refused(f"unsupported at {name}"):
        mbssa.load(path)
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr(f"{name}.npy", b"x")
        with pytest.warns(UserWarning, match="Duplicate name"):
            archive.writestr(f"{name}.npy", b"x")
    with refused(f"duplicate at {name}"):
        mbssa.load(path)


def test_an_array_whose_header_asks_for_more_than_there_is_is_damaged(tmp_path):
    path, header = tmp_path / "m.npz", io.BytesIO()
    np.lib.format.write_array_header_1_0(header, {"descr": "<i8", "fortran_order": False, "shape": (10**12,)})
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("n_bodies.npy", header.getvalue() + bytes(8))
    with pytest.raises(mbssa.ModelError, match=r"is damaged: an array of shape .* has 8 bytes"):
        mbssa.load(path)


def test_a_sum_of_arrays_is_bounded(tmp_path, monkeypatch):
    monkeypatch.setattr("mbssa.io.npz_file.ARCHIVE_BYTES", 1_000)
    path = tmp_path / "m.npz"
    mbssa.save(mbssa.load("planar_four_bar"), path)
    with pytest.raises(mbssa.ModelError, match="unpacks to"):
        mbssa.load(path)


@pytest.mark.skipif(not Path("/dev/zero").exists(), reason="there is no /dev/zero")
@pytest.mark.parametrize("ending", [".toml", ".m", ".csv", ".npz", ".urdf", ".sdf", ".xml"])
def test_a_link_to_a_device_is_refused_unread(tmp_path, ending):
    path = tmp_path / f"zero{ending}"
    path.symlink_to("/dev/zero")
    with pytest.raises(mbssa.ModelError, match="is a device"):
        mbssa.load(path)


def test_a_file_that_grows_is_read_to_its_bound(tmp_path):
    path = tmp_path / "long"
    path.write_bytes(bytes(100))
    assert len(read_bytes(path, 10)) == 11
