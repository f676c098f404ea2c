"""The state of the studio without its page: model text, mechanism, structure, history, autosave."""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property
from pathlib import Path
from typing import Any

from mbssa import ModelError, Structure, builtin_names, decompose
from mbssa.bounds import MAX_BYTES
from mbssa.faults import Fault
from mbssa.files import write_whole
from mbssa.io import written_text
from mbssa.io.edited_text import with_types_and_inputs
from mbssa.io.formats import ALL_ENDINGS, known_ending, no_format, reader, writer
from mbssa.io.toml_writer import write_toml
from mbssa.mechanism import Mechanism
from mbssa.motion import DefaultMotion
from mbssa.trust import REMEDY
from mbssa_studio import document
from mbssa_studio.document import Tables

#: Edits of a model text by name; their arguments are plain data.
EDITS: dict[str, Callable[..., str]] = {
    name: getattr(document, name)
    for name in (
        "add_link", "add_joint", "add_gear", "add_cam", "add_ground", "add_slider", "add_point",
        "move_point", "take_pose", "delete_body", "delete_joint", "set_field", "set_cell",
    )
}  # fmt: skip

#: Texts that undo goes back through, and models that are kept by their names.
_MOST_KEPT, _MOST_RECENT = 500, 24


class State:
    """One model text with what follows from it; each part is computed when it is wanted."""

    def __init__(self, text: str, name: str, trust: bool) -> None:
        self.text = text
        self.name = name.encode(errors="replace").decode()  # a file's name may be no text
        self.faults: tuple[Fault, ...] = ()
        self.tables: Tables = {}
        self.mechanism: Mechanism | None = None
        try:
            self.tables = document.tables_of(text)
            self.faults = () if trust else tuple(_functions(self.tables))
            if not self.faults:
                from mbssa.io.toml_file import parse_toml

                self.mechanism = parse_toml(text, name, name)
        except ModelError as error:
            self.faults = error.faults

    @cached_property
    def structure(self) -> Structure | None:
        """Structural groups; None while the text is no mechanism."""
        return None if self.mechanism is None else decompose(self.mechanism)


