"""Masses, gravity and forces of model files: units, faults, and every format that keeps them."""

import math

import pytest
from refusals import codes, refused

import mbssa

MODEL = """
format = 1
space = "planar"
units = { length = "mm", angle = "deg" }
gravity = [0, -9810]
[[body]]
name = "crank"
points = { tip = [100, 0], middle = [50, 0] }
inertia = { mass = 2.0, centre = "crank.middle", moment = 3000 }
[[body]]
name = "slider"
inertia = { mass = 0.5, centre = [300, 0] }
[[joint]]
bodies = ["frame", "crank"]
type = "R"
driven = true
point = [0, 0]
[[joint]]
bodies = ["frame", "slider"]
type = "P"
point = [300, 0]
axis = [1, 0]
[[force]]
type = "spring"
bodies = ["crank", "slider"]
points = ["crank.tip", [300, 0]]
stiffness = 4.0
damping = 0.5
rest = 150
force = 7
[[force]]
type = "coordinate"
id = "motor"
coordinate = "2-1.angle"
stiffness = 10
force = 200
[[force]]
type = "point"
bodies = ["slider"]
point = [300, 10]
force = [-5, 0]
moment = 40
axes = "body"
"""


def test_numbers_are_kept_in_si(read):
    mechanism = read(MODEL)
    assert mechanism.gravity == pytest.approx((0, -9.81))
    crank, slider = (mechanism.bodies[index].geometry.inertia for index in (1, 2))
    assert (crank.mass, crank.centre) == (2.0, pytest.approx((0.05, 0)))
    assert crank.moment == pytest.approx(3e-3)
    assert slider.moment is None
    spring, motor, push = mechanism.forces
    assert (spring.id, spring.bodies) == ("spring 1", (1, 2))
    assert spring.points[0] == pytest.approx((0.1, 0.0))
    assert (spring.stiffness, spring.damping, spring.rest, spring.force) == pytest.approx((4e3, 500, 0.15, 7))
    assert (motor.coordinate, motor.bodies) == ("1-2.angle", (0, 1))
    assert motor.stiffness == pytest.approx(0.01 / math.radians(1))
    assert motor.force == pytest.approx(0.2)
    assert (push.force, push.moment, push.axes) == (pytest.approx((-5, 0)), pytest.approx(0.04), "body")


def test_every_format_that_keeps_geometry_keeps_them(read, tmp_path):
    mechanism = read(MODEL)
    for ending in ("toml", "npz"):
        assert mbssa.save(mechanism, tmp_path / f"again.{ending}") == []
        again = mbssa.load(tmp_path / f"again.{ending}")
        assert (again.gravity, again.forces) == (mechanism.gravity, mechanism.forces)
        assert again.bodies[1].geometry.inertia == mechanism.bodies[1].geometry.inertia
    graph = mbssa.from_networkx(mbssa.to_networkx(mechanism))
    assert (graph.gravity, graph.forces) == (mechanism.gravity, mechanism.forces)


def test_all_faults_at_once(read):
    wrong = (
        MODEL.replace("mass = 2.0", "mass = -2.0")
        .replace("mass = 0.5, centre = [300, 0]", "mass = 0.5, moments = [1, 1, 1]")
        .replace("stiffness = 4.0", "stiffness = -4.0")
        .replace('"2-1.angle"', '"2-1.slide"')
        .replace("moment = 40", "moment = [0, 0, 40]")
        .replace('bodies = ["slider"]', 'bodies = ["slidr"]')
        .replace("gravity = [0, -9810]", "gravity = [0, 0, -9810]")
    )
    with pytest.raises(mbssa.ModelError) as error:
        read(wrong)
    assert codes(error.value.faults) == [
        "value at [[body]] 1 (crank) inertia.mass",
        "value at gravity",
        "value at [[force]] 1 (spring) stiffness",
        "missing at [[body]] 2 (slider) inertia.centre",
        "unsupported at [[body]] 2 (slider) inertia.moments",
        "unknown at [[force]] 3 (point) bodies",
        "unknown at force motor coordinate",
    ]


def test_a_fault_has_its_code_and_place(read):
    for change, fault in [
        (("stiffness = 4.0", "stifness = 4.0"), "unknown at [[force]] 1 (spring) stifness"),
        (('type = "spring"', 'type = "sprung"'), "unknown at [[force]] 1 (sprung) type"),
        (("rest = 150", "axes = 'body'"), "unsupported at [[force]] 1 (spring) axes"),
        (('"crank.tip", [300', '"crank.top", [300'), "unknown at [[force]] 1 (spring) points[1]"),
        (('points = ["crank.tip", [300, 0]]', ""), "missing at [[force]] 1 (spring) points"),
        (("[-5, 0]", "-5"), "value at [[force]] 3 (point) force"),
        (("moment = 40", "moment = [40, 0]"), "value at [[force]] 3 (point) moment"),
        (('id = "motor"', 'id = "spring 1"'), "duplicate at [[force]] 2 (spring 1) id"),
        (("mass = 2.0", 'mass = "two"'), "value at [[body]] 1 (crank) inertia.mass"),
        (("mass = 2.0, ", ""), "missing at [[body]] 1 (crank) inertia.mass"),
        (("mass = 2.0", "mas = 2.0"), "unknown at [[body]] 1 (crank) inertia.mas"),
        (("moment = 3000", "moment = -3000"), "value at [[body]] 1 (crank) inertia.moment"),
    ]:
        with refused(fault):
            read(MODEL.replace(*change))
    with pytest.raises(mbssa.ModelError, match="'2-1' does not exist; the coordinates of 1-2 are angle"):
        read(MODEL.replace('"2-1.angle"', '"2-1"'))


def test_inertia_matrices_of_no_rigid_body_are_refused():
    for keys, said in [
        ({"moments": (1.0, 1.0, 3.0)}, "the largest may not exceed the sum of the others"),
        ({"moments": (1.0, 1.0, 1.0), "products": (0.0, 0.0, 2.0)}, "none may be negative"),
        ({"moments": (1.0, 1.0)}, "inertia.moments: 2 numbers; write three"),
        ({"products": (1.0, 1.0, 1.0)}, "products: stand without moments"),
        ({"moment": 1.0}, "inertia.moment: is not for a spatial model"),
    ]:
        m = mbssa.Builder("spatial").body("arm", inertia={"mass": 1.0, "centre": (0, 0, 0), **keys})
        with pytest.raises(mbssa.ModelError) as error:
            m.revolute("frame", "arm", point=(0, 0, 0), axis=(0, 0, 1)).build()
        assert said in str(error.value), keys


def test_a_thin_plate_and_a_point_mass_are_bodies():
    plate = {"mass": 1.0, "centre": (0, 0, 0), "moments": (1.0, 2.0, 3.0)}
    point = {"mass": 1.0, "centre": (0, 0, 0)}
    m = mbssa.Builder("spatial").body("plate", inertia=plate).body("point", inertia=point)
    m.revolute("frame", "plate", point=(0, 0, 0), axis=(0, 0, 1))
    mechanism = m.revolute("plate", "point", point=(0, 0, 0), axis=(0, 0, 1)).gravity(0, 0, -9.81).build()
    assert mechanism.bodies[1].geometry.inertia.moments == (1.0, 2.0, 3.0)
    assert mechanism.gravity == (0, 0, -9.81)
