"""Names that users import are documented; all other code has one line of docstring at most."""

import ast
import functools
import importlib
import inspect
from pathlib import Path
from pkgutil import resolve_name

import pytest

from mbssa.cli import COMMANDS

ROOT = Path(__file__).parents[1]
PACKAGES = ("mbssa", "groups", "routes", "mbssa_studio")
USERS = (*PACKAGES, "mbssa.loops", "mbssa.pictures", "groups.pictures", "routes.plots")
#: Models of files, whose docstrings are descriptions in the schema.
SCHEMA = ("mbssa/io/schema.py", "mbssa/io/profile.py")


def function_of(member):
    """The function behind a property, a class method or a cached property."""
    for name in ("fget", "__func__", "func"):
        member = getattr(member, name, None) or member
    return inspect.unwrap(member) if callable(member) else member


@functools.cache
def exported():
    """Objects that users import, by module and qualified name: functions, classes, their public methods."""
    found = {}

    def add(member):
        if getattr(member, "__module__", "").partition(".")[0] in PACKAGES and hasattr(
            member, "__qualname__"
        ):
            found[member.__module__, member.__qualname__] = member

    for module in map(importlib.import_module, USERS):
        for name in module.__all__:
            value = inspect.unwrap(getattr(module, name))
            add(value)
            for base in value.__mro__ if isinstance(value, type) else ():
                for key, member in vars(base).items():
                    if not key.startswith("_") and not isinstance(member, type):
                        add(function_of(member))
    for command in COMMANDS.values():
        add(inspect.unwrap(resolve_name(command)))
    for edit in importlib.import_module("mbssa_studio.session").EDITS.values():
        add(edit)
    return found


def test_names_and_methods_that_users_import_have_a_docstring():
    assert [f"{module}.{name}" for (module, name), value in exported().items() if not value.__doc__] == []


@pytest.mark.parametrize("package", PACKAGES)
def test_what_no_user_imports_has_one_line(package):
    long = []
    for path in sorted((ROOT / package).rglob("*.py")):
        module = ".".join(path.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__")
        if path.relative_to(ROOT).as_posix() not in SCHEMA:
            for name, node in definitions(ast.parse(path.read_text("utf-8"))):
                text = ast.get_docstring(node, clean=False) or ""
                known = (module, name) in exported() or (not name and module in USERS)
                if "\n" in text.strip() and not known and not is_part_of_exported(module, name):
                    long.append(f"{module}: {name}")
    assert long == []


def definitions(node, name="", inside=""):
    """Qualified names and nodes of a module, its classes and functions."""
    yield name, node
    for child in ast.iter_child_nodes(node):
        yield from _within(child, inside)


def _within(node, inside):
    if isinstance(node, ast.ClassDef):
        yield from definitions(node, inside + node.name, f"{inside}{node.name}.")
    elif isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
        yield from definitions(node, inside + node.name, f"{inside}{node.name}.<locals>.")
    else:
        for child in ast.iter_child_nodes(node):
            yield from _within(child, inside)


def is_part_of_exported(module, name):
    """Whether this is a special method of an exported class, such as ``__getitem__``."""
    owner, _, method = name.rpartition(".")
    return method.startswith("__") and method.endswith("__") and (module, owner) in exported()
