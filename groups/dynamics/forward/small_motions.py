"""Static equilibrium, and small motions about a state: eigenfrequencies and mode shapes."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from itertools import count
from typing import Any

import numpy as np
import numpy.typing as npt

from groups.dynamics.forward.course import CannotGoOnError
from groups.dynamics.forward.equations import Applied, faults_of
from groups.dynamics.forward.running import moving_model
from groups.dynamics.forward.trees import Trees, massless_text
from groups.model import Model
from groups.motion import Motion
from groups.trajectory import Progress, Trajectory
from mbssa import Mechanism, Structure
from mbssa.arrays import Floats
from mbssa.faults import BETWEEN
from mbssa.graph.evaluation import evaluated
from mbssa.graph.nodes import Number
from mbssa.io.motion import by_id
from mbssa.joints.catalogue import is_length

Complexes = npt.NDArray[np.complex128]

#: Share of the largest force at the start, or by a unit displacement, at which forces are in equilibrium.
BALANCED = 1e-9

#: Longest step of the search for an equilibrium where forces are not linear, the step that is its last one,
#: and its longest way, over the size or in rad.
_LONGEST, _SHORTEST, _FURTHEST = 0.1, 1e-9, 1e3

#: Rate of a coordinate for a unit rate of a driven one, over the size or in rad, beyond which it is singular.
_FASTEST = 300.0

#: Evaluations of the forces that the search takes at most.
MOST_EVALUATIONS = 20_000


@dataclass(frozen=True, eq=False)
class Equilibrium:
    """A state of rest under all forces.

    >>> import groups, mbssa
    >>> groups.equilibrium(mbssa.load("slider_crank")).found
    True

    Attributes
    ----------
    coordinates : values of the independent coordinates, m and rad
    trajectory : all bodies, one instant
    residual : largest remaining generalised force, N or N m
    stable : True if no small motion grows
    found : True if the residual is small beside the forces at the start, or those of a unit displacement
    """

    coordinates: dict[str, float]
    trajectory: Trajectory
    residual: float
    stable: bool
    found: bool


@dataclass(frozen=True, eq=False)
class Linearisation:
    """Small motions x about a state: M x'' + C x' + K x = 0 in D independent coordinates.

    >>> import groups, mbssa
    >>> crank = mbssa.load("slider_crank")
    >>> groups.linearise(crank, at=groups.equilibrium(crank).coordinates).mode(0, steps=3).ok
    True

    Attributes
    ----------
    names : the coordinates; ``value`` (D,) of the state, m and rad
    mass, damping, stiffness : (D, D), by m and rad
    eigenvalues : (m,) 1/s, one of each conjugate pair, by falling period; growing where the real part is
        positive
    frequency : (m,) Hz, imaginary part over 2 pi; ``damping_ratio`` : (m,)
    modes : (D, m) complex amplitudes of the coordinates, largest of each 1
    force : (D,) generalised force in the state: zero in equilibrium
    """

    names: tuple[str, ...]
    value: Floats
    mass: Floats
    damping: Floats
    stiffness: Floats
    eigenvalues: Complexes
    frequency: Floats
    damping_ratio: Floats
    modes: Complexes
    force: Floats
    model: Model = field(repr=False)

    @property
    def stable(self) -> bool:
        """True if no small motion grows."""
        return bool((self.eigenvalues.real <= 1e-6 * np.abs(self.eigenvalues).max(initial=1.0)).all())

    def moved_most(self, number: int) -> str:
        """The coordinate whose amplitude is 1 in a mode, numbered from 0."""
        return self.names[int(np.abs(self.modes[:, number] - 1.0).argmin())]

    def mode(self, number: int, amplitude: float | None = None, steps: int = 61) -> Trajectory:
        """One period of a mode without its decay, every joint closed, for animations and plots.

        Parameters
        ----------
        number : from 0, by falling period
        amplitude : of the coordinate that moves most, m or rad; by default 0.1 of the mechanism's size or rad

        Raises
        ------
        ValueError
            No such mode, or one that does not oscillate.
        """
        if number not in range(len(self.frequency)):
            raise ValueError(f"mode {number}: there are {len(self.frequency)}, from 0")
        if not self.frequency[number] > 0.0:
            raise ValueError(
                f"mode {number} does not oscillate: its eigenvalue is {self.eigenvalues[number]:.4g}"
            )
        if amplitude is None:
            amplitude = 0.1 * (self.model.frames.size if is_length(self.moved_most(number)) else 1.0)
        speed = 2 * np.pi * self.frequency[number]
        time = np.linspace(0.0, 1.0 / self.frequency[number], steps)
        turning = amplitude * self.modes[:, number, None] * np.exp(1j * speed * time)
        motion = Motion(
            time, self.names, self.value[:, None] + turning.real, (1j * speed * turning).real,
            (-(speed**2) * turning).real,
        )  # fmt: skip
        return self.model.solve(motion)


def equilibrium(
    of: Model | Structure | Mechanism,
    *,
    initial: Mapping[str, float] | None = None,
    applied: Mapping[str, Applied] | None = None,
    progress: Progress | None = None,
) -> Equilibrium:
    """Find a state of rest under weight, force elements and applied forces, from the reference on.

    Parameters
    ----------
    initial : values of independent coordinates where the search begins, m and rad
    applied : as of :func:`groups.simulate`, at t = 0
    progress : called with the share of the search that is done, by the logarithm of the least forces so far

    Raises
    ------
    ValueError
        Not determined or without geometry, unknown coordinates or ones that move no mass, or a position
        out of reach.

    Examples
    --------
    >>> import groups, mbssa
    >>> arm = mbssa.Builder("planar").body("arm", inertia={"mass": 1.0, "centre": (1.0, 0.0)})
    >>> arm = arm.gravity(0.0, -9.81).revolute("frame", "arm", point=(0, 0), driven=True).build()
    >>> rest = groups.equilibrium(arm)
    >>> round(rest.coordinates["1-2.angle"], 6), rest.stable
    (-1.570796, True)
    """
    equations = _equations(of, initial or {}, applied or {}, progress)
    names = equations.traced.drives
    start, unit = equations.start[: len(names)], equations.traced.unit[: len(names)]
    try:
        # A start at rest has no forces to compare with, but those of a unit displacement.
        scale = float(np.abs(equations.balance(start)[1]).max(initial=1e-12))
        scale = max(scale, float(np.abs(_slopes(equations)[0] * unit).max(initial=0.0)))
        value = _downhill(equations, start, progress)
        small = _linearised(equations, value)
        trajectory = equations.at_rest(equations.tangents[0]).trajectory
    except CannotGoOnError as error:
        raise ValueError(
            f"{equations.mechanism.name}: the search for an equilibrium leaves the workspace: {error}; begin "
            "elsewhere by other initial values"
        ) from None
    coordinates = dict(zip(names, value.tolist(), strict=True))
    residual = float(np.abs(small.force).max(initial=0.0))
    return Equilibrium(coordinates, trajectory, residual, small.stable, residual <= BALANCED * scale)


def linearise(
    of: Model | Structure | Mechanism,
    *,
    at: Mapping[str, float] | None = None,
    applied: Mapping[str, Applied] | None = None,
) -> Linearisation:
    """Linearise the equations of motion about a state of rest: eigenfrequencies and mode shapes.

    Parameters
    ----------
    at : values of independent coordinates, such as :attr:`Equilibrium.coordinates`; the reference by default
    applied : as of :func:`groups.simulate`, at t = 0

    Raises
    ------
    ValueError
        As :func:`groups.equilibrium`.

    Examples
    --------
    >>> import groups, mbssa
    >>> arm = mbssa.Builder("planar").body("arm", inertia={"mass": 1.0, "centre": (0.0, -1.0)})
    >>> arm = arm.gravity(0.0, -9.81).revolute("frame", "arm", point=(0, 0), driven=True).build()
    >>> round(float(groups.linearise(arm).frequency[0]), 6), round(9.81**0.5 / (2 * 3.141592653589793), 6)
    (0.498488, 0.498488)
    """
    equations = _equations(of, at or {}, applied or {})
    return _linearised(equations, equations.start[: len(equations.traced.drives)])


def _downhill(equations: Trees, start: Floats, progress: Progress | None) -> Floats:
    """Coordinates at the end of a motion without inertia along the forces, M q' = f, by implicit steps."""
    # A step solves (K + m M) dq = f. The damping m makes the matrix positive definite, so that the potential
    # falls and no unstable rest attracts, and keeps the step within a radius. Near a stable rest it is 0, and
    # the step is that of Newton.
    import scipy.linalg

    unit, done, radius, falls, length = equations.traced.unit[: len(start)], 0.0, _LONGEST, True, np.inf
    value, (M, f), evaluations = start, equations.balance(start), count(2)
    scale = max(float(np.abs(f).max(initial=0.0)), 1e-300)
    while length > _SHORTEST and np.abs((value - start) / unit).max(initial=0.0) <= _FURTHEST:
        if falls:
            equations.accept()
            if progress is not None:
                left = max(float(np.abs(f).max(initial=0.0)) / scale, BALANCED)
                done = max(done, float(np.log(left) / np.log(BALANCED)))
                progress(done)
            K, speed = _slopes(equations)[0], equations.tangents[1] * unit / equations.traced.unit[:, None]
            if np.abs(speed).max(initial=0.0) > _FASTEST:
                raise CannotGoOnError("it comes to a position at which a group is singular")
            try:
                lowest = float(scipy.linalg.eigvalsh((K + K.T) / 2, M)[0])
            except np.linalg.LinAlgError:
                raise CannotGoOnError(massless_text(np.diag(M), equations.traced.drives)) from None
        # The step within the radius, with little more than the least damping.
        damping, length = max(0.0, -2.0 * lowest), np.inf
        least = 1e-3 * float(np.abs(np.linalg.solve(M, f) / unit).max()) / radius
        while not length <= radius:
            try:
                step = np.asarray(np.linalg.solve(K + damping * M, f), dtype=np.float64)
                length = float(np.abs(step / unit).max())
            except np.linalg.LinAlgError:  # without stiffness and damping
                pass
            damping = max(2.0 * damping, least, 1e-300)
        if next(evaluations) > MOST_EVALUATIONS:
            raise ValueError(
                f"{equations.mechanism.name}: the search for an equilibrium was stopped after "
                f"{MOST_EVALUATIONS:,} evaluations of the forces; begin elsewhere by other initial values, "
                "or see whether forces and torques have an equilibrium"
            )
        try:
            M_after, after = equations.balance(value + step)
            falls = bool((f + after) @ step > 0.0)
        except CannotGoOnError:
            if length <= _SHORTEST:
                raise
            falls = False
        if falls:
            linear = float(np.abs(after - f + K @ step).max()) <= 0.1 * float(np.abs(f).max())
            radius = max(2.0 * length if linear else 0.0, min(2.0 * radius, _LONGEST))
            value, M, f = value + step, M_after, after
        else:
            radius = length / 4.0
    return value


