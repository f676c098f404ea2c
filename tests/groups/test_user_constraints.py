"""Mechanisms with users' functions: solved as by formula, however the function comes, and faults by name."""

import pickle
import threading

import networkx as nx
import numpy as np
import pytest
from refusals import refused

import groups
import mbssa
from groups.partitioning.cutting import cut_open, linearised
from mbssa.io.models import rope_hoist
from mbssa.joints.frames import joint_frames
from mbssa.trust import VARIABLE

CRANK, ROD = 0.1, 0.3


@pytest.fixture(autouse=True)
def _functions_of_files_are_trusted(monkeypatch):
    monkeypatch.setenv(VARIABLE, "1")


MODEL = """
format = 1
space = "planar"

[[body]]
name = "crank"
origin = [0.1, 0.0]

[[body]]
name = "ram"
origin = [0.4, 0.0]

[[joint]]
bodies = ["frame", "crank"]
type = "R"
driven = ["angle"]
point = [0.0, 0.0]

[[joint]]
bodies = ["frame", "ram"]
type = "P"
point = [0.4, 0.0]
axis = [1.0, 0.0]

[[joint]]
bodies = ["crank", "ram"]
id = "rod"
type = "USER"
FUNCTION

[motion]
steps = 41

[motion.inputs]
"1-2.angle" = { law = "speed", rate = 6.283185307179586 }
"""

FILE = """
import numpy as np

def rod(q):
    return np.sqrt((q[1, 0] - q[0, 0]) ** 2 + (q[1, 1] - q[0, 1]) ** 2) - 0.3

def real(q):
    return np.hypot(q[1, 0] - q[0, 0], q[1, 1] - q[0, 1]) - 0.3

def slope(q):
    along = (q[1] - q[0]) * np.array([1.0, 1.0, 0.0])
    along = along / np.sqrt(np.sum(along**2))
    return np.stack((-along, along))

def twice(q):
    return 2 * slope(q)

def raises(q):
    raise RuntimeError("no idea")

def third(q):
    return q[2, 0] - q[0, 0]

def two(p, R):
    return p[0, 0]

def late(q):
    if q[0, 0].real < 0.05:
        raise RuntimeError("behind the wall")
    return rod(q)

def gap(q):
    return rod(q) + (0.0 if q[0, 0].real > 0.05 else np.nan)
"""


def rod(q):
    return np.sqrt((q[1, 0] - q[0, 0]) ** 2 + (q[1, 1] - q[0, 1]) ** 2) - ROD


@pytest.fixture
def slider(tmp_path):
    """A slider-crank whose rod is a function, by what the file says of it and by what Python gives."""
    (tmp_path / "rods.py").write_text(FILE)

    def load(said="", **given):
        path = tmp_path / "slider.toml"
        path.write_text(MODEL.replace("FUNCTION", said))
        return mbssa.load(path, **given)

    return load


def solved(mechanism, **chosen):
    return groups.build(mbssa.decompose(mechanism)).solve(**chosen)


def assert_slides(trajectory):
    """x = r cos + sqrt(l² - r² sin²), and its derivatives at a constant speed."""
    assert trajectory.ok, trajectory.faults()
    turned, w = 2 * np.pi * trajectory.time, 2 * np.pi
    s, c = CRANK * np.sin(turned), CRANK * np.cos(turned)
    across = np.sqrt(ROD**2 - s**2)
    found = trajectory.body("ram")
    for level, wanted in (
        (found.position, c + across),
        (found.velocity, w * (-s - s * c / across)),
        (found.acceleration, w**2 * (-c - (c**2 - s**2) / across - (s * c) ** 2 / across**3)),
    ):
        assert np.abs(level[:, 0] - wanted).max() < 1e-11 * np.abs(wanted).max()


def test_a_file_a_derivative_and_python_say_the_same(slider):
    assert_slides(solved(slider('function = "rods.py:rod"\nunit = "m"')))
    assert_slides(solved(slider('function = "rods.py:real"\nderivative = "rods.py:slope"\nunit = "m"')))
    assert_slides(solved(slider(functions={"rod": rod})))


def test_closures_go_to_other_processes_and_what_cannot_says_so(slider):
    length = ROD
    mechanism = slider(functions={"rod": lambda q: rod(q) + ROD - length})
    other = pickle.loads(pickle.dumps(mechanism))
    assert np.array_equal(solved(other).position, solved(mechanism).position)
    lock = threading.Lock()
    held = slider(functions={"rod": lambda q: rod(q) if lock else 0.0})
    with pytest.raises(ValueError, match=r"process .*threads"):
        pickle.dumps(held)


