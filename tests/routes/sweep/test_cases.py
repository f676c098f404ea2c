"""Cases are the same whichever way they are asked for, and what is wrong with them is said all at once."""

import itertools
import math
from dataclasses import replace

import numpy as np
import pytest
from scipy.stats import gamma, norm, qmc, rv_histogram

import groups
import mbssa
from routes.cli.sweep_cases import read_cases, read_limits
from routes.sweep import grid, sample, table
from routes.sweep.run import prepare

MODEL = groups.build(mbssa.decompose(mbssa.load("planar_four_bar")))
MM_DEG = groups.build(mbssa.decompose(replace(MODEL.mechanism, units=("mm", "deg"))))


PENDULUM = """
format = 1
space = "planar"
units = { length = "mm", angle = "deg" }
[[body]]
inertia = { mass = 1, centre = [50, 0], moment = 5 }
[[joint]]
bodies = [1, 2]
type = "R"
driven = ["angle"]
point = [0, 0]
[[force]]
id = "strut"
type = "spring"
bodies = [1, 2]
points = [[0, 90], [50, 0]]
stiffness = 2
[[force]]
id = "coil"
type = "coordinate"
coordinate = "1-2.angle"
stiffness = 3
damping = 4
"""


def read(grids, samples, number=None, model=MODEL, method="sobol", seed=0):
    return read_cases(model, grids, samples, None, number, method, seed)


RANGES = {"a": (0.0, 1.0), "b": (-2.0, 3.0), "c": norm(1.0, 0.1)}


def test_a_grid_is_the_product_of_its_values():
    axes = {"a": [1.0, 2.0], "b": [3.0, 4.0, 5.0], "c": [6.0]}
    assert grid(axes).values().tolist() == [list(row) for row in itertools.product(*axes.values())]


def test_any_span_of_a_sample_is_that_of_the_whole():
    for method in ["sobol", "halton", "latin"]:
        cases = sample(RANGES, 1000, method, seed=3)
        whole = cases.values()
        assert whole.shape == (1000, 3), method
        for start, stop in ((0, 1), (1, 7), (333, 999), (999, 1000)):
            assert np.array_equal(cases.values(start, stop), whole[start:stop]), method
        assert np.array_equal(sample(RANGES, 1000, method, seed=3).values(), whole), method
        assert not np.array_equal(sample(RANGES, 1000, method, seed=4).values(), whole), method


def test_a_sample_has_the_ranges_and_the_distributions_asked_for():
    for method in ["sobol", "halton", "latin"]:
        a, b, c = sample(RANGES, 4096, method).values().T
        assert a.min() >= 0.0, method
        assert a.max() <= 1.0, method
        assert abs(a.mean() - 0.5) < 0.01, method
        assert b.min() >= -2.0, method
        assert b.max() <= 3.0, method
        assert abs(np.corrcoef(a, b)[0, 1]) < 0.05, method
        assert np.isfinite(c).all(), method
        assert abs(c.mean() - 1.0) < 0.002, method
        assert abs(c.std() - 0.1) < 0.002, method


def test_a_latin_hypercube_has_one_case_in_each_stratum():
    for number in [1, 2, 3, 5, 64, 1000, 4099]:
        unit = sample({"a": (0.0, 1.0), "b": (0.0, 1.0)}, number, "latin", seed=5).values()
        strata = np.sort(np.floor(unit * number).astype(int), axis=0)
        assert strata.T.tolist() == [list(range(number))] * 2, number
        within = unit * number % 1.0
        assert number < 1000 or np.allclose(
            np.quantile(within, [0.1, 0.5, 0.9], axis=0).T, [0.1, 0.5, 0.9], atol=0.06
        ), number


def test_a_block_of_a_latin_hypercube_is_drawn_without_the_rest():
    """As a whole this one would fill terabytes."""
    cases = sample({"a": (0.0, 1.0), "b": (0.0, 1.0)}, 10**9, "latin")
    some = cases.values(5 * 10**8, 5 * 10**8 + 1000)
    assert some.shape == (1000, 2)
    assert np.allclose(some.mean(axis=0), 0.5, atol=0.05)


@pytest.mark.parametrize("method", ["sobol", "halton"])
def test_blocks_of_a_sequence_are_drawn_on_from_one_another(monkeypatch, method):
    """Else block n costs n times the first one."""
    led = []
    forward = qmc.Sobol.fast_forward
    monkeypatch.setattr(qmc.Sobol, "fast_forward", lambda self, n: (led.append(n), forward(self, n))[1])
    cases = sample({"a": (0.0, 1.0)}, 64_000, method, seed=77)
    whole = cases.values()
    blocks = np.concatenate([cases.values(k, k + 1000) for k in range(0, 64_000, 1000)])
    assert np.array_equal(blocks, whole)
    skipped = np.concatenate([cases.values(k, k + 1000) for k in (0, 2000, 32_000, 63_000)])
    assert np.array_equal(skipped, np.concatenate([whole[k : k + 1000] for k in (0, 2000, 32_000, 63_000)]))
    assert sum(led) <= 64_000