def _equations(
    of: Model | Structure | Mechanism, given: Mapping[str, float], applied: Mapping[str, Applied],
    progress: Progress | None = None,
) -> Trees:  # fmt: skip
    model = moving_model(of)
    given, loads = by_id(model.mechanism, given), by_id(model.mechanism, applied)
    if faults := faults_of(model.mechanism, applied, {"value": given}, progress=progress):
        raise ValueError(BETWEEN.join(faults))
    value = np.array([*(model.reference_inputs | given).values()], dtype=np.float64)
    found = Trees(model, loads, {}, "DOP853", 1e-12, compiled=False, whole=False)
    try:
        found.begin(0.0, value, 0.0 * value)  # raises where no mass moves, or a position is out of reach
    except CannotGoOnError as error:
        raise ValueError(f"{model.mechanism.name}: {error}") from None
    return found


def _linearised(equations: Trees, value: Floats) -> Linearisation:
    import scipy.linalg

    D = len(value)
    (mass, force), (stiffness, damping) = equations.balance(value), _slopes(equations)
    scale = 1.0 / np.sqrt(np.diag(mass))  # the smallest mechanisms have masses of 1e-20
    K, C, M = (x * np.outer(scale, scale) for x in (stiffness, damping, mass))
    free = np.block([[np.zeros((D, D)), np.eye(D)], [-K, -C]])
    eigenvalues, vectors = scipy.linalg.eig(free, scipy.linalg.block_diag(np.eye(D), M))
    kept = np.flatnonzero(np.isfinite(eigenvalues) & (eigenvalues.imag >= 0.0))
    kept = kept[np.lexsort((eigenvalues[kept].real, eigenvalues[kept].imag))]
    eigenvalues, modes = eigenvalues[kept], scale[:, None] * vectors[:D, kept]
    largest = np.abs(modes / equations.traced.unit[:D, None]).argmax(axis=0)
    modes = modes / modes[largest, np.arange(len(kept))]
    size = np.abs(eigenvalues)
    ratio = -eigenvalues.real / np.where(size > 0.0, size, 1.0)
    return Linearisation(
        tuple(equations.traced.drives), value.copy(), mass, damping, stiffness, eigenvalues,
        eigenvalues.imag / (2 * np.pi), ratio, modes, force, equations.model,
    )  # fmt: skip


