"""What others may rely on: every public name is listed, sorted, documented, and has an executed example."""

import subprocess
import sys

import pytest

import groups
import mbssa
import mbssa.loops
import mbssa.pictures
import mbssa_studio
import routes
import routes.plots

PACKAGES = (mbssa, groups, routes, mbssa_studio, mbssa.loops, mbssa.pictures, routes.plots)


def test_all_is_sorted_and_complete():
    for package in PACKAGES:
        assert list(package.__all__) == sorted(package.__all__), package
        top = package.__name__.split(".")[0]
        imported = {
            name
            for name, value in vars(package).items()
            if not name.startswith("_") and getattr(value, "__module__", "").split(".")[0] == top
        }
        assert imported <= set(package.__all__), package


def test_every_name_has_an_executed_example():
    for package in PACKAGES:
        without = [name for name in package.__all__ if ">>>" not in (getattr(package, name).__doc__ or "")]
        assert without == [], package


def test_modules_for_users_are_there_when_they_are_asked_for():
    script = "import sys, groups, mbssa, routes\n"
    for module in ("mbssa.loops", "mbssa.pictures", "groups.pictures", "routes.plots"):
        package, name = module.split(".")
        script += (
            f"assert {name!r} in dir({package}); assert {module!r} not in sys.modules\n"
            f"assert {module}.__all__; assert not set({module}.__all__) - set(dir({module}))\n"
            "assert 'matplotlib' not in sys.modules\n"
        )
    subprocess.run([sys.executable, "-c", script], check=True)


def test_dir_lists_what_is_public_and_no_more():
    for package in (mbssa, groups, routes):
        listed = {name for name in dir(package) if not name.startswith("_")}
        assert listed >= set(package.__all__), package
        modules = listed - set(package.__all__)
        assert all(getattr(package, name).__name__ == f"{package.__name__}.{name}" for name in modules), (
            package
        )
        with pytest.raises(AttributeError, match=f"'{package.__name__}' has no attribute 'nonsense'"):
            _ = package.nonsense


def test_names_that_the_design_promises():
    for name in ("load", "from_pairs", "from_adjacency", "decompose", "check", "save"):
        assert name in mbssa.__all__
    for name in ("build", "Model", "Trajectory"):
        assert name in groups.__all__
    for name in ("count", "enumerate", "predict", "study", "run", "sweep"):
        assert name in routes.__all__
