"""A group solver is one file and a place in a list: a toy solver in this file; all solvers beside Newton."""

import pickle

import numpy as np
import pytest

import groups
import mbssa
from groups.solvers import library, registry
from groups.solvers.global_approach import GlobalApproach
from groups.solvers.solver import Solver

LEVELS = ("position", "orientation", "velocity", "acceleration")


class Toy(Solver):
    """Solver of a crank."""

    form = "driven"

    @classmethod
    def match(cls, tree, setting):
        """The solver of a crank; None for any other group."""
        mechanism = setting.mechanism
        if mechanism.space != "planar" or len(tree.links) != 1 or tree.cuts or tree.struts:
            return None
        (link,) = tree.links
        row, kind = setting.drives.get((link.joint, "angle")), mechanism.joints[link.joint].type
        if link.parent != 0 or not link.forward or row is None or kind.code != "R":
            return None
        return cls(tree.number, "toy crank", "a hinge is driven", (), (), roots=1)


def agree(one, two, within, case=""):
    """Two solutions of one motion, each level by its own largest number."""
    assert one.ok, (case, one.faults())
    assert two.ok, (case, two.faults())
    for level in LEVELS:
        a, b = getattr(one, level), getattr(two, level)
        assert np.abs(a - b).max() <= within * max(1.0, np.abs(b).max()), (case, level)


@pytest.fixture
def with_toy(monkeypatch):
    monkeypatch.setattr(registry, "SOLVERS", [Toy, *registry.SOLVERS])


@pytest.mark.parametrize("name", ["triad", "theo_jansen"])
def test_a_toy_solver_of_one_file_solves_its_groups(name, monkeypatch):
    structure = mbssa.decompose(mbssa.load(name))
    motion = groups.default_motion(structure.mechanism, steps=13)
    default = groups.build(structure).solve(motion, branch="checked", compiled=False)
    monkeypatch.setattr(registry, "SOLVERS", [Toy, *registry.SOLVERS])
    model = groups.build(structure)
    assert [solver.name for solver in model.solvers].count("toy crank") == 1
    agree(model.solve(motion, branch="checked", compiled=False), default, 1e-12)
    again = pickle.loads(pickle.dumps(model))
    agree(again.solve(motion, branch="proven", compiled=False), default, 1e-12)


def test_a_toy_solver_is_named_and_its_modes_are_listed(with_toy):
    model = groups.build(mbssa.decompose(mbssa.load("planar_four_bar")))
    number = next(solver.number for solver in model.solvers if solver.name == "toy crank")
    assert model.solver(number).most_modes(model.structure.group(number)) == 1
    assert groups.modes(model, number).solver == "toy crank"
    assert len(groups.modes(model, number)) == 1


def test_each_solver_is_a_file_and_is_listed():
    def kinds(base):
        for kind in base.__subclasses__():
            yield from [kind, *kinds(kind)]

    listed = [*registry.SOLVERS, GlobalApproach]
    found = [kind for kind in kinds(Solver) if not kind.__abstractmethods__ and kind is not Toy]
    assert sorted(found, key=repr) == sorted(listed, key=repr)
    files = [kind.__module__ for kind in listed]
    assert len(set(files)) == len(files)
    assert all(file.startswith("groups.solvers.") for file in files)


#: Every chain of the library; three slides in the plane are refused.
CHAINS = {
    "planar": [joints for joints in library.PLANAR if joints != "a x P, x y P, y b P"],
    "spatial": library.SPATIAL,
}


@pytest.mark.parametrize("space", ["planar", "spatial"])
def test_every_solver_gives_the_answer_of_newton(space):
    """About the reference of the first well-conditioned one of some random geometries."""
    for joints in CHAINS[space]:
        for seed in range(20):
            model = groups.build(mbssa.decompose(library.example(joints, space, seed)))
            inputs = model.reference_inputs.items()
            laws = {name: groups.harmonic(1e-3, 1.0, mean=value) for name, value in inputs}
            motion = groups.sample(model.mechanism, laws, np.linspace(0.0, 1.0, 9))
            default = model.solve(motion, branch="checked", compiled=False)
            if default.ok and default.condition.min() > 0.1:
                break
        else:
            pytest.fail(f"{joints}: no geometry is well-conditioned")
        number = model.structure.n_groups
        choices = groups.solvers_of(model, number)
        if "Newton" not in choices:
            assert model.solver(number).form == "driven", joints
        other = "Newton" if "Newton" in choices[1:] else "global dense"
        found = groups.build(model.structure, {number: other}).solve(motion, branch="checked", compiled=False)
        agree(default, found, 1e-8, joints)
