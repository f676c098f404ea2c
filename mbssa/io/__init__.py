"""Module 1 of MBSSA3D: every way in, all ending in one frozen mechanism."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from importlib import resources
from pathlib import Path
from typing import Any

from mbssa.allowed import allowing
from mbssa.faults import Fault, Faults, ModelError, meant
from mbssa.io.assur import FAMILY, assur_linkage
from mbssa.io.builder import Builder
from mbssa.io.formats import ALL_ENDINGS, known_ending, no_format, reader, save
from mbssa.io.graph import from_networkx, to_networkx
from mbssa.io.pairs import from_adjacency, from_pairs
from mbssa.mechanism import JointGeometry, Mechanism
from mbssa.trust import Trusted

__all__ = [
    "FAMILY",
    "Builder",
    "Fault",
    "ModelError",
    "builtin_names",
    "from_adjacency",
    "from_networkx",
    "from_pairs",
    "load",
    "save",
    "to_networkx",
]


#: A function of the poses of a joint's bodies, or that and its derivative.
Given = Callable[..., Any] | tuple[Callable[..., Any], Callable[..., Any]]


def builtin_names() -> tuple[str, ...]:
    """Names of the models that come with the package, in alphabetical order.

    >>> "rotor" in builtin_names()
    True
    """
    folder = resources.files("mbssa.io.models")
    names = (entry.name for entry in folder.iterdir())
    return tuple(sorted(name.removesuffix(".toml") for name in names if name.endswith(".toml")))


def _builtin_text(name: str) -> str:
    return resources.files("mbssa.io.models").joinpath(f"{name}.toml").read_text("utf-8")


def written_text(model: str, target: Path | None = None) -> str | None:
    """Text of a built-in model or TOML file, with comments and units; None for other models."""
    # With a ``target``, a file that is to hold the text, also None where the text names functions or meshes
    # from another folder.
    path = Path(model)
    if model in builtin_names():
        text = _builtin_text(model)
    elif path.suffix.lower() == ".toml" and path.is_file():
        from mbssa.io.toml_text import toml_text

        text = toml_text(path)
    else:
        return None
    elsewhere = target is not None and path.resolve().parent != target.resolve().parent
    return None if elsewhere and any(word in text for word in ("function", "mesh")) else text


def load(
    model: str | Path | Mapping[str, Any],
    *,
    functions: Mapping[str, Given] | None = None,
    trust: bool = False,
    allow: Sequence[str | Path] = (),
) -> Mechanism:
    """A mechanism: a built-in model, one of the family ``assur:…``, a file, or the content of a file.

    Parameters
    ----------
    model : ``"rotor"``, ``"assur:III-4B"``, or the path of a file that ends in ``.toml``, ``.m``
        (the paper's script User_Data.m), ``.csv`` (the paper's matrices as a sheet), ``.npz`` (arrays) or
        ``.urdf``, ``.sdf``, ``.xml``, ``.mjcf`` (a robot; a warning lists what was merged, left out or
        assumed, and the notes of the mechanism keep it).
        A built-in name goes before a file of the same name; write ``./rotor`` for the file. A text of several
        lines is the content of a TOML file, and a dictionary its tables.
    functions : of joints of type USER, by joint id: a function of the poses of the joint's bodies, or a tuple
        of that and its derivative. They take the place of what the file names; it need not name any.
    trust : whether code that the file names may be imported and run, when the mechanism is examined or
        solved; MBSSA_TRUST=1 in the environment trusts all files. Without it such a joint counts by its
        number of equations, and cannot be solved, and such a force cannot be evaluated. Built-in models are
        trusted.
    allow : folders outside the model's own from which files that it names may be read (meshes, included
        files, ``package://``)

    Raises
    ------
    ModelError
        Unknown name, unreadable file, or a file with faults: all of them; functions of no such joint.

    Examples
    --------
    >>> import mbssa
    >>> mbssa.load("stewart")
    <Mechanism stewart: spatial, 14 bodies with the frame, 19 joints, 6 driven coordinates>

    A crank from the text of its model file:

    >>> mbssa.load('''
    ... format = 1
    ... space = "planar"
    ... bodies = 2
    ... joint = [{ bodies = ["frame", 2], type = "R", driven = true, point = [0, 0] }]
    ... ''')
    <Mechanism model: planar, 2 bodies with the frame, 1 joint, 1 driven coordinate>

    A load that a drum lifts by 2 m for each radian, whatever the trolley does:

    >>> def rope(q):  # rows x, y, angle of drum, trolley and load
    ...     return q[2, 1] - q[1, 1] + 4.0 - 2.0 * q[0, 2]
    >>> hoist = mbssa.load("rope_hoist", functions={"rope": rope})
    >>> mbssa.check(hoist).solvable
    True
    """
    if not isinstance(model, str | Path | Mapping):
        raise TypeError(
            f"{model!r} is no model; give a built-in name, the path of a file, the text "
            "of a TOML file, or a dictionary"
        )
    with allowing(allow):
        found = _load(model)
    if trust or (not isinstance(model, Mapping) and str(model) in builtin_names()):
        found = _trusted(found)
    return found if functions is None else _with_functions(found, functions)


def _with_functions(mechanism: Mechanism, functions: Mapping[str, Given]) -> Mechanism:
    """Mechanism with other functions, by joint id, in joints of type USER; ModelError has all faults."""
    # A value is the function, or the function and its derivative; what the joint had of both is gone.
    geometry, faults = dict(mechanism.joint_geometry), Faults()
    for name, given in functions.items():
        where = f"functions {name}"
        try:
            joint = mechanism.joint(name)
        except KeyError as error:
            faults.add(where, error.args[0], "unknown")
            continue
        if "function" not in joint.type.required:
            what = f"is a {joint.type.code}; functions belong to joints of type USER"
            faults.add(where, what, "unsupported")
            continue
        function, derivative = given if isinstance(given, tuple) and len(given) == 2 else (given, None)
        if not callable(function) or not (derivative is None or callable(derivative)):
            faults.add(where, f"is {given!r}; give a function, or a function and its derivative as a tuple")
            continue
        before = geometry.get(joint.index, JointGeometry())
        geometry[joint.index] = replace(before, function=function, derivative=derivative)
    faults.raise_if_any(mechanism.name or "mechanism")
    return replace(mechanism, joint_geometry=geometry)


def _trusted(mechanism: Mechanism) -> Mechanism:
    """Mechanism whose functions, where they have names, may be imported."""

    def trusted(part: Any) -> Any:
        named = {key: getattr(part, key, None) for key in ("function", "derivative")}
        named = {key: Trusted(source) for key, source in named.items() if isinstance(source, str)}
        return replace(part, **named) if named else part

    geometry = {joint: trusted(found) for joint, found in mechanism.joint_geometry.items()}
    return replace(mechanism, joint_geometry=geometry, forces=tuple(map(trusted, mechanism.forces)))


def _load(model: str | Path | Mapping[str, Any]) -> Mechanism:
    # The reader of TOML brings pydantic in: only who needs it pays for it.
    if isinstance(model, Mapping):
        from mbssa.io.records import from_record, plain

        return from_record(plain(model), "model", "model")
    if isinstance(model, str) and "\n" in model:
        from mbssa.io.toml_file import parse_toml

        return parse_toml(model, "model", "model")
    name = str(model)
    if name.startswith(FAMILY):
        return assur_linkage(name)
    builtin = builtin_names()
    if name in builtin:
        from mbssa.io.toml_file import parse_toml

        return parse_toml(_builtin_text(name), name, name)
    path = Path(model)
    if name and path.is_dir():
        raise ModelError(name, [Fault("", "is a folder; name a file in it", "file")])
    ending = known_ending(path, ALL_ENDINGS)
    if ending is not None:
        return replace(reader(ending)(path), folder=str(path.parent))
    if path.is_file():
        raise no_format(path, ALL_ENDINGS)
    known = (
        meant(name, builtin, most=3).rstrip()
        or f"the models are {', '.join(builtin)}, {FAMILY}CLASS-COUNT[B]"
    )
    fault = Fault("", f"is neither a file nor a built-in model; {known}", "unknown")
    raise ModelError(name or "MODEL", [fault])
