"""Masses and forces of a model: from checked tables in SI units to data, and back."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from mbssa.bounds import SMALLEST_MASS, gravity_fault, load_faults, range_fault
from mbssa.expressions import ExpressionError, function_of
from mbssa.faults import Faults, meant
from mbssa.io.motion import check_law, law_of, law_record, motion_of
from mbssa.joints.geometry import JointGeometry
from mbssa.loads import ARGUMENTS, FORCE_TYPES, Force, ForceType, Inertia, inertia_matrix, principal_moments
from mbssa.mechanism import FRAME, FRAME_NAMES, Mechanism, Vector
from mbssa.motion import DefaultMotion, InputLaw
from mbssa.units import ANGLES, LENGTHS

if TYPE_CHECKING:
    from mbssa.io.schema import ForceEntry, InertiaEntry, ModelFile


class LoadReader:
    """One pass over checked tables, collecting faults of meaning: of loads, and of what joints have too."""

    def __init__(self, model: ModelFile, source_name: str, faults: Faults) -> None:
        self.model = model
        self.source_name = source_name
        self.faults = faults
        self.space = model.space
        self.dimension = 2 if self.space == "planar" else 3
        #: Names of the bodies, and index of each name; the frame has several.
        self.names = [FRAME, *(body.name or str(number) for number, body in enumerate(model.body, 2))]
        self.numbers = {name: index for index, name in enumerate(self.names)} | dict.fromkeys(FRAME_NAMES, 0)
        self.n_bodies = model.bodies or len(self.names)

    def reported(self, place: str) -> bool:
        """Return whether there is a fault of a place, whose key may have been taken out."""
        return any(fault.place.startswith(place) for fault in self.faults)

    def gravity(self) -> Vector | None:
        """Acceleration, m/s²."""
        given = self.model.gravity
        if given is not None and (fault := gravity_fault(given)):
            self.faults.add("gravity", fault)
        return None if given is None else tuple(given)

    def motion(self) -> DefaultMotion | None:
        return None if self.model.motion is None else motion_of(self.model.motion, self.faults)

    # --- fields ---

    def index_of(self, body: int | str) -> int:
        """Index of a body by its number or name; -1 for one that there is not."""
        if isinstance(body, str):
            return self.numbers.get(body, -1)
        return body - 1 if 1 <= body <= self.n_bodies else -1

    def bodies(self, given: Sequence[int | str], where: str) -> list[int]:
        """Indices of bodies; -1 for those that there are not."""
        for body in given:
            if self.index_of(body) < 0:
                hint, shown = "", f"1 (frame) to {self.n_bodies}"
                if isinstance(body, str):
                    known = [name for name in self.numbers if name not in FRAME_NAMES[1:]]
                    hint, shown = meant(body, known, most=2), ", ".join(known[:20])
                what = f"body {body!r} does not exist; {hint}the bodies are {shown}"
                self.faults.add(where, what, "unknown")
        return list(map(self.index_of, given))

    def profile(self, given: Any, where: str) -> dict[str, Any] | None:
        """The profile's table in SI."""
        if given is None:
            return None
        from mbssa.io.profile import profile_of

        length, angle = LENGTHS[self.model.units.length], ANGLES[self.model.units.angle]
        found = profile_of(given, length, angle, f"{where} profile", self.faults)
        return None if found is None else dict(found.table)

    def function(self, given: Any, where: str) -> Any:
        if given is None or callable(given):
            return given
        source, colon, name = given.rpartition(":") if isinstance(given, str) else ("", "", "")
        if not (source and colon and name.isidentifier()):
            what = f'is {given!r}; write "module:name" or "file.py:name" of a Python function'
            self.faults.add(where, what)
            return None
        path = Path(self.source_name).parent / source
        here = source.endswith(".py") and Path(self.source_name).is_file()
        return f"{path.resolve()}:{name}" if here else given

    # --- masses ---

    def inertia(self, entry: InertiaEntry | None, origin: Any, where: str) -> Inertia | None:
        """Mass properties of one body; ``origin`` of the body stands in for a missing centre."""
        if entry is None:
            return None
        place, before = f"{where} inertia", len(self.faults)
        centre = entry.centre or origin
        if centre is None and len(self.faults) == before:
            what = "is missing; write the centre of mass, world axes at the reference"
            self.faults.add(f"{place}.centre", what, "missing")
        planar = self.space == "planar"
        wrong = ("moments", "products") if planar else ("moment",)
        takes = "moment, a number" if planar else "moments = [Ixx, Iyy, Izz] and products = [Ixy, Ixz, Iyz]"
        for key in wrong:
            if getattr(entry, key) is not None:
                what = f"is not for a {self.space} model; write {takes}"
                self.faults.add(f"{place}.{key}", what, "unsupported")
        given = (entry.mass, entry.moment or 0.0, *(entry.moments or ()), *(entry.products or ()))
        if large := next(filter(None, map(range_fault, given)), ""):
            self.faults.add(place, large)
        elif entry.mass < SMALLEST_MASS:
            self.faults.add(f"{place}.mass", f"is {entry.mass:g} kg; write {SMALLEST_MASS:g} or more")
        elif not planar:
            self._check_matrix(entry, place)
        if len(self.faults) > before or centre is None:
            return None
        return Inertia(**vars(entry) | {"centre": centre})

    def _check_matrix(self, entry: InertiaEntry, place: str) -> None:
        """Check six components: no principal moment is negative or above the sum of the others."""
        counted = {key: getattr(entry, key) for key in ("moments", "products")}
        short = [key for key, given in counted.items() if given is not None and len(given) != 3]
        for key in short:
            self.faults.add(f"{place}.{key}", f"{len(counted[key])} numbers; write three")
        if short:
            return
        if entry.products is not None and entry.moments is None:
            what = "stand without moments; write moments = [Ixx, Iyy, Izz]"
            self.faults.add(f"{place}.products", what, "missing")
            return
        shown, wrong = principal_moments(inertia_matrix(entry.moments or (0.0, 0.0, 0.0), entry.products))
        if wrong:
            self.faults.add(f"{place}.moments", f"have the principal moments {shown}; {wrong}")

    # --- forces ---

    def forces(self) -> tuple[Force, ...]:
        """Force elements, whose coordinates are checked with the mechanism."""
        from mbssa.io.shape_faults import UNREAD, entry_name

        found = []
        seen: dict[str, int] = {}
        for index, entry in enumerate(self.model.force):
            if entry.type == UNREAD:
                continue
            where = entry_name("force", index, vars(entry))
            if (row := FORCE_TYPES.get(entry.type)) is None:
                what = f"is no force; {meant(entry.type, FORCE_TYPES)}write {', '.join(FORCE_TYPES)}"
                self.faults.add(f"{where} type", f"{entry.type!r} {what}", "unknown")
                continue
            force = self._force(entry, row, entry.id or f"{entry.type} {index + 1}", where)
            if force is None:
                continue
            if force.id in seen:
                what = f"{force.id!r} is also that of force {seen[force.id]}; ids are unique"
                self.faults.add(f"{where} id", what, "duplicate")
            seen.setdefault(force.id, index + 1)
            found.append(force)
        return tuple(found)

    def _force(self, entry: ForceEntry, row: ForceType, identity: str, where: str) -> Force | None:
        before = len(self.faults)
        given = {key: value for key, value in entry if key not in ("type", "id") and value is not None}
        said = {*given, *(key for key in row.takes if self.reported(f"{where} {key}"))}
        for key in sorted(given.keys() - set(row.takes)):
            what = f"is not for a {entry.type}; it takes {', '.join(row.takes)}"
            self.faults.add(f"{where} {key}", what, "unsupported")
        missing = [key for key in row.required if key not in said]
        for key in missing:
            what = f"is missing; a {entry.type} needs {', '.join(row.required)}"
            self.faults.add(f"{where} {key}", what, "missing")
        if not missing and not said & set(row.exerting):
            self.faults.add(where, f"exerts nothing; write one of {', '.join(row.exerting)}", "missing")
        if row.planar and self.space != "planar":
            self.faults.add(f"{where} type", f"{entry.type} is for planar models", "unsupported")
        if "friction" in said and "threshold" not in said and "threshold" in row.optional:
            what = "is missing; friction needs the velocity of its regularisation"
            self.faults.add(f"{where} threshold", what, "missing")
        if entry.factor is not None:
            multiplied = [key for key in ("force", "moment", "spin") if key in row.takes]
            if not said & set(multiplied):
                what = f"multiplies {' and '.join(multiplied)}; write {multiplied[0]}"
                self.faults.add(f"{where} factor", what, "conflict")
            check_law(entry.factor, None, f"{where} factor", self.faults)
            given["factor"] = law_of(entry.factor)
        if entry.terrain is not None:
            terrain = entry.terrain
            falling = [k for k in range(1, len(terrain)) if terrain[k][0] <= terrain[k - 1][0]]
            for k in falling[:1]:
                what = "is not beyond the point before; write increasing x"
                self.faults.add(f"{where} terrain[{k + 1}]", what)
        given["bodies"] = self._bodies(entry, row, f"{where} bodies")
        if len(self.faults) > before or not said <= given.keys():
            return None
        turn = 1 if self.dimension == 2 else 3
        for key, size in (("force", self.dimension if row.vector else 1), ("moment", turn), ("spin", turn)):
            if key in given:
                self._check_size(given[key], f"{where} {key}", size)
        if entry.type == "spring" and entry.points and entry.points[0] == entry.points[1]:
            self.faults.add(f"{where} points", "coincide at the reference; a spring needs a direction")
        given["profile"] = self.profile(entry.profile, where)
        given["function"] = self._exerted(entry, f"{where} function")
        force = Force(entry.type, identity, **given)
        self.faults += load_faults(force, where)
        return force if len(self.faults) == before else None

    def _exerted(self, entry: ForceEntry, where: str) -> Any:
        """A function: an expression of t, value and rate, which needs no trust, or Python's by its name."""
        given = entry.function
        if not isinstance(given, str) or ":" in given or entry.type == "point":
            return self.function(given, where)
        try:
            function_of(given, ARGUMENTS)
        except ExpressionError as error:
            self.faults.add(where, str(error))
        return given

    def _bodies(self, entry: ForceEntry, row: ForceType, where: str) -> tuple[int, ...]:
        given = entry.bodies or []
        if entry.bodies is not None and len(given) != row.n_bodies:
            self.faults.add(where, f"{len(given)} bodies; write {row.n_bodies}")
        found = tuple(self.bodies(given, where))
        if row.planar and found == (0,):
            what = f"the frame has no wheel on its own {entry.type}; name another body"
            self.faults.add(where, what, "unsupported")
        if len(found) == 2 and found[0] == found[1]:
            self.faults.add(where, "names a body twice; write two different bodies", "duplicate")
        return found

    def _check_size(self, given: Any, where: str, size: int) -> None:
        """Check a number, or a vector of the space; other than a direction it may be zero."""
        numbers = len(given) if isinstance(given, tuple) else 1
        if isinstance(given, tuple) == (size == 1) or numbers != size:
            has = f"{numbers} numbers" if isinstance(given, tuple) else "a number"
            self.faults.add(where, f"is {has}; write {'one' if size == 1 else f'a vector of {size}'}")


