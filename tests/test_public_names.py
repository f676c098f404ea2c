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


@pytest.mark.parametrize(
    "package",
    [mbssa, groups, routes, mbssa_studio, mbssa.loops, mbssa.pictures, routes.plots],
    ids=lambda package: package.__name__,
)
class TestPublicNames:
    def test_all_is_sorted_and_complete(self, package):
        assert list(package.__all__) == sorted(package.__all__)
        imported = {
            name
            for name, value in vars(package).items()
            if not name.startswith("_")
            and getattr(value, "__module__", "").split(".")[0] == package.__name__.split(".")[0]
        }
        assert imported <= set(package.__all__)

    def test_every_name_has_an_executed_example(self, package):
        without = [name for name in package.__all__ if ">>>" not in (getattr(package, name).__doc__ or "")]
        assert without == []


@pytest.mark.parametrize("module", ["mbssa.loops", "mbssa.pictures", "groups.pictures", "routes.plots"])
def test_modules_for_users_are_there_when_they_are_asked_for(module):
    package, name = module.split(".")
    script = (
        f"import sys, {package}; assert {name!r} in dir({package}); assert {module!r} not in sys.modules; "
        f"assert {module}.__all__; assert not set({module}.__all__) - set(dir({module})); "
        "assert 'matplotlib' not in sys.modules"
    )
    subprocess.run([sys.executable, "-c", script], check=True)


@pytest.mark.parametrize("package", [mbssa, groups, routes], ids=lambda package: package.__name__)
def test_dir_lists_what_is_public_and_no_more(package):
    listed = {name for name in dir(package) if not name.startswith("_")}
    assert listed >= set(package.__all__)
    modules = listed - set(package.__all__)
    assert all(getattr(package, name).__name__ == f"{package.__name__}.{name}" for name in modules)
    with pytest.raises(AttributeError, match=f"module '{package.__name__}' has no attribute 'nonsense'"):
        _ = package.nonsense


def test_names_that_the_design_promises():
    for name in ("load", "from_pairs", "from_adjacency", "decompose", "check", "save"):
        assert name in mbssa.__all__
    for name in ("build", "Model", "Trajectory"):
        assert name in groups.__all__
    for name in ("count", "enumerate", "predict", "study", "run", "sweep"):
        assert name in routes.__all__
