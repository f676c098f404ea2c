"""The commands ``mbssa transform`` and ``mbssa transformations``."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from mbssa.bar import bar
from mbssa.cli import NOT_DETERMINED, OK, STOPPED, fail, fail_all
from mbssa.gathering import ModelError, load, save
from mbssa.gathering.formats import ENDINGS
from mbssa.options import ForceOption, ModelArgument, OutputOption, TrustOption
from mbssa.targets import STILL, target_faults, targets_of

if TYPE_CHECKING:
    from mbssa.input_search.database import StoredSearch
    from mbssa.input_search.result import Transformations
    from mbssa.mechanism import Mechanism

Form = Literal["table", "json", "csv", "markdown"]

#: Options whose names are not those of the query's fields.
_OPTIONS = {"per_joint": "per-joint", "terminals": "terminal"}

FormatOption = Annotated[Form, typer.Option("--format", "-f", help="What to print.")]
TopOption = Annotated[int, typer.Option(min=1, metavar="K", help="Rows that are printed.")]
RowOption = Annotated[int | None, typer.Option(min=1, metavar="K", help="Which row --save writes.")]
SaveOption = Annotated[
    Path | None, typer.Option("--save", metavar="FILE", help="Write the model with the inputs of --row.")
]
EveryOption = Annotated[bool, typer.Option("--all", help="List schemes without a valid set too.")]


def register(app: typer.Typer) -> None:
    """Add this folder's commands to the command line."""
    app.command("transform")(transform)
    app.command("transformations")(transformations)


def transform(
    model: ModelArgument,
    inputs: Annotated[
        int | None,
        typer.Option(metavar="N", help="Driven coordinates; as many as MODEL needs if not given."),
    ] = None,
    allow: Annotated[
        list[str] | None,
        typer.Option(metavar="NAME,...", help="Only these joints (1-2) or coordinates (1-2.slide)."),
    ] = None,
    forbid: Annotated[
        list[str] | None, typer.Option(metavar="NAME,...", help="None of these joints or coordinates.")
    ] = None,
    require: Annotated[
        list[str] | None, typer.Option(metavar="NAME,...", help="All of these joints or coordinates.")
    ] = None,
    per_joint: Annotated[int | None, typer.Option(metavar="W", help="Most inputs on one joint.")] = None,
    terminal: Annotated[
        list[str] | None,
        typer.Option(metavar="BODY", help="Give this body an F pair with the frame that may be driven."),
    ] = None,
    criterion: Annotated[
        str | None,
        typer.Option(
            metavar="TEXT", help="Order of the rows: groups,largest or 2*groups-1*largest+0.5*closed."
        ),
    ] = None,
    pareto: Annotated[
        str | None, typer.Option(metavar="A,B", help="List the Pareto front of two criteria.")
    ] = None,
    top: TopOption = 10,
    every: EveryOption = False,
    most: Annotated[
        int | None,
        typer.Option(
            min=1,
            metavar="N",
            help="Schemes that may be evaluated; beyond, the best lead on.",
        ),
    ] = None,
    time_limit: Annotated[
        float | None, typer.Option(min=0.0, metavar="S", help="Time limit in seconds; gives the best so far.")
    ] = None,
    spanning: Annotated[
        bool,
        typer.Option("--spanning/--no-spanning", help="Try other pairs for joints of several bodies."),
    ] = True,
    precision: Annotated[
        float | None, typer.Option(min=0.0, metavar="METRES", help="Of the geometry's numbers.")
    ] = None,
    store: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Add the result to this SQLite database.")
    ] = None,
    form: FormatOption = "table",
    output: OutputOption = None,
    row: RowOption = None,
    save_to: SaveOption = None,
    force: ForceOption = False,
    trust: TrustOption = False,
    plot: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Draw --pareto, or groups against cost: .png, .svg or .pdf."),
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
    from mbssa.commands import say_untrusted
    from mbssa.input_search.criteria import DEFAULT

    mechanism = load(model)
    asked = {
        "inputs": inputs,
        "allow": _names(allow),
        "forbid": _names(forbid),
        "require": _names(require),
        "per_joint": per_joint,
        "terminals": _names(terminal),
        "precision": precision,
        "spanning": spanning,
    }
    text = DEFAULT if criterion is None else criterion
    front = None if pareto is None else tuple(name.strip() for name in pareto.split(","))
    named = {"--allow": allow, "--forbid": forbid, "--require": require, "--terminal": terminal}
    faults = [
        f"{option}: names nothing"
        for option, given in named.items()
        if not all(_names([text]) for text in given or [])
    ]
    faults += _question_faults(mechanism, asked) + _criterion_faults(text, front)
    faults += _target_faults(output, save_to, row, plot, [model, store], force)
    if store is not None and not store.parent.is_dir():
        faults.append(f"--store {store}: there is no folder {store.parent}")
    if faults:
        fail_all(faults)
    pair = None if front is None else (front[0], front[1])
    limits = {"most": most, "time_limit": time_limit}
    given = {key: value for key, value in limits.items() if value is not None}
    answer = _searched(mechanism, asked | given, criterion=text, every=every, store=store)
    _deliver(answer, top, pair, form, output)
    say_untrusted(mechanism)
    _save_row(answer, row, save_to, pair)
    if plot is not None:
        _draw(answer, plot, pair or ("groups", "cost"))
    if answer.stopped == "interrupted":
        raise typer.Exit(STOPPED)
    raise typer.Exit(OK if answer.n_valid else NOT_DETERMINED)


