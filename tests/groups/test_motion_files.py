"""Motions in files: TOML and CSV, what they say, and every fault with its place."""

import re
from dataclasses import replace

import numpy as np
import pytest
from refusals import refused

import groups
import mbssa
from groups.motion.columns import header_of


@pytest.fixture
def put(tmp_path):
    def put(name, text):
        path = tmp_path / name
        path.write_bytes(text if isinstance(text, bytes) else text.encode())
        return path

    return put


@pytest.fixture
def rotor():
    return mbssa.load("rotor")


@pytest.fixture
def four_bar():
    return mbssa.load("planar_four_bar")


LAWS = """
duration = 2
steps = 5
[inputs]
"1-2.angle" = { law = "speed", rate = 180, start = 90 }
"""


@pytest.mark.parametrize(
    "text",
    [
        'units = { angle = "deg" }\n' + LAWS,
        LAWS.replace("[inputs]", '[units]\nangle = "deg"\n[inputs]'),
        'units = { angle = "deg" }\n[motion]\n' + LAWS.replace("[inputs]", "[motion.inputs]"),
        "\ufeff" + 'units = { angle = "deg" }\n' + LAWS,
    ],
    ids=["bare", "units below", "as in a model file", "byte order mark"],
)
def test_laws_in_a_file(text, put, four_bar):
    motion = groups.read_motion(four_bar, put("motion.toml", text))
    assert motion.time.tolist() == [0.0, 0.5, 1.0, 1.5, 2.0]
    assert motion.value[0] == pytest.approx(np.pi / 2 + np.pi * motion.time)
    assert motion.rate[0] == pytest.approx(np.full(5, np.pi))


def test_a_model_file_is_a_motion_file_of_its_own(tmp_path, four_bar):
    path = tmp_path / "model.toml"
    mbssa.save(four_bar, path)
    again, own = groups.read_motion(four_bar, path), groups.default_motion(four_bar)
    assert (again.value == own.value).all()


def test_steps_and_duration_instead_of_those_of_the_file(put, four_bar):
    path = put("motion.toml", LAWS)
    assert groups.read_motion(four_bar, path, steps=3, duration=1.0).time.tolist() == [0.0, 0.5, 1.0]
    with pytest.raises(ValueError, match="steps is -1"):
        groups.read_motion(four_bar, path, steps=-1)


def test_a_formula_counts_in_the_units_of_the_file(put, four_bar):
    t = np.linspace(0.0, 2.0, 5)
    wanted = groups.sample(four_bar, {"1-2.angle": "90 deg + 1 rad * sin(180 deg * t)"}, t)
    assert wanted.rate[0] == pytest.approx(np.pi * np.cos(np.pi * t))
    assert wanted.acceleration[0] == pytest.approx(-(np.pi**2) * np.sin(np.pi * t), abs=1e-12)
    for text in ("90 + 180/pi*sin(pi*t)", "90 deg + 1 rad * sin(pi*t)"):
        law = f'"1-2.angle" = {{ law = "formula", formula = "{text}" }}'
        path = put("motion.toml", 'units = { angle = "deg" }\nduration = 2\nsteps = 5\n[inputs]\n' + law)
        motion = groups.read_motion(four_bar, path)
        for level in ("value", "rate", "acceleration"):
            assert getattr(motion, level) == pytest.approx(getattr(wanted, level), abs=1e-12), text
    with pytest.raises(
        ValueError, match=r"law of 1-2.angle: is in m; write numbers without units, or in rad"
    ):
        groups.sample(four_bar, {"1-2.angle": "5 mm * t"}, t)
    with pytest.raises(ValueError, match=r"law of 1-2.angle: 1 \+ 3 deg: 1 has no unit, the other is in rad"):
        groups.sample(four_bar, {"1-2.angle": "1 + 3 deg"}, t)


