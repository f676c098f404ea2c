"""Names of :mod:`mbssa.files`, by which readers call them."""

from mbssa.files import MAX_BYTES as MAX_BYTES
from mbssa.files import read_text as read_text
from mbssa.files import remove_temporaries as remove_temporaries
from mbssa.files import whole as whole
from mbssa.files import write_whole as write_whole
