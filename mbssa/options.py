"""Names by which the input search and ``routes`` still call :mod:`mbssa.cli.options`."""

from mbssa.cli.options import ForceOption as ForceOption
from mbssa.cli.options import ModelArgument as ModelArgument
from mbssa.cli.options import OutputOption as OutputOption
from mbssa.cli.options import TrustOption as TrustOption
