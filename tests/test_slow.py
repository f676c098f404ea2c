"""The list of slow tests names tests that there are."""

from pathlib import Path

import pytest

HERE = Path(__file__).parent
LINES = (HERE / "slow.txt").read_text().splitlines()


def test_it_is_in_order_and_names_nothing_twice():
    assert sorted(set(LINES)) == LINES


@pytest.mark.parametrize("path", sorted({line.partition("::")[0] for line in LINES}))
def test_every_line_names_a_test(path):
    text = (HERE / path).read_text()
    for line in LINES:
        if line.startswith(f"{path}::"):
            *classes, test = line.partition("[")[0].split("::")[1:]
            assert f"def {test}(" in text, line
            assert all(f"class {name}" in text for name in classes), line
