"""Compiled kernels on disk: damaged ones are dropped and said, foreign ones are never loaded."""

import os
import stat
from pathlib import Path

import pytest

from mbssa import compiled
from mbssa.compiled import kernel_cache
from mbssa.compiled.kernel_cache import ENDING, distrusted, kernels_kept
from mbssa.files import user_cache


def thrice(x):
    return 3.0 * x


def flipped(place):
    def damage(content):
        return content[:place] + bytes([content[place] ^ 0x55]) + content[place + 1 :]

    return damage


DAMAGES = {
    "empty": lambda content: b"",
    "without its end": lambda content: content[:-1],
    "a byte of the pickle": flipped(40),
    "a byte of the machine code": flipped(-900),
    "text": lambda content: b"cos\nsystem\n(S'touch mark'\ntR.",
}


@pytest.fixture
def folder(tmp_path, monkeypatch):
    for module in (kernel_cache, compiled):
        monkeypatch.setattr(module, "cache_folder", lambda: tmp_path)
    return tmp_path


def hits(x=2.0):
    """How often a new process would load the kernel from disk, and compile it."""
    twin = compiled.compiled.__wrapped__(thrice)
    assert twin(x) == 3.0 * x
    return sum(twin.stats.cache_hits.values()), sum(twin.stats.cache_misses.values())


@pytest.mark.slow
def test_what_is_kept_is_loaded(folder):
    assert hits() == (0, 1)
    assert hits() == (1, 0)
    assert hits(2) == (0, 1)
    assert hits(2) == (1, 0)
    assert len(list(folder.glob(f"*{ENDING}"))) == len(list(folder.iterdir())) == 2
    assert kernel_cache.is_kept(thrice)


@pytest.mark.slow
def test_what_is_damaged_is_dropped_compiled_anew_and_said(folder):
    hits()
    (path,) = folder.iterdir()
    for damage, of in DAMAGES.items():
        path.write_bytes(of(path.read_bytes()))
        with pytest.warns(RuntimeWarning, match=f"{path.name}: damaged"):
            assert hits() == (0, 1), damage
        assert hits() == (1, 0), damage
    hits(2)
    (other,) = set(folder.iterdir()) - {path}
    other.write_bytes(path.read_bytes())  # whole, but of another signature
    assert hits(2) == (0, 1)
    assert not Path("mark").exists()


@pytest.mark.slow
def test_where_nothing_can_be_written_it_is_said_and_solved(folder, monkeypatch):
    def full(path, data):
        raise OSError(28, "No space left on device", str(path))

    monkeypatch.setattr(kernel_cache, "write_whole", full)
    with pytest.warns(RuntimeWarning, match=f"{folder}: No space"):
        assert hits() == (0, 1)


@pytest.fixture
def homes(tmp_path, monkeypatch):
    """The folders in which kernels may be kept; each question about them is asked anew."""
    found = [tmp_path / "package", tmp_path / "home"]
    monkeypatch.setattr(kernel_cache, "_kernel_homes", lambda: found)
    monkeypatch.setattr(kernel_cache, "_refused", [])
    monkeypatch.setattr(kernel_cache, "cache_folder", kernel_cache.cache_folder.__wrapped__)
    return found


def test_the_folder_is_the_users_own_whatever_the_umask(homes):
    before = os.umask(0o002)
    try:
        folder = kernel_cache.cache_folder()
    finally:
        os.umask(before)
    assert folder.parent == homes[0]
    assert stat.S_IMODE(folder.stat().st_mode) == 0o700
    assert kernels_kept() == f"compiled kernels are kept in {folder}"


@pytest.mark.parametrize("mode", [0o702, 0o720])
def test_a_folder_that_others_may_write_is_not_used(homes, mode):
    kernel_cache.cache_folder().chmod(mode)
    assert kernel_cache.cache_folder().parent == homes[1]
    kernel_cache.cache_folder().chmod(mode)
    assert kernel_cache.cache_folder() is None
    said = kernels_kept()
    assert said.count("by others") >= 2
    assert "NUMBA_CACHE_DIR" in said


def test_a_folder_of_another_user_is_not_used(homes, monkeypatch):
    folder = kernel_cache.cache_folder()
    monkeypatch.setattr(os, "geteuid", lambda: folder.stat().st_uid + 1)
    assert distrusted(folder) == "belongs to another user"
    homes[1].mkdir()
    assert kernel_cache.cache_folder() is None


def test_a_user_without_a_home_keeps_nothing(monkeypatch):
    def no_home():
        raise RuntimeError("Could not determine home directory.")

    monkeypatch.delenv("XDG_CACHE_HOME", raising=False)
    monkeypatch.setattr(Path, "home", no_home)
    assert user_cache() is None
    from mbssa import store

    monkeypatch.delenv("MBSSA_STORE", raising=False)
    assert store.store_path() == store.MEMORY
