"""Masses and forces of a model: from checked tables to data in SI units, and back."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from mbssa.bounds import SMALLEST_MASS, load_faults, range_fault
from mbssa.expressions import ExpressionError, function_of
from mbssa.faults import Faults, meant
from mbssa.io.motion import check_law, law_in_si, law_record
from mbssa.joints.catalogue import Space, is_length
from mbssa.joints.geometry import JointGeometry
from mbssa.loads import ARGUMENTS, FORCE_TYPES, Force, ForceType, Inertia, inertia_matrix, principal_moments
from mbssa.mechanism import FRAME, Mechanism, Vector
from mbssa.motion import InputLaw
from mbssa.units import scale_of

if TYPE_CHECKING:
    from mbssa.io.schema import ForceEntry, InertiaEntry

#: A position of the file in m, or a fault.
Position = Callable[[list[float] | None, str, float | None], Vector | None]


@dataclasses.dataclass(frozen=True)
class LoadReader:
    """Reader of masses and forces; ``vector`` and all that follow are those of the file's reader."""

    space: Space
    length: float
    angle: float
    vector: Position
    profile: Callable[[Any, str], dict[str, Any] | None]
    function: Callable[[Any, str], Any]
    faults: Faults

    # --- masses ---

    def inertia(self, entry: InertiaEntry | None, origin: Vector | None, where: str) -> Inertia | None:
        """Mass properties of one body in SI units; ``origin`` of the body stands in for a missing centre."""
        if entry is None:
            return None
        place, before = f"{where} inertia", len(self.faults)
        if not entry.mass > 0:
            what = f"is {entry.mass:g}; write a positive mass, or leave inertia out"
            self.faults.add(f"{place}.mass", what)
        centre = self.vector(entry.centre, f"{place}.centre", self.length) or origin
        if centre is None and len(self.faults) == before:
            what = "is missing; write the centre of mass, world axes at the reference"
            self.faults.add(f"{place}.centre", what, "missing")
        square = self.length**2
        planar = self.space == "planar"
        wrong = ("moments", "products") if planar else ("moment",)
        takes = "moment, a number" if planar else "moments = [Ixx, Iyy, Izz] and products = [Ixy, Ixz, Iyz]"
        for key in wrong:
            if getattr(entry, key) is not None:
                what = f"is not for a {self.space} model; write {takes}"
                self.faults.add(f"{place}.{key}", what, "unsupported")
        if planar and entry.moment is not None and entry.moment < 0:
            self.faults.add(f"{place}.moment", f"is {entry.moment:g}; write zero or a positive number")
        given = (entry.moment or 0.0, *(entry.moments or ()), *(entry.products or ()))
        large = [
            said for number in (entry.mass, *(v * square for v in given)) if (said := range_fault(number))
        ]
        if large:
            self.faults.add(place, large[0])
        elif 0.0 < entry.mass < SMALLEST_MASS:
            self.faults.add(f"{place}.mass", f"is {entry.mass:g} kg; write 0, or {SMALLEST_MASS:g} or more")
        elif not planar:
            self._check_matrix(entry, place)
        if len(self.faults) > before or centre is None:
            return None
        moments, products = (
            None if each is None else tuple(v * square for v in each)
            for each in (entry.moments, entry.products)
        )
        moment = None if entry.moment is None else entry.moment * square
        return Inertia(float(entry.mass), centre, moment, moments, products)

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

    def forces(self, entries: Sequence[ForceEntry], numbers: Mapping[str, int], n: int) -> tuple[Force, ...]:
        """Force elements in SI units; the coordinates that they name are checked with the mechanism."""
        from mbssa.io.shape_faults import UNREAD, entry_name

        found = []
        seen: dict[str, int] = {}
        for index, entry in enumerate(entries):
            if entry.type == UNREAD:
                continue
            where = entry_name("force", index, {"id": entry.id, "type": entry.type})
            force = self._force(entry, index, numbers, n, where)
            if force is None:
                continue
            if force.id in seen:
                what = f"{force.id!r} is also that of force {seen[force.id]}; ids are unique"
                self.faults.add(f"{where} id", what, "duplicate")
            seen.setdefault(force.id, index + 1)
            found.append(force)
        return tuple(found)

    def _force(
        self, entry: ForceEntry, index: int, numbers: Mapping[str, int], n: int, where: str
    ) -> Force | None:
        row = FORCE_TYPES.get(entry.type)
        if row is None:
            hint = meant(entry.type, FORCE_TYPES)
            what = f"{entry.type!r} is no force; {hint}write {', '.join(FORCE_TYPES)}"
            self.faults.add(f"{where} type", what, "unknown")
            return None
        before = len(self.faults)
        given = {key for key in entry.model_fields_set - {"type", "id"} if getattr(entry, key) is not None}
        for key in sorted(given - set(row.takes)):
            what = f"is not for a {entry.type}; it takes {', '.join(row.takes)}"
            self.faults.add(f"{where} {key}", what, "unsupported")
        missing = [key for key in row.required if key not in given]
        for key in missing:
            what = f"is missing; a {entry.type} needs {', '.join(row.required)}"
            self.faults.add(f"{where} {key}", what, "missing")
        if not missing and not given & set(row.exerting):
            self.faults.add(where, f"exerts nothing; write one of {', '.join(row.exerting)}", "missing")
        self._check_numbers(entry, row, given, where)
        bodies = self._bodies(entry, row.n_bodies, numbers, n, where)
        if len(self.faults) > before:
            return None
        force = self._scaled(entry, row, bodies, entry.id or f"{entry.type} {index + 1}", where)
        if force is not None:
            self.faults.extend(load_faults(force, where))
        return force if len(self.faults) == before else None

    def _check_numbers(self, entry: ForceEntry, row: ForceType, given: set[str], where: str) -> None:
        """Check signs of numbers, laws of time, points of a terrain, and keys that need one another."""
        if row.planar and self.space != "planar":
            self.faults.add(f"{where} type", f"{entry.type} is for planar models", "unsupported")
        for key in sorted(given & {"stiffness", "damping", "friction"}):
            if getattr(entry, key) < 0:
                what = f"is {getattr(entry, key):g}; write zero or a positive number"
                self.faults.add(f"{where} {key}", what)
        for key in sorted(given & {"threshold", "radius"}):
            if getattr(entry, key) <= 0:
                self.faults.add(f"{where} {key}", f"is {getattr(entry, key):g}; write a positive number")
        if "friction" in given and "threshold" not in given and "threshold" in row.optional:
            what = "is missing; friction needs the velocity of its regularisation"
            self.faults.add(f"{where} threshold", what, "missing")
        if entry.factor is not None:
            multiplied = [key for key in ("force", "moment", "spin") if key in row.takes]
            if not given & set(multiplied):
                what = f"multiplies {' and '.join(multiplied)}; write {multiplied[0]}"
                self.faults.add(f"{where} factor", what, "conflict")
            check_law(entry.factor, None, f"{where} factor", self.faults)
        if entry.terrain is not None:
            self._check_terrain(entry.terrain, where)

    def _check_terrain(self, points: list[list[float]], where: str) -> None:
        if len(points) < 2:
            self.faults.add(f"{where} terrain", f"{len(points)} points; write two or more")
        short = [k for k, point in enumerate(points, 1) if len(point) != 2]
        for k in short:
            self.faults.add(f"{where} terrain[{k}]", f"{len(points[k - 1])} numbers; write [x, y]")
        if short:
            return
        for k in range(1, len(points)):
            if points[k][0] <= points[k - 1][0]:
                what = f"x = {points[k][0]:g} follows {points[k - 1][0]:g}; write increasing x"
                self.faults.add(f"{where} terrain[{k + 1}]", what)
                return

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

    def _bodies(
        self, entry: ForceEntry, wanted: int, numbers: Mapping[str, int], n: int, where: str
    ) -> tuple[int, ...]:
        if entry.bodies is None:
            return ()
        if len(entry.bodies) != wanted:
            self.faults.add(f"{where} bodies", f"{len(entry.bodies)} bodies; write {wanted}")
        found = []
        for body in entry.bodies:
            index = body - 1 if isinstance(body, int) else numbers.get(body, -1)
            if not 0 <= index < n:
                shown = ", ".join([FRAME, *(name for name in numbers if numbers[name])][:20])
                what = f"body {body!r} does not exist; the bodies are {shown}"
                self.faults.add(f"{where} bodies", what, "unknown")
            found.append(index)
        if FORCE_TYPES[entry.type].planar and found == [0]:
            what = f"the frame has no wheel on its own {entry.type}; name another body"
            self.faults.add(f"{where} bodies", what, "unsupported")
        if len(found) == 2 and found[0] == found[1]:
            self.faults.add(f"{where} bodies", "names a body twice; write two different bodies", "duplicate")
        return tuple(found)

    def _scaled(
        self, entry: ForceEntry, row: ForceType, bodies: tuple[int, ...], identity: str, where: str
    ) -> Force:
        turning = entry.coordinate is not None and not is_length(entry.coordinate)

        def scale(key: str) -> float:
            return scale_of(row.unit_of(key, turning), self.length, self.angle)

        def si(key: str) -> float | None:
            given = getattr(entry, key)
            return None if given is None else float(given * scale(key))

        size = 2 if self.space == "planar" else 3
        turn = 1 if size == 2 else 3
        terrain = entry.terrain
        return Force(
            entry.type,
            identity,
            bodies,
            entry.coordinate,
            self._points(entry, where),
            self.vector(entry.point, f"{where} point", self.length),
            si("stiffness") or 0.0,
            si("damping") or 0.0,
            si("rest"),
            self._components(entry.force, scale("force"), f"{where} force", size if row.vector else 1),
            self._components(entry.moment, scale("moment"), f"{where} moment", turn),
            entry.axes or "world",
            None if entry.factor is None else law_in_si(entry.factor, 1.0, self.angle),
            si("friction") or 0.0,
            si("threshold"),
            si("radius"),
            None if terrain is None else tuple((x * self.length, y * self.length) for x, y in terrain),
            self.profile(entry.profile, where),
            self._components(entry.spin, scale("spin"), f"{where} spin", turn),
            self._exerted(entry, f"{where} function"),
        )

    def _points(self, entry: ForceEntry, where: str) -> tuple[Vector, ...] | None:
        if entry.points is None:
            return None
        if len(entry.points) != 2:
            self.faults.add(f"{where} points", f"{len(entry.points)} entries; write 2")
        placed = [self.vector(v, f"{where} points[{k}]", self.length) for k, v in enumerate(entry.points, 1)]
        found = tuple(point for point in placed if point is not None)
        if entry.type == "spring" and len(found) == 2 and math.dist(*found) == 0.0:
            self.faults.add(f"{where} points", "coincide at the reference; a spring needs a direction")
        return found

    def _components(self, given: float | list[float] | None, scale: float, where: str, size: int) -> Any:
        """A number, or a vector of the space, in SI units; other than a direction it may be zero."""
        if given is None:
            return None
        numbers = given if isinstance(given, list) else [given]
        if isinstance(given, list) == (size == 1) or len(numbers) != size:
            wanted = "a number" if size == 1 else f"a vector of {size} numbers"
            self.faults.add(where, f"is {_shown(given)}; write {wanted}")
            return None
        scaled = tuple(float(v * scale) for v in numbers)
        return scaled[0] if size == 1 else scaled


def _shown(given: float | list[float]) -> str:
    """Numbers of a file as a message shows them."""
    return f"[{', '.join(f'{v:g}' for v in given)}]" if isinstance(given, list) else f"{given:g}"


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
