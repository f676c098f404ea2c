"""Reports of the package ``groups``: one file turns one value into a :class:`mbssa.reports.table.Report`."""
