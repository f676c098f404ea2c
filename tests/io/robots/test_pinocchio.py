"""URDF: poses of open trees at random configurations against Pinocchio."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from robot_files import loaded

import groups
import mbssa
from groups.rotations import rotation_of

#: Links of a tree, and configurations.
LINKS, CONFIGURATIONS = 14, 100


def text(numbers) -> str:
    return " ".join(map(repr, map(float, numbers)))


def tree(seed: int) -> str:
    """A random tree of hinges with and without limits, slides and fixed joints."""
    dice = np.random.default_rng(seed)
    parts = [f'<link name="link{k}"/>' for k in range(LINKS + 1)]
    kinds = ["revolute", *dice.choice(["revolute", "continuous", "prismatic", "fixed"], LINKS - 1)]
    for k, kind in enumerate(kinds, 1):
        parent = int(dice.integers(0, k))
        limit = '<limit lower="-9" upper="9" effort="1" velocity="1"/>' if kind != "fixed" else ""
        parts.append(
            f'<joint name="j{k}" type="{kind}"><parent link="link{parent}"/><child link="link{k}"/>{limit}'
            f'<origin xyz="{text(dice.uniform(-1, 1, 3))}" rpy="{text(dice.uniform(-3, 3, 3))}"/>'
            f'<axis xyz="{text(unit(dice.normal(size=3)))}"/></joint>'
        )
    return f'<robot name="tree">{"".join(parts)}</robot>'


def unit(vector: np.ndarray) -> np.ndarray:
    return vector / np.linalg.norm(vector)


def test_poses_of_a_tree_are_those_of_pinocchio(tmp_path: Path):
    pinocchio = pytest.importorskip("pinocchio", reason="Pinocchio has no wheel for this system")
    for seed in range(2):
        path = tmp_path / "tree.urdf"
        path.write_text(tree(seed))
        mechanism = loaded(path)
        names = groups.driven_coordinates(mechanism)
        assert {name.rpartition(".")[2] for name in names} == {"angle", "slide"}, seed
        value = np.random.default_rng(seed).uniform(-3.0, 3.0, (len(names), CONFIGURATIONS))
        zero = np.zeros_like(value)
        motion = groups.Motion(np.arange(float(CONFIGURATIONS)), names, value, zero, zero)
        run = groups.build(mbssa.decompose(mechanism)).solve(motion)
        assert (run.status == 0).all(), seed
        model = pinocchio.buildModelFromUrdf(str(path))
        data = model.createData()
        place = [model.joints[model.getJointId(name.rpartition(".")[0])].idx_v for name in names]
        assert sorted(place) == list(range(model.nv)), seed
        bodies = [k for k, name in enumerate(mechanism.body_names) if k]
        turned = rotation_of(run.orientation)
        for t in range(CONFIGURATIONS):
            step = np.zeros(model.nv)
            step[place] = value[:, t]
            pinocchio.framesForwardKinematics(
                model, data, pinocchio.integrate(model, pinocchio.neutral(model), step)
            )
            for k in bodies:
                theirs = data.oMf[model.getFrameId(mechanism.body_names[k], pinocchio.FrameType.BODY)]
                assert np.abs(run.position[t, k] - theirs.translation).max() < 1e-12, seed
                assert np.abs(turned[t, k] - theirs.rotation).max() < 1e-12, seed
