"""The commands ``mbssa transform`` and ``mbssa transformations``."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from mbssa.bar import bar
from mbssa.cli import NOT_DETERMINED, OK, STOPPED, fail, fail_all
from mbssa.cli.options import ForceOption, ModelArgument, OutputOption, TrustOption
from mbssa.io import ModelError, load, save
from mbssa.io.formats import ENDINGS
from mbssa.targets import STILL, target_faults, targets_of

if TYPE_CHECKING:
    from mbssa.mechanism import Mechanism
    from mbssa.transformations.querying import KeptSearch
    from mbssa.transformations.result import Transformations

Form = Literal["table", "json", "csv", "markdown"]

#: Options whose names are not those of the question's fields.
_OPTIONS = {"per_joint": "per-joint", "terminals": "terminal"}

FormatOption = Annotated[Form, typer.Option("--format", "-f", help="What to print.")]
TopOption = Annotated[int, typer.Option(min=1, metavar="K", help="Rows that are printed.")]
RowOption = Annotated[int | None, typer.Option(min=1, metavar="K", help="Which row --save writes.")]
SaveOption = Annotated[
    Path | None, typer.Option("--save", metavar="FILE", help="Write the model with the inputs of --row.")
]
EveryOption = Annotated[bool, typer.Option("--all", help="List sets that are not valid too.")]


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
        typer.Option(metavar="TEXT", help="What is better: groups,largest or 2*groups-1*largest+0.5*closed."),
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
            help="Distributions that may be judged; beyond, the best lead on.",
        ),
    ] = None,
    time_limit: Annotated[
        float | None, typer.Option(min=0.0, metavar="S", help="Seconds; then the best so far.")
    ] = None,
    spanning: Annotated[
        bool,
        typer.Option("--spanning/--no-spanning", help="Try other pairs for joints of several bodies."),
    ] = True,
    precision: Annotated[
        float | None, typer.Option(min=0.0, metavar="METRES", help="Of the geometry's numbers.")
    ] = None,
    store: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Keep what is found there, and go on from it.")
    ] = None,
    block: Annotated[
        int | None, typer.Option(min=1, hidden=True, help="Distributions of a block of the store.")
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

    Sets of driven coordinates are judged by the count and by their rank at the
    given geometry. Criteria: groups, their number; largest, bodies of the
    largest; closed and open, groups with and without a closed form; levels;
    width, groups of the widest level; cost, predicted µs an instant; margin,
    how far from singular the inputs are, 0 to 1. Ctrl-C gives the best so far.
    A search that was stopped or killed goes on with the same --store, which two
    may share at once.

    Exit 0: valid inputs were found; 1: none; 2: bad input; 130: stopped.

    Example: mbssa transform rotor --criterion groups,largest --row 1 --save best.toml

    Example: mbssa transform stewart --terminal 14 --per-joint 6 --store searches.sqlite

    Example: mbssa transform micromanipulator --forbid 1-2,1-4 --pareto groups,cost --plot front.png
    """
    from mbssa.cli.console import say_untrusted
    from mbssa.transformations.criteria import DEFAULT

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
    limits = {"most": most, "time_limit": time_limit, "block": block}
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
    store: Annotated[Path, typer.Argument(metavar="FILE", help="A store that mbssa transform has written.")],
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
    """List what a store holds: the searches, or with --model or --search their rows.

    Nothing is judged: rows are filtered and sorted by the store. Without --model and
    --search, conditions and criteria are for the rows of all searches.

    Exit 0: something was found; 1: nothing; 2: bad input.

    Example: mbssa transformations searches.sqlite

    Example: mbssa transformations searches.sqlite --model rotor --where "groups>=8" --sort largest,cost
    """
    from mbssa.cli.console import deliver
    from mbssa.results.transformations import export_rows, export_searches
    from mbssa.store import StoreError
    from mbssa.transformations.criteria import DEFAULT
    from mbssa.transformations.querying import conditions, mechanism_of, rows, searches

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


def _chosen(store: Path, listed: list[KeptSearch], model: str | None, search: int | None) -> list[int]:
    """Numbers of the searches that are meant; those of another version where there are no others."""
    meant = [
        kept
        for kept in listed
        if (model is None or kept.name == model) and (search is None or kept.search.number == search)
    ]
    numbers = [kept.search.number for kept in meant if kept.current or not any(k.current for k in meant)]
    if not numbers:
        there = ", ".join(f"{kept.search.number} ({kept.name})" for kept in listed) or "none"
        fail(f"{store}: no such search; the searches are {there}")
    return numbers


# --- what is asked ---------------------------------------------------------------------------------


def _names(given: Sequence[str] | None) -> list[str]:
    return [name.strip() for text in given or [] for name in text.split(",") if name.strip()]


def _question_faults(mechanism: Mechanism, asked: dict[str, Any]) -> list[str]:
    from mbssa.transformations.question import ask

    try:
        ask(mechanism, **asked)
    except ModelError as error:
        return [f"--{_OPTIONS.get(fault.where, fault.where)}: {fault.what}" for fault in error.faults]
    return []


def _criterion_faults(text: str, front: tuple[str, ...] | None, option: str = "--criterion") -> list[str]:
    from mbssa.transformations.criteria import DIRECTIONS
    from mbssa.transformations.criteria import criterion as read

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
    """What would keep files from being written."""
    faults = []
    if (row is None) != (saved is None):
        faults.append("--row and --save: write both, or neither")
    targets = targets_of(("--output", output, ()), ("--save", saved, ENDINGS), ("--plot", plot, STILL))
    return faults + target_faults(targets, used, force)


def _named(error: Exception) -> str:
    """A store's error where the file was named on the command line."""
    return str(error).replace("in MBSSA_STORE", "with --store")


# --- the search ------------------------------------------------------------------------------------


def _searched(mechanism: Mechanism, asked: dict[str, Any], **how: Any) -> Transformations:
    from mbssa.reports.wording import counted
    from mbssa.store import StoreError
    from mbssa.transformations.transforming import transform as search

    def said(n_sets: int, n_distributions: int) -> None:
        rooms = f"{counted(n_sets, 'set')} of inputs in {counted(n_distributions, 'distribution')}"
        print(f"{rooms} over the joints", file=sys.stderr)

    try:
        with bar() as told:
            return search(
                mechanism,
                **asked,
                **how,
                counted=said,
                progress=lambda done, total: told(f"{done:,} of {total:,} distributions", done / total),
            )
    except StoreError as error:
        fail(_named(error))
    except ModelError:
        raise
    except ValueError as error:
        fail(str(error))
    except KeyboardInterrupt:
        print("stopped by Ctrl-C; what a store has it keeps", file=sys.stderr)
        raise typer.Exit(STOPPED) from None


# --- the answer ------------------------------------------------------------------------------------


def _deliver(
    answer: Transformations, top: int, pareto: tuple[str, str] | None, form: Form, output: Path | None
) -> None:
    from mbssa.cli.console import deliver, show
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
