"""Model files that are written: they read like those written by hand, and keep what they can."""

import dataclasses

import numpy as np
import pytest
from comparison import same_mechanism, topology
from refusals import refused

import mbssa
from mbssa.io.npz_file import write_npz
from mbssa.io.records import from_record, to_record
from mbssa.io.toml_file import parse_toml
from mbssa.io.toml_writer import write_toml
from mbssa.joints.user import UserFunction
from mbssa.mechanism import MultipleJoint
from mbssa.trust import VARIABLE


def test_a_written_model_reads_like_a_hand_written_one():
    mechanism = parse_toml(
        'format = 1\nspace = "spatial"\ntitle = "A title"\nnotes = ["one", "two"]\n'
        'units = { length = "mm" }\n[[body]]\nname = "tube"\npoints = { tip = [0, 0, 250] }\n[[body]]\n'
        '[[joint]]\nbodies = [1, "tube"]\ntype = "C"\nid = "guide"\ndriven = ["angle"]\npoint = [0, 0, 10]\n'
        "axis = [0, 0, 1]\nlimits = { slide = [-20, 20] }\n"
        '[[joint]]\nbodies = [3, 2]\ntype = "S"\n',
        "model",
        "model",
    )
    assert write_toml(mechanism)[0].decode() == (
        'format = 1\nspace = "spatial"\ntitle = "A title"\nnotes = [\n    "one",\n    "two",\n]\n'
        'units = {length = "mm", angle = "rad"}\n\n'
        '[[body]]\nname = "tube"\npoints = {tip = [0.0, 0.0, 250.0]}\n\n[[body]]\n\n'
        '[[joint]]\nbodies = ["frame", "tube"]\ntype = "C"\nid = "guide"\ndriven = ["angle"]\n'
        "point = [0.0, 0.0, 10.0]\naxis = [0.0, 0.0, 1.0]\nlimits = {slide = [-20.0, 20.0]}\n\n"
        '[[joint]]\nbodies = [3, "tube"]\ntype = "S"\n'
    )


def test_names_that_a_model_file_cannot_hold_are_named():
    mechanism = mbssa.from_pairs(["ground", "frame", "7"], [(1, 2, "R", 1), (2, 3, "R", 1)], "planar")
    data, lost = write_toml(mechanism)
    assert lost == [
        "name 'ground' of body 1: frame",
        "name 'frame' of body 2: its number",
        "name '7' of body 3: its number",
    ]
    assert parse_toml(data.decode(), "x", "x").body_names == ("frame", "2", "3")


def test_joints_of_three_bodies_are_kept_or_refused(tmp_path):
    text = (
        'format = 1\nspace = "planar"\nbodies = 4\n'
        '[[joint]]\nbodies = [1, 2]\ntype = "R"\ndriven = 1\n[[joint]]\nbodies = [1, 3]\ntype = "R"\n'
        '[[joint]]\nbodies = [1, 4]\ntype = "R"\n[[joint]]\nbodies = [3, 4, 2]\ntype = "EO"\nid = "mesh"\n'
    )
    gears = parse_toml(text, "gears", "gears")
    for ending in (".toml", ".npz"):
        assert mbssa.save(gears, tmp_path / f"gears{ending}") == []
        same_mechanism(gears, mbssa.load(tmp_path / f"gears{ending}"))
    for ending in (".m", ".csv"):
        with refused("unsupported at joint mesh"):
            mbssa.save(gears, tmp_path / f"gears{ending}")
        assert not (tmp_path / f"gears{ending}").exists()
    graph = mbssa.to_networkx(gears)
    assert graph.edges[3, 4, "mesh"]["bodies"] == (3, 4, 2)
    same_mechanism(gears, mbssa.from_networkx(graph, name="gears"))


def squared(q):
    return q[0, 0] ** 2 + q[1, 1] ** 2 - 1.0


def test_functions_are_kept_by_name_or_refused(tmp_path):
    """A name is kept as it is, also of a file that is nowhere; a function of this program is no text."""
    text = (
        'format = 1\nspace = "planar"\nbodies = 4\n[[joint]]\nbodies = [1, 2]\ntype = "R"\ndriven = 1\n'
        '[[joint]]\nbodies = [1, 3]\ntype = "R"\n[[joint]]\nbodies = [1, 4]\ntype = "P"\naxis = [1, 0]\n'
        '[[joint]]\nbodies = [2, 3]\ntype = "USER"\nid = "law"\nfunction = "laws:square"\nunit = "m"\n'
        '[[joint]]\nbodies = [2, 3, 4]\ntype = "USER"\nfunction = "/no/laws.py:cube"\n'
        'derivative = "/no/laws.py:slope"\n'
    )
    named = parse_toml(text, "laws", "laws")
    for ending in (".toml", ".npz"):
        assert mbssa.save(named, tmp_path / f"laws{ending}") == []
        same_mechanism(named, mbssa.load(tmp_path / f"laws{ending}"))
    same_mechanism(named, mbssa.from_networkx(mbssa.to_networkx(named), name="laws"))
    record = to_record(named)
    record["joint"][3]["function"] = record["joint"][3]["derivative"] = squared
    handed = from_record(record, "laws", "laws")
    assert handed.joint("law").geometry.function is squared
    same_mechanism(handed, from_record(to_record(handed), "laws", "laws"))
    same_mechanism(handed, mbssa.from_networkx(mbssa.to_networkx(handed), name="laws"))
    for ending in (".toml", ".npz"):
        path = tmp_path / f"handed{ending}"
        with pytest.raises(mbssa.ModelError) as caught:
            mbssa.save(handed, path)
        assert [str(fault) for fault in caught.value.faults] == [
            f"joint law {key}: is squared of this program, which no file holds; "
            'give it by name, "module:name" or "file.py:name"'
            for key in ("function", "derivative")
        ]
        assert not path.exists()


