"""The lock of a folder: the sentence where it cannot be written."""

import errno

import filelock
import pytest

from routes.lock import locked


def test_a_folder_of_another_user_is_named_with_a_remedy(tmp_path, monkeypatch):
    def denied(lock, *arguments, **options):
        raise PermissionError(errno.EACCES, "Permission denied", lock.lock_file)

    monkeypatch.setattr(filelock.FileLock, "acquire", denied)
    with pytest.raises(PermissionError, match=r"Permission denied.*name another") as error, locked(tmp_path):
        pass
    assert error.value.filename == str(tmp_path)


def test_a_folder_that_cannot_be_made_is_named_with_a_remedy(tmp_path):
    (tmp_path / "file").touch()
    with pytest.raises(NotADirectoryError, match="name another") as error, locked(tmp_path / "file" / "run"):
        pass
    assert error.value.filename == str(tmp_path / "file" / "run")