class Session:
    """A mechanism that is edited: every edit is a function of its text, and can be undone byte for byte.

    Parameters
    ----------
    text : of the model file; an empty drawing by default
    name : of the model
    trust : whether models may name Python functions
    autosave : folder that has the text after each edit, in a file by the model's name; none by default

    Examples
    --------
    >>> session = Session()
    >>> session.edit("add_link", points=[[0, 0], [0, 40]])
    >>> session.edit("add_ground", point=[0, 0])
    >>> session.edit("set_field", index=0, field="driven", value=True)
    >>> print(*session.state.structure.groups)
    SG-1{2}
    >>> for _ in range(3):
    ...     session.undo()
    >>> session.state.text == document.EMPTY
    True
    """

    def __init__(
        self,
        text: str = document.EMPTY,
        name: str = "model",
        *,
        trust: bool = False,
        autosave: Path | None = None,
    ) -> None:
        self.trust = trust
        self.autosave = autosave
        self.revision = 0
        self.note = ""
        self.undone: list[State] = []
        self.done: list[State] = []
        self.state = State(text, name, trust)

    def edit(self, name: str, /, **arguments: Any) -> None:
        """Make one edit of :data:`EDITS`.

        Raises
        ------
        ModelError
            No such edit, wrong arguments, or an edit that the model does not allow; the state stays.
        """
        if name not in EDITS:
            raise ModelError(
                "edit", [Fault(name, f"is no edit; the edits are {', '.join(EDITS)}", "unknown")]
            )
        try:
            text = EDITS[name](self.state.text, **arguments)
        except (TypeError, ValueError) as error:
            if isinstance(error, ModelError):
                raise
            raise ModelError("edit", [Fault(name, f"wrong arguments: {error}")]) from None
        self._go_on(text)

    def set_text(self, text: str, name: str | None = None) -> None:
        """Take another text, be it a mechanism or not: its faults are marked, and nothing is lost.

        Raises
        ------
        ModelError
            Larger than a model file may be, or with characters that no file can hold.
        """
        _check_text(text)
        self.note = ""
        self._push(State(text, name or self.state.name, self.trust))

    def open(self, path: Path, name: str | None = None) -> None:
        """Read a model file of any format, under its own or another name; one that is not TOML becomes TOML.

        Raises
        ------
        ModelError
            Not readable; the state stays.
        """
        ending = known_ending(path, ALL_ENDINGS)
        if ending is None:
            raise no_format(path, ALL_ENDINGS)
        if ending == ".toml":
            from mbssa.io.toml_text import toml_text

            self.set_text(toml_text(path), name or path.stem)
        else:
            self.take(reader(ending)(path), name or path.stem)

    def open_builtin(self, name: str) -> None:
        """Take a built-in model, with its comments."""
        self.set_text(builtin_text(name), name)

    def new(self) -> None:
        """Begin an empty drawing under a name that no recent one has; undo brings the last one back."""
        taken = {*self.recent(), self.state.name}
        name = next(
            name for k in range(1, 10**6) if (name := f"model-{k}" if k > 1 else "model") not in taken
        )
        self.set_text(document.EMPTY, name)

    def recent(self) -> list[str]:
        """Names of the models that were edited last and saved by themselves, the newest first."""
        return [path.stem for path in self._saved()]

    def open_recent(self, name: str) -> None:
        """Take a model of :meth:`recent` as its last edit left it.

        Raises
        ------
        ModelError
            There is none of this name.
        """
        found = [path for path in self._saved() if path.stem == name]
        if not found:
            raise ModelError(
                name, [Fault("", f"is no recent model; there are {', '.join(self.recent())}", "unknown")]
            )
        self.set_text(found[0].read_text("utf-8"), name)

    def _saved(self) -> list[Path]:
        if self.autosave is None or not self.autosave.is_dir():
            return []
        return sorted(self.autosave.glob("*.toml"), key=lambda path: path.stat().st_mtime, reverse=True)

    def take(self, mechanism: Mechanism, name: str | None = None) -> None:
        """Take a mechanism, written as a model file."""
        data, lost = write_toml(mechanism)
        self.set_text(data.decode(), name)
        self.note = f"not kept: {'; '.join(lost)}" if lost else ""

    def changed_to(self, mechanism: Mechanism) -> None:
        """Give the joints of the text the types and inputs of a changed mechanism, and keep its comments.

        Where the change is more than that, the text is written anew, and the note says so.
        """
        text = with_types_and_inputs(self.state.text, mechanism)
        if text is not None:
            self._go_on(text)
            return
        self.take(mechanism)
        self.note = "the model was written anew, without comments; undo brings them back"

    def save(self, ending: str) -> tuple[bytes, list[str]]:
        """Content of a file of this ending, and what it cannot keep.

        Raises
        ------
        ModelError
            The text is no mechanism (``.toml`` keeps any text), or the format cannot hold it.
        """
        if ending == ".toml":
            return self.state.text.encode(), []
        if known_ending(Path(f"a{ending}")) != ending:
            raise no_format(Path(f"{self.state.name}{ending}"))
        return writer(ending)(self.mechanism())

    def mechanism(self) -> Mechanism:
        """The mechanism of the text.

        Raises
        ------
        ModelError
            With the faults of the text, if it is none.
        """
        if self.state.mechanism is None:
            raise ModelError(self.state.name, self.state.faults)
        return self.state.mechanism

    def undo(self) -> None:
        """Go back by one edit, if there is one."""
        self._step(self.done, self.undone)

    def redo(self) -> None:
        """Make again what was undone last."""
        self._step(self.undone, self.done)

    def _step(self, source: list[State], target: list[State]) -> None:
        if source:
            target.append(self.state)
            self.note = ""
            self._show(source.pop())

    def _go_on(self, text: str) -> None:
        """Take an edited text; say if it lost its motion."""
        _check_text(text)
        following = self._following(text)
        self.note = ""
        if "motion" in self.state.tables and "motion" not in following.tables:
            self.note = "the motion moved other inputs and was deleted; undo brings it back"
        if following.text != self.state.text:
            self._push(following)

    def _following(self, text: str) -> State:
        """The state of an edited text, without a motion that its inputs no longer fit."""
        state = State(text, self.state.name, self.trust)
        if "motion" in state.tables and not _fits(state):
            return State(document.drop_motion(text), self.state.name, self.trust)
        return state

    def _push(self, state: State) -> None:
        self.done = [*self.done[-_MOST_KEPT:], self.state]
        self.undone = []
        self._show(state)

    def _show(self, state: State) -> None:
        self.state = state
        self.revision += 1
        if self.autosave is not None:
            path = self.autosave / f"{safe_name(state.name)}.toml"
            try:
                self.autosave.mkdir(parents=True, exist_ok=True)
                write_whole(path, state.text.encode())
                for old in self._saved()[_MOST_RECENT:]:
                    old.unlink(missing_ok=True)
            except OSError as error:
                self.note = f"{path}: not saved: {error.strerror}"


def builtin_text(name: str) -> str:
    """File of a built-in model, with its comments."""
    text = written_text(name) if name in builtin_names() else None
    if text is None:
        raise ModelError(
            name, [Fault("", f"is no built-in model; there are {', '.join(builtin_names())}", "unknown")]
        )
    return text


def _check_text(text: str) -> None:
    try:
        size = len(text.encode())
    except UnicodeEncodeError:
        raise ModelError("text", [Fault("", "has half a character; write it anew", "syntax")]) from None
    if size > MAX_BYTES:
        raise ModelError("text", [Fault("", f"is larger than {MAX_BYTES / 1e6:.0f} MB; write .npz", "size")])


def safe_name(name: str) -> str:
    """Name that a file may have on any system."""
    return "".join(c if c.isalnum() or c in "-_" else "_" for c in name)[:60] or "model"


def _functions(tables: Tables) -> list[Fault]:
    """Faults for the Python functions that a model names."""
    return [
        Fault(f"[[joint]] {k + 1} {key}", f"names a Python function, which is not run; {REMEDY}", "function")
        for k, joint in enumerate(document.joint_tables(tables))
        for key in ("function", "derivative")
        if key in joint
    ]


def _fits(state: State) -> bool:
    """Return whether the motion of a text moves its inputs; True where other faults leave it open."""
    if state.mechanism is None:
        return not any(fault.place.lstrip("[").startswith("motion") for fault in state.faults)
    motion = state.mechanism.motion
    if not isinstance(motion, DefaultMotion):
        return True
    driven = {f"{joint.id}.{name}" for joint in state.mechanism.joints for name in joint.driven}
    return set(motion.inputs) == driven
