"""Readers and writers of every format: what goes out comes back, and what cannot is said."""

import contextlib
import dataclasses
import io
import json
import math
import random
import subprocess
import sys
import zipfile

import networkx as nx
import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import mbssa
from mbssa.io.formats import ENDINGS, reader, writer
from mbssa.io.npz_file import write_npz
from mbssa.io.records import from_record, to_record
from mbssa.io.schema import LAWS
from mbssa.io.sheet import parse_sheet, write_sheet
from mbssa.io.toml_file import parse_toml
from mbssa.io.toml_writer import write_toml
from mbssa.io.user_data import parse_user_data, write_user_data
from mbssa.joints.catalogue import CATALOGUE, types_of
from mbssa.joints.user import user_function
from mbssa.mechanism import MultipleJoint
from mbssa.motion import DefaultMotion, InputLaw
from mbssa.texts import strange
from mbssa.trust import VARIABLE

COLUMNS = ("joint_start", "joint_body", "joint_type", "driven")
#: All but the file's ``units``, where every format is written in m and rad, and its ``folder``.
OF_THE_FILE = (*COLUMNS, "units", "folder")
RECORDS = tuple(f.name for f in dataclasses.fields(mbssa.Mechanism) if f.name not in OF_THE_FILE)


def same_mechanism(one, other, *, except_for=()):
    """Every column and record is equal; geometry to the last bit."""
    for name in COLUMNS:
        column, same = getattr(one, name), getattr(other, name)
        assert column.dtype == same.dtype, name
        np.testing.assert_array_equal(column, same, err_msg=name)
    for name in RECORDS:
        if name not in except_for:
            assert getattr(one, name) == getattr(other, name), name
            assert type(getattr(one, name)) is type(getattr(other, name)), name


def topology(mechanism):
    """Pairs with their types and numbers of driven coordinates, in no order."""
    return mechanism.space, sorted(
        (sorted(joint.bodies), joint.type.code, len(joint.driven)) for joint in mechanism.joints
    )


def groups(mechanism):
    return [(group.bodies, group.type_name) for group in mbssa.decompose(mechanism).groups]


@pytest.fixture(params=mbssa.builtin_names())
def builtin(request):
    return mbssa.load(request.param)


@pytest.fixture
def put(tmp_path):
    """A file with this content: ``put("model.m", text)``."""

    def put(name, content):
        path = tmp_path / name
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
        return path

    return put


def says(path, *parts):
    """The faults of a file, of which one has all these parts."""
    with pytest.raises(mbssa.ModelError) as caught:
        mbssa.load(path)
    assert str(path) in str(caught.value)
    faults = [str(fault) for fault in caught.value.faults]
    assert any(all(part in fault for part in parts) for fault in faults), (parts, faults)
    return faults


# --- built-in models -------------------------------------------------------------------------------


@pytest.mark.parametrize("ending", [".toml", ".npz"])
def test_nothing_of_a_built_in_model_is_lost(builtin, ending, tmp_path):
    path = tmp_path / f"{builtin.name}{ending}"
    assert mbssa.save(builtin, path) == []
    same_mechanism(builtin, mbssa.load(path))


def test_nothing_of_a_built_in_model_is_lost_in_a_graph(builtin):
    same_mechanism(builtin, mbssa.from_networkx(mbssa.to_networkx(builtin)))


@pytest.mark.parametrize("ending", [".m", ".csv"])
def test_the_topology_of_a_built_in_model_is_kept_in_matrices(builtin, ending, tmp_path):
    path = tmp_path / f"{builtin.name}{ending}"
    wide = [joint.id for joint in builtin.joints if len(joint.bodies) > 2]
    if wide:
        with pytest.raises(mbssa.ModelError) as caught:
            mbssa.save(builtin, str(path))
        said = [fault.where for fault in caught.value.faults]
        assert said == [f"joint {identity}" for identity in wide]
        assert not path.exists()
        return
    lost = mbssa.save(builtin, str(path))
    again = mbssa.load(path)
    assert topology(again) == topology(builtin)
    bare = dataclasses.replace(builtin, joint_geometry={}, body_geometry={})
    assert groups(again) == groups(bare)
    assert (again.body_names == builtin.body_names) == (ending == ".csv" or builtin.body_names is None)
    assert {"title", "source"} <= set(lost)
    # A second time there is nothing more to lose, but for the names that a script keeps in no form.
    assert [line for line in mbssa.save(again, path, force=True) if "MBSSA3D" not in line] == []


def test_a_motion_is_lost_by_name_where_no_file_can_keep_it(tmp_path):
    rotor = mbssa.load("rotor")
    for ending in (".m", ".csv"):
        assert "motion" in mbssa.save(rotor, tmp_path / f"rotor{ending}")
    others = dataclasses.replace(rotor, driven=mbssa.load("rotor_transformed").driven)
    for ending in (".toml", ".npz"):
        (lost,) = mbssa.save(others, tmp_path / f"rotor{ending}", force=True)
        assert lost.startswith(
            "motion: it moves 9-13.angle, 13-15.angle, 11-14.angle_1, driven are 1-2.slide"
        )
        assert mbssa.load(tmp_path / f"rotor{ending}").motion is None
    assert mbssa.from_networkx(mbssa.to_networkx(others)).motion is None


def test_a_family_is_saved_without_geometry(tmp_path):
    linkage = mbssa.load("assur:III-4B")
    for ending in ENDINGS:
        path = tmp_path / f"linkage{ending}"
        mbssa.save(linkage, path)
        assert groups(mbssa.load(path)) == groups(linkage)


# --- random mechanisms -----------------------------------------------------------------------------

NUMBER = st.floats(-1e3, 1e3, allow_nan=False).map(lambda v: v if abs(v) > 1e-6 else 0.0)
POSITIVE = st.floats(1e-3, 1e3)
# No lone surrogates: they are no text that a file could hold.
TEXT = st.text(st.characters(exclude_categories=["Cs"]), max_size=12).filter(lambda text: not strange(text))
NAME = TEXT.filter(lambda text: text.strip() and not text.isdigit() and text != "frame")
SCALAR = st.one_of(st.booleans(), st.integers(-(2**60), 2**60), NUMBER, TEXT)
TABLE = st.dictionaries(
    TEXT,
    st.recursive(
        SCALAR, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(TEXT, inner, max_size=2)
    ),
    max_size=3,
)