def test_an_edited_file_is_another_function(slider, tmp_path):
    said = 'function = "rods.py:rod"\nunit = "m"'
    before = solved(slider(said)).body("ram").position[0, 0]
    (tmp_path / "rods.py").write_text(FILE.replace("0.3", "0.31"))
    after = solved(slider(said)).body("ram").position[0, 0]
    assert after - before == pytest.approx(0.01, abs=1e-12)


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("raises", "joint rod: raises fails at the reference: RuntimeError: no idea"),
        ("third", "joint rod: third fails at the reference: IndexError"),
        ("two", r"rods.py:two takes \(p, R\); write def two\(q\)"),
        ("real", "real takes no complex numbers"),
        ("none", "has no none; it has rod, real"),
        ('real"\nderivative = "rods.py:twice', "twice is not the derivative of"),
    ],
)
@pytest.mark.parametrize("ask", [mbssa.check, solved])
def test_functions_that_cannot_be_used_are_bad_input(slider, ask, name, message):
    with pytest.raises(mbssa.ModelError, match=message):
        ask(slider(f'function = "rods.py:{name}"'))


def test_an_exception_on_the_way_ends_the_run_by_name(slider):
    with pytest.raises(ValueError, match=r"^joint rod: .*rods\.py:late: RuntimeError"):
        solved(slider('function = "rods.py:late"'))


def test_nan_on_the_way_is_no_answer(slider):
    trajectory = solved(slider('function = "rods.py:gap"\nunit = "m"'))
    beyond = CRANK * np.cos(2 * np.pi * trajectory.time) < 0.05 - 1e-12
    assert not trajectory.ok
    assert np.array_equal(trajectory.status[:, 1] != 0, beyond)


def test_functions_belong_to_joints_of_their_type(slider):
    with pytest.raises(mbssa.ModelError, match="2 faults") as error:
        slider(functions={"1-2": rod, "rope": rod})
    assert "functions 1-2: is a R" in str(error.value)
    with refused("value at functions rod"):
        slider(functions={"rod": 3})


def test_a_spatial_mechanism_from_a_graph():
    """A crank about an oblique axis lifts a table: the heights of a point of each are equal."""

    def level(p, R):
        return p[1, 2] - (p[0, 2] + 0.2 * R[0, 2, 0])

    graph = nx.MultiGraph()
    graph.add_edge(1, 2, type="R", driven=1, geometry={"point": [0, 0, 0], "axis": [0, 0.6, 0.8]})
    graph.add_edge(1, 3, type="P", geometry={"point": [0, 0, 0], "axis": [0, 0, 1]})
    graph.add_edge(2, 3, type="USER", geometry={"function": level, "unit": "m"})
    mechanism = mbssa.from_networkx(graph, "spatial")
    trajectory = groups.build(mbssa.decompose(mechanism)).solve(groups.constant_speed(mechanism, steps=21))
    assert trajectory.ok, trajectory.faults()
    crank, table = trajectory.body(2), trajectory.body(3)
    tip = crank.rotation @ [0.2, 0.0, 0.0]
    w = crank.velocity[:, 3:]
    np.testing.assert_allclose(table.position[:, 2], tip[:, 2], atol=1e-13)
    np.testing.assert_allclose(table.velocity[:, 2], np.cross(w, tip)[:, 2], atol=1e-12)
    np.testing.assert_allclose(table.acceleration[:, 2], np.cross(w, np.cross(w, tip))[:, 2], atol=1e-11)


@pytest.mark.parametrize("group", [1, 2, 3])
def test_any_group_beside_the_rope_by_the_global_approach(group):
    structure = mbssa.decompose(mbssa.load("rope_hoist"))
    by_groups = groups.build(structure).solve()
    mixed = groups.build(structure, {group: "global dense"}).solve()
    assert mixed.ok, mixed.faults()
    np.testing.assert_allclose(mixed.acceleration, by_groups.acceleration, atol=1e-11)


def test_the_rope_is_a_row_of_the_cut_jacobian():
    hoist = mbssa.load("rope_hoist")
    frames = joint_frames(hoist)
    opened = cut_open(hoist, frames)
    assert opened.equations == ("rope: function",)
    row = linearised(opened, frames.reference[None])[1][0, 0]
    # The rope runs as 4 to 5: way = cos(phi) x' - y' + R theta'; lengths in sizes.
    wanted = {"1-2.slide": 0.8, "2-4.slide": -1.0, "1-3.angle": rope_hoist.DRUM / frames.size}
    np.testing.assert_allclose(row, [wanted[name] for name in opened.coordinates], atol=1e-14)
