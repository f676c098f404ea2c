"""The command ``mbssa transform``."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from mbssa.cli import completion
from mbssa.cli.console import NOT_DETERMINED, OK, STOPPED, draw, fail, fail_all, present, say_untrusted
from mbssa.cli.options import (
    ForceOption,
    ModelArgument,
    OutputOption,
    ReportOption,
    TrustOption,
    option,
    precision_in_si,
)
from mbssa.cli.outputs import STILL, dash_faults, target_faults, targets_of
from mbssa.files import write_whole
from mbssa.io import ModelError, load, save, written_text
from mbssa.io.edited_text import with_types_and_inputs
from mbssa.io.formats import ENDINGS
from mbssa.progress import bar

if TYPE_CHECKING:
    from mbssa.input_search.result import Transformations
    from mbssa.mechanism import Mechanism

#: Options whose names are not those of the query's fields.
_OPTIONS = {"per_joint": "per-joint", "terminals": "terminal"}

TopOption = Annotated[int, option("K", "Rows that are printed.", min=1)]
RowOption = Annotated[int | None, option("K", "Which row --save writes.", min=1)]
SaveOption = Annotated[
    Path | None, typer.Option("--save", metavar="FILE", help="Write the model with the inputs of --row.")
]
EveryOption = Annotated[bool, typer.Option("--all", help="List schemes without a valid set too.")]


def transform(
    model: ModelArgument,
    inputs: Annotated[
        int | None, option("N", "Driven coordinates; as many as MODEL needs if not given.")
    ] = None,
    allow: Annotated[
        list[str] | None,
        option("NAME,...", "Only these joints (1-2) or coordinates (1-2.slide).", completion.names),
    ] = None,
    forbid: Annotated[
        list[str] | None, option("NAME,...", "None of these joints or coordinates.", completion.names)
    ] = None,
    require: Annotated[
        list[str] | None, option("NAME,...", "All of these joints or coordinates.", completion.names)
    ] = None,
    per_joint: Annotated[int | None, option("W", "Most inputs on one joint.")] = None,
    terminal: Annotated[
        list[str] | None,
        option("BODY", "Give this body an F pair with the frame that may be driven.", completion.bodies),
    ] = None,
    criterion: Annotated[
        str | None, option("TEXT", "Order of the rows: groups,largest or 2*groups-1*largest+0.5*closed.")
    ] = None,
    pareto: Annotated[str | None, option("A,B", "List the Pareto front of two criteria.")] = None,
    top: TopOption = 10,
    every: EveryOption = False,
    most: Annotated[
        int | None, option("N", "Schemes that may be evaluated; beyond, best first.", min=1)
    ] = None,
    time_limit: Annotated[
        float | None, option("S", "Time limit in seconds; gives the best so far.", min=0.0)
    ] = None,
    spanning: Annotated[
        bool,
        typer.Option("--spanning/--no-spanning", help="Try other pairs for joints of several bodies."),
    ] = True,
    precision: Annotated[str | None, option("LENGTH", "Of the geometry's numbers, such as 1e-6 m.")] = None,
    store: Annotated[Path | None, option("FILE", "Add the result to this SQLite database.")] = None,
    form: ReportOption = "table",
    output: OutputOption = None,
    row: RowOption = None,
    save_to: SaveOption = None,
    force: ForceOption = False,
    trust: TrustOption = False,
    plot: Annotated[
        Path | None, option("FILE", "Draw --pareto, or groups against cost: .png, .svg or .pdf.")
    ] = None,
) -> None:
    """Find the inputs that give MODEL its best kinematic structure.

    Sets of driven coordinates are evaluated by the mobility count and by their
    rank at the given geometry. Criteria: groups, their number; largest, bodies
    of the largest; closed and open, groups with and without a closed form;
    levels; width, groups in the widest level; cost, predicted µs of a time
    step; margin, smallest over largest singular value of the released motions,
    0 to 1. Ctrl-C ends the search with the best so far.

    Exit 0: valid inputs were found; 1: none; 2: bad input; 130: interrupted.

    Example: mbssa transform rotor --criterion groups,largest --row 1 --save best.toml

    Example: mbssa transform stewart --terminal 14 --per-joint 6 --store searches.sqlite

    Example: mbssa transform micromanipulator --forbid 1-2,1-4 --pareto groups,cost --plot front.png
    """
    from mbssa.input_search.criteria import DEFAULT

    mechanism = load(model)
    faults: list[str] = []
    query = {
        "inputs": inputs,
        "allow": _names(allow),
        "forbid": _names(forbid),
        "require": _names(require),
        "per_joint": per_joint,
        "terminals": _names(terminal),
        "precision": precision_in_si(precision, mechanism.units, faults),
        "spanning": spanning,
    }
    text = DEFAULT if criterion is None else criterion
    front = None if pareto is None else tuple(name.strip() for name in pareto.split(","))
    named = {"--allow": allow, "--forbid": forbid, "--require": require, "--terminal": terminal}
    faults += [
        f"{option}: names nothing"
        for option, given in named.items()
        if not all(_names([text]) for text in given or [])
    ]
    faults += _query_faults(mechanism, query) + criterion_faults(text, front)
    faults += search_target_faults(output, save_to, row, plot, [model, store], force)
    faults += dash_faults("--store", store, "a file")
    if store is not None and not store.parent.is_dir():
        faults.append(f"--store {store}: there is no folder {store.parent}")
    if faults:
        fail_all(faults)
    pair = None if front is None else (front[0], front[1])
    limits = {"most": most, "time_limit": time_limit}
    given = {key: value for key, value in limits.items() if value is not None}
    answer = _searched(mechanism, query | given, criterion=text, every=every, store=store)
    _present(answer, top, pair, form, output)
    say_untrusted(mechanism)
    _save_row(model, answer, row, save_to, pair)
    if plot is not None:
        from mbssa.pictures.front import pareto_front

        draw((plot, lambda: pareto_front(answer, *(pair or ("groups", "cost")))))
    if answer.stopped == "interrupted":
        raise typer.Exit(STOPPED)
    raise typer.Exit(OK if answer.n_valid else NOT_DETERMINED)


# --- the query -------------------------------------------------------------------------------------


def _names(given: Sequence[str] | None) -> list[str]:
    return [name.strip() for text in given or [] for name in text.split(",") if name.strip()]


def _query_faults(mechanism: Mechanism, query: dict[str, Any]) -> list[str]:
    from mbssa.input_search.query import make_query

    try:
        make_query(mechanism, **query)
    except ModelError as error:
        return [f"--{_OPTIONS.get(fault.place, fault.place)}: {fault.message}" for fault in error.faults]
    return []


def criterion_faults(text: str, front: tuple[str, ...] | None, option: str = "--criterion") -> list[str]:
    """Faults of a criterion, and of the names of a Pareto front."""
    from mbssa.input_search.criteria import DIRECTIONS
    from mbssa.input_search.criteria import criterion as read

    faults = []
    try:
        read(text)
    except ValueError as error:
        faults.append(f"{option}: {str(error).removeprefix('criterion ')}")
    if front is not None and (len(set(front)) != 2 or not set(front) <= set(DIRECTIONS)):
        faults.append(
            f"--pareto {','.join(front)}: write two of {', '.join(DIRECTIONS)}, such as groups,cost"
        )
    return faults


def search_target_faults(
    output: Path | None,
    saved: Path | None,
    row: int | None,
    plot: Path | None,
    used: Sequence[str | Path | None],
    force: bool,
) -> list[str]:
    """Reasons for which files cannot be written."""
    faults = []
    if (row is None) != (saved is None):
        faults.append("--row and --save: write both, or neither")
    targets = targets_of(("--output", output, ()), ("--save", saved, ENDINGS), ("--plot", plot, STILL))
    return faults + target_faults(targets, used, force)


def named_store(error: Exception) -> str:
    """The message of a StoreError whose file was named on the command line."""
    return str(error).replace("in MBSSA_STORE", "with --store")


# --- the search ------------------------------------------------------------------------------------


def _searched(mechanism: Mechanism, query: dict[str, Any], **how: Any) -> Transformations:
    from mbssa.input_search.search import transform as search
    from mbssa.reports.wording import counted
    from mbssa.store import StoreError

    def print_counts(n_sets: int, n_distributions: int) -> None:
        schemes = counted(n_distributions, "actuation scheme")
        print(f"{counted(n_sets, 'set')} of inputs in {schemes}", file=sys.stderr)

    try:
        with bar() as report:
            return search(
                mechanism,
                **query,
                **how,
                counted=print_counts,
                progress=lambda done, total: report(f"{done:,} of {total:,} schemes", done / total),
            )
    except StoreError as error:
        fail(named_store(error))
    except ModelError:
        raise
    except ValueError as error:
        fail(str(error))
    except KeyboardInterrupt:
        print("stopped by Ctrl-C before the first result", file=sys.stderr)
        raise typer.Exit(STOPPED) from None


# --- the answer ------------------------------------------------------------------------------------


def _present(
    answer: Transformations, top: int, pareto: tuple[str, str] | None, form: str, output: Path | None
) -> None:
    from mbssa.reports.input_search import search_report, summary_lines

    present(search_report(answer, top, pareto), form, output)
    if not answer.complete and (form != "table" or output is not None):
        print("\n".join(summary_lines(answer)), file=sys.stderr)


def _save_row(
    model: str, answer: Transformations, row: int | None, path: Path | None, pareto: tuple[str, str] | None
) -> None:
    if row is None or path is None:
        return
    rows = answer.rows if pareto is None else answer.front(*pareto)
    if row > len(rows):
        fail(f"--row {row}: there are {len(rows)} rows")
    save_mechanism(rows[row - 1].mechanism(), path, written_text(model, path))


def save_mechanism(mechanism: Mechanism, path: Path, text: str | None = None) -> None:
    """Write a mechanism, TOML by an edit of the original text; report what the format loses."""
    edited = with_types_and_inputs(text, mechanism) if text and path.suffix.lower() == ".toml" else None
    if edited is not None:
        write_whole(path, edited.encode())
        return
    lost = save(mechanism, path, force=True)
    if lost:
        print("\n  ".join([f"{path} does not keep:", *lost]), file=sys.stderr)
