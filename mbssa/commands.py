"""Commands of the package ``mbssa``: models, joints, schema, decompose, check, convert."""

from __future__ import annotations

import json
import shlex
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console

from mbssa import cam_commands, new_command
from mbssa.cli import NOT_DETERMINED, OK, fail, fail_all
from mbssa.gathering import FAMILY, builtin_names, load, save
from mbssa.gathering.files import write_whole
from mbssa.gathering.formats import ENDINGS
from mbssa.input_search import commands as transformation_commands
from mbssa.joints import commands as joints_commands
from mbssa.loops import commands as loops_commands
from mbssa.mechanism import Mechanism
from mbssa.options import ForceOption, ModelArgument, OutputOption, TrustOption
from mbssa.results.exports import Format, export
from mbssa.results.tables import page, plain_table, plain_text, summary_lines
from mbssa.search.decompose import Method, decompose
from mbssa.structure import Structure
from mbssa.targets import STILL, Target, target_faults, targets_of
from mbssa.texts import printable

#: Bodies up to which a decomposition is followed by ranks: half a second's work.
WARNED = 2_000

Inputs = Annotated[
    str | None,
    typer.Option(metavar="COORDINATE,...", help="Drive these instead of what MODEL drives: 1-2.slide,13-15."),
]
Terminals = Annotated[
    list[str] | None,
    typer.Option(
        metavar="BODY",
        help="Give this body a fictitious F pair with the frame, for --inputs; may be repeated.",
    ),
]

Pairs = Annotated[
    str | None,
    typer.Option(
        metavar="PAIR,...", help="Pairs that stand for joints of several bodies, for --inputs: 3-4,4-5."
    ),
]


def register(app: typer.Typer) -> None:
    """Add this package's commands to the command line."""
    app.command("models")(models)
    new_command.register(app)
    joints_commands.register(app)
    app.command("schema")(schema)
    app.command("decompose")(decompose_command)
    app.command("check")(check_command)
    app.command("convert")(convert)
    cam_commands.register(app)
    loops_commands.register(app)
    transformation_commands.register(app)


def show(print_on: Callable[[Console], None]) -> None:
    """Print with colours as wide as the terminal; where there is none, plain text wide enough for a table."""
    if sys.stdout.isatty():
        print_on(Console(highlight=False))
        return
    deliver(plain_text(print_on) + "\n", None)


def deliver(text: str, output: Path | None) -> None:
    """Print a text, or write it to a file that is either whole or not there."""
    if output is None or str(output) == "-":
        sys.stdout.write(printable(text))
        sys.stdout.flush()
        return
    write_whole(output, text.encode())


def models(
    form: Annotated[str, typer.Option("--format", help="table or json", metavar="FORMAT")] = "table",
) -> None:
    """List the built-in models.

    Example: mbssa models
    """
    if form not in ("table", "json"):
        raise typer.BadParameter(f"{form!r}; write table or json", param_hint="--format")
    rows = []
    for name in builtin_names():
        mechanism = load(name)
        rows.append(
            {
                "name": name,
                "space": mechanism.space,
                "n_bodies": mechanism.n_bodies,
                "n_joints": mechanism.n_joints,
                "mobility": mechanism.mobility,
                "n_driven": mechanism.n_driven,
                "geometry": mechanism.has_geometry,
                "title": mechanism.title,
                "source": mechanism.source,
            }
        )
    if form == "json":
        deliver(json.dumps(rows, ensure_ascii=False, indent=2) + "\n", None)
        return
    numbers = ("Bodies", "Joints", "Mobility", "Driven")
    table = plain_table(("Model", "Space", *numbers, "Title"), right=numbers)
    for row in rows:
        keys = ("name", "space", "n_bodies", "n_joints", "mobility", "n_driven", "title")
        table.add_row(*(str(row[key]) for key in keys))
    table.add_row(f"{FAMILY}CLASS-COUNT[B]", "planar", "", "", "1", "1", "Table 16: assur:I-2 … assur:III-4B")
    show(lambda screen: screen.print(table))


def schema(output: OutputOption = None, force: ForceOption = False) -> None:
    """Print the JSON Schema of a model file (TOML, format = 1).

    Example: mbssa schema --output mbssa.schema.json
    """
    from mbssa.gathering.schema import ModelFile

    if faults := target_faults(targets_of(("--output", output, ())), [], force):
        fail_all(faults)
    deliver(json.dumps(ModelFile.model_json_schema(), indent=2) + "\n", output)


def decompose_command(
    model: ModelArgument,
    method: Annotated[
        Method, typer.Option(help="matching is fast; exhaustive is the paper's own search.")
    ] = "matching",
    inputs: Inputs = None,
    terminal: Terminals = None,
    pairs: Pairs = None,
    form: Annotated[Format, typer.Option("--format", "-f", help="What to print.")] = "table",
    output: OutputOption = None,
    time_limit: Annotated[
        float | None,
        typer.Option(min=0.0, metavar="SECONDS", help="Stop the exhaustive search after this time."),
    ] = None,
    picture: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Draw the structural graph to FILE: .svg, .png or .pdf."),
    ] = None,
    diagram: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Draw the structural diagram to FILE: .svg, .png or .pdf."),
    ] = None,
    force: ForceOption = False,
    trust: TrustOption = False,
) -> None:
    """Find the structural groups of MODEL, in the order in which they can be solved.

    Exit 0: determined; 1: not determined (the answer is printed all the same); 2: bad input.

    Example: mbssa decompose rotor
    """
    targets = targets_of(
        ("--output", output, ()), ("--picture", picture, STILL), ("--diagram", diagram, STILL)
    )
    if faults := target_faults(targets, [model], force):
        fail_all(faults)
    structure = decompose(asked(model, inputs, terminal, pairs), method, time_limit)
    if picture or diagram:
        draw(structure, picture, diagram)
    if form == "table" and output is None:
        show(lambda screen: page(structure, screen))
    else:
        deliver(export(structure, form), output)
        if not structure.determined:
            print("\n".join(summary_lines(structure)[2:]), file=sys.stderr)
    warn_of_ranks(structure, shlex.join([model, *_again(inputs, terminal, pairs)]))
    raise typer.Exit(OK if structure.determined else NOT_DETERMINED)


