"""The command ``mbssa schema``."""

from __future__ import annotations

import json
from pathlib import Path

from mbssa.cli.console import deliver, refuse
from mbssa.cli.options import FORCE, OUTPUT
from mbssa.cli.outputs import target_faults, targets_of


def schema(output: Path | None = OUTPUT, force: bool = FORCE) -> None:
    """Print the JSON Schema of a model file (TOML, format = 1).

    Example: mbssa schema --output mbssa.schema.json
    """
    from mbssa.io.schema import ModelFile

    refuse(target_faults(targets_of(("--output", output, ())), [], force))
    deliver(json.dumps(ModelFile.model_json_schema(), indent=2) + "\n", output)