def transformations(
    store: Annotated[
        Path, typer.Argument(metavar="FILE", help="A database written by mbssa transform --store.")
    ],
    model: Annotated[
        str | None, typer.Option(metavar="NAME", help="Rows of the searches of this model.")
    ] = None,
    search: Annotated[int | None, typer.Option(min=1, metavar="N", help="Rows of this search.")] = None,
    where: Annotated[
        list[str] | None,
        typer.Option(metavar="CONDITION", help="groups>=8, largest<=3 and open=0; may be repeated."),
    ] = None,
    sort: Annotated[str | None, typer.Option(metavar="CRITERION", help="As for mbssa transform.")] = None,
    top: TopOption = 10,
    every: EveryOption = False,
    form: FormatOption = "table",
    output: OutputOption = None,
    row: RowOption = None,
    save_to: SaveOption = None,
    force: ForceOption = False,
) -> None:
    """List the searches of a database, or with --model or --search their rows.

    The database filters and sorts the rows; nothing is evaluated again. Without
    --model and --search, conditions and criteria are for the rows of all searches.

    Exit 0: rows were found; 1: none; 2: bad input.

    Example: mbssa transformations searches.sqlite

    Example: mbssa transformations searches.sqlite --model rotor --where "groups>=8" --sort largest,cost
    """
    from mbssa.commands import deliver
    from mbssa.input_search.criteria import DEFAULT
    from mbssa.input_search.database import conditions, mechanism_of, rows, searches
    from mbssa.results.transformations import export_rows, export_searches
    from mbssa.store import StoreError

    faults = [] if store.is_file() else [f"{store}: there is no such file; mbssa transform --store writes it"]
    faults += _criterion_faults(sort or DEFAULT, None, "--sort")
    faults += _target_faults(output, save_to, row, None, [store], force)
    try:
        conditions(where or [])
    except ValueError as error:
        faults += str(error).split("\n  ")
    if faults:
        fail_all(faults)
    try:
        listed = searches(store)
        if model is None and search is None and not where and sort is None and row is None:
            deliver(export_searches(listed, form), output)
            raise typer.Exit(OK if listed else NOT_DETERMINED)
        chosen = _chosen(store, listed, model, search)
        found = rows(
            store, chosen, where=where or [], sort=sort or DEFAULT, top=max(top, row or 0), every=every
        )
        deliver(export_rows(found[:top], form), output)
        if row is not None and save_to is not None:
            if row > len(found):
                fail(f"--row {row}: there are {len(found)} rows")
            _save(mechanism_of(store, found[row - 1]), save_to)
    except StoreError as error:
        fail(_named(error))
    raise typer.Exit(OK if found else NOT_DETERMINED)


