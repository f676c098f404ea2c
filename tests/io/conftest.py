"""Files and models for tests of formats."""

import pytest


@pytest.fixture
def put(tmp_path):
    """A file with this content: ``put("model.m", text)``."""

    def put(name, content):
        path = tmp_path / name
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
        return path

    return put
