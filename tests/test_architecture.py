"""The picture of the house shows what is there."""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
TEXT = (ROOT / "docs" / "architecture.md").read_text()


@pytest.mark.parametrize(
    "path", sorted(set(re.findall(r"`((?:mbssa|groups|routes|mbssa_studio|tests)/[\w/.]*)`", TEXT)))
)
def test_what_is_named_exists(path):
    assert (ROOT / path).exists()
