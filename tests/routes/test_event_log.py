"""The checker of event logs: it passes what is sound, and finds each thing that must not be."""

import numpy as np
import pytest
from synthetic import costs, in_chunks, layered, log_faults

from routes.event_log import EventLog
from routes.simulate import simulate

NEEDS = layered(3, 4)
BOUNDS = np.array([0, 256, 512, 700])
CALLS = tuple((group,) for group in range(12))


def events():
    """A sound run of 12 groups in 3 chunks on 3 workers, as rows start, stop, worker."""
    schedule = simulate(costs(36), *in_chunks(NEEDS, 3), 3)
    return np.stack([schedule.start + 100.0, schedule.stop + 100.0, schedule.worker], axis=1)


def faults(rows, calls=CALLS, needs=NEEDS, **options):
    return EventLog.of(rows, calls, BOUNDS).faults(needs, **options)


def test_a_sound_run_has_no_faults():
    assert faults(events()) == []
    assert log_faults(events(), *in_chunks(NEEDS, 3)) == []


def test_a_task_before_what_it_needs_is_found():
    rows = events()
    length = rows[4, 1] - rows[4, 0]
    rows[4] = 99.0 - length, 99.0, 7  # SG-5 needs SG-1 and SG-2
    found = faults(rows)
    assert len(found) == 2
    for fault, need in zip(found, ("SG-1", "SG-2"), strict=True):
        assert fault.startswith("SG-5, instants 0 to 255, began ")
        assert f"s before {need}, instants 0 to 255, had ended" in fault


def test_two_things_at_once_on_a_worker_are_found_even_if_one_lies_within_the_other():
    rows = np.array([[0.0, 10.0, 0], [1.0, 2.0, 0], [3.0, 4.0, 0], [10.0, 11.0, 0], [1.0, 2.0, 1]])
    found = log_faults(rows, np.zeros(6, dtype=int), np.zeros(0, dtype=int))
    assert found == [
        "SG-2, instants 0 to 0, began 9 s before SG-1, instants 0 to 0, had ended, both on worker 0",
        "SG-3, instants 0 to 0, began 7 s before SG-1, instants 0 to 0, had ended, both on worker 0",
    ]


def test_tasks_that_were_not_run_are_found_and_what_needs_them():
    rows = events()
    rows[0] = np.nan, np.nan, -1
    found = faults(rows)
    assert found[0] == "1 of 36 tasks were not run, the first is SG-1, instants 0 to 255,"
    # SG-5 and SG-8 need SG-1.
    assert sum("was run, but not SG-1, instants 0 to 255, which it needs" in fault for fault in found) == 2
    assert len(found) == 3


def test_a_task_that_ended_before_it_began_is_found():
    rows = events()
    rows[35, :2] = rows[35, [1, 0]]
    assert any("SG-12, instants 512 to 699, ended" in fault for fault in faults(rows))


def test_groups_of_one_call_stand_in_the_order_of_solution():
    one = np.array([[0.0, 1.0, 0]])
    bounds, needs = np.array([0, 32]), ((), (0,))
    assert EventLog.of(one, ((0, 1),), bounds).faults(needs) == []
    assert EventLog.of(one, ((1, 0),), bounds).faults(needs) == [
        "SG-2 comes before SG-1 in one call, but needs it"
    ]


def test_every_group_is_in_one_call():
    bounds = np.array([0, 32])
    rows = np.array([[0.0, 1.0, 0], [1.0, 2.0, 0]])
    assert EventLog.of(rows, ((0, 1), (1, 3)), bounds).faults(((), (), ())) == [
        "SG-2 is in 2 calls: it must be in one",
        "SG-3 is in 0 calls: it must be in one",
        "SG-4 is in a call, but there are only 3 groups",
    ]


def test_as_a_schedule_it_begins_at_its_first_start_and_leaves_out_what_was_not_run():
    rows = events()
    rows[35] = np.nan, np.nan, -1
    schedule = EventLog.of(rows, CALLS, BOUNDS).schedule(workers=4)
    assert schedule.start.min() == 0
    assert len(schedule.start) == 35
    assert schedule.idle[3] == 1
    assert schedule.makespan == pytest.approx(rows[:35, 1].max() - 100.0)


def test_a_log_of_the_wrong_size_is_refused():
    with pytest.raises(ValueError, match="35 events: write 36"):
        EventLog.of(events()[:35], CALLS, BOUNDS)