def test_functions_of_a_file_are_found_from_wherever_the_model_is_saved(tmp_path, monkeypatch):
    """Their file's name is told from the model's folder; the saved model lies in another."""
    monkeypatch.setenv(VARIABLE, "1")
    (tmp_path / "here").mkdir()
    (tmp_path / "there").mkdir()
    (tmp_path / "here" / "laws.py").write_text("def square(q):\n    return q[0, 0] ** 2 - 1.0\n")
    (tmp_path / "here" / "model.toml").write_text(
        'format = 1\nspace = "planar"\nbodies = 2\n'
        '[[joint]]\nbodies = [1, 2]\ntype = "USER"\nfunction = "laws.py:square"\n'
    )
    mechanism = mbssa.load(tmp_path / "here" / "model.toml")
    for ending in (".toml", ".npz"):
        mbssa.save(mechanism, tmp_path / "there" / f"model{ending}")
        again = mbssa.load(tmp_path / "there" / f"model{ending}")
        (given,) = (again.joints[0].geometry.function,)
        assert UserFunction(given, 1, True).resolve().function(np.full((1, 3), 3.0)) == 8.0


def test_a_joint_that_bodies_share_is_kept_as_one(tmp_path):
    text = (
        'format = 1\nspace = "planar"\nbodies = 5\n\n'
        '[[joint]]\nbodies = [1, 2]\ntype = "R"\ndriven = ["angle"]\n\n'
        '[[joint]]\nbodies = [2, 3, 4, 5]\ntype = "R"\nid = "pin"\ndriven_pairs = [[4, 5]]\n'
        "point = [0.0, 1.0]\n\n"
        '[[joint]]\nbodies = [1, 3]\ntype = "R"\n\n[[joint]]\nbodies = [1, 4]\ntype = "R"\n'
    )
    mechanism = parse_toml(text, "pin", "pin")
    assert len(mechanism.multiple_joints) == 1
    assert write_toml(mechanism) == (text.encode(), [])
    mbssa.save(mechanism, tmp_path / "pin.npz")
    same_mechanism(mechanism, mbssa.load(tmp_path / "pin.npz"))
    same_mechanism(mechanism, mbssa.from_networkx(mbssa.to_networkx(mechanism)))
    lost = mbssa.save(mechanism, tmp_path / "pin.csv")
    assert "that several bodies share 1 joint: the pairs instead" in lost
    assert topology(mbssa.load(tmp_path / "pin.csv")) == topology(mechanism)


def test_another_choice_of_pairs_is_written_as_pairs(tmp_path):
    mechanism = mbssa.from_pairs(4, [(1, 2, "R", 1), (2, 3, "R", 0), (3, 4, "R", 0)], "planar", name="chain")
    chain = dataclasses.replace(mechanism, multiple_joints=(MultipleJoint((1, 2, 3), (1, 2)),))
    lost = mbssa.save(chain, tmp_path / "chain.toml")
    assert lost == ["that bodies 2, 3, 4 share one joint: its pairs instead"]
    same_mechanism(chain, mbssa.load(tmp_path / "chain.toml"), except_for=["multiple_joints"])
    assert mbssa.save(chain, tmp_path / "chain.npz") == []
    same_mechanism(chain, mbssa.load(tmp_path / "chain.npz"))


@pytest.mark.parametrize("value", [None, object(), "\ud800"])
def test_values_that_no_file_can_hold_are_refused(value):
    mechanism = mbssa.from_pairs(2, [(1, 2, "R", 1)], "planar")
    odd = dataclasses.replace(mechanism, body_geometry={1: mbssa.BodyGeometry(visual={"mesh": value})})
    with pytest.raises(mbssa.ModelError, match="cannot be written as TOML"):
        write_toml(odd)
    if value is not None:
        with pytest.raises(mbssa.ModelError, match=r"cannot be written as \.npz"):
            write_npz(odd)
