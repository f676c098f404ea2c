"""Every format: what goes out comes back, and what cannot is said."""

import dataclasses
import math
import subprocess
import sys

import pytest
from comparison import MODELS, SHEET, groups, same_mechanism, says, topology
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from refusals import refused

import mbssa
from mbssa.io.formats import ENDINGS
from mbssa.io.npz_file import write_npz
from mbssa.io.records import from_record, to_record
from mbssa.io.schema import LAWS
from mbssa.io.sheet import parse_sheet, write_sheet
from mbssa.io.toml_file import parse_toml
from mbssa.io.toml_writer import write_toml
from mbssa.io.user_data import parse_user_data, write_user_data
from mbssa.joints.catalogue import CATALOGUE, types_of
from mbssa.motion import DefaultMotion, InputLaw
from mbssa.texts import strange

# --- built-in models ---------------------------------------------------------------------------------


def test_nothing_of_a_built_in_model_is_lost(tmp_path):
    for builtin in map(mbssa.load, MODELS):
        for ending in [".toml", ".npz"]:
            path = tmp_path / f"{builtin.name}{ending}"
            assert mbssa.save(builtin, path) == [], (ending, builtin.name)
            same_mechanism(builtin, mbssa.load(path))


def test_numbers_of_other_units_come_back_to_an_ulp(tmp_path):
    path = tmp_path / "model.toml"
    for name in ("cam_roller", "involute_teeth", "rope_hoist", "slider_crank", "fixture", "planar_four_bar"):
        mechanism = dataclasses.replace(mbssa.load(name), units=("ft", "deg"))
        mbssa.save(mechanism, path, force=True)
        again = mbssa.load(path)
        assert again.units == ("ft", "deg"), name
        one, other = to_record(mechanism), to_record(again)
        assert one == approximately(other), name
        # What came from a file of these units comes back to the bit.
        mbssa.save(again, path, force=True)
        assert to_record(mbssa.load(path)) == other, name


def approximately(value):
    if isinstance(value, dict):
        return {key: approximately(entry) for key, entry in value.items()}
    if isinstance(value, list):
        return [approximately(entry) for entry in value]
    return pytest.approx(value, rel=2.3e-16, abs=0.0) if isinstance(value, float) else value


def test_loads_of_a_file_come_back_to_the_bit_in_its_units(tmp_path):
    """Each key has the unit of its reader."""
    file = tmp_path / "given.toml"
    file.write_text(EVERY_LOAD)
    mechanism = mbssa.load(file)
    mbssa.save(mechanism, tmp_path / "saved.toml")
    same_mechanism(mechanism, mbssa.load(tmp_path / "saved.toml"), except_for=["name"])
    text = (tmp_path / "saved.toml").read_text()
    for line in EVERY_LOAD.splitlines():
        key, _, number = line.partition(" = ")
        if number.replace(".", "").isdigit() and key not in ("format", "steps"):
            assert f"{key} = {float(number)}" in text, line


EVERY_LOAD = """format = 1
space = "planar"
units = { length = "mm", angle = "deg" }
gravity = [0, -9810]

[[body]]
name = "bar"
origin = [3, 4]
orientation = 30
inertia = { mass = 2, centre = [5, 6], moment = 7.7 }
visual = { outline = [[0, 0], [1, 0], [0, 1]], mesh = "bar.stl" }

[[body]]
inertia = { mass = 2, centre = [5, 6] }

[[joint]]
bodies = ["frame", "bar"]
type = "R"
driven = true
point = [1.1, 2.2]
limits = { angle = [-30.3, 77] }
at_reference = { angle = 12 }

[[joint]]
bodies = ["frame", 3]
type = "P"
driven = true
point = [0, 0]
axis = [1, 0]
limits = { slide = [-1, 2] }

[[force]]
id = "spring"
type = "spring"
bodies = ["frame", "bar"]
points = [[0, 50], [7, 8]]
stiffness = 2.1
damping = 0.31
rest = 41.7
force = 17.3

[[force]]
id = "coil"
type = "coordinate"
coordinate = "1-2.angle"
stiffness = 5.7
damping = 0.13
rest = 37.1
force = 29.3
factor = { law = "harmonic", amplitude = 0.7, frequency = 3, phase = 47 }

[[force]]
id = "buffer"
type = "stop"
coordinate = "1-2.angle"
stiffness = 8.9
damping = 0.43

[[force]]
id = "rub"
type = "friction"
coordinate = "1-3.slide"
friction = 3.7
threshold = 0.9

[[force]]
id = "push"
type = "point"
bodies = ["bar"]
point = [9, 9]
force = [3, 4]
moment = 19.1

[[force]]
id = "road"
type = "terrain"
bodies = ["bar"]
point = [9, 9]
radius = 13.1
terrain = [[0, -100], [500, -100]]
stiffness = 6.1
damping = 0.87
friction = 0.23
threshold = 4.9

[motion]
duration = 2.0
steps = 11
[motion.inputs]
"1-2.angle" = { law = "harmonic", amplitude = 5.1, frequency = 2, phase = 33 }
"1-3.slide" = { law = "spline", times = [0, 1, 2], values = [0, 1.3, 2.7] }
"""


def test_nothing_of_a_built_in_model_is_lost_in_a_graph():
    for builtin in map(mbssa.load, MODELS):
        same_mechanism(builtin, mbssa.from_networkx(mbssa.to_networkx(builtin)))


