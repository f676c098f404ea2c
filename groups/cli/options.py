"""Options of what commands write of a motion: columns, pictures, films."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Literal

import typer

from groups.cli.requests import Pictures, names_asked, points_asked
from mbssa.cli import completion
from mbssa.film import FILMS, Film

OutputOption = Annotated[
    list[Path] | None,
    typer.Option(
        "--output",
        "-o",
        metavar="FILE",
        help="Write the numbers: .csv, .parquet, .npz or .nc; may be repeated.",
    ),
]
InitialOption = Annotated[
    list[str] | None,
    typer.Option(
        metavar="NAME=VALUE",
        autocompletion=completion.coordinate_values,
        help="Value of a released coordinate at the start, in MODEL's units; may be repeated.",
    ),
]
ApplyOption = Annotated[
    list[str] | None,
    typer.Option(
        metavar="NAME=VALUE",
        autocompletion=completion.coordinate_values,
        help="Constant force or torque along a joint coordinate; may be repeated.",
    ),
]
QuantitiesOption = Annotated[
    str | None,
    typer.Option(
        metavar="KIND,...",
        autocompletion=completion.words("driven", "joints", "points", "bodies", "groups"),
        help="Columns of .csv and .parquet: driven, joints, points, bodies, groups.",
        show_default="all",
    ),
]
JointsOption = Annotated[
    str | None,
    typer.Option(
        metavar="NAME,...",
        autocompletion=completion.names,
        help="Joints (2-3) or coordinates (2-3.angle) in the columns; or driven.",
        show_default="all",
    ),
]
BodiesOption = Annotated[
    str | None,
    typer.Option(
        metavar="BODY,...",
        autocompletion=completion.bodies,
        help="Bodies in the columns, with their named points.",
        show_default="all",
    ),
]
QuantityOption = Annotated[
    list[str] | None,
    typer.Option(
        metavar="NAME=EXPRESSION",
        help='A column by expression, such as "camber=angle(hub.z, world.z)"; may be repeated.',
    ),
]
UnitsOption = Annotated[
    Literal["file", "si"],
    typer.Option(help="Units of tables, .csv and .parquet: of the model file, or m and rad."),
]
PlotOption = Annotated[
    list[Path] | None,
    typer.Option(
        metavar="FILE",
        help="Draw coordinates over time, or the paths of --points: .png, .svg or .pdf; may be repeated.",
    ),
]
CurvesOption = Annotated[
    str | None,
    typer.Option(
        metavar="NAME,...",
        autocompletion=completion.recorded,
        help="What --plot draws over time: joints, coordinates, bodies, and names of --quantity.",
    ),
]
PointsOption = Annotated[
    list[str] | None,
    typer.Option(
        metavar="BODY.POINT,...",
        autocompletion=completion.points,
        help="Draw the paths of these points, or centres of these joints.",
    ),
]
AnimateOption = Annotated[
    list[Path] | None,
    typer.Option(
        metavar="FILE",
        help="Animate: .gif, .mp4, .webm, or .html to play and turn in a browser; may be repeated.",
    ),
]
FramesOption = Annotated[int | None, typer.Option(metavar="N", help="Frames of a film, evenly chosen.")]
FpsOption = Annotated[float | None, typer.Option(metavar="X", help="Frames of a film per second.")]
WidthOption = Annotated[int | None, typer.Option(metavar="PX", help="Pixels of a film across.")]
CompiledOption = Annotated[
    bool | None,
    typer.Option(
        "--compiled/--no-compiled",
        help="Solve by compiled kernels, or in plain Python; by default what is faster. Same bits.",
        show_default=False,
    ),
]


def pictures_asked(
    plot: Sequence[Path] | None, animate: Sequence[Path] | None, curves: str | None,
    points: Sequence[str] | None, film: Film, faults: list[str],
) -> Pictures:  # fmt: skip
    """Requests of pictures; options without the file that they are for are added to ``faults``."""
    if curves is not None and (not plot or points):
        faults.append("--curves: are over time; write --plot FILE too, without --points")
    named = points_asked(points or [])
    if points and not plot and not animate:
        faults.append("--points: is for pictures; write --plot FILE or --animate FILE too")
    if film != Film() and not any(path.suffix.lower() in FILMS for path in animate or []):
        faults.append("--frames, --fps, --width: are for films; write --animate FILE.gif, .mp4 or .webm too")
    if points and named is None:
        faults.append("--points: names no point")
    return Pictures(named, None if curves is None else names_asked([curves]), film)
