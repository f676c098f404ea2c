"""The command ``mbssa models``."""

from __future__ import annotations

from mbssa.cli.console import present
from mbssa.cli.options import FormatOption


def models(form: FormatOption = "table") -> None:
    """List the built-in models.

    Example: mbssa models
    """
    from mbssa.reports.mechanism import models_report

    present(models_report(), form)
