"""Envelopes over time of many designs."""

import numpy as np
import pytest

import mbssa
from routes.sweep import grid, sample, sweep
from routes.sweep.envelope import Envelope, packed, unpacked


def test_statistics_are_those_of_all_designs():
    generator = np.random.default_rng(1)
    values = generator.normal(5.0, 1e-3, (40, 7))
    values[3, 2] = values[:, 5] = np.nan
    found = Envelope.of(values[0])
    for part in np.array_split(values[1:], 6):
        block = Envelope.of(part[0])
        for row in part[1:]:
            block = block.joined(Envelope.of(row))
        found = found.joined(block)
    solved = [0, 1, 2, 3, 4, 6]
    assert found.number.tolist() == [40, 40, 39, 40, 40, 0, 40]
    np.testing.assert_array_equal(found.low[solved], np.nanmin(values[:, solved], axis=0))
    np.testing.assert_array_equal(found.high[solved], np.nanmax(values[:, solved], axis=0))
    np.testing.assert_allclose(found.mean[solved], np.nanmean(values[:, solved], axis=0), rtol=1e-14)
    np.testing.assert_allclose(found.deviation[solved], np.nanstd(values[:, solved], axis=0), rtol=1e-9)
    assert np.isnan(found.low[5])


def test_a_sweep_has_the_envelope_of_its_designs(tmp_path):
    bar = mbssa.load("planar_four_bar")
    cases = grid({"2-3.point.x+": np.linspace(-1e-3, 1e-3, 9)})
    found = sweep(
        bar, cases, motion="own", steps=19, record=["1-4.angle"], store=tmp_path / "a", executor="sequential",
        block=4,
    )  # fmt: skip
    time, envelopes = found.envelopes
    envelope = envelopes["1-4.angle"]
    assert len(time) == 19
    assert envelope.number.tolist() == [9] * 19
    assert envelope.low.min() == pytest.approx(found["1-4.angle.min"].min(), abs=1e-15)
    assert envelope.high.max() == pytest.approx(found["1-4.angle.max"].max(), abs=1e-15)
    # Each design by itself.
    alone = []
    for k in range(9):
        one = sweep(
            bar, grid({"2-3.point.x+": [float(np.linspace(-1e-3, 1e-3, 9)[k])]}), motion="own", steps=19,
            record=["1-4.angle"], store=tmp_path / f"{k}", executor="sequential",
        )  # fmt: skip
        (single,) = one.envelopes[1].values()
        np.testing.assert_array_equal(single.low, single.high)
        alone.append(single.low)
    np.testing.assert_array_equal(envelope.low, np.min(alone, axis=0))
    np.testing.assert_array_equal(envelope.high, np.max(alone, axis=0))
    np.testing.assert_allclose(envelope.mean, np.mean(alone, axis=0), rtol=1e-14, atol=1e-16)


def test_workers_give_the_same_envelope(tmp_path):
    bar = mbssa.load("planar_four_bar")
    rows = []
    for executor in ("sequential", "threads"):
        found = sweep(
            bar, sample({"2-3.point.x+": (-1e-3, 1e-3)}, 12), motion="own", steps=7, record=["1-4.angle"],
            store=tmp_path / executor, executor=executor, block=4,
        )  # fmt: skip
        rows.append(found.envelopes[1]["1-4.angle"])
    for name in ("number", "low", "high", "mean", "squares"):
        np.testing.assert_array_equal(getattr(rows[0], name), getattr(rows[1], name))


def test_poses_and_other_instants_have_none(tmp_path):
    bar = mbssa.load("planar_four_bar")
    found = sweep(
        bar, grid({"1-2.angle": [0.5, 1.0]}), record=["1-4.angle"], store=tmp_path, executor="sequential"
    )
    assert found.envelopes[1] == {}
    one, other = (packed(np.array([0.0, t]), {"a": Envelope.of(np.zeros(2))}) for t in (1.0, 2.0))
    assert unpacked([one, other])[1] == {}
    assert list(unpacked([one, one])[1]) == ["a"]