def _slopes(equations: Trees) -> tuple[Floats, Floats]:
    """Stiffness and damping (D, D) in the pose of the last balance: derivatives of the generalised forces."""
    traced, (x, R) = equations.traced, equations.tangents
    (rows, forces), (n, F) = traced.curvatures, R.shape
    one, other = np.divmod(np.arange(F * F), F)
    given: dict[str, Any] = {"x": x, "R": R.ravel(), "applied": equations.memory["applied"]}

    def values(numbers: list[Number], lanes: int, **more: Floats) -> Floats:
        inputs = given | more
        try:
            with np.errstate(divide="ignore", invalid="ignore"):
                found = evaluated(numbers, lambda name, k: inputs[name][k] if name in inputs else 0.0)
        except ZeroDivisionError:
            found = [np.nan] * len(numbers)
        rows = np.array([np.broadcast_to(each, lanes) for each in found]).reshape(-1, lanes)
        if not np.isfinite(rows).all():
            raise CannotGoOnError("forces have no derivative where points of a spring meet")
        return rows

    found = values(rows, F * F, e=R[:, one], d=R[:, other])
    J, S = np.zeros((traced.m, n)), np.zeros((n, F * F))
    for place, slope in zip(traced.jacobian, found[:, 0].tolist(), strict=False):
        J[place] = slope
    S[F:] = np.linalg.lstsq(J[:, F:], -found[len(traced.jacobian) :], rcond=None)[0]
    K, C = np.split(-values(forces, F, d=R, S=S.reshape(n * F, F)), 2)
    return K, C
