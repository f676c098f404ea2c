"""Folders that one process holds: what is said where another user's cannot be."""

import errno
from pathlib import Path

import pytest

from routes.locked import NAME, locked


def test_a_folder_of_another_user_is_named_with_a_remedy(tmp_path, monkeypatch):
    opened = Path.open

    def denied(path, *arguments, **options):
        if path.name == NAME:
            raise PermissionError(errno.EACCES, "Permission denied", str(path))
        return opened(path, *arguments, **options)

    monkeypatch.setattr(Path, "open", denied)
    with (
        pytest.raises(PermissionError, match="another user's; name another folder") as error,
        locked(tmp_path),
    ):
        pass
    assert error.value.filename == str(tmp_path)