BAD_LAWS = {
    "formula": (
        LAWS.replace('law = "speed", rate = 180, start = 90', 'law = "formula", formula = "2 mm * t"'),
        "1-2.angle formula: is in m; write numbers without units, or in rad",
    ),
    "unknown coordinate": (LAWS.replace("1-2", "1-3"), "1-3.angle: is not driven; did you mean '1-2.angle'"),
    "missing coordinate": (LAWS.replace("1-2", "1-3"), "1-2.angle: has no law"),
    "unknown key": ("stps = 3\n" + LAWS, "stps: unknown key; did you mean 'steps'"),
    "not finite": (LAWS.replace("180", "nan"), "1-2.angle rate: is nan"),
    "unknown law": (LAWS.replace("speed", "sped"), "1-2.angle: 'sped' is not a law"),
    "no TOML": ("duration = = 2", "TOML"),
    "other units": (LAWS.replace("[inputs]", '[units]\nangle = "turn"\n[inputs]'), "units.angle"),
    "no text": (b"\xff\xfe", "line 1: is not text"),
}


def test_bad_laws_are_told_their_place(put, four_bar):
    for case, (text, says) in BAD_LAWS.items():
        path = put("motion.toml", text)
        with pytest.raises(mbssa.ModelError) as caught:
            groups.read_motion(four_bar, path)
        assert str(path) in str(caught.value), case
        assert any(says in str(fault) for fault in caught.value.faults), (case, caught.value.faults)


def test_files_that_are_no_motion(put, tmp_path, four_bar):
    with refused("file"):
        groups.read_motion(four_bar, put("motion.txt", ""))
    for name in ("none.csv", "none.toml"):
        with refused("file"):
            groups.read_motion(four_bar, tmp_path / name)


# --- columns ---------------------------------------------------------------------------------------


def sheet(header, columns, mark=","):
    lines = [mark.join(header), *(mark.join(map(repr, row)) for row in np.transpose(columns).tolist())]
    return "\n".join(lines)


T = np.linspace(1.0, 3.0, 201)


@pytest.mark.parametrize("mark", [",", ";", "\t", ", "])
def test_columns_in_any_order_and_spelling(mark, put, rotor):
    names = groups.driven_coordinates(rotor)
    columns = [np.sin(T), T, np.cos(2 * T), 0.1 * T, -2 * np.sin(2 * T)]
    text = sheet([names[0], "time", names[1], names[2], f"{names[1]}.rate"], columns, mark)
    text = "# measured\n\n" + text.replace("\n", "\n\n# pause\n", 1) + "\n\n"
    motion = groups.read_motion(rotor, put("motion.csv", text))
    assert (motion.time == T).all()
    assert (motion.value == [np.sin(T), np.cos(2 * T), 0.1 * T]).all()
    assert (motion.rate[1] == -2 * np.sin(2 * T)).all()
    assert np.abs(motion.rate[0] - np.cos(T)).max() < 1e-9
    assert np.abs(motion.acceleration - [-np.sin(T), -4 * np.cos(2 * T), 0 * T]).max() < 1e-4


def test_columns_at_other_instants(put, four_bar):
    header = ["time", "1-2.angle", "1-2.angle.rate", "1-2.angle.acceleration"]
    path = put("motion.csv", sheet(header, [T, np.sin(T), np.cos(T), -np.sin(T)]))
    motion = groups.read_motion(four_bar, path, steps=37, duration=1.5)
    assert motion.time == pytest.approx(np.linspace(1.0, 2.5, 37))
    assert np.abs(motion.value[0] - np.sin(motion.time)).max() < 1e-11
    assert np.abs(motion.rate[0] - np.cos(motion.time)).max() < 1e-11
    assert np.abs(motion.acceleration[0] + np.sin(motion.time)).max() < 1e-11
    assert groups.read_motion(four_bar, path, duration=1.0).value.shape == (1, 201)
    assert groups.read_motion(four_bar, path, steps=1).time.tolist() == [1.0]
    with pytest.raises(ValueError, match=r"2.5 s.*2.0 s"):
        groups.read_motion(four_bar, path, duration=2.5)


def test_columns_may_have_units(put, four_bar):
    header = "time [s],1-2.angle [deg],1-2.angle.rate (deg/s),1-2.angle.acceleration"
    motion = groups.read_motion(four_bar, put("motion.csv", f"{header}\n0,90,180,2\n"))
    assert motion.value.item() == pytest.approx(np.pi / 2)
    assert motion.rate.item() == pytest.approx(np.pi)
    assert motion.acceleration.item() == 2.0


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("m.csv", "time,1-2.angle,1-2.angle.rate,1-2.angle.acceleration\n0,90,180,0\n"),
        ("m.toml", LAWS.replace("steps = 5", "steps = 1")),
        ("m.toml", '[motion.inputs]\n"1-2.angle" = { law = "speed", rate = 180, start = 90 }\n'),
    ],
)
def test_bare_numbers_are_in_the_units_of_the_model_file(name, text, put, four_bar):
    in_degrees = replace(four_bar, units=("mm", "deg"))
    for mechanism, one in ((four_bar, 1.0), (in_degrees, np.pi / 180)):
        motion = groups.read_motion(mechanism, put(name, text))
        assert (motion.value[0, 0], motion.rate[0, 0]) == pytest.approx((90 * one, 180 * one))


