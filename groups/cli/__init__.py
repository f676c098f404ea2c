"""Commands of the package ``groups``, one a file; :data:`mbssa.cli.COMMANDS` names them."""