def test_other_distributions_are_other_cases():
    def definition(given):
        return dict(sample({"a": given}, 8).definition)

    low, high = (rv_histogram((heights, [0.0, 1.0, 2.0])) for heights in ([1, 2], [2, 1]))
    again = rv_histogram(([1, 2], [0.0, 1.0, 2.0]))
    assert definition(low) == definition(again) == definition(low.freeze())
    assert definition(low) != definition(high)
    assert definition(norm(np.float64(0), 1)) == definition(norm(0.0, 1.0)) != definition(norm(0.0, 2.0))
    assert sample({"a": low}, 4096).values().mean() == pytest.approx(1.0 + 1 / 6, abs=1e-3)


def test_a_table_comes_from_columns_or_from_a_file(tmp_path):
    path = tmp_path / "cases.csv"
    path.write_text("1-2.angle, mode 2\n0.5,1\n\n1e-3,2\n")
    columns = {"1-2.angle": [0.5, 1e-3], "mode 2": [1, 2]}
    assert table(path).values().tolist() == table(columns).values().tolist() == [[0.5, 1.0], [1e-3, 2.0]]
    assert dict(table(path).definition) == dict(table(columns).definition)
    assert table({"1-2.angle": [0.5, 2e-3], "mode 2": [1, 2]}).definition != table(columns).definition


FAULTS = [
    (lambda: grid({}), ["at least one name"]),
    (lambda: grid({"a": [], "b": [1, np.nan], "c": ["x"]}), ["a: ", "b: value 2", "c: values are no"]),
    (lambda: sample({"a": (1, 0), "b": 3}, 0, "random"), ["0 cases", "no method", "a: from", "b: 3"]),
    (
        lambda: sample({"a": gamma, "b": norm(0, -1), "c": norm([0, 1], 1)}, 2**31, seed=-1),
        ["2,147,483,648 cases", "seed -1", "a: <", "with its numbers", "b: norm(0.0, -1.0)", "c: <"],
    ),
    (lambda: table({"a": [1, 2], "b": [1]}), ["one length, not a 2, b 1"]),
    (lambda: read([], []), ["write one of --grid"]),
    (
        lambda: read(["a"], ["b=1:2"]),
        ["--grid and --sample", "--number N", "--grid a:"],
    ),
    (
        lambda: read(["1-2.angle=0:1:100000000000", "mode 2=0:1:0"], []),
        ["1-2.angle=0:1:100000000000: write NAME=", "mode 2=0:1:0: write NAME=", "a million"],
    ),
    (lambda: sample({"a": norm(0.0, np.inf)}, 4), ["a: norm(0.0, inf) has quantiles"]),
    (lambda: read([], ["1-2.angle=1"], 5), ["NAME=LOW:HIGH"]),
    (lambda: read_limits(MODEL, ["a=1", "b=1:2", "c"]), ["--limit a=1:", "--limit c:"]),
]  # fmt: skip


def test_all_faults_are_said_at_once():
    for make, faults in FAULTS:
        with pytest.raises(ValueError, match=r".") as refusal:
            make()
        for fault in faults:
            assert fault in str(refusal.value)


def test_what_is_wrong_with_a_file_is_said_by_its_line(tmp_path):
    path = tmp_path / "cases.csv"
    path.write_text("a,b,a\n1,2,3\n1,x,3\n1,2\n")
    with pytest.raises(ValueError, match="a stands twice") as refusal:
        table(path)
    assert "line 3, b: 'x'" in str(refusal.value)
    assert "line 4 has 2 values" in str(refusal.value)


def test_a_file_that_is_no_text_is_named(tmp_path):
    path = tmp_path / "cases.csv"
    path.write_bytes(b"\xff\xfe1\n2\n")
    with pytest.raises(ValueError, match=r"cases\.csv is no CSV"):
        table(path)


def test_ranges_of_the_command_line():
    cases = read([], ["1-2.angle=-0.5:0.5", "2-3.point.x=normal:0:0.001"], 64, MODEL, "halton", 7)
    assert cases.definition["ranges"] == {"1-2.angle": [-0.5, 0.5], "2-3.point.x": "norm(0.0, 0.001)"}
    even = read(["1-2.angle=0:0.3:4"], [])
    assert even.values().ravel().tolist() == [0.0, 0.1, 0.2, 0.3]


def test_a_tuple_of_two_ends_and_a_number_is_a_range_as_on_the_command_line():
    options = read(["1-2.angle=0.9:1.4:50", "mode 2=1,2"], [])
    given = grid({"1-2.angle": (0.9, 1.4, 50), "mode 2": (1.0, 2.0)})
    assert given.definition == options.definition
    assert np.array_equal(given.values(), options.values())
    assert grid({"a": [0.0, 1.0, 5]}).number == 3


