"""Commands of the package ``routes``: routes, sweep; and ``mbssa solve`` by a plan."""