LENGTH = st.floats(0.02, 5.0)


@st.composite
def profiles(draw):
    """Cams from every source with every follower."""
    r = draw(LENGTH)
    rise, back = {"rise": r / 4, "over": 2.0, "kind": "345"}, {"return": r / 4, "over": 3.0, "kind": "4567"}
    law = [rise, {"dwell": 1.0}, back]
    over = 2 * math.pi - 6.0
    curve = draw(
        st.sampled_from(
            [
                {"circle": {"radius": r, "centre": [r / 3, 0.0]}},
                {"ellipse": {"semi_axes": [r, r / 2], "angle": draw(NUMBER)}},
                {"formula": {"r": "1 + 0.1*cos(3*s)", "unit": r}},
                {"formula": {"x": "3*cos(s)", "y": "2*sin(s)", "range": [0.0, "2*pi"]}, "title": draw(TEXT)},
                {"points": [[r, 0.0], [0.0, r / 2], [-r, 0.0], [0.0, -r]]},
                {"points": [[0.0, 0.0], [r, 0.1 * r], [2 * r, 0.0]], "closed": False},
                {"law": [*law, {"dwell": over}], "base": 3 * r, "offset": r / 9, "turns": "clockwise"},
            ]
        )
    )
    followers = [
        {"follower": "roller", "radius": r / 50},
        {"follower": "knife"},
        {"follower": "flat"},
        {"follower": {"curve": {"circle": {"radius": r / 7}}}},
    ]
    if "law" in curve:
        followers = followers[:2]
    return curve | draw(st.sampled_from(followers))


@st.composite
def geometry(draw, row, n_bodies=2):
    """Everything that a row of the catalogue may read, under the keys of a model file."""
    n = 2 if row.space == "planar" else 3
    vector = st.lists(NUMBER, min_size=n, max_size=n)
    contacts = row.contacts or 2
    tilt = draw(NUMBER)
    axes = [[1.0, tilt, 0.0][:n], [-tilt, 1.0, 0.0][:n]] * 3
    value = {
        "point": vector,
        "points": st.lists(vector, min_size=contacts, max_size=contacts, unique_by=tuple),
        "axis": st.just(axes[0]),
        "axes": st.just(axes[:contacts]),
        "pitch": NUMBER,
        "ratio": POSITIVE,
        "radius": POSITIVE,
        "length": POSITIVE,
        "offsets": st.lists(NUMBER, max_size=2),
        "profile": profiles(),
        "function": st.sampled_from(["laws:one", "package.laws:two", "/folder/laws.py:three"]),
        "derivative": st.just("laws:slope"),
        "unit": st.sampled_from(["m", "rad", "1"]),
    }
    fields = [*row.required, *(field for field in row.optional if draw(st.booleans()))]
    record = {field: draw(value[field]) for field in fields}
    if {"point", "points", "axis", "axes"} & set(fields) and not row.contacts and draw(st.booleans()):
        record = {key: record[key] for key in record if key not in ("point", "points", "axis", "axes")}
        frame = {"origin": draw(vector), "x": axes[0]} | ({"z": axes[1]} if n == 3 else {})
        record["frames"] = [frame, *({**frame, "origin": draw(vector)} for _ in range(1, n_bodies))]
    if record:
        coordinates = st.sampled_from(row.coordinates)
        limits = st.tuples(NUMBER, NUMBER).map(lambda pair: sorted(pair))
        limited = coordinates.filter(lambda name: name != "contact")  # a place without a value
        record["limits"] = draw(st.dictionaries(limited, limits, max_size=2))
        if "frames" not in record and row.relations is None:
            record["at_reference"] = draw(st.dictionaries(coordinates, NUMBER, max_size=2))
            record["at_reference"].pop("distance", None)
    return record


@st.composite
def body(draw, space, name):
    n = 2 if space == "planar" else 3
    vector = st.lists(NUMBER, min_size=n, max_size=n)
    record = {} if name is None else {"name": name}
    if draw(st.booleans()):
        record["origin"] = draw(vector)
        record["points"] = draw(st.dictionaries(TEXT, vector, max_size=2))
        record["visual"] = draw(TABLE)
        mass = st.floats(1e-6, 1e6)
        record["inertia"] = {"mass": draw(mass), "centre": draw(vector)}
        size = draw(mass)
        record["inertia"] |= (
            {"moment": size} if n == 2 else {"moments": [size] * 3, "products": [0.1 * size] * 3}
        )
    if draw(st.booleans()):
        quaternion = draw(st.lists(st.integers(-99, 99), min_size=4, max_size=4).filter(any))
        turned = [v / math.hypot(*quaternion) for v in quaternion]
        record["orientation"] = draw(NUMBER) if space == "planar" else turned
    return record


@st.composite
def shared(draw, space, n):
    """At most two joints that three or more bodies share."""
    joints = []
    for place in range(draw(st.integers(0, 2))):
        row = draw(st.sampled_from([row for row in types_of(space) if row.may_be_multiple]))
        bodies = draw(st.lists(st.integers(1, n), min_size=3, max_size=n, unique=True))
        joint = {"bodies": bodies, "type": row.code} | draw(geometry(row))
        joint.pop("at_reference", None)
        if "frames" in joint:
            joint["frames"] = [
                {**joint["frames"][0], "origin": [float(b)] * (2 if space == "planar" else 3)} for b in bodies
            ]
        if row.grade == 1 and draw(st.booleans()):
            joint["driven_pairs"] = [[bodies[-1], bodies[1]]]
        if draw(st.booleans()):
            joint["id"] = f"{draw(TEXT)} shared {place}"
        joints.append(joint)
    return joints


