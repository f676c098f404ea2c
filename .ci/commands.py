"""Run commands that between them use every package and extra, and look for a word of the answer of each."""

# In one process, as most of a short command's time is that of imports. Run in a folder of its own.

import contextlib
import io
import shlex
import sys
import time
import warnings
from pathlib import Path

from mbssa.__main__ import main

FILES = {
    "cube.stl": "solid s\nfacet normal 0 0 1\nouter loop\nvertex 0 0 0\nvertex 1 0 0\nvertex 0 1 0\nendloop\n"
    "endfacet\nendsolid s\n",
    "arm.urdf": """<robot name="arm"><link name="base"/><link name="arm">
        <visual><geometry><mesh filename="cube.stl"/></geometry></visual></link>
        <joint name="lift" type="continuous"><parent link="base"/><child link="arm"/></joint></robot>""",
    "arm.xml": """<mujoco><worldbody><body name="arm" pos="0 0 1"><joint name="lift" type="hinge"/>
        <geom size=".1"/></body></worldbody></mujoco>""",
}

#: Arguments, and a word of the output, or FILE:WORD of a file that is written ("" where it is not text).
COMMANDS = {
    "--version": "mbssa 0",
    "new crank --template slider-crank": "crank.toml",
    "check crank.toml": "can be solved",
    "decompose rotor": "1R1P1U1S3D",
    "solve rotor --steps 5 --output rotor.csv --plot rotor.png --animate rotor.html": "rotor.csv:9-13.angle",
    "solve planar_four_bar --steps 5 --compiled --output bar.nc --animate bar.mp4 --frames 3": "bar.mp4:",
    "solve planar_four_bar --steps 50 --executor processes --workers 2": "processes × 2",
    "solve planar_four_bar --steps 50 --executor mpi --workers 1": "every group was solved",
    "solve planar_four_bar --steps 50 --executor cluster --workers 1": "every group was solved",
    "forces andrews --steps 3": "balance of power",
    "simulate slider_crank --duration 0.05 --method groups": "finished",
    "simulate slider_crank --duration 0.05 --method dae": "finished",
    "transform planar_four_bar --store searches.sqlite": "1-2.angle",
    "routes planar_four_bar --steps 50 --simulate-workers 1,2 --curve curve.svg": "curve.svg:path",
    "sweep planar_four_bar --grid 1-2.angle=0:6:3 --store cases --executor sequential": "100.0%",
    "draw arm.urdf --output arm.png": "arm.png:",
    "convert arm.xml arm.toml": "arm.toml:lift",
    "convert stewart stewart.npz": "stewart.npz:",
    "loops rotor": "12-16.angle_z",
    "cams cam_flat": "no undercutting",
    "studio --help": "--port",
}


def output_of(arguments: str) -> str:
    """Output of a command; raise ValueError if its exit code is not 0."""
    shown, sys.argv = io.TextIOWrapper(io.BytesIO(), "utf-8"), ["mbssa", *shlex.split(arguments)]
    try:
        with contextlib.redirect_stdout(shown), contextlib.redirect_stderr(shown), warnings.catch_warnings():
            main()
    except SystemExit as end:
        shown.flush()
        text = shown.buffer.getvalue().decode()
        if end.code:
            raise ValueError(f"exit {end.code}: {text.strip()[-400:]}") from None
        return text
    raise ValueError("the command did not end")


def run(arguments: str, wanted: str) -> None:
    """Run a command; ValueError where its answer does not hold the word."""
    text, (file, _, word) = output_of(arguments), wanted.rpartition(":")
    if file:
        text = Path(file).read_bytes().decode("utf-8", "replace")
    if not text or word not in text:
        raise ValueError(f"no {wanted!r} in {text.strip()[-400:]}")


if __name__ == "__main__":
    for name, text in FILES.items():
        Path(name).write_text(text, "utf-8")
    failed = 0
    for arguments, wanted in COMMANDS.items():
        start = time.perf_counter()
        try:
            run(arguments, wanted)
        except Exception as error:  # of any kind: it is reported, counted, and the others run
            failed += 1
            print(f"FAILED mbssa {arguments}\n  {type(error).__name__}: {error}")
        else:
            print(f"{time.perf_counter() - start:6.1f} s  mbssa {arguments}", flush=True)
    from mbssa_studio.running import session_for  # the server's own imports, which --help does without

    session_for("planar_four_bar", trust=False)
    print(f"{len(COMMANDS) - failed} passed, {failed} failed")
    raise SystemExit(failed > 0)
