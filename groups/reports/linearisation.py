"""A state of rest and the small motions about it: eigenfrequencies, damping ratios, mode shapes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from groups.reports.about import model_lines
from mbssa.joints.catalogue import is_length
from mbssa.reports.table import SHOWN, Bad, Good, Part, Report, Table, Verbatim
from mbssa.units import SI, given_in

if TYPE_CHECKING:
    from groups.dynamics.forward.small_motions import Equilibrium, Linearisation

#: Amplitudes of a mode below this share of the largest are not listed, and those that are.
_SMALL, _LISTED = 0.01, 4

#: Growth, over the largest eigenvalue, that rounding can make.
_ROUNDING = 1e-6


@dataclass(frozen=True, eq=False)
class LinearisationSummary:
    """Small motions, the equilibrium about which they are (None where a state was given), units of tables."""

    found: Linearisation
    rest: Equilibrium | None
    units: tuple[str, str] = SI

    @property
    def stable(self) -> bool:
        """Whether no small motion grows."""
        growth = self.found.eigenvalues.real
        return bool((growth <= _ROUNDING * np.abs(self.found.eigenvalues).max(initial=1.0)).all())

    def amplitude(self, number: int) -> float:
        """What shows a mode well: 0.1 rad, or a twentieth of the size, of the coordinate that moves most."""
        most = int(np.abs(self.found.modes[:, number]).argmax()) if number < self.found.modes.shape[1] else 0
        return 0.05 * self.found.model.frames.size if is_length(self.found.names[most]) else 0.1


def linearisation_report(summary: LinearisationSummary, files: Sequence[Path] = ()) -> Report:
    """The state, whether it is an equilibrium and stable, and a row for each mode."""
    found, rest = summary.found, summary.rest
    parts: list[Part] = [*model_lines(found.model.structure), _state(summary)]
    if rest is None:
        parts.append(f"linearised where it was asked for; forces that are left: {_forces(summary)}")
    elif rest.found:
        parts.append(f"in equilibrium; forces that are left: {rest.residual:.1e} N or N m at most")
    else:
        parts.append(Bad(f"no equilibrium was found: forces of {rest.residual:.3g} N or N m are left"))
    parts += [_modes(summary), Good("stable") if summary.stable else Bad("not stable: a small motion grows")]
    parts += [Verbatim(f"written: {path}") for path in files]
    return Report(parts, lambda: to_dict(summary))


def _forces(summary: LinearisationSummary) -> str:
    units = ("N" if is_length(name) else "N m" for name in summary.found.names)
    return ", ".join(
        f"{value:.4g} {unit} along {name}"
        for name, value, unit in zip(summary.found.names, summary.found.force, units, strict=True)
    )


def _state(summary: LinearisationSummary) -> Table:
    def cells(k: int) -> tuple[str, ...]:
        name = summary.found.names[k]
        unit, scale = given_in("m" if is_length(name) else "rad", summary.units)
        return name, f"{summary.found.value[k] / scale:.6g}", unit

    rows = range(len(summary.found.names))
    return Table(("Coordinate", "Value", "Unit"), rows, cells, ("Value",), shown=SHOWN, rest="… and {} more")


def _modes(summary: LinearisationSummary) -> Table:
    right = ("Mode", "Frequency, Hz", "Damping ratio", "Decay, 1/s")

    def cells(k: int) -> tuple[str, ...]:
        found = summary.found
        swings = found.frequency[k] > 0.0
        return (
            str(k + 1),
            f"{found.frequency[k]:.5g}" if swings else "–",
            f"{_clean(found.damping_ratio[k]):.4g}" if swings else "–",
            f"{_clean(-found.eigenvalues[k].real, abs(found.eigenvalues[k])):.4g}",
            _shape(summary, k),
        )

    rows = range(len(summary.found.frequency))
    return Table((*right, "Shape"), rows, cells, right, shown=SHOWN, rest="… and {} more modes")


def _clean(value: float, beside: float = 1.0) -> float:
    return 0.0 if abs(value) < _ROUNDING * beside else float(value)


def _shape(summary: LinearisationSummary, k: int) -> str:
    """Coordinates by amplitude; the phase, where it is neither 0 nor half a period."""
    amplitudes = summary.found.modes[:, k]
    order = np.argsort(-np.abs(amplitudes), kind="stable")
    shown = [i for i in order.tolist() if abs(amplitudes[i]) >= _SMALL][:_LISTED]
    texts = []
    for i in shown:
        size, phase = abs(amplitudes[i]), np.degrees(np.angle(amplitudes[i]))
        if abs(abs(phase) - 180.0) < 0.5:
            size, phase = -size, 0.0
        turned = f" at {phase:.0f}°" if abs(phase) >= 0.5 else ""
        texts.append(f"{summary.found.names[i]} {size:.3g}{turned}")
    return ", ".join(texts)


def to_dict(summary: LinearisationSummary) -> dict[str, Any]:
    """The same as data, SI units."""
    found, rest = summary.found, summary.rest
    return {
        "mechanism": found.model.mechanism.name,
        "stable": summary.stable,
        "equilibrium": None if rest is None else {"found": rest.found, "residual": rest.residual},
        "coordinates": dict(zip(found.names, found.value.tolist(), strict=True)),
        "force": found.force.tolist(),
        "mass": found.mass.tolist(),
        "damping": found.damping.tolist(),
        "stiffness": found.stiffness.tolist(),
        "modes": [
            {
                "number": k + 1,
                "eigenvalue": [float(found.eigenvalues[k].real), float(found.eigenvalues[k].imag)],
                "frequency": float(found.frequency[k]),
                "damping_ratio": float(found.damping_ratio[k]),
                "amplitude": np.abs(found.modes[:, k]).tolist(),
                "phase": np.angle(found.modes[:, k]).tolist(),
            }
            for k in range(len(found.frequency))
        ],
    }
