"""Looks of bodies in a model file: outlines and meshes."""

import pytest
from refusals import refused

import mbssa

BAR = """
format = 1
space = "planar"
units = {{ length = "mm" }}
[[body]]
name = "crank"
visual = {visual}
[[joint]]
bodies = [1, 2]
type = "R"
point = [0, 0]
driven = true
"""


def test_lengths_are_metres_and_other_keys_stay(tmp_path):
    visual = '{ outline = [[0, 0], [20, 0], [0, 10]], mesh = "parts/crank.STL", colour = "red" }'
    path = tmp_path / "bar.toml"
    path.write_text(BAR.format(visual=visual), encoding="utf-8")
    bar = mbssa.load(path)
    looks = bar.bodies[1].geometry.visual
    assert looks["outline"] == [[0.0, 0.0], pytest.approx([0.02, 0.0]), pytest.approx([0.0, 0.01])]
    assert (looks["mesh"], looks["scale"], looks["colour"]) == ("parts/crank.STL", 0.001, "red")
    assert bar.folder == str(tmp_path)
    for ending in (".toml", ".npz"):
        mbssa.save(bar, tmp_path / f"again{ending}")
        assert mbssa.load(tmp_path / f"again{ending}").bodies[1].geometry.visual == looks


def test_all_faults_at_once():
    visual = '{ outline = [[0, 0], [20, 0, 1]], mesh = "C:\\\\parts.stl", scale = 0 }'
    with pytest.raises(mbssa.ModelError) as caught:
        mbssa.load(BAR.format(visual=visual))
    text = str(caught.value)
    assert "visual.outline: is no polygon; write 3 points or more of 2 numbers" in text
    assert "visual.mesh: C:\\parts.stl leaves the folder of the model" in text
    assert "visual.scale: is 0; write metres per unit of the mesh" in text


@pytest.mark.parametrize("mesh", ["../a.stl", "/etc/a.stl", "a/../../b.obj"])
def test_a_mesh_outside_the_folder_is_refused(mesh):
    with refused("value at [[body]] 1 (crank) visual.mesh"):
        mbssa.load(BAR.format(visual=f'{{ mesh = "{mesh}" }}'))


def test_other_files_are_no_meshes():
    with refused("value at [[body]] 1 (crank) visual.mesh"):
        mbssa.load(BAR.format(visual='{ mesh = "a.exe" }'))
