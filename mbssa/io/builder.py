"""Mechanisms built in Python with geometry: calls that fill the tables of a model file."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

from mbssa.files import write_whole
from mbssa.io.formats import save
from mbssa.io.records import Record, from_record, plain
from mbssa.joints.catalogue import CATALOGUE, FREEDOM, JointType, Space
from mbssa.loads import FORCE_TYPES
from mbssa.mechanism import Mechanism
from mbssa.texts import counted

#: Keys of a joint that every type has.
_COMMON = ("id", "driven", "limits", "at_reference")


class Builder:
    """A mechanism under construction: the tables of a model file, filled by calls.

    Each joint type of the catalogue has a method named after it: ``revolute``, ``prismatic``,
    ``cylindrical``, ``universal``, ``spherical``, ``rod``, …; :meth:`joint` takes the type's code instead.
    Keys and their meaning are those of a model file. Every call returns the builder, so that calls may be
    chained; nothing is checked before :meth:`build`, which reports all faults at once.

    Parameters
    ----------
    space : "planar" (positions x, y) or "spatial" (x, y, z)
    name : stands before faults, and names the mechanism
    length, angle : units of every number: "m", "mm", "cm", "in" or "ft"; "rad" or "deg"
    title, source, notes : texts that the mechanism keeps

    Examples
    --------
    A slider-crank, driven through one turn in a second:

    >>> import mbssa
    >>> m = mbssa.Builder("planar", name="slider_crank", length="mm", angle="deg")
    >>> mechanism = (
    ...     m.body("crank", points={"tip": (0, 200)})
    ...     .bodies("rod", "slider")
    ...     .revolute("frame", "crank", point=(0, 0), driven=True)
    ...     .revolute("crank", "rod", point=(0, 200))
    ...     .revolute("rod", "slider", point=(980, 0))
    ...     .prismatic("frame", "slider", axis=(1, 0), limits={"slide": (-2000, 100)})
    ...     .motion({"1-2.angle": {"law": "speed", "rate": 360}}, steps=361)
    ...     .build()
    ... )
    >>> mechanism
    <Mechanism slider_crank: planar, 4 bodies with the frame, 4 joints, 1 driven coordinate>
    >>> [group.bodies for group in mbssa.decompose(mechanism).groups]
    [(2,), (3, 4)]

    Faults name the joint by its number and its id or bodies:

    >>> wrong = mbssa.Builder("planar").body("crank")
    >>> try:
    ...     wrong.revolute("frame", "rod", point=(0, 0, 0), driven=2).build()
    ... except mbssa.ModelError as error:
    ...     print(error)
    builder: 3 faults
      joint 1 (frame, rod) point: 3 numbers; a planar mechanism has 2
      joint 1 (frame, rod) bodies: body 'rod' does not exist; the bodies are frame, crank
      joint 1 (frame, rod) driven: 2 driven coordinates; an R has 1 free coordinate (angle), so write 0 to 1
    """

    def __init__(
        self,
        space: Space,
        *,
        name: str = "builder",
        length: str = "m",
        angle: str = "rad",
        title: str = "",
        source: str = "",
        notes: Sequence[str] = (),
    ) -> None:
        self.name = name
        self._record: Record = {
            "format": 1,
            "space": space,
            "title": title,
            "source": source,
            "notes": notes,
            "units": {"length": length, "angle": angle},
            "body": [],
            "joint": [],
            "force": [],
        }

    def __repr__(self) -> str:
        space, bodies = self._record["space"], counted(len(self._record["body"]) + 1, "body")
        joints = counted(len(self._record["joint"]), "joint")
        return f"<Builder {self.name}: {space}, {bodies} with the frame, {joints}>"

    def body(self, name: str, **keys: Any) -> Self:
        """Add a movable body.

        Parameters
        ----------
        name : unique; "frame" is the fixed body, and there from the beginning
        keys : those of ``[[body]]``: ``points``, named points in world coordinates at the reference;
            ``origin`` and ``orientation`` of the body's own frame; ``inertia``, a table such as
            ``{"mass": 2.0, "centre": (0.1, 0.0), "moment": 0.05}``; ``visual``
        """
        self._record["body"].append(_given({"name": name, **keys}))
        return self

    def bodies(self, *names: str) -> Self:
        """Add several movable bodies, of which there is nothing to say but their names."""
        for name in names:
            self.body(name)
        return self

    def joint(self, type: str, *bodies: int | str, **keys: Any) -> Self:
        """Add a joint by the code of its type.

        Parameters
        ----------
        type : a code of the catalogue, such as "R"
        bodies : names, or numbers from 1, the frame
        keys : those of ``[[joint]]``: ``id``, ``driven`` (coordinates, their number, or True for all),
            ``limits`` and ``at_reference`` by coordinate, and the geometry that the type takes
        """
        self._record["joint"].append(_given({"bodies": bodies, "type": type, **keys}))
        return self

    def gravity(self, *acceleration: float) -> Self:
        """Set the acceleration of gravity, length units per s², in place of the one before.

        >>> import mbssa
        >>> mbssa.Builder("planar", length="mm").gravity(0.0, -9810.0)
        <Builder builder: planar, 1 body with the frame, 0 joints>
        """
        self._record["gravity"] = list(acceleration)
        return self

    def force(self, type: str, **keys: Any) -> Self:
        """Add a force element.

        Parameters
        ----------
        type : one of those below
        keys : those of ``[[force]]``: ``id``, those below, and of those in brackets as many as are wanted
        """
        self._record["force"].append(_given({"type": type, **keys}))
        return self

    def motion(
        self, inputs: Mapping[str, Mapping[str, Any]], *, duration: float = 1.0, steps: int = 101
    ) -> Self:
        """Set the motion that the mechanism carries, in place of the one before.

        Parameters
        ----------
        inputs : a motion law for each driven coordinate: ``{"1-2.angle": {"law": "speed", "rate": 6.28}}``
        duration : s, from t = 0
        steps : instants, both ends included
        """
        self._record["motion"] = {"duration": duration, "steps": steps, "inputs": inputs}
        return self

    def build(self) -> Mechanism:
        """Return the mechanism; more may be added to the builder afterwards, and built again.

        Raises
        ------
        ModelError
            With every fault of every call, named as ``joint 3 (crank, rod) axis``.
        """
        return from_record(plain(self._record), self.name, self.name)

    def save(self, path: str | Path, *, force: bool = False) -> list[str]:
        """Build, and write the mechanism in the format that the ending says, as :func:`mbssa.save` does.

        ``.toml`` has the numbers as they were given, in the builder's own units.

        Returns
        -------
        What the format cannot keep.

        Raises
        ------
        ModelError
            Faults of the mechanism, an unsupported format.
        OSError
            The file cannot be written.
        """
        mechanism, target = self.build(), Path(path)
        # No text can hold a function of Python.
        entries = (entry for key in ("joint", "force") for entry in self._record[key])
        functions = any(callable(value) for entry in entries for value in entry.values())
        if target.suffix.lower() != ".toml" or functions:
            return save(mechanism, target, force=force)
        import tomlkit

        if target.is_file() and not force:
            raise FileExistsError(f"{target}: exists; write force=True to replace it")
        write_whole(target, tomlkit.dumps(plain(self._record)).encode())
        return []

    if TYPE_CHECKING:  # the methods that the catalogue adds below

        def __getattr__(self, name: str) -> Callable[..., Self]: ...


def _given(keys: Mapping[str, Any]) -> Record:
    """A table without what is None; a single driven coordinate becomes a list."""
    table = {key: value for key, value in keys.items() if value is not None}
    if isinstance(table.get("driven"), str):
        table["driven"] = [table["driven"]]
    return table


def _joint_method(rows: Sequence[JointType]) -> Callable[..., Builder]:
    """The method that adds a joint of one type, whose rows are those of the spaces that have it."""
    codes = {row.space: row.code for row in rows}

    def add(self: Builder, *bodies: int | str, **keys: Any) -> Builder:
        # A type that this space does not have is reported with all other faults.
        return self.joint(codes.get(self._record["space"], rows[0].code), *bodies, **keys)

    add.__name__, add.__qualname__ = rows[0].method, f"Builder.{rows[0].method}"
    said = [f"Add a joint of type {rows[0].code}: {rows[0].name}.", ""]
    for row in rows:
        said += [
            f"{row.space.capitalize()}: bodies, 2{f' to {row.max_bodies}' if row.max_bodies > 2 else ''}; "
            f"coordinates {', '.join(row.coordinates)}",
            f"    geometry: {', '.join(row.required) or 'none needed'}"
            + (f"; may have {', '.join(row.optional)}" if row.optional else ""),
            *([f"    {row.note}"] if row.note else []),
        ]
    add.__doc__ = "\n    ".join([*said, "", f"Every type takes {', '.join(_COMMON)}; see :meth:`joint`."])
    return add


for _method in {row.method for row in CATALOGUE}:
    _rows = [row for space in FREEDOM for row in CATALOGUE if (row.method, row.space) == (_method, space)]
    setattr(Builder, _method, _joint_method(_rows))

_types = [
    f'- ``"{name}"``: {", ".join(row.required)} [{", ".join(row.optional)}]{" (planar)" * row.planar}'
    for name, row in FORCE_TYPES.items()
]
Builder.force.__doc__ = "\n        ".join([f"{(Builder.force.__doc__ or '').rstrip()}\n", *_types])