@st.composite
def mechanisms(draw):
    """Connected mechanisms of any types, with and without names, ids and geometry."""
    space = draw(st.sampled_from(["planar", "spatial"]))
    n = draw(st.integers(2, 6))
    ends = [(draw(st.integers(1, b - 1)), b) for b in range(2, n + 1)]
    ends += draw(
        st.lists(st.tuples(st.integers(1, n), st.integers(1, n)).filter(lambda p: p[0] != p[1]), max_size=4)
    )
    record = {"format": 1, "space": space, "title": draw(TEXT), "source": draw(TEXT)}
    record["notes"] = draw(st.lists(TEXT, max_size=2))
    if draw(st.booleans()):
        names = draw(
            st.lists(NAME | st.none(), min_size=n - 1, max_size=n - 1, unique_by=lambda x: x or object())
        )
        record["body"] = [draw(body(space, name)) for name in names]
    else:
        record["bodies"] = n
    record["joint"] = draw(shared(space, n)) if n > 2 else []
    for place, pair in enumerate(draw(st.permutations(ends))):
        row = draw(st.sampled_from(types_of(space)))
        bodies = list(draw(st.permutations(pair)))
        if row.max_bodies > 2:
            others = [body for body in range(1, n + 1) if body not in bodies]
            more = st.lists(st.sampled_from(others or [0]), max_size=row.max_bodies - 2, unique=True)
            bodies += draw(more) if others else []
        placed = draw(geometry(row, len(bodies))) if draw(st.booleans()) else {}
        can = row.drivable if set(placed) - {"limits", "at_reference"} else row.coordinates
        driven = [c for c in can if draw(st.booleans())]
        joint = {"bodies": bodies, "type": row.code, "driven": driven} | placed
        joint |= {"id": f"{draw(TEXT)} joint {place}"} if draw(st.booleans()) else {}
        record["joint"].append(joint)
    mechanism = from_record(record, "random", "random")
    if draw(st.booleans()):
        names = [f"{joint.id}.{name}" for joint in mechanism.joints for name in joint.driven]
        inputs = {name: draw(law()) for name in names}
        duration = draw(POSITIVE)
        motion = DefaultMotion(duration, draw(st.integers(1, 10**6)), inputs)
        mechanism = dataclasses.replace(mechanism, motion=motion)
    return mechanism


@st.composite
def law(draw):
    """Any law, with and without the parameters that may be missing."""
    name = draw(st.sampled_from(sorted(LAWS)))
    if name == "spline":
        inner = draw(st.lists(st.floats(1e-3, 999.0), max_size=4, unique=True))
        times = (0.0, *sorted(inner), 1000.0)
        return InputLaw(name, {"times": times, "values": tuple(draw(NUMBER) for _ in times)})
    parameters = {}
    for key, field in LAWS[name].model_fields.items():
        if key == "law" or not (field.is_required() or draw(st.booleans())):
            continue
        if key == "coefficients":
            parameters[key] = tuple(draw(st.lists(NUMBER, min_size=1, max_size=4)))
        elif key == "begin":
            parameters[key] = -draw(POSITIVE)
        else:
            parameters[key] = draw(POSITIVE)
    return InputLaw(name, parameters)


RANDOM = settings(
    derandomize=True, deadline=None, max_examples=60, suppress_health_check=list(HealthCheck), database=None
)


@RANDOM
@given(mechanisms())
def test_random_mechanisms_come_back_whole(mechanism):
    data, lost = write_toml(mechanism)
    assert lost == []
    same_mechanism(mechanism, parse_toml(data.decode(), "random", "random"))
    same_mechanism(mechanism, from_record(to_record(mechanism), "random", "random"))
    same_mechanism(mechanism, mbssa.from_networkx(mbssa.to_networkx(mechanism), name="random"))


@RANDOM
@given(mechanism=mechanisms())
def test_random_mechanisms_come_back_whole_from_arrays(mechanism, tmp_path_factory):
    path = tmp_path_factory.mktemp("arrays") / "random.npz"
    path.write_bytes(write_npz(mechanism)[0])
    same_mechanism(mechanism, mbssa.load(path))


@RANDOM
@given(mechanisms())
def test_random_mechanisms_keep_their_topology_in_matrices(mechanism):
    bodies = [sorted(joint.bodies) for joint in mechanism.joints]
    simple = len(set(map(tuple, bodies))) == len(bodies)
    wide = [joint.id for joint in mechanism.joints if len(joint.bodies) > 2]
    if wide:
        for write in (write_user_data, write_sheet):
            with pytest.raises(mbssa.ModelError) as caught:
                write(mechanism)
            assert [fault.where for fault in caught.value.faults] == [f"joint {each}" for each in wide[:8]]
        return
    for again in (
        parse_user_data(write_user_data(mechanism)[0].decode(), "random", "random"),
        parse_sheet(write_sheet(mechanism)[0].decode("utf-8-sig"), "random", "random"),
    ):
        assert again.n_driven == mechanism.n_driven
        if simple:
            assert topology(again) == topology(mechanism)


@RANDOM
@given(st.lists(st.tuples(TEXT, st.integers(0, 1)), min_size=2, max_size=5, unique_by=lambda pair: pair[0]))
def test_any_name_of_a_body_is_kept_or_named_as_lost(named):
    names = [name for name, _ in named]
    mechanism = mbssa.from_pairs(names, [(1, k, "R", k % 2) for k in range(2, len(names) + 1)], "planar")
    data, lost = write_sheet(mechanism)
    again = parse_sheet(data.decode("utf-8-sig"), "random", "random")
    kept = [again.body_name(k) == name for k, name in enumerate(names)]
    assert kept.count(False) <= len(lost)
    data, lost = write_toml(mechanism)
    again = parse_toml(data.decode(), "random", "random")
    kept = [again.body_name(k) == name for k, name in enumerate(names)]
    assert kept.count(False) <= len(lost)


# --- TOML ------------------------------------------------------------------------------------------


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
        'format = 1\nspace = "spatial"\ntitle = "A title"\nnotes = [\n    "one",\n    "two",\n]\n\n'
        '[[body]]\nname = "tube"\npoints = {tip = [0.0, 0.0, 0.25]}\n\n[[body]]\n\n'
        '[[joint]]\nbodies = ["frame", "tube"]\ntype = "C"\nid = "guide"\ndriven = ["angle"]\n'
        "point = [0.0, 0.0, 0.01]\naxis = [0.0, 0.0, 1.0]\nlimits = {slide = [-0.02, 0.02]}\n\n"
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
        with pytest.raises(mbssa.ModelError, match=r"joint mesh: joins 3 bodies.*\.toml or \.npz"):
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
        assert user_function(given, None, 1, "planar").resolve().function(np.full((1, 3), 3.0)) == 8.0


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


# --- User_Data.m -----------------------------------------------------------------------------------