def asked(model: str, inputs: str | None, terminals: list[str] | None, pairs: str | None) -> Mechanism:
    """The mechanism that is meant: with inputs of its own, or with these.

    Raises
    ------
    ModelError
        The model cannot be read, or does not have these coordinates and bodies: all faults.
    """
    mechanism = load(model)
    if inputs is None:
        if terminals:
            raise typer.BadParameter(
                "is for --inputs; name coordinates of this body's pair there too", param_hint="--terminal"
            )
        if pairs is not None:
            raise typer.BadParameter("is for --inputs; name the coordinates too", param_hint="--pairs")
        return mechanism
    from mbssa.input_search.query import with_inputs

    return with_inputs(mechanism, inputs, terminals or (), pairs or ())


def _again(inputs: str | None, terminals: list[str] | None, pairs: str | None) -> list[str]:
    """The options that name the inputs, to be written once more."""
    return [
        *(["--inputs", inputs] if inputs is not None else []),
        *(word for body in terminals or () for word in ("--terminal", body)),
        *(["--pairs", pairs] if pairs is not None else []),
    ]


def warn_of_ranks(structure: Structure, model: str) -> None:
    """What the count cannot see, in a line per group, where ranks are cheap; and code that was not run."""
    say_untrusted(structure.mechanism)
    if structure.mechanism.n_bodies > WARNED:
        return
    from mbssa.singularities.check import rank_warnings

    warnings = rank_warnings(structure)
    for text in warnings:
        print(f"warning: {text}", file=sys.stderr)
    if warnings:
        print(f"warning: see mbssa check {model}", file=sys.stderr)


def say_untrusted(mechanism: Mechanism) -> None:
    """Warn of joints that count by their equations, since the code that they name is not trusted."""
    if mechanism.untrusted:
        from mbssa.singularities.check import untrusted_text

        print(f"warning: {untrusted_text(mechanism)}", file=sys.stderr)


def check_command(
    model: ModelArgument,
    inputs: Inputs = None,
    terminal: Terminals = None,
    pairs: Pairs = None,
    form: Annotated[str, typer.Option("--format", "-f", metavar="FORMAT", help="table or json")] = "table",
    output: OutputOption = None,
    force: ForceOption = False,
    trust: TrustOption = False,
    precision: Annotated[
        float | None,
        typer.Option(
            min=0.0, metavar="METRES", help="Of the geometry's numbers; found from their digits if not given."
        ),
    ] = None,
) -> None:
    """Find out whether MODEL can be solved as given, and if not, why and what would help.

    Count, generic rank (the joint types) and numeric rank (the geometry) are told apart; redundant
    constraints, idle spins, singular poses and dependent inputs are named. Exit 0: can be solved; 1: it
    cannot as given; 2: bad input.

    Example: mbssa check spatial_4r
    """
    if form not in ("table", "json"):
        raise typer.BadParameter(f"{form!r}; write table or json", param_hint="--format")
    from mbssa.results import diagnosis
    from mbssa.singularities.check import check

    if precision is not None and not precision <= 1.0:
        raise typer.BadParameter(f"{precision}; write metres, at most 1", param_hint="--precision")
    if faults := target_faults(targets_of(("--output", output, ())), [model], force):
        fail_all(faults)
    report = check(asked(model, inputs, terminal, pairs), precision)
    if form == "json":
        deliver(diagnosis.as_json(report), output)
    elif output is not None:
        deliver(diagnosis.as_text(report) + "\n", output)
    else:
        show(lambda screen: diagnosis.page(report, screen))
    raise typer.Exit(OK if report.solvable else NOT_DETERMINED)


def convert(
    source: Annotated[str, typer.Argument(metavar="FROM", help="A built-in model or a file.")],
    target: Annotated[Path, typer.Argument(metavar="TO", help="A path in .toml, .m, .csv or .npz.")],
    force: ForceOption = False,
) -> None:
    """Write FROM in the format that the ending of TO says.

    .toml and .npz (arrays) keep everything; .m (the paper's script User_Data.m)
    and .csv (its matrices as a sheet) keep the topology, and what they do not
    keep is named on standard error.

    Exit 0: written; 2: bad input.

    Example: mbssa convert rotor rotor.m
    """
    if faults := target_faults([Target("TO", target, ENDINGS)], [source], force):
        fail_all(faults)
    lost = save(load(source), target)
    if lost:
        print("\n  ".join([f"{target} does not keep:", *lost]), file=sys.stderr)


def draw(structure: Structure, picture: Path | None, diagram: Path | None) -> None:
    """Write the pictures that were asked for; what cannot be drawn is an error (exit 2)."""
    from mbssa.pictures import save, structural_diagram, structural_graph

    wanted = [(picture, structural_graph), (diagram, structural_diagram)]
    try:
        for path, figure in [(path, drawn(structure)) for path, drawn in wanted if path]:
            save(figure, path)
    except (ValueError, ModuleNotFoundError) as error:
        fail(str(error))
