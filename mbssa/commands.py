"""Names by which the input search and ``routes`` still call :mod:`mbssa.cli.console`."""

from mbssa.cli.console import deliver as deliver
from mbssa.cli.console import say_untrusted as say_untrusted
from mbssa.cli.console import show as show