def test_the_header_that_is_proposed_has_units(put, four_bar):
    header = header_of(replace(four_bar, units=("mm", "deg")))
    assert header == "time [s],1-2.angle [deg]"
    rows = "".join(f"{k},{30 * k}\n" for k in range(5))
    values = groups.read_motion(four_bar, put("motion.csv", f"{header}\n{rows}")).value[0]
    assert values == pytest.approx(np.radians([0, 30, 60, 90, 120]))


def test_units_of_columns_that_do_not_fit(put, four_bar):
    path = put("motion.csv", "time [ms],1-2.angle [mm],1-2.angle.rate [deg]\n0,1,2\n")
    with pytest.raises(mbssa.ModelError) as caught:
        groups.read_motion(four_bar, path)
    assert [fault.place for fault in caught.value.faults] == ["line 1"] * 3
    for fault, named in zip(
        caught.value.faults, ("'ms'", "rad, not in mm", "rad/s, not in deg"), strict=True
    ):
        assert named in str(fault)


def test_too_few_lines_for_a_spline(put, four_bar):
    path = put("motion.csv", "time,1-2.angle\n0,0\n1,1\n2,4")
    with pytest.raises(ValueError, match="3 instants"):
        groups.read_motion(four_bar, path)
    one = put("one.csv", "time,1-2.angle,1-2.angle.rate,1-2.angle.acceleration\n0,1,2,3")
    assert groups.read_motion(four_bar, one).rate.tolist() == [[2.0]]


def test_every_fault_of_columns_comes_at_once_with_its_line(put, rotor):
    text = (
        "# a comment\ntime,9-13.angle,13-15.angel,9-13.angle\n"
        "0,1,2,1\n0.1,x,2,1\n\n0.2,1,2\n0.3,nan,1,1\n0.4,1,1,1\n0.4,1,1,1\n0.2,1,1,1\n"
    )
    path = put("motion.csv", text)
    with pytest.raises(mbssa.ModelError) as caught:
        groups.read_motion(rotor, path)
    faults = [str(fault) for fault in caught.value.faults]
    assert faults == [
        "line 2: no column '13-15.angle'",
        "line 2: no column '11-14.angle_1'",
        "line 2: column '13-15.angel' is no driven coordinate; did you mean '13-15.angle'?",
        "line 2: column '9-13.angle' stands there twice",
        "line 4 9-13.angle: 'x' is no number",
        "line 6: 3 cells; the header has 4",
        "line 7 9-13.angle: 'nan' is not finite",
        "line 9 time: 0.4 follows 0.4; write increasing times",
        "line 10 time: 0.2 follows 0.4; write increasing times",
    ]


def test_columns_of_another_table_are_one_fault(put, four_bar):
    labels = ["time", *(f"2-3.{name}" for name in ("Fx", "Fy", "Mz", "power", "driving", "status", "work"))]
    path = put("forces.csv", sheet(labels, np.ones((len(labels), 1))))
    with pytest.raises(mbssa.ModelError) as caught:
        groups.read_motion(four_bar, path)
    missing, unknown = caught.value.faults
    assert (missing.code, unknown.code, unknown.place) == ("missing", "unknown", "line 1")
    assert re.search("'2-3.Fx', .*'2-3.driving' and 2 more .*driven are 1-2.angle", unknown.message)


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("", "time [s],1-2.angle [rad]"),
        ("time,1-2.angle\n", "no instants"),
        ("1-2.angle\n0\n1\n2\n3\n4", "line 1: no column 'time'"),
        ("0,1\n1,2\n2,3", "no column 'time'"),
        (b"time,1-2.angle\n0,\x00", "line 2: "),
        ("time,1-2.angle\n0," + '"' + "1" * 200_000, "line 2"),
    ],
    ids=["empty", "header only", "no time", "no header", "binary", "endless"],
)
def test_sheets_that_are_none(text, says, put, four_bar):
    with pytest.raises(mbssa.ModelError) as caught:
        groups.read_motion(four_bar, put("motion.csv", text))
    assert any(says in str(fault) for fault in caught.value.faults), caught.value.faults


