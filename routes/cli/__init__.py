"""Commands of the package ``routes``: routes, sweep; and ``mbssa solve`` by a plan."""

from __future__ import annotations

import typer


def register(app: typer.Typer) -> None:
    """Add the commands to the command line."""
    from routes.cli.routes import routes
    from routes.cli.sweep import sweep

    app.command("routes")(routes)
    app.command("sweep")(sweep)