# --- with the joints ---------------------------------------------------------------------------------


def with_joints(mechanism: Mechanism, forces: Sequence[Force], faults: Faults) -> tuple[Force, ...]:
    """The forces with ids and bodies of the joints that they name; faults of their coordinates."""
    found = []
    for force in forces:
        if (given := force.coordinate) is not None:
            where, (joint, dot, name) = f"force {force.id} coordinate", given.rpartition(".")
            joint, name = (joint, name) if dot else (name, "")
            try:
                view = mechanism.joint(joint)
            except KeyError as error:
                faults.add(where, f"{given!r} does not exist; {error.args[0]}", "unknown")
                continue
            bodies = mechanism.joint_bodies(view.index)
            force = dataclasses.replace(force, coordinate=f"{view.id}.{name}", bodies=bodies)
            if name not in view.type.drivable:
                shown = ", ".join(view.type.drivable) or "none that a force can act on"
                what = f"{given!r} does not exist; the coordinates of {view.id} are {shown}"
                faults.add(where, what, "unknown")
            elif FORCE_TYPES[force.type].limited and name not in (view.geometry or JointGeometry()).limits:
                limits = f"limits = {{ {name} = [low, high] }}"
                faults.add(where, f"{given!r} has no limits; write {limits} at the joint")
        found.append(force)
    return tuple(found)


# --- back ------------------------------------------------------------------------------------------


def load_records(mechanism: Mechanism, names: Mapping[int, str]) -> dict[str, Any]:
    """Tables ``gravity`` and ``force`` of a model file, SI units; ``names`` by index of the bodies."""
    record: dict[str, Any] = {}
    if mechanism.gravity is not None:
        record["gravity"] = list(mechanism.gravity)
    if mechanism.forces:
        record["force"] = [_force_record(mechanism, force, names) for force in mechanism.forces]
    return record


def _force_record(mechanism: Mechanism, force: Force, names: Mapping[int, str]) -> dict[str, Any]:
    row = FORCE_TYPES[force.type]
    table: dict[str, Any] = {"type": force.type, "id": force.id}
    for key in row.takes:
        value = getattr(force, key)
        if key == "bodies":
            value = [names.get(index, index + 1) for index in force.bodies]
        elif key == "coordinate":
            joint, name = mechanism.place_of(value)
            value = f"{mechanism.joints[joint].text}.{name}"
        elif value is None or (key in ("stiffness", "damping", "friction") and value == 0.0):
            continue
        elif key == "profile":
            value = dict(value)
        elif isinstance(value, InputLaw):
            value = law_record(value)
        table[key] = value
    return table
