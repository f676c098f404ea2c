"""Names by which the input search still calls :mod:`mbssa.reports.table`."""

from mbssa.reports.table import csv_text as csv_text
from mbssa.reports.table import markdown_table as markdown_table