#: The listing of the paper, section 3.1, with its line numbers.
PAPER = """1 global ProblemType N M KnownInputs
2 %Topological information
3 ProblemType=6 ; %Select 3 for planar and 6 for spatial mechanism
4 M={ ... ; %Extended adjacency matrix based on Type
5 '1' 'R' '2' 'P';
6 'R' '2' 'S' '2';
7 '1' 'S' '3' 'C';
8 'P' '2' 'C' '4'};
9 N=length(M) ; %Number of bodies including chassis
10 KnownInputs=[ ... ; %Known inputs matrix
11 0 1 0 0;
12 1 0 0 0;
13 0 0 0 0;
14 0 0 0 0];
"""
SCRIPT = "\n".join(line.partition(" ")[2] for line in PAPER.splitlines())
#: The same with the matrix as Eq. (6) prints it.
DASHES = SCRIPT.replace("'1'", "'-'").replace("'2'", "'–'").replace("'3'", "'-'").replace("'4'", "''")

SPELLINGS = {
    "as printed": PAPER,
    "as a file": SCRIPT,
    "with dashes": DASHES,
    "Windows": SCRIPT.replace("\n", "\r\n"),
    "double quotes and commas": SCRIPT.replace("' '", '", "')
    .replace("'", '"')
    .replace("0 1 0 0", "0,1,0, 0"),
    "curly quotes": SCRIPT.replace("' '", "’ ‘").replace("'", "‘"),
    "lines for rows": SCRIPT.replace("';", "'").replace("0;", "0"),
    "one line": " ".join(line.partition("%")[0].replace("... ;", "") for line in SCRIPT.splitlines()[2:]),
    "block comment": "%{\n'unclosed\n%}\nclear all; clc\n" + SCRIPT,
    "another order": "\n".join(SCRIPT.splitlines()[8:] + SCRIPT.splitlines()[:8]),
    "N as a number": SCRIPT.replace("length(M)", "4"),
    "no N": SCRIPT.replace("N=length(M) ;", ""),
}


@pytest.mark.parametrize("spelling", SPELLINGS)
@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "cp1252"])
def test_the_script_of_the_paper(spelling, encoding, put):
    mechanism = mbssa.load(put("User_Data.m", SPELLINGS[spelling].encode(encoding)))
    assert mechanism.name == "User_Data"
    assert topology(mechanism) == topology(mbssa.load("spatial_four_bar"))
    assert [bodies for bodies, _ in groups(mechanism)] == [(2,), (3, 4)]


def test_no_driven_coordinate_may_be_written_as_zeros(put):
    for zeros in ("zeros(N)", "zeros(4)", "zeros(4,4)", "zeros(N,N)"):
        script = SCRIPT.partition("KnownInputs=")[0] + f"KnownInputs={zeros};"
        assert mbssa.load(put("User_Data.m", script)).n_driven == 0
    says(put("User_Data.m", SCRIPT.partition("KnownInputs=")[0] + "KnownInputs=zeros(3);"), "KnownInputs")


def test_a_written_script_is_the_paper_s():
    script = write_user_data(mbssa.load("spatial_four_bar"))[0].decode().splitlines()
    assert script[1:] == [
        "global ProblemType N M KnownInputs",
        "ProblemType=6; % 3 for planar, 6 for spatial",
        "M={ ... % extended adjacency matrix",
        "'-' 'R' '-' 'P';",
        "'R' '-' 'S' '-';",
        "'-' 'S' '-' 'C';",
        "'P' '-' 'C' '-'};",
        "N=length(M); % bodies with the frame",
        "KnownInputs=[ ... % driven coordinates of each pair",
        "0 1 0 0;",
        "1 0 0 0;",
        "0 0 0 0;",
        "0 0 0 0];",
    ]


def test_what_a_script_loses_is_named():
    pairs = [(2, 1, "C", ["angle"]), (1, 2, "P", 1), (2, 3, "R", 0)]
    mechanism = mbssa.from_pairs(["frame", "tube", "rod"], pairs, "spatial")
    lost = write_user_data(mechanism)[1]
    assert lost == [
        "names of the bodies",
        "which coordinates are driven: 1-2 drives angle, a count of 1 means slide",
        "order of the joints and of their two bodies: row by row instead",
        "MBSSA3D itself does not read P+C; this package does",
    ]
    again = parse_user_data(write_user_data(mechanism)[0].decode(), "x", "x")
    assert topology(again) == topology(mechanism)


BAD_SCRIPTS = {
    "missing M": (SCRIPT.replace("M={", "% {").replace("'", "%"), "M: is missing", "M={"),
    "nothing": ("", "ProblemType: is missing", "ProblemType=6"),
    "missing inputs": (SCRIPT.partition("KnownInputs=")[0], "KnownInputs: is missing", "KnownInputs=["),
    "not square": (SCRIPT.replace(" '2';", ";"), "line 6", "3 entries", "write 4"),
    "asymmetric": (SCRIPT.replace("'R' '2' 'S'", "'P' '2' 'S'"), "line 5", "M is symmetric"),
    "unknown type": (SCRIPT.replace("'R'", "'RR'"), "line 5", "'RR' is not a joint type"),
    "planar type": (SCRIPT.replace("=6", "=3"), "line 6", "only in spatial"),
    "problem type": (SCRIPT.replace("=6", "=4"), "line 3", "3 (planar) or 6 (spatial)"),
    "no number": (SCRIPT.replace("=6", "='6'"), "line 3", "whole number"),
    "inputs not square": (SCRIPT.replace("0 1 0 0", "0 1 0"), "line 11", "3 entries; write 4"),
    "rows of inputs": (SCRIPT.replace("0 1 0 0;", ""), "line 10", "3 rows; M has 4"),
    "inputs asymmetric": (SCRIPT.replace("1 0 0 0", "0 0 0 0"), "line 11", "symmetric"),
    "too many inputs": (
        SCRIPT.replace("0 1 0 0", "0 2 0 0").replace("1 0 0 0", "2 0 0 0"),
        "line 11",
        "0 to 1",
    ),
    "half an input": (SCRIPT.replace("0 1 0 0", "0 1.5 0 0"), "line 11", "whole number"),
    "huge input": (SCRIPT.replace("0 1 0 0", f"0 {10**30} 0 0"), "KnownInputs", "whole numbers"),
    "text in inputs": (SCRIPT.replace("0 1 0 0", "0 'R' 0 0"), "line 11", "whole numbers"),
    "name in M": (SCRIPT.replace("'R' '2' 'S'", "R '2' 'S'"), "line 6", "quoted types"),
    "truncated": (SCRIPT[: SCRIPT.index("'1' 'S'")], "line 7", "M={ of line 4 is not closed"),
    "truncated in a quote": (SCRIPT[: SCRIPT.index("'1' 'S'") + 2], "line 7", "quote", "not closed"),
    "wrong N": (SCRIPT.replace("length(M)", "5"), "line 9", "N is 5; M has 4 rows"),
    "another function": (SCRIPT.replace("length(M)", "system(M)"), "line 9", "system(M) is not read"),
    "a call": ("delete('x');\n" + SCRIPT, "line 1", "'delete' is not read"),
    "a loop": ("for k=1:4\nend\n" + SCRIPT, "line 1", "'for' is not read"),
    "arithmetic": (SCRIPT.replace("=6", "=3+3"), "line 3", "semicolon"),
    "strange sign": ("!ls\n" + SCRIPT, "line 1", "read, not run"),
    "twice": (SCRIPT + "\nProblemType=3;", "line 15", "in line 3 already"),
    "no equals sign": ("M{1}='R';", "line 1", "write ="),
    "not connected": (SCRIPT.replace("'P'", "'-'").replace("'S'", "'-'"), "not connected", "3, 4"),
    "binary": (bytes(range(256)), "line 1", "is not text"),
    "binary behind text": (SCRIPT.encode() + b"\x00\x01", "line 14", "is not text"),
    "odd UTF-16": (b"\xff\xfe\x00", "line 1", "is not text"),
}