def test_a_tuple_that_may_be_values_or_a_range_is_refused():
    for given in [(0.0, 0.5, 1.0), (0, 1, 0), (0, 1, 10**12), (0, 1, True), (0, 1e300, 3)]:
        with pytest.raises(ValueError, match=r"a: .*write"):
            grid({"a": given})


def test_a_sweep_of_more_than_a_billion_cases_is_refused():
    with pytest.raises(ValueError, match=r"1,600,000,000 cases.* 1,000,000,000"):
        grid({"a": (0, 1, 40_000), "b": (0, 1, 40_000)})
    with pytest.raises(ValueError, match=r"a: value 2 is 1e\+200.* 1e\+09"):
        grid({"a": [0.0, 1e200]})


def test_a_number_is_in_the_units_of_the_model_or_in_its_own():
    given = ["1-2.angle=0:90:4", "2-3.point.x=5,10", "mode 2=2"]
    even = read(given, [], None, MM_DEG)
    assert even.values()[-1].tolist() == [math.radians(90), 0.01, 2.0]
    assert sorted({row[0] for row in even.values().tolist()}) == [
        k * math.radians(1) for k in (0, 30, 60, 90)
    ]
    assert read(["1-2.angle=0:90deg:4", "2-3.point.x=5mm,1cm", "mode 2=2"], []).definition == even.definition
    assert read(["1-2.angle+=-1:1:2"], [], None, MM_DEG).values()[-1, 0] == math.radians(1)
    spread = read([], ["2-3.point.x=normal:0:1", "1-2.angle=0:1rad"], 4, MM_DEG)
    assert spread.definition["ranges"] == {"2-3.point.x": "norm(0.0, 0.001)", "1-2.angle": [0.0, 1.0]}
    expected = pytest.approx((-np.pi / 6, np.pi / 6))
    assert read_limits(MODEL, ["1-2.angle=-30deg:30"])["1-2.angle"] == expected
    assert read_limits(MM_DEG, ["1-2.angle=-30:30"])["1-2.angle"] == expected
    for model in (MODEL, MM_DEG):
        with pytest.raises(ValueError, match=r"--limit 1-2.angle=1mm:2mm: .*is in (rad|deg), not in mm"):
            read_limits(model, ["1-2.angle=1mm:2mm"])
        with pytest.raises(ValueError, match=r"--grid mode 2=1mm: .*is a number, not in mm"):
            read(["mode 2=1mm"], [], None, model)


def test_numbers_of_forces_and_masses_are_in_the_units_of_the_model(tmp_path):
    """As its reader has them, which is checked against its numbers elsewhere."""
    path = tmp_path / "pendulum.toml"
    path.write_text(PENDULUM)
    model = groups.build(mbssa.decompose(mbssa.load(path)))
    given = [
        "force strut.stiffness=2",
        "force coil.stiffness=3",
        "force coil.damping=4",
        "2.inertia.moment=5",
    ]
    strut, coil = model.mechanism.forces
    moment = model.mechanism.body_geometry[1].inertia.moment
    expected = [strut.stiffness, coil.stiffness, coil.damping, moment]
    assert expected == pytest.approx([2e3, 3e-3 / math.radians(1), 4e-3 / math.radians(1), 5e-6])
    assert read(given, [], None, model).values().tolist() == [expected]
    for text in ("force strut.stiffness=2000N/m", "force strut.stiffness=2 N / mm"):
        assert read([text], [], None, model).values().tolist() == [[strut.stiffness]]


def test_columns_of_a_table_are_in_the_units_of_the_model_or_in_their_own(tmp_path):
    path = tmp_path / "cases.csv"
    path.write_text("1-2.angle [rad],2-3.point.x,mode 2\n1,1,1\n")
    cases = table(path)
    assert cases.names == ("1-2.angle", "2-3.point.x", "mode 2")
    for model, metres in ((MODEL, 1.0), (MM_DEG, 1e-3)):
        read_in = prepare(model, cases, store=tmp_path / "store").cases
        assert read_in.values().tolist() == [[1.0, metres, 1.0]]
        assert (
            read_in.definition
            == table({n: [v] for n, v in zip(cases.names, [1.0, metres, 1.0], strict=True)}).definition
        )
    path.write_text("1-2.angle [mm]\n1\n")
    with pytest.raises(ValueError, match=r"1-2.angle: is in deg, not in mm"):
        prepare(MM_DEG, table(path), store=tmp_path / "store")
    path.write_text("1-2.angle [turns]\n1\n")
    with pytest.raises(ValueError, match=r"1-2.angle has the unit 'turns'"):
        table(path)
