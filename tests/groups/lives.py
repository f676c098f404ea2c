"""The two lives of a kernel under test: plain Python, and compiled in the slow tests (fixture ``life``)."""

import numpy as np

from mbssa.compiled import compiled

#: Whether the running test is for compiled kernels.
COMPILED = False


def life_of(kernel):
    """A kernel that runs as the test wants it, chosen when it is called."""

    def run(*arguments):
        if COMPILED:
            return compiled(kernel)(*arguments)
        with np.errstate(all="ignore"):  # as the product calls it: compiled code raises no warning either
            return kernel(*arguments)

    return run
