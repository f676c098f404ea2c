"""The commands ``mbssa transform`` and ``mbssa transformations``."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from mbssa.cli import completion
from mbssa.cli.console import NOT_DETERMINED, OK, STOPPED, draw, fail, present, refuse, say_untrusted
from mbssa.cli.options import FORCE, MODEL, OUTPUT, REPORT, TRUST, flag, option, precision_in_si
from mbssa.cli.outputs import STILL, dash_faults, target_faults, targets_of
from mbssa.files import write_whole
from mbssa.input_search.criteria import CRITERIA, DEFAULT
from mbssa.input_search.criteria import criterion as read_criterion
from mbssa.io import ModelError, load, save, written_text
from mbssa.io.edited_text import with_types_and_inputs
from mbssa.io.formats import ENDINGS
from mbssa.progress import bar

if TYPE_CHECKING:
    from mbssa.mechanism import Mechanism

#: Options whose names are not those of the query's fields.
_OPTIONS = {"per_joint": "per-joint", "terminals": "terminal"}

TOP: Any = option("K", "Rows that are printed.", 10, min=1)
ROW: Any = option("K", "Which row --save writes.", min=1)
SAVE: Any = typer.Option(None, "--save", metavar="FILE", help="Write the model with the inputs of --row.")
EVERY: Any = flag("--all", "List schemes without a valid set too.")


def transform(
    model: str = MODEL,
    inputs: int | None = option("N", "Driven coordinates; as many as MODEL needs if not given."),
    allow: list[str] | None = option(
        "NAME,...", "Only these joints (1-2) or coordinates (1-2.slide).", complete=completion.names
    ),
    forbid: list[str] | None = option(
        "NAME,...", "None of these joints or coordinates.", complete=completion.names
    ),
    require: list[str] | None = option(
        "NAME,...", "All of these joints or coordinates.", complete=completion.names
    ),
    per_joint: int | None = option("W", "Most inputs on one joint."),
    terminal: list[str] | None = option(
        "BODY", "Give this body an F pair with the frame that may be driven."
    ),
    criterion: str = option(
        "TEXT", "Order of the rows: groups,largest or 2*groups-1*largest+0.5*closed.", DEFAULT
    ),
    pareto: str | None = option("A,B", "List the Pareto front of two criteria."),
    top: int = TOP,
    every: bool = EVERY,
    most: int | None = option("N", "Schemes that may be evaluated; beyond, best first.", min=1),
    time_limit: float | None = option("S", "Time limit in seconds; gives the best so far.", min=0.0),
    spanning: bool = typer.Option(
        True, "--spanning/--no-spanning", help="Try other pairs for joints of several bodies."
    ),
    precision: str | None = option("LENGTH", "Precision of the geometry's numbers, such as 1e-6 m."),
    store: Path | None = option("FILE", "Add the result to this SQLite database."),
    form: str = REPORT,
    output: Path | None = OUTPUT,
    row: int | None = ROW,
    save_to: Path | None = SAVE,
    force: bool = FORCE,
    trust: bool = TRUST,
    plot: Path | None = option("FILE", "Draw --pareto, or groups against cost: .png, .svg or .pdf."),
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
    from mbssa.input_search.query import make_query
    from mbssa.input_search.search import MOST
    from mbssa.input_search.search import transform as search
    from mbssa.reports.input_search import search_report, summary_lines
    from mbssa.texts import counted

    mechanism = load(model)
    faults: list[str] = []
    query: dict[str, Any] = {
        "inputs": inputs,
        "allow": allow or (),
        "forbid": forbid or (),
        "require": require or (),
        "per_joint": per_joint,
        "terminals": [name for text in terminal or () for name in text.split(",")],
        "precision": precision_in_si(precision, mechanism.units, faults),
        "spanning": spanning,
    }
    try:
        make_query(mechanism, **query)
    except ModelError as error:
        faults += [f"--{_OPTIONS.get(fault.place, fault.place)}: {fault.message}" for fault in error.faults]
    names = [name.strip() for name in (pareto or "groups,cost").split(",")]
    if len(set(names)) != 2 or not set(names) <= set(CRITERIA):
        faults.append(f"--pareto {pareto}: write two of {', '.join(CRITERIA)}, such as groups,cost")
    targets = targets_of(("--output", output, ()), ("--save", save_to, ENDINGS), ("--plot", plot, STILL))
    faults += _faults("--criterion", criterion, row, save_to) + target_faults(targets, [model, store], force)
    faults += dash_faults("--store", store, "a file")
    if store is not None and not store.parent.is_dir():
        faults.append(f"--store {store}: there is no folder {store.parent}")
    refuse(faults)

    def print_counts(n_sets: int, n_schemes: int) -> None:
        schemes = counted(n_schemes, "actuation scheme")
        print(f"{counted(n_sets, 'set')} of inputs in {schemes}", file=sys.stderr)

    with _storing(), bar() as show:
        answer = search(
            mechanism, **query, criterion=criterion, every=every, most=most or MOST,
            time_limit=time_limit, store=store, counted=print_counts,
            progress=lambda done, total: show(f"{done:,} of {total:,} schemes", done / total),
        )  # fmt: skip
    first, second = names
    pair = (first, second) if pareto else None
    present(search_report(answer, top, pair), form, output)
    if not answer.complete and (form != "table" or output is not None):
        print("\n".join(summary_lines(answer)), file=sys.stderr)
    say_untrusted(mechanism)
    if row is not None and save_to is not None:
        rows = answer.rows if pair is None else answer.front(*pair)
        _save_row(rows, row, save_to, lambda each: each.mechanism(), written_text(model, save_to))
    if plot is not None:
        from mbssa.pictures.front import pareto_front

        draw((plot, lambda: pareto_front(answer, first, second)))
    if answer.stopped == "interrupted":
        raise typer.Exit(STOPPED)
    raise typer.Exit(OK if answer.n_valid else NOT_DETERMINED)


def transformations(
    store: Path = typer.Argument(..., metavar="FILE", help="A database written by mbssa transform --store."),
    model: str | None = option("NAME", "Rows of the searches of this model."),
    search: int | None = option("N", "Rows of this search.", min=1),
    where: list[str] | None = option("CONDITION", "groups>=8, largest<=3 and open=0; may be repeated."),
    sort: str | None = option("CRITERION", "As for mbssa transform."),
    top: int = TOP,
    every: bool = EVERY,
    form: str = REPORT,
    output: Path | None = OUTPUT,
    row: int | None = ROW,
    save_to: Path | None = SAVE,
    force: bool = FORCE,
) -> None:
    """List the searches of a database, or with --model or --search their rows.

    The database filters and sorts the rows; nothing is evaluated again. A condition is in SQL. Without
    --model and --search, conditions and criteria are for the rows of all searches.

    Exit 0: rows were found; 1: none; 2: bad input.

    Example: mbssa transformations searches.sqlite

    Example: mbssa transformations searches.sqlite --model rotor --where "groups>=8" --sort largest,cost
    """
    from mbssa.input_search.database import conditions, mechanism_of, rows, searches
    from mbssa.reports.input_search import searches_report, stored_rows_report

    faults = [] if store.is_file() else [f"{store}: there is no such file; mbssa transform --store writes it"]
    faults += _faults("--sort", sort or DEFAULT, row, save_to)
    targets = targets_of(("--output", output, ()), ("--save", save_to, ENDINGS))
    faults += target_faults(targets, [store], force)
    try:
        conditions(where or [])
    except ValueError as error:
        faults += str(error).split("\n  ")
    refuse(faults)
    with _storing():
        listed = searches(store)
        if model is None and search is None and not where and sort is None and row is None:
            present(searches_report(listed), form, output)
            raise typer.Exit(OK if listed else NOT_DETERMINED)
        numbers = [
            each.search for each in listed if model in (None, each.name) and search in (None, each.search)
        ]
        if not numbers:
            there = ", ".join(f"{each.search} ({each.name})" for each in listed) or "none"
            fail(f"{store}: no such search; the searches are {there}")
        most = max(top, row or 0)
        found = rows(store, numbers, where=where or [], sort=sort or DEFAULT, top=most, every=every)
        present(stored_rows_report(found[:top]), form, output)
        if row is not None and save_to is not None:
            _save_row(found, row, save_to, lambda each: mechanism_of(store, each))
    raise typer.Exit(OK if found else NOT_DETERMINED)


def _faults(option: str, criterion: str, row: int | None, saved: Path | None) -> list[str]:
    faults = [] if (row is None) == (saved is None) else ["--row and --save: write both, or neither"]
    try:
        read_criterion(criterion)
    except ValueError as error:
        faults.insert(0, f"{option}: {error}")
    return faults


@contextmanager
def _storing() -> Iterator[None]:
    """Say what a search or its database refused, by the name that the command line has for the latter."""
    try:
        yield
    except ModelError:
        raise
    except ValueError as error:
        fail(str(error).replace("in MBSSA_STORE", "with --store"))


def _save_row(
    rows: Sequence[Any], row: int, path: Path, made: Callable[[Any], Mechanism], text: str | None = None
) -> None:
    """Write the mechanism of a row, TOML by an edit of the original text; report what the format loses."""
    if row > len(rows):
        fail(f"--row {row}: there are {len(rows)} rows")
    mechanism = made(rows[row - 1])
    edited = with_types_and_inputs(text, mechanism) if text and path.suffix.lower() == ".toml" else None
    if edited is not None:
        write_whole(path, edited.encode())
    elif lost := save(mechanism, path, force=True):
        print("\n  ".join([f"{path} does not keep:", *lost]), file=sys.stderr)
