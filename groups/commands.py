"""Names by which ``routes`` still calls :mod:`groups.cli.requests` and :mod:`mbssa.cli.options`."""

from groups.cli.requests import model_asked as model_asked
from groups.cli.requests import motion_asked as motion_asked
from mbssa.cli.options import FormatOption as FormatOption
from mbssa.cli.options import check_format as check_format
