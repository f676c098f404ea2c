"""A sweep that was run, read back from its folder."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy.typing as npt

from mbssa.arrays import Floats
from routes.sweep.envelope import Envelope, unpacked
from routes.sweep.store import ENVELOPE, REASONS, SweepError, identity, parts_of, read_manifest, read_part

if TYPE_CHECKING:
    import pyarrow
    import pyarrow.parquet


#: Cases up to which a notebook shows a picture: about a second.
_DRAWN = 100_000


@dataclass(frozen=True, eq=False)
class Sweep:
    """Cases of a sweep with their recorded quantities, read from its folder on demand.

    Attributes
    ----------
    folder : its store: ``sweep.json``, and ``parts``, which any reader of Parquet takes as one table
    manifest : cases, record, limits, modes, motion, mechanism, solvers, versions
    solved, seconds : cases solved by this run, and its time; 0 where the folder was only opened
    damaged : names of the parts that this run found damaged and computed again

    Examples
    --------
    >>> import mbssa, tempfile
    >>> from routes.sweep import grid, sweep
    >>> bar = mbssa.load("planar_four_bar")
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     found = sweep(bar, grid({"1-2.angle": [0.5, 1.0]}), record=["2-3.angle"], store=folder,
    ...                   executor="sequential")
    ...     found.counts, found.column_names[:3], found["2-3.angle"].round(3).tolist()
    ({'ok': 2}, ['case', '1-2.angle', 'status'], [0.563, -0.09])
    """

    folder: Path
    manifest: Mapping[str, Any] = field(repr=False)
    solved: int = 0
    seconds: float = 0.0
    damaged: tuple[str, ...] = ()

    def _repr_html_(self) -> str:
        from mbssa.reports.html import html_of

        picture = "routes.plots:sweep_picture" if 0 < self.done <= _DRAWN else None
        return html_of(self, "routes.reports.sweep:sweep_report", picture)

    @property
    def number(self) -> int:
        """Number of all cases."""
        return int(self.manifest["number"])

    @cached_property
    def parts(self) -> tuple[Path, ...]:
        """Parquet files, in the order of the cases."""
        return parts_of(self.folder, self.manifest)

    def _read(self, part: Path) -> pyarrow.parquet.ParquetFile:
        return read_part(part, self._identity)

    @cached_property
    def _identity(self) -> str:
        return identity(self.manifest)

    @cached_property
    def done(self) -> int:
        """Number of cases that are written."""
        return sum(self._read(part).metadata.num_rows for part in self.parts)

    @property
    def complete(self) -> bool:
        """Whether all cases are written."""
        return self.done == self.number

    @cached_property
    def column_names(self) -> list[str]:
        """Names of the columns, ``case`` first, then the parameters."""
        return list(self._schema.names)

    @property
    def parameters(self) -> tuple[str, ...]:
        """Names of the parameters."""
        return tuple(self.manifest["parameters"])

    def unit(self, name: str) -> str:
        """Unit of a column, "" where it has none."""
        return self.units.get(name, "")

    @property
    def units(self) -> dict[str, str]:
        """Units of parameters and of recorded columns."""
        return {
            each.name: each.metadata[b"unit"].decode()
            for each in self._schema
            if each.metadata and b"unit" in each.metadata
        }

    @cached_property
    def _schema(self) -> pyarrow.Schema:
        if not self.parts:
            raise SweepError(f"{self.folder}: no case was written yet")
        return self._read(self.parts[0]).schema_arrow

    def table(self, columns: Sequence[str] | None = None) -> pyarrow.Table:
        """All cases, or some columns of them, in the order of the cases.

        Raises
        ------
        KeyError
            Columns that there are not: those that there are.
        SweepError
            A damaged part; ``resume`` computes it again.
        """
        import pyarrow

        missing = [name for name in columns or () if name not in self.column_names]
        if missing:
            raise KeyError(f"no column {', '.join(missing)}; there are {', '.join(self.column_names)}")
        wanted = None if columns is None else list(columns)
        parts = [self._read(part).read(columns=wanted) for part in self.parts]
        return pyarrow.concat_tables(parts) if parts else self._schema.empty_table()

    def __getitem__(self, name: str) -> npt.NDArray[Any]:
        """One column as an array; the status as texts."""
        column = self.table([name]).column(name)
        found: npt.NDArray[Any] = column.to_numpy()
        return found

    @cached_property
    def envelopes(self) -> tuple[Floats, dict[str, Envelope]]:
        """Time (T,) of designs over one motion, and the envelope of each quantity over the designs.

        Empty for poses, and where motions have instants of their own.
        """
        schemas = (self._read(part).schema_arrow for part in self.parts)
        return unpacked((schema.metadata or {}).get(ENVELOPE, b"") for schema in schemas)

    @cached_property
    def counts(self) -> dict[str, int]:
        """Number of cases by status: "ok", then the most frequent first."""
        found = self._tally("status")
        return dict(sorted(found.items(), key=lambda each: (each[0] != "ok", -each[1], each[0])))

    @cached_property
    def reasons(self) -> dict[str, str]:
        """The first case of each status that is no group's, such as "cannot be assembled", and the reason."""
        first: dict[str, str] = {}
        for part in self.parts:
            metadata = self._read(part).schema_arrow.metadata or {}
            for name, (case, why) in json.loads(metadata.get(REASONS, b"{}")).items():
                first.setdefault(name, f"case {case}: {why}")
        return first

    @cached_property
    def proofs(self) -> dict[str, int]:
        """Cases by proof of the branch, as :attr:`groups.Trajectory.proof`; simulations have none."""
        return self._tally("proof")

    def _tally(self, column: str) -> dict[str, int]:
        if not self.parts or column not in self.column_names:
            return {}
        tally = self.table([column]).column(column).value_counts().to_pylist()
        return {str(each["values"]): int(each["counts"]) for each in tally}

    @cached_property
    def within(self) -> int | None:
        """Number of cases within all limits; None without limits."""
        if not self.parts or "within" not in self.column_names:
            return None
        return int(self["within"].sum())


def open_sweep(folder: str | Path) -> Sweep:
    """The sweep in a folder, whole or not.

    Raises
    ------
    ValueError
        The folder holds none.

    Examples
    --------
    >>> open_sweep("nowhere")
    Traceback (most recent call last):
    ValueError: nowhere holds no sweep: there is no sweep.json in it
    """
    return Sweep(Path(folder), read_manifest(Path(folder)))