def _chosen(store: Path, listed: list[StoredSearch], model: str | None, search: int | None) -> list[int]:
    """Numbers of the searches of a model, or of one search."""
    numbers = [each.number for each in listed if model in (None, each.name) and search in (None, each.number)]
    if not numbers:
        there = ", ".join(f"{each.number} ({each.name})" for each in listed) or "none"
        fail(f"{store}: no such search; the searches are {there}")
    return numbers


# --- the query -------------------------------------------------------------------------------------


def _names(given: Sequence[str] | None) -> list[str]:
    return [name.strip() for text in given or [] for name in text.split(",") if name.strip()]


def _question_faults(mechanism: Mechanism, asked: dict[str, Any]) -> list[str]:
    from mbssa.input_search.query import make_query

    try:
        make_query(mechanism, **asked)
    except ModelError as error:
        return [f"--{_OPTIONS.get(fault.where, fault.where)}: {fault.what}" for fault in error.faults]
    return []


def _criterion_faults(text: str, front: tuple[str, ...] | None, option: str = "--criterion") -> list[str]:
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


def _target_faults(
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


def _named(error: Exception) -> str:
    """The message of a StoreError whose file was named on the command line."""
    return str(error).replace("in MBSSA_STORE", "with --store")


# --- the search ------------------------------------------------------------------------------------


def _searched(mechanism: Mechanism, asked: dict[str, Any], **how: Any) -> Transformations:
    from mbssa.input_search.search import transform as search
    from mbssa.results.tables import counted
    from mbssa.store import StoreError

    def said(n_sets: int, n_distributions: int) -> None:
        schemes = counted(n_distributions, "actuation scheme")
        print(f"{counted(n_sets, 'set')} of inputs in {schemes}", file=sys.stderr)

    try:
        with bar() as told:
            return search(
                mechanism,
                **asked,
                **how,
                counted=said,
                progress=lambda done, total: told(f"{done:,} of {total:,} schemes", done / total),
            )
    except StoreError as error:
        fail(_named(error))
    except ModelError:
        raise
    except ValueError as error:
        fail(str(error))
    except KeyboardInterrupt:
        print("stopped by Ctrl-C before the first result", file=sys.stderr)
        raise typer.Exit(STOPPED) from None


# --- the answer ------------------------------------------------------------------------------------


def _deliver(
    answer: Transformations, top: int, pareto: tuple[str, str] | None, form: Form, output: Path | None
) -> None:
    from mbssa.commands import deliver, show
    from mbssa.results.transformations import export, page, shown, summary_lines

    printed = shown(answer, top, pareto)
    if form == "table" and output is None:
        show(lambda screen: page(answer, printed, screen))
        return
    deliver(export(answer, form, printed), output)
    if not answer.complete:
        print("\n".join(summary_lines(answer)), file=sys.stderr)


def _save_row(
    answer: Transformations, row: int | None, path: Path | None, pareto: tuple[str, str] | None
) -> None:
    if row is None or path is None:
        return
    rows = answer.rows if pareto is None else answer.front(*pareto)
    if row > len(rows):
        fail(f"--row {row}: there are {len(rows)} rows")
    _save(rows[row - 1].mechanism(), path)


def _save(mechanism: Mechanism, path: Path) -> None:
    lost = save(mechanism, path)
    if lost:
        print("\n  ".join([f"{path} does not keep:", *lost]), file=sys.stderr)


def _draw(answer: Transformations, path: Path, pair: tuple[str, str]) -> None:
    from mbssa.pictures.front import draw_front

    try:
        draw_front(answer, path, *pair)
    except ValueError as error:
        fail(str(error))