def test_the_topology_of_a_built_in_model_is_kept_in_matrices(tmp_path):
    for builtin in map(mbssa.load, MODELS):
        for ending in [".m", ".csv"]:
            path = tmp_path / f"{builtin.name}{ending}"
            wide = [joint.id for joint in builtin.joints if len(joint.bodies) > 2]
            if wide:
                with pytest.raises(mbssa.ModelError) as caught:
                    mbssa.save(builtin, str(path))
                said = [fault.place for fault in caught.value.faults]
                assert said == [f"joint {identity}" for identity in wide], (ending, builtin.name)
                assert not path.exists(), (ending, builtin.name)
                continue
            lost = mbssa.save(builtin, str(path))
            again = mbssa.load(path)
            assert topology(again) == topology(builtin), (ending, builtin.name)
            bare = dataclasses.replace(builtin, joint_geometry={}, body_geometry={})
            assert groups(again) == groups(bare), (ending, builtin.name)
            assert (again.body_names == builtin.body_names) == (
                ending == ".csv" or builtin.body_names is None
            ), (ending, builtin.name)
            assert {"title", "source"} <= set(lost), (ending, builtin.name)
            # A second time there is nothing more to lose, but for the names that a script keeps in no form.
            assert [line for line in mbssa.save(again, path, force=True) if "MBSSA3D" not in line] == [], (
                ending,
                builtin.name,
            )


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


# --- random mechanisms -------------------------------------------------------------------------------

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
        # What names coordinates of other joints is without them here; test_couplings.py has it with them.
        alone = "couples" not in row.required
        placed = draw(geometry(row, len(bodies))) if draw(st.booleans()) and alone else {}
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
    if name == "formula":
        return InputLaw(name, {"formula": "2*sin(pi*t)", "unit": draw(POSITIVE)})
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


@pytest.mark.slow
@RANDOM
@given(mechanisms())
def test_random_mechanisms_come_back_whole(mechanism):
    data, lost = write_toml(mechanism)
    assert lost == []
    same_mechanism(mechanism, parse_toml(data.decode(), "random", "random"))
    same_mechanism(mechanism, from_record(to_record(mechanism), "random", "random"))
    same_mechanism(mechanism, mbssa.from_networkx(mbssa.to_networkx(mechanism), name="random"))


@pytest.mark.slow
@RANDOM
@given(mechanism=mechanisms())
def test_random_mechanisms_come_back_whole_from_arrays(mechanism, tmp_path_factory):
    path = tmp_path_factory.mktemp("arrays") / "random.npz"
    path.write_bytes(write_npz(mechanism)[0])
    same_mechanism(mechanism, mbssa.load(path))


@pytest.mark.slow
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
            assert [fault.place for fault in caught.value.faults] == [f"joint {each}" for each in wide[:8]]
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


# --- endings and files -------------------------------------------------------------------------------


def test_endings_are_told_and_their_case_does_not_matter(put, tmp_path):
    assert mbssa.load(put("MODEL.CSV", SHEET)).n_bodies == 4
    with refused("file"):
        mbssa.save(mbssa.load("rotor"), tmp_path / "rotor.yaml")
    with refused("file"):
        mbssa.save(mbssa.load("rotor"), tmp_path / "rotor")
    says(put("model.yaml", "x"), "'.yaml' is not a supported format", ".npz, .urdf, .sdf, .xml or .mjcf")


def test_files_that_are_not_there(tmp_path):
    for ending in ENDINGS:
        says(tmp_path / f"nowhere{ending}", "No such file")
        (tmp_path / f"folder{ending}").mkdir()
        with refused("file"):
            mbssa.load(tmp_path / f"folder{ending}")
        with pytest.raises(OSError, match="No such file") as caught:
            mbssa.save(mbssa.load("planar_four_bar"), tmp_path / "no" / f"such{ending}")
        assert caught.value.filename == str(tmp_path / "no" / f"such{ending}"), ending


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


# --- the command -------------------------------------------------------------------------------------


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


def test_convert_of_bad_input(run_mbssa, tmp_path, monkeypatch):
    for arguments, message in [
        (("rotr", "x.m"), "did you mean 'rotor'"),
        (("rotor", "x.yaml"), ".toml, .m, .csv, .npz"),
        (("rotor", "x"), "ends in none of .toml"),
        (("rotor", "no/x.m"), "no/x.m: there is no folder no"),
        (("rotor", "."), "is a folder"),
        (("rotor",), "TO"),
        ((), "FROM"),
    ]:
        monkeypatch.chdir(tmp_path)
        result = run_mbssa("convert", *arguments)
        assert (result.exit_code, result.stdout) == (2, ""), arguments
        assert message in result.stderr, arguments
        assert list(tmp_path.iterdir()) == [], arguments


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


def test_a_model_file_keeps_its_comments_and_units_in_another_one(run_mbssa, tmp_path):
    (tmp_path / "a.toml").write_text(
        '# a crank\nformat = 1\nspace = "planar"\nbodies = 2\n[units]\nlength = "mm"\n'
        '[[joint]]  # its pivot\nbodies = [1, 2]\ntype = "R"\npoint = [10, 0]\n'
    )
    for source in (str(tmp_path / "a.toml"), "theo_jansen"):
        assert run_mbssa("convert", source, str(tmp_path / "b.toml"), "--force").exit_code == 0
        written = (tmp_path / "b.toml").read_text()
        assert written.count("#") > 1
        same_mechanism(mbssa.load(source), mbssa.load(tmp_path / "b.toml"), except_for=("name", "source"))