def columns(four_bar, value, rate, acceleration=None):
    name = four_bar.driven_coordinates[0]
    rates = {name: rate}
    return groups.from_arrays(four_bar, TIME, {name: value}, rates, acceleration and {name: acceleration})


TIME = np.linspace(0.0, 1.0, 101)


@pytest.mark.parametrize(
    ("value", "rate"),
    [
        (TIME**2, np.rad2deg(2 * TIME)),
        (TIME**2, -2 * TIME),
        (TIME**2, 0 * TIME),
        (np.sin(TIME), np.cos(TIME) + 1.0),
        (np.sin(6.28 * TIME), np.where(np.arange(101) == 40, 100.0, 6.28 * np.cos(6.28 * TIME))),
    ],
    ids=["degrees", "sign", "zero", "offset", "slip"],
)
def test_rates_that_contradict_the_values_are_told(four_bar, value, rate):
    """They led the solution to another branch, which came out as a lost mode."""
    with pytest.raises(ValueError, match=r"rates of 1-2.angle"):
        columns(four_bar, value, rate)


@pytest.mark.parametrize(("number", "at", "slip"), [(5, 2, 5.0), (201, 77, 9.0), (201, 100, -2.0)])
def test_one_wrong_rate_is_told_with_its_instant(four_bar, number, at, slip):
    time = np.linspace(0.0, 2.0, number)
    rate = np.full(number, 1.0)
    rate[at] = slip
    with pytest.raises(ValueError, match=rf"t = {time[at]:g} s it is {slip:g}"):
        groups.from_arrays(four_bar, time, {"1-2.angle": time}, {"1-2.angle": rate})


def test_accelerations_that_contradict_the_rates_are_told(four_bar):
    name = four_bar.driven_coordinates[0]
    with pytest.raises(ValueError, match=r"accelerations of 1-2.angle"):
        groups.from_arrays(four_bar, TIME, {name: TIME**2}, {name: 2 * TIME}, {name: np.full(101, -2.0)})


def test_rates_of_laws_contradict_nothing_at_four_instants_a_turn(four_bar):
    for number, turns in ((8, 0.1), (8, 1.7), (9, 1.0), (9, 2.0), (13, 3.0), (101, 0.1), (101, 25.0)):
        contradict_nothing(four_bar, number, turns)


def contradict_nothing(four_bar, number, turns):
    name, t = four_bar.driven_coordinates[0], np.linspace(0.0, 1.0, number)
    dice = np.random.default_rng(number)
    w = 2 * np.pi * turns
    for law in (groups.harmonic(0.3, turns), groups.ramp(0.0, w, 0.3, 0.1), groups.speed(w)):
        value, rate, acceleration = law(t)
        noise = 1e-4 * np.ptp(value) * dice.standard_normal(number)
        groups.from_arrays(four_bar, t, {name: value + noise}, {name: rate}, {name: acceleration})
        groups.from_arrays(four_bar, t, {name: value.round(4)}, {name: rate.round(2)})


def test_rates_that_jump_contradict_nothing(four_bar):
    value = np.minimum(TIME, 0.5)
    columns(four_bar, value, np.where(TIME < 0.5, 1.0, 0.0))


def test_a_solved_motion_contradicts_nothing():
    """Rounding of rates that stand still is no contradiction."""
    for name, steps in (("slider_crank", 361), ("universal_shafts", 61), ("stewart_inverse", 5)):
        mechanism = mbssa.load(name)
        model = groups.build(mbssa.decompose(mechanism))
        solved = model.solve(groups.default_motion(mechanism, steps=steps), branch="checked")
        measured = {
            driven: solved.joint(driven.rpartition(".")[0])[driven.rpartition(".")[2]]
            for driven in mechanism.driven_coordinates
        }
        levels = [
            {driven: getattr(one, level) for driven, one in measured.items()}
            for level in ("value", "rate", "acceleration")
        ]
        assert groups.from_arrays(mechanism, solved.time, *levels).names == mechanism.driven_coordinates
