"""The command ``mbssa models``."""

from __future__ import annotations

from mbssa.cli.console import present
from mbssa.cli.options import FORMAT


def models(form: str = FORMAT) -> None:
    """List the built-in models.

    Example: mbssa models
    """
    from mbssa.reports.mechanism import models_report

    present(models_report(), form)
