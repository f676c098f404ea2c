"""A simulation whose energy is off balance has failed, and says from which instant on."""

import re

import numpy as np
from dense_forces import with_masses

import groups
import mbssa
from groups.dynamics.forward.equations import Equations
from groups.dynamics.forward.running import _balanced
from groups.dynamics.forward.trees import Trees

SLIDER = """
format = 1
space = "planar"
gravity = [0.0, -9.81]
body = [
  { name = "crank", inertia = { mass = 1.0, centre = [0.4, 0.3], moment = 0.08 } },
  { name = "rod", inertia = { mass = 1.0, centre = [1.2, 0.3], moment = 0.08 } },
  { name = "slider", inertia = { mass = 0.5, centre = [1.6, 0.0] } },
]
joint = [
  { id = "A", bodies = ["frame", "crank"], type = "R", point = [0.0, 0.0], driven = true, \
at_reference = { angle = 0.6435011087932844 } },
  { bodies = ["crank", "rod"], type = "R", point = [0.8, 0.6] },
  { bodies = ["rod", "slider"], type = "R", point = [1.6, 0.0] },
  { id = "P", bodies = ["frame", "slider"], type = "P", point = [1.6, 0.0], axis = [1.0, 0.0] },
]
"""


PENDULUM = """
format = 1
space = "planar"
gravity = [0.0, -9.81]
body = [{ name = "arm", inertia = { mass = 1.0, centre = [1.0, 0.0] } }]
joint = [{ bodies = ["frame", "arm"], type = "R", point = [0.0, 0.0], driven = true }]
"""


def _fault(kinetic, gravity, tolerance=1e-8):
    return _balanced(100, tolerance, np.zeros(3), kinetic, gravity, np.zeros(3))[1]


def test_the_bound_is_one_per_cent_of_the_exchange_or_the_tolerance():
    fall = np.array([0.0, 9.0, 10.0])
    assert not _fault(fall * 1.009, -fall)
    assert _fault(fall * [1.0, 1.05, 1.02], -fall)[0] == 1
    assert not _fault(fall * 1.02, -fall, tolerance=3e-4)  # explains 6 %: 100 steps
    assert _fault(fall * 1.09, -fall, tolerance=0.3)  # which would explain 60 times the exchange
    assert _fault(fall * 1.02, -fall, tolerance=0.3)
    assert not _fault(np.array([2.0, 2.0 + 1e-13, 2.0 - 1e-13]), np.zeros(3))  # at speed, no exchange
    assert not _fault(np.zeros(3), np.array([7.0, 7.0, 7.0 + 1e-15]))  # at rest
    assert _fault(np.array([2.0, 2.0, 1.9]), np.zeros(3))
    assert _fault(np.array([2.0, np.nan, 2.0]), np.zeros(3))


def test_a_run_is_not_finished_with_its_energy_off(monkeypatch):
    # The weight that the balance counts is a tenth too large; the motion is as before.
    pendulum = mbssa.Builder("planar").body("arm", inertia={"mass": 1.0, "centre": (0.0, -1.0)})
    pendulum = pendulum.gravity(0.0, -9.81).revolute("frame", "arm", point=(0, 0), driven=True).build()
    run = {"duration": 0.5, "steps": 6, "initial": {"1-2.angle": 0.5}, "compiled": False}
    assert groups.simulate(pendulum, **run).ok
    sound = Equations.measured

    def heavier(*given):
        found = sound(*given)
        kinetic, gravity, stored = found.energies
        return found._replace(energies=(kinetic, 1.1 * gravity, stored))

    monkeypatch.setattr(Equations, "measured", heavier)
    found = groups.simulate(pendulum, **run)
    assert not found.ok
    text = r"failed: t = 0\.2 s: arm \(1R2D\): the balance of energy is off by .* J .*at 1-2.angle = 0\.4"
    assert re.match(text, found.status)
    assert len(found.time) == 6  # what was computed is kept
    assert "balance" in groups.simulate(pendulum, progress=lambda share: share < 0.5, **run).notes[-1]


def test_a_coarse_tolerance_does_not_excuse_a_wrong_run():
    """Of a pendulum let go at the level: the speed at the bottom is √(2 m g l / J) by its energy."""
    arm = mbssa.Builder("planar").body("arm", inertia={"mass": 1.0, "centre": (1.0, 0.0)})
    arm = arm.gravity(0.0, -9.81).revolute("frame", "arm", point=(0, 0), driven=True).build()
    bottom = groups.Event("bottom", "1-2.angle", -np.pi / 2)
    for tolerance in (1e-8, 1e-5, 1e-3, 1e-2, 0.1, 0.3, 0.9):
        found = groups.simulate(arm, 3.0, tolerance=tolerance, events=[bottom], compiled=False)
        off = abs(found.trajectory.joint("1-2")["angle"].rate[-1] ** 2 / (2 * 9.81) - 1.0)
        assert found.ok if off < 1e-3 else off < 0.01 or not found.ok, (tolerance, off, found.status)
    assert off > 0.05


def test_the_command_exits_with_1(run_mbssa, tmp_path):
    path = tmp_path / "pendulum.toml"
    path.write_text(PENDULUM)
    done = run_mbssa("simulate", str(path), "--duration", "9", "--tolerance", "0.9", "--no-compiled")
    assert done.exit_code == 1
    assert "balance of energy" in done.stdout
    assert "finished" not in done.stdout


def test_a_slider_crank_of_equal_lengths_passes_its_flat_pose(read):
    """At full speed the slider goes on through the pivot: x = 2 cos φ, on the branch on which speeds hold."""
    found = groups.simulate(read(SLIDER), 1.0, rates={"A.angle": 5.0}, steps=41, compiled=False)
    angle = found.coordinates["A.angle"]
    assert found.ok
    assert angle[-1] > 1.5 * np.pi
    slider = found.trajectory.body("slider").point((1.6, 0.0))[:, 0]
    np.testing.assert_allclose(slider, 2 * np.cos(angle), atol=1e-9)
    assert np.ptp(found.total_energy) < 1e-4 * found.kinetic_energy.max()


def test_samples_off_their_balance_are_a_fault_of_their_group():
    """A coordinate that opens its group, and accelerations that are not those of the loads."""
    mechanism = with_masses(mbssa.load("planar_four_bar"))
    trees = Trees(
        groups.build(mbssa.decompose(mechanism)), {}, {}, "DOP853", 1e-8, compiled=False, whole=False
    )
    trees.begin(0.0, np.array(trees.traced.start[:1]), np.array([2.0]))
    time, n = np.array([0.0, 0.0]), trees.traced.n
    sound = np.tile(trees.sample(0.0, trees.start), (2, 1))
    assert trees.measured(time, sound).fault is None
    for entry, text in ((n - 1, "a closing equation of coupler, rocker"), (2 * n, "the balance of power")):
        off = sound.copy()
        off[1, entry] += 0.1
        k, found = trees.measured(time, off).fault
        assert k == 1
        assert found.startswith(text)


def test_a_run_whose_joints_take_energy_says_so():
    mechanism = with_masses(mbssa.load("slider_crank_isostatic"))
    run = {"method": "penalty", "tolerance": 1e-6, "steps": 5, "compiled": False, "rates": {"1-2.angle": 3.0}}
    soft = groups.simulate(mechanism, 0.1, stiffness=1e4, damping=100.0, **run)
    assert any("springs and dampers of the joints take it" in note for note in soft.notes)
    stiff = groups.simulate(mechanism, 0.1, stiffness=1e7, damping=1e5, **run)
    assert not any("balance of energy" in note for note in stiff.notes)
