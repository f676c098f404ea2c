"""Libraries of group types: the paper's, and those that packages announce, read without importing them."""

import subprocess
import sys
from importlib.metadata import EntryPoint

import pytest

from groups.library import CLOSED_FORMS
from mbssa.results import library


def test_the_library_of_groups_is_its_list_of_closed_forms():
    assert library.libraries()["groups"] == frozenset(CLOSED_FORMS)
    assert list(library.libraries()) == ["mbdsbeg", "groups"]
    assert library.libraries()["groups"] >= library.MBDSBEG


def test_a_library_is_read_without_importing_its_package():
    script = (
        "import sys; from mbssa.results.library import libraries; "
        "libraries()['groups']; print('groups' in sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "False"


@pytest.mark.parametrize("source", ["TYPES = {'1R2D', '3R2D'}", "TYPES = tuple(['1R2D', '3R2D'][:2])"])
def test_other_packages_may_announce_libraries(tmp_path, monkeypatch, source):
    """A literal is read; what is none is imported."""
    home = tmp_path / f"announcer_{len(source)}"
    home.mkdir()
    (home / "__init__.py").write_text("")
    (home / "types_known.py").write_text(source)
    monkeypatch.syspath_prepend(tmp_path)
    entry = EntryPoint("other", f"{home.name}.types_known:TYPES", "mbssa.library")
    monkeypatch.setattr(library, "entry_points", lambda group: [entry])
    assert library.libraries()["other"] == {"1R2D", "3R2D"}


def test_the_cheaper_of_two_announced_costs_counts(tmp_path, monkeypatch):
    home = tmp_path / "announcer_of_costs"
    home.mkdir()
    (home / "__init__.py").write_text("")
    (home / "one.py").write_text("COSTS = {'1R2D': 0.2, '3R2D': 0.5}")
    (home / "two.py").write_text("COSTS = {'1R2D': 0.1, '1P2D': 0.3}")
    monkeypatch.syspath_prepend(tmp_path)
    entries = [EntryPoint(name, f"{home.name}.{name}:COSTS", "mbssa.costs") for name in ("one", "two")]
    monkeypatch.setattr(library, "entry_points", lambda group: entries)
    assert library.costs() == {"1R2D": 0.1, "3R2D": 0.5, "1P2D": 0.3}
