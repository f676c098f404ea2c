"""Many bodies at once: the sign of the determinant, and how a Newton step and given bodies count."""

import numpy as np
import pytest

import groups
import mbssa
from groups.kernels import global_newton as kernels
from groups.kernels.jets import SIZE, WORK
from groups.solvers.global_solver.part import SIGN
from groups.solvers.global_solver.solver import _SparseMatrix
from groups.solvers.global_solver.system import encode
from mbssa.joints.frames import joint_frames
from mbssa.joints.system import Configuration


@pytest.mark.parametrize("name", ["rotor", "planar_3rrr", "stewart", "theo_jansen", "planetary"])
def test_sparse_factors_have_the_sign_that_the_reference_is_given(name):
    structure = mbssa.decompose(mbssa.load(name))
    names = dict.fromkeys(range(1, structure.n_groups + 1), "global sparse")
    signs = set()
    for solver in groups.build(structure, names).solvers:
        system, at = solver.part.system, solver.part._views(solver.part.memory)
        matrix, right = _SparseMatrix(system), np.zeros(len(system.rows))
        terms = len(system.rows.code)
        work = np.zeros((WORK, SIZE)), np.zeros((terms, SIZE)), matrix.jacobian, right
        stage = at.position, at.rotation, at.velocity, at.acceleration, at.angle
        places = system.with_places(matrix.place)
        column = at.inputs[:, None]
        inputs = np.zeros(1), column, column, column
        assert kernels.assemble(0, system.rows.kernel_rows, places, inputs, stage, work) < 1e-11
        kernels.fill(places, work)
        assert matrix.factorise()
        assert matrix.determinant() == solver.part.memory[SIGN]
        signs.add(matrix.determinant())
    assert signs <= {1.0, -1.0}


@pytest.mark.parametrize("length", [0.1, 3.0])
def test_a_step_is_shortened_and_summed_up(length):
    position, rotation, angle = np.zeros((2, 3)), np.tile(np.eye(3), (2, 1, 1)), np.array([0.0, 40.0])
    stage = position, rotation, np.zeros((2, 6)), np.zeros((2, 6)), angle
    step, gone = np.array([length, 0.0, 0.0, 0.0, 0.0, -0.5 * length]), np.zeros(6)
    kernels.move(step, np.arange(6), 1, stage, gone)
    share = min(1.0, kernels.FURTHEST / length)
    assert np.allclose(gone, share * step)
    assert np.allclose(position, [[0.0, 0.0, 0.0], [share * length, 0.0, 0.0]])
    turned = -0.5 * share * length
    assert np.allclose(rotation[1, :2, 0], [np.cos(turned), np.sin(turned)])
    assert np.allclose(angle, [0.0, 40.0 + turned], rtol=0.0, atol=1e-14)
    assert (rotation[0] == np.eye(3)).all()


def test_terms_of_one_equation_are_summed_up():
    """A mesh is three terms: its residual and its row of the Jacobian are theirs together."""
    structure = mbssa.decompose(mbssa.load("planetary"))
    frames = joint_frames(structure.mechanism)
    at, system = Configuration.reference(frames), encode(structure, frames)
    rows, right = system.rows, np.zeros(len(system.rows))
    work = np.zeros((WORK, SIZE)), np.zeros((len(rows.code), SIZE)), np.zeros(len(right) * system.n), right
    still = np.zeros((len(at.angle), 6))
    turned = np.linspace(0.0, 50.0, len(at.angle))
    stage = at.position / system.size, at.rotation, still, still, turned
    inputs = np.zeros(1), *[np.zeros((1, 1))] * 3
    kernels.assemble(0, rows.kernel_rows, system.dense, inputs, stage, work)
    kernels.fill(system.dense, work)
    jacobian = work[2].reshape(len(right), system.n)
    meshes = [e for e, name in enumerate(rows.name) if name == "mesh"]
    assert len(meshes) == 4
    for e in meshes:
        first, stop = rows.first_term[e : e + 2]
        bodies = rows.pair[rows.joint[first:stop], 1]
        assert right[e] == pytest.approx(
            rows.constant[e] - rows.factor[first:stop] @ turned[bodies], abs=1e-12
        )
        wanted = np.zeros(system.n)
        for body, factor in zip(bodies.tolist(), rows.factor[first:stop].tolist(), strict=True):
            if body >= system.known:
                wanted[3 * (body - system.known) + 2] += factor
        assert np.abs(jacobian[e] - wanted).max() < 1e-14
