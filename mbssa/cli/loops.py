"""The command ``mbssa loops``."""

from __future__ import annotations

from pathlib import Path
from typing import Literal

import typer

from mbssa.cli.console import NOT_DETERMINED, OK, draw, fail, failing, present, refuse, warn_of_ranks
from mbssa.cli.options import ALLOW, FORCE, MODEL, OUTPUT, REPORT, TRUST, flag, option
from mbssa.cli.outputs import STILL, target_faults, targets_of
from mbssa.io import load

Method = Literal["basis", "wehage"]


def loops(
    model: str = MODEL,
    method: Method | None = typer.Option(
        None,
        help="basis: the loops with the fewest coordinates; wehage: those of a spanning tree, "
        "merged by Wehage's rule. basis if not given, or wehage with --cut or --tree.",
    ),
    cut: str | None = option("JOINT,...", "The joints that are cut, one for each loop."),
    tree: Path | None = option(
        "FILE", 'The spanning tree: JSON with the lists "P" and "loop_terminators" of Table 1.'
    ),
    compare: bool = flag("--compare", "Structural groups and both kinds of loops, side by side."),
    form: str = REPORT,
    output: Path | None = OUTPUT,
    plot: Path | None = option("FILE", "Draw the kinematic graph to FILE: .svg, .png or .pdf."),
    force: bool = FORCE,
    trust: bool = TRUST,
    allow: list[Path] | None = ALLOW,
) -> None:
    """Find the independent loops of MODEL, and in which order they are solved.

    This is what linear graph algorithms do, the rival of structural groups.
    Each module is one loop, or several that must be solved together.

    Exit 0: the loops determine every coordinate, by count: what no count shows
    is a warning; 1: they do not (the answer is printed all the same); 2: bad
    input.

    Example: mbssa loops nine_bar --compare
    """
    from mbssa.analysis.decompose import decompose
    from mbssa.loops.comparison import compare_loops
    from mbssa.loops.methods import independent_loops, wehage_substructures
    from mbssa.loops.spanning_tree import read_tree
    from mbssa.reports.loops import loops_report

    if cut is not None and tree is not None:
        fail("--cut and --tree are given; write one of them")
    chosen = cut is not None or tree is not None
    if method == "basis" and chosen and not compare:
        given = "--cut" if cut is not None else "--tree"
        fail(f"--method basis takes no {given}; leave it out, or write --method wehage")
    targets = targets_of(("--output", output, ()), ("--plot", plot, STILL))
    refuse(target_faults(targets, [model, tree], force))
    mechanism = load(model)
    names = None if cut is None else [name.strip() for name in cut.split(",") if name.strip()]
    place = "--cut: " if cut is not None else "" if tree is None else f"{tree}: "
    with failing(place):
        record = None if tree is None else read_tree(tree)
        comparison = compare_loops(mechanism, cuts=names, tree=record) if compare else None
        by_wehage = method == "wehage" or (method is None and chosen)
        if comparison is not None:
            found = comparison.wehage if by_wehage else comparison.basis
        elif by_wehage:
            found = wehage_substructures(mechanism, cuts=names, tree=record)
        else:
            found = independent_loops(mechanism)
    if plot is not None:
        from mbssa.pictures.loops import kinematic_graph

        draw((plot, lambda: kinematic_graph(found)))
    present(loops_report(found, comparison), form, output)
    warn_of_ranks(decompose(mechanism) if comparison is None else comparison.structure, model)
    raise typer.Exit(OK if found.determined else NOT_DETERMINED)
