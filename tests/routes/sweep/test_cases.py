"""Cases are the same whichever way they are asked for, and what is wrong with them is said all at once."""

import itertools

import numpy as np
import pytest
from scipy.stats import norm

from routes.sweep import grid, sample, table
from routes.sweep.asked import cases_asked, limits_asked

RANGES = {"a": (0.0, 1.0), "b": (-2.0, 3.0), "c": norm(1.0, 0.1)}


def test_a_grid_is_the_product_of_its_values():
    axes = {"a": [1.0, 2.0], "b": [3.0, 4.0, 5.0], "c": [6.0]}
    assert grid(axes).values().tolist() == [list(row) for row in itertools.product(*axes.values())]


@pytest.mark.parametrize("method", ["sobol", "halton", "latin"])
def test_any_span_of_a_sample_is_that_of_the_whole(method):
    cases = sample(RANGES, 1000, method, seed=3)
    whole = cases.values()
    assert whole.shape == (1000, 3)
    for start, stop in ((0, 1), (1, 7), (333, 999), (999, 1000)):
        assert np.array_equal(cases.values(start, stop), whole[start:stop])
    assert np.array_equal(sample(RANGES, 1000, method, seed=3).values(), whole)
    assert not np.array_equal(sample(RANGES, 1000, method, seed=4).values(), whole)


@pytest.mark.parametrize("method", ["sobol", "halton", "latin"])
def test_a_sample_has_the_ranges_and_the_distributions_asked_for(method):
    a, b, c = sample(RANGES, 4096, method).values().T
    assert a.min() >= 0.0
    assert a.max() <= 1.0
    assert abs(a.mean() - 0.5) < 0.01
    assert b.min() >= -2.0
    assert b.max() <= 3.0
    assert abs(np.corrcoef(a, b)[0, 1]) < 0.05
    assert np.isfinite(c).all()
    assert abs(c.mean() - 1.0) < 0.002
    assert abs(c.std() - 0.1) < 0.002


def test_a_table_comes_from_columns_or_from_a_file(tmp_path):
    path = tmp_path / "cases.csv"
    path.write_text("1-2.angle, mode 2\n0.5,1\n\n1e-3,2\n")
    columns = {"1-2.angle": [0.5, 1e-3], "mode 2": [1, 2]}
    assert table(path).values().tolist() == table(columns).values().tolist() == [[0.5, 1.0], [1e-3, 2.0]]
    assert dict(table(path).definition) == dict(table(columns).definition)
    assert table({"1-2.angle": [0.5, 2e-3], "mode 2": [1, 2]}).definition != table(columns).definition


@pytest.mark.parametrize(
    ("make", "faults"),
    [
        (lambda: grid({}), ["at least one name"]),
        (lambda: grid({"a": [], "b": [1, np.nan], "c": ["x"]}), ["a: ", "b: value 2", "c: values are no"]),
        (lambda: sample({"a": (1, 0), "b": 3}, 0, "random"), ["0 cases", "no method", "a: from", "b: 3"]),
        (lambda: table({"a": [1, 2], "b": [1]}), ["one length, not a 2, b 1"]),
        (lambda: cases_asked([], [], None, None, "sobol", 0), ["write one of --grid"]),
        (
            lambda: cases_asked(["a"], ["b=1:2"], None, None, "sobol", 0),
            ["--grid and --sample", "--number N", "--grid a:"],
        ),
        (lambda: cases_asked([], ["b=1"], None, 5, "sobol", 0), ["NAME=LOW:HIGH"]),
        (lambda: limits_asked(["a=1", "b=1:2", "c"]), ["--limit a=1:", "--limit c:"]),
    ],
)  # fmt: skip
def test_all_faults_are_said_at_once(make, faults):
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


def test_ranges_of_the_command_line():
    cases = cases_asked([], ["a=-0.5:0.5", "b=normal:0:0.001"], None, 64, "halton", 7)
    assert cases.definition["ranges"] == {"a": [-0.5, 0.5], "b": "norm(0.0, 0.001)"}
    even = cases_asked(["a=0:0.3:4"], [], None, None, "sobol", 0)
    assert even.values().ravel().tolist() == [0.0, 0.1, 0.2, 0.3]
