"""The command ``mbssa schema``."""

from __future__ import annotations

import json

from mbssa.cli.console import deliver, fail_all
from mbssa.cli.options import ForceOption, OutputOption
from mbssa.cli.outputs import target_faults, targets_of


def schema(output: OutputOption = None, force: ForceOption = False) -> None:
    """Print the JSON Schema of a model file (TOML, format = 1).

    Example: mbssa schema --output mbssa.schema.json
    """
    from mbssa.io.schema import ModelFile

    if faults := target_faults(targets_of(("--output", output, ())), [], force):
        fail_all(faults)
    deliver(json.dumps(ModelFile.model_json_schema(), indent=2) + "\n", output)
