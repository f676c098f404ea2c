"""Today's answers are those of the golden record."""

import pytest
from entries import FAMILY, KINDS, names, subjects
from failures import FAILURES, SLOW_FAILURES
from record import RECORD, check, check_globally
from storage import read_packed


def differing(runs):
    """Entries that differ, with their differences; at least one entry was checked."""
    found = dict(runs)
    assert found
    return {name: lines for name, lines in found.items() if lines}


@pytest.mark.parametrize("kind", [kind for kind in KINDS if kind != "simulation by penalty"])
def test_answers_are_as_recorded(kind):
    assert differing(check(f"{kind} of ", slow=False)) == {}


@pytest.mark.slow
@pytest.mark.parametrize("kind", [kind for kind in KINDS if kind not in ("structure", "routes")])
def test_slow_answers_are_as_recorded(kind):
    assert differing(check(f"{kind} of ", fast=False)) == {}


def test_every_mechanism_and_failure_is_recorded():
    recorded = read_packed(RECORD).keys()
    assert {f"structure of {name}" for name in (*subjects(), *FAMILY)} <= recorded
    assert {name.removeprefix("failure of ") for name in recorded if name.startswith("failure of ")} == {
        *FAILURES,
        *SLOW_FAILURES,
    }


@pytest.mark.slow
def test_the_record_has_all_entries_and_no_more():
    assert set(read_packed(RECORD)) == set(names())


@pytest.mark.slow
def test_default_motions_are_those_of_the_global_approach():
    assert differing(check_globally()) == {}


def test_a_difference_names_quantity_body_and_instant():
    import numpy as np
    from storage import Array, Entry, differences

    axes = ("time", "body", "component")
    labels = {"body": ["frame", "crank"], "time": ["0 s", "0.5 s", "1 s"]}
    position = np.ones((3, 2, 2))
    moved = position.copy()
    moved[1, 1, 0] += 2e-9
    recorded = Entry({"groups": [{"number": 1}]}, {"position": Array(position, axes)}, labels)
    answer = Entry(
        {"groups": [{"number": 2}]}, {"position": Array(moved, axes)}, labels | {"body": ["frame", "rod"]}
    )
    table, label, array = differences(recorded, answer)
    assert "groups[0].number: 2 instead of 1" in table
    assert "labels.body[1]: 'rod' instead of 'crank'" in label
    for name in ("position", "time 1 (0.5 s)", "body 1 (crank)", "component 0", "2.0e-09 of the largest"):
        assert name in array


def test_what_is_written_is_read_again_and_gaps_stay_gaps(tmp_path):
    import numpy as np
    from storage import Array, Entry, differences, packed, read, write

    values = np.random.default_rng(1).normal(size=(31, 4))
    values[7:9, 2:] = np.nan
    entry = Entry(
        {"found": True},
        {"values": Array(values, ("time", "part")), "status": Array(np.eye(3, dtype=int), ("a", "b"))},
    )
    write(tmp_path / "record", {"one": packed(entry)})
    assert differences(read(tmp_path / "record")["one"], entry) == []
    for wrong in (np.nan_to_num(values), np.where(np.isnan(values), np.inf, values), values[:, :3]):
        arrays = entry.arrays | {"values": Array(wrong, ("time", "part"))}
        assert differences(read(tmp_path / "record")["one"], Entry(entry.tables, arrays))
    with pytest.raises(ValueError, match="hides"):
        packed(Entry({}, {"values": Array(np.array([1e12, 1.0]), ("time",))}))