@pytest.mark.parametrize("case", BAD_SCRIPTS)
def test_a_bad_script_is_told_its_line(case, put, run_mbssa):
    text, *parts = BAD_SCRIPTS[case]
    path = put("User_Data.m", text)
    says(path, *parts)
    result = run_mbssa("decompose", str(path))
    assert (result.exit_code, result.stdout) == (2, "")
    assert "Traceback" not in result.stderr


# --- sheets ----------------------------------------------------------------------------------------

SHEET = """spatial,frame,crank,coupler,slider
frame,-,R,-,P
crank,R,-,S,-
coupler,-,S,-,C
slider,P,-,C,-

driven,frame,crank,coupler,slider
frame,0,1,0,0
crank,1,0,0,0
coupler,0,0,0,0
slider,0,0,0,0
"""
BARE = "-,R,-,P\nR,-,S,-\n-,S,-,C\nP,-,C,-\n\ndriven\n0,1,0,0\n1,0,0,0\n0,0,0,0\n0,0,0,0\n"
NUMBERED = "6,1,2,3,4\n1,1,R,2,P\n2,R,2,S,2\n3,1,S,3,C\n4,P,2,C,4\n\nKnownInputs,1,2,3,4\n1,,1\n2,1\n3,\n4,\n"
SHEETS = {
    "full": SHEET,
    "semicolons": SHEET.replace(",", ";"),
    "tabs": SHEET.replace(",", "\t"),
    "quoted": "\n".join(",".join(f'"{c}"' for c in line.split(",")) for line in SHEET.splitlines()).replace(
        '""', ""
    ),
    "separator line": "sep=;\n" + SHEET.replace(",", ";"),
    "padded": SHEET.replace("\n\n", "\n,,,,\n,,,,\n") + ",,,,\n",
    "no empty line": SHEET.replace("\n\n", "\n"),
    "empty cells": SHEET.replace("-", "").replace("0", ""),
    "blanks": SHEET.replace(",", " , "),
    "bare": BARE,
    "bare, empty cells": BARE.replace("-", "").replace("0", ""),
    "space alone": "spatial\n" + BARE,
    "space alone, padded": "Spatial,,,\n" + BARE,
    "header without labels": "1,2,3,4\n" + BARE,
    "labels without space": SHEET.replace("spatial", ""),
    "numbers": NUMBERED,
    "names above only": "spatial,frame,crank,coupler,slider\n" + BARE,
}


@pytest.mark.parametrize("spelling", SHEETS)
@pytest.mark.parametrize("encoding", ["utf-8-sig", "utf-16", "cp1252"])
def test_sheets_in_every_spelling(spelling, encoding, put):
    mechanism = mbssa.load(put("sheet.csv", SHEETS[spelling].encode(encoding)))
    assert topology(mechanism) == topology(mbssa.load("spatial_four_bar"))
    named = "crank" in SHEETS[spelling]
    assert mechanism.body_names == (("frame", "crank", "coupler", "slider") if named else None)


def test_a_written_sheet_can_be_read_by_eye():
    mechanism = mbssa.from_pairs(["frame", "Kurbel", "Stößel"], [(1, 2, "R", 1), (2, 3, "P", 0)], "planar")
    data, lost = write_sheet(mechanism)
    assert lost == []
    assert data.startswith(b"\xef\xbb\xbf")
    assert data.decode("utf-8-sig").splitlines() == [
        "planar,frame,Kurbel,Stößel",
        "frame,-,R,-",
        "Kurbel,R,-,P",
        "Stößel,-,P,-",
        "",
        "driven,frame,Kurbel,Stößel",
        "frame,0,1,0",
        "Kurbel,1,0,0",
        "Stößel,0,0,0",
    ]


def test_names_that_are_words_of_the_sheet_do_no_harm():
    names = ["frame", "driven", "planar", "R", "a;b;c;d;e;f;g;h;i;j;k", 'quo"te, comma']
    pairs = [(1, k, "R", 1) for k in range(2, 7)]
    mechanism = mbssa.from_pairs(names, pairs, "planar", name="words")
    data, lost = write_sheet(mechanism)
    assert lost == []
    same_mechanism(mechanism, parse_sheet(data.decode(), "words", "words"))


