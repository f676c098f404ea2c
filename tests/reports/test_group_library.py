"""Libraries of group types: the paper's, and that of ``groups``, read without importing the package."""

import subprocess
import sys

from mbssa.group_library import CLOSED_FORMS, LIBRARIES, MBDSBEG


def test_the_library_of_groups_is_its_list_of_closed_forms():
    assert list(LIBRARIES) == ["mbdsbeg", "groups"]
    assert LIBRARIES["groups"] == frozenset(CLOSED_FORMS) >= MBDSBEG


def test_a_table_of_types_imports_no_solver():
    script = "import sys, mbssa; str(mbssa.decompose(mbssa.load('rotor'))); print('groups' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "False"