BAD_SHEETS = {
    "no space": ("-,R\nR,-\n\ndriven\n0,1\n1,0\n", "line 1", "write planar or spatial into the first cell"),
    "no inputs": (SHEET.partition("\n\n")[0], "driven", "is missing; below M, after an empty line"),
    "nothing": ("", "driven", "is missing"),
    "not square": (SHEET.replace("slider,P,-,C,-\n", ""), "line 2", "3 rows of 5 cells"),
    "inputs not square": (SHEET.replace("slider,0,0,0,0\n", ""), "line 7", "3 rows"),
    "inputs too wide": (SHEET.replace("0,1,0,0", "0,1,0,0,0,1"), "line 8", "it is square"),
    "asymmetric": (SHEET.replace("crank,R", "crank,P"), "line 2", "M is symmetric"),
    "unknown type": (SHEET.replace("R", "RR"), "line 2", "'RR' is not a joint type"),
    "unknown type, no space": (BARE.replace("S", "SS"), "line 2", "'SS' is not a joint type"),
    "planar": (SHEET.replace("spatial", "planar"), "line 3", "only in spatial"),
    "half": (SHEET.replace("0,1,0,0", "0,0.5,0,0"), "line 8", "write 0, 1"),
    "word": (SHEET.replace("0,1,0,0", "0,yes,0,0"), "line 8", "'yes' is no number"),
    "not a number": (SHEET.replace("0,1,0,0", "0,nan,0,0"), "line 8", "'nan' is no number"),
    "infinite": (SHEET.replace("0,1,0,0", "0,inf,0,0"), "line 8", "'inf' is no number"),
    "too many": (SHEET.replace("0,1,0,0", "0,2,0,0").replace("1,0,0,0", "2,0,0,0"), "line 8", "0 to 1"),
    "other labels": (SHEET.replace("\ncrank,R", "\nrocker,R"), "line 3", "'rocker', its column 'crank'"),
    "other labels below": (SHEET.replace("driven,frame,crank", "driven,frame,rocker"), "line 9", "'rocker'"),
    "repeated": (SHEET.replace("coupler", "crank"), "label 3", "'crank' is taken"),
    "no label": (SHEET.replace("coupler", ""), "label 3", "is empty"),
    "another's number": (SHEET.replace("coupler", "2"), "label 3", "another body's number"),
    "open quote": (SHEET.replace("crank,R", '"crank,R'), "no row of cells", "line"),
    "not connected": (SHEET.replace("P", "-").replace("S", "-"), "not connected", "3, 4"),
    "truncated": (SHEET[: len(SHEET) // 3], "driven", "is missing"),
    "binary": (bytes(range(256)), "line 1", "is not text"),
    "prose": ("This is no sheet.\nIt has two lines.\n", "line 1", "planar or spatial"),
}


@pytest.mark.parametrize("case", BAD_SHEETS)
def test_a_bad_sheet_is_told_its_line(case, put, run_mbssa):
    text, *parts = BAD_SHEETS[case]
    path = put("sheet.csv", text)
    says(path, *parts)
    result = run_mbssa("decompose", str(path))
    assert (result.exit_code, result.stdout) == (2, "")
    assert "Traceback" not in result.stderr


# --- graphs ----------------------------------------------------------------------------------------


def test_a_graph_made_by_hand():
    graph = nx.Graph()
    graph.add_edge("ground", "crank", type="R", driven=1)
    graph.add_edge("crank", "rod", type="R")
    graph.add_edge("rod", "slider", type="R", geometry={"point": np.array([1.0, 0.0])})
    graph.add_edge("slider", "ground", type="P")
    with pytest.raises(mbssa.ModelError, match="name them and one of them frame"):
        mbssa.from_networkx(graph, "planar")
    graph = nx.relabel_nodes(graph, {"ground": "frame"})
    mechanism = mbssa.from_networkx(graph, "planar", name="slider")
    assert mechanism.name == "slider"
    assert mechanism.body_names == ("frame", "crank", "rod", "slider")
    assert [bodies for bodies, _ in groups(mechanism)] == [(2,), (3, 4)]
    assert mechanism.joint("3-4").geometry.point == (1.0, 0.0)


def test_numbers_need_no_names_and_keys_are_ids():
    graph = nx.MultiDiGraph(space="spatial")
    graph.add_edge(1, 2, type="C", driven=["angle"])
    graph.add_edge(2, 1, key="second", type="R")
    graph.add_edge(2, 3, key="2-3", type="R", driven=True)
    mechanism = mbssa.from_networkx(graph)
    assert mechanism.body_names is None
    assert mechanism.joint_ids == ("1-2", "2-3", "second") or mechanism.joint_ids == ("1-2", "second", "2-3")
    assert dict(mechanism.joint_names) == {mechanism.joint("second").index: "second"}
    assert mechanism.joint("second").bodies == (2, 1)


def test_a_graph_shares_nothing_with_its_mechanism():
    mechanism = mbssa.load("rotor")
    graph = mbssa.to_networkx(mechanism)
    graph.nodes[9]["geometry"]["points"]["centre"][0] = 99.0
    graph.edges[1, 2, "1-2"]["geometry"]["axis"][0] = 99.0
    same_mechanism(mechanism, mbssa.load("rotor"))


def graph_of(**changes):
    graph = nx.MultiGraph(space="planar")
    graph.add_edge(1, 2, **({"type": "R", "driven": 1} | changes))
    return graph


@pytest.mark.parametrize(
    ("graph", "message"),
    [
        (graph_of(type="RR"), r"joint 1 \(1, 2\) type: 'RR' is not a joint type"),
        (graph_of(type="S"), "only in spatial"),
        (graph_of(type=3), r"joint 1 \(1, 2\) type: is 3; write a text"),
        (graph_of(drvien=1), r"edge \(1, 2\): unknown attribute 'drvien'; did you mean 'driven'"),
        (graph_of(driven=2), "write 0 to 1"),
        (graph_of(bodies=(1, 3)), "the two ends"),
        (graph_of(bodies=(1,)), "the two ends"),
        (graph_of(bodies=(1, "2")), "the two ends"),
        (graph_of(bodies=(2, 1, "x"), type="EO"), "the two ends"),
        (graph_of(bodies=(2, 1, 7), type="EO"), r"joint 1 \(2, 1, 7\) bodies: body 7 does not exist"),
        (graph_of(bodies=(2, 1, 2), type="EO"), "names a body twice"),
        (graph_of(geometry={"point": [0.0]}), r"joint 1 \(1, 2\) point: 1 numbers"),
        (graph_of(geometry={"pont": [0.0, 0.0]}), "did you mean 'point'"),
        (graph_of(geometry=[0.0]), "a dictionary"),
        (graph_of(geometry={"type": "R"}), "'type' stands beside it"),
        (nx.MultiGraph(), "space: is missing"),
        (nx.path_graph(3), "nodes: are 0, 1, 2"),
        (nx.path_graph(["frame", 2]), "nodes: are 'frame', 2"),
    ],
)
def test_bad_graphs(graph, message):
    with pytest.raises(mbssa.ModelError, match=message):
        mbssa.from_networkx(graph)


def test_an_edge_without_a_type_and_a_frame_with_geometry():
    with pytest.raises(mbssa.ModelError, match=r"joint 1 \(1, 2\) type: is missing"):
        mbssa.from_networkx(nx.Graph([(1, 2)]), "planar")
    graph = graph_of()
    graph.nodes[1]["geometry"] = {"origin": [0.0, 0.0]}
    with pytest.raises(mbssa.ModelError, match="node 1: the frame is the world"):
        mbssa.from_networkx(graph)


# --- arrays ----------------------------------------------------------------------------------------


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


BAD_ARCHIVES = {
    "missing": (archive(driven=None), "driven: is missing", "joint_start"),
    "all missing": (archive(**dict.fromkeys(["space", "format", "driven"])), "format: is missing"),
    "floats": (archive(joint_body=np.zeros(6)), "joint_body: is float64", "whole numbers"),
    "two dimensions": (archive(driven=np.zeros((3, 1), np.uint8)), "driven", "1-dimensional"),
    "wide driven": (archive(driven=np.zeros(3, np.uint16)), "driven: is uint16", "write uint8"),
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
    "unsigned beyond": (archive(joint_body=np.array([0, 1, 1, 2**64 - 1, 0, 2], np.uint64)), "joint_body"),
    "start short": (archive(joint_start=np.array([0, 2, 6])), "joint_start: has 3 entries"),
    "start falls": (archive(joint_start=np.array([0, 4, 2, 6])), "joint_start: write 0 first, 6"),
    "start empty": (archive(joint_start=np.zeros(0, int)), "joint_start"),
    "one body": (archive(joint_start=np.array([0, 1, 4, 6])), "joint 1 (1): joins 1 bodies"),
    "three bodies": (
        archive(joint_start=np.array([0, 2, 4, 6]), joint_body=np.array([0, 1, 1, 1, 0, 2])),
        "itself",
    ),
    "driven short": (archive(driven=np.zeros(2, np.uint8)), "driven: has 2 entries"),
    "driven beyond": (archive(driven=np.array([2, 0, 0], np.uint8)), "joint 1 (1, 2): driven is 2", "0 to 1"),
    "no body": (archive(n_bodies=np.int64(1)), "n_bodies"),
    "too many bodies": (archive(n_bodies=np.int64(2**62)), "n_bodies", "2 to 7 at most"),
    "not connected": (archive(n_bodies=np.int64(4)), "not connected", "4"),
    "no joint": (
        archive(
            joint_start=np.zeros(1, int), joint_body=np.zeros(0, int), joint_type=np.zeros(0, int), driven=b""
        ),
        "driven",
    ),
    "about is no JSON": (archive(about=np.frombuffer(b"{", np.uint8)), "about: is no JSON"),
    "about is a list": (archive(about=np.frombuffer(b"[]", np.uint8)), "no JSON object"),
    "about is text": (archive(about=np.array("{}")), "about: is <U2"),
    "about is deep": (archive(about=np.frombuffer(b"[" * 100_000, np.uint8)), "about: is no JSON"),
    "about unknown": (about(titel="x"), "about titel: unknown key"),
    "about title": (about(title=3), "about title: is int; write str"),
    "about notes": (about(notes=[3]), "about notes", "texts"),
    "names short": (about(body_names=["frame"]), "has 1 names; there are 3 bodies"),
    "names repeated": (about(body_names=["frame", "a", "a"]), "repeated"),
    "joint beyond": (about(joint_names={"9": "a"}), "'9' is no number; write 1 to 3"),
    "joint by word": (about(joint_names={"²": "a"}), "is no number"),
    "empty id": (about(joint_names={"1": " "}), "an id is empty"),
    "id repeated": (about(joint_names={"1": "a", "2": "a"}), "id 'a'", "unique"),
    "id is no text": (about(joint_names={"1": 5}), "is int; write str"),
    "geometry is no table": (about(joint={"1": 5}), "is int; write dict"),
    "geometry": (about(joint={"1": {"point": [0]}}), "joint 1 (1, 2) point: 1 numbers"),
    "geometry shape": (about(joint={"1": {"point": "x"}}), "point: is 'x'; write a list"),
    "geometry key": (about(joint={"2": {"pont": [0, 0]}}), "did you mean 'point'"),
    "geometry nan": (about(joint={"1": {"point": [float("nan"), 0]}}), "point[1]", "finite"),
    "body geometry": (about(body={"2": {"origin": [0]}}), "origin: 1 numbers"),
    "motion is no table": (about(motion=5), "about motion: is int; write dict"),
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


@pytest.mark.parametrize("case", BAD_ARCHIVES)
def test_a_bad_archive_is_told_its_array(case, put, run_mbssa):
    data, *parts = BAD_ARCHIVES[case]
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


@pytest.mark.parametrize("ending", ENDINGS)
def test_cut_off_and_damaged_files_raise_nothing_else(ending, put):
    data = writer(ending)(mbssa.load("planar_four_bar"))[0]
    dice = random.Random(ending)
    spoilt = [data[: dice.randrange(len(data))] for _ in range(40)]
    for _ in range(120):
        wrong = bytearray(data)
        for _ in range(dice.choice([1, 1, 3, 20])):
            wrong[dice.randrange(len(data))] = dice.randrange(256)
        spoilt.append(bytes(wrong))
    read = reader(ending)
    for one in spoilt:
        path = put(f"spoilt{ending}", one)
        with contextlib.suppress(mbssa.ModelError):
            read(path)


def test_a_million_joints_as_arrays(tmp_path):
    """Columns go in and out as they are: this is a matter of a second, not of minutes."""
    crank = 2 + 2 * np.arange(300_000)
    i = np.stack([np.ones_like(crank), crank, crank + 1], axis=1).ravel()
    j = np.stack([crank, crank + 1, np.ones_like(crank)], axis=1).ravel()
    mechanism = mbssa.from_pairs(600_001, (i, j, "R", np.zeros_like(i)), "planar", name="large")
    assert mbssa.save(mechanism, tmp_path / "large.npz") == []
    same_mechanism(mechanism, mbssa.load(tmp_path / "large.npz"))
    with pytest.raises(mbssa.ModelError, match=r"more than 20 MB of TOML; write \.npz"):
        write_toml(mechanism)
    for ending in (".m", ".csv"):
        with pytest.raises(mbssa.ModelError, match=r"600001 bodies.*\.npz"):
            writer(ending)(mechanism)


# --- endings and files -----------------------------------------------------------------------------


def test_endings_are_told_and_their_case_does_not_matter(put, tmp_path):
    assert mbssa.load(put("MODEL.CSV", SHEET)).n_bodies == 4
    with pytest.raises(
        mbssa.ModelError,
        match=r"'\.yaml' is not a supported format; model files end in \.toml, \.m, \.csv, \.npz, \.urdf",
    ):
        mbssa.save(mbssa.load("rotor"), tmp_path / "rotor.yaml")
    with pytest.raises(mbssa.ModelError, match=r"has no ending"):
        mbssa.save(mbssa.load("rotor"), tmp_path / "rotor")
    says(put("model.yaml", "x"), "'.yaml' is not a supported format", ".npz, .urdf, .sdf, .xml or .mjcf")


@pytest.mark.parametrize("ending", ENDINGS)
def test_files_that_are_not_there(ending, tmp_path):
    says(tmp_path / f"nowhere{ending}", "No such file")
    (tmp_path / f"folder{ending}").mkdir()
    with pytest.raises(mbssa.ModelError, match="folder"):
        mbssa.load(tmp_path / f"folder{ending}")
    with pytest.raises(OSError, match="No such file") as caught:
        mbssa.save(mbssa.load("planar_four_bar"), tmp_path / "no" / f"such{ending}")
    assert caught.value.filename == str(tmp_path / "no" / f"such{ending}")


def test_a_large_text_is_sent_to_arrays(put):
    for ending in (".m", ".csv"):
        says(put(f"large{ending}", b" " * 20_000_001), "20 MB", ".npz")


def test_a_link_is_followed_and_a_failed_writing_leaves_the_file(tmp_path, put):
    path = put("model.csv", SHEET)
    link = tmp_path / "link.csv"
    link.symlink_to(path)
    mbssa.save(mbssa.load("planar_four_bar"), link, force=True)
    assert link.is_symlink()
    assert mbssa.load(path).space == "planar"
    before = path.read_bytes()
    wide = mbssa.from_pairs(1001, [(1, k, "R", 0) for k in range(2, 1002)], "planar")
    with pytest.raises(mbssa.ModelError):
        mbssa.save(wide, path, force=True)
    assert path.read_bytes() == before
    assert sorted(entry.name for entry in tmp_path.iterdir()) == ["link.csv", "model.csv"]


# --- the command -----------------------------------------------------------------------------------


def test_convert_there_and_back(run_mbssa, tmp_path):
    toml, script = tmp_path / "rotor.toml", tmp_path / "rotor.m"
    result = run_mbssa("convert", "rotor", str(toml))
    assert (result.exit_code, result.stdout, result.stderr) == (0, "", "")
    same_mechanism(mbssa.load("rotor"), mbssa.load(toml))
    result = run_mbssa("convert", str(toml), str(script))
    assert (result.exit_code, result.stdout) == (0, "")
    assert result.stderr.splitlines() == [
        f"{script} does not keep:",
        "  names of the bodies",
        "  title",
        "  source",
        "  7 notes",
        "  geometry of 21 joints",
        "  geometry of 4 bodies",
        "  motion",
        "  order of the joints and of their two bodies: row by row instead",
    ]
    assert "7 structural groups" in run_mbssa("decompose", str(script)).stdout


def test_convert_replaces_only_what_it_may(run_mbssa, put):
    path = put("model.csv", "mine")
    result = run_mbssa("convert", "rotor", str(path))
    assert result.exit_code == 2
    assert result.stderr == f"error: TO {path}: exists; write --force to replace it\n"
    assert path.read_text() == "mine"
    assert run_mbssa("convert", "rotor", str(path), "--force").exit_code == 0
    assert mbssa.load(path).n_bodies == 16
    assert run_mbssa("convert", str(path), str(path), "--force").exit_code == 2
    assert mbssa.load(path).n_bodies == 16


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("rotr", "x.m"), "did you mean rotor"),
        (("rotor", "x.yaml"), ".toml, .m, .csv, .npz"),
        (("rotor", "x"), "ends in none of .toml"),
        (("rotor", "no/x.m"), "no/x.m: there is no folder no"),
        (("rotor", "."), "is a folder"),
        (("rotor",), "TO"),
        ((), "FROM"),
    ],
)
def test_convert_of_bad_input(arguments, message, run_mbssa, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    result = run_mbssa("convert", *arguments)
    assert (result.exit_code, result.stdout) == (2, "")
    assert message in result.stderr
    assert list(tmp_path.iterdir()) == []


def test_the_help_of_convert_has_an_example(run_mbssa):
    result = run_mbssa("convert", "--help")
    assert result.exit_code == 0
    assert "Example: mbssa convert stewart stewart.urdf" in result.stdout


def test_what_decompose_does_not_need_is_not_imported():
    script = (
        "import sys, mbssa; mbssa.decompose(mbssa.load('rotor'))\n"
        "print([name for name in ('tomlkit', 'networkx', 'csv', 'zipfile') if name in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert "tomlkit" not in done.stdout
    assert "networkx" not in done.stdout


def test_every_row_of_the_catalogue_goes_through_every_format(tmp_path):
    for row in CATALOGUE:
        mechanism = mbssa.from_pairs(2, [(1, 2, row.code, row.grade)], row.space, name="pair")
        for ending in ENDINGS:
            mbssa.save(mechanism, tmp_path / f"pair{ending}", force=True)
            same_mechanism(mechanism, mbssa.load(tmp_path / f"pair{ending}"))
        same_mechanism(mechanism, mbssa.from_networkx(mbssa.to_networkx(mechanism)))
