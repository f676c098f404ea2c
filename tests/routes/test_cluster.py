"""A Dask cluster that is not there is named, instead of waited for."""

import contextlib
import socket

import pytest

from routes.executors import cluster, executor_named

distributed = pytest.importorskip("distributed")


@pytest.fixture(autouse=True)
def impatient(monkeypatch):
    monkeypatch.setattr(cluster, "PATIENCE", 0.2)

    def default_client():
        raise ValueError

    monkeypatch.setattr(distributed, "default_client", default_client)


@contextlib.contextmanager
def mute():
    with socket.create_server(("127.0.0.1", 0)) as listening:
        yield f"tcp://127.0.0.1:{listening.getsockname()[1]}"


@contextlib.contextmanager
def without_workers():
    with distributed.LocalCluster(
        n_workers=0, processes=False, protocol="tcp", dashboard_address=None
    ) as made:
        yield made.scheduler_address


@pytest.mark.parametrize(
    ("place", "what"),
    [
        (mute, "no scheduler answers at {}"),
        (lambda: contextlib.nullcontext("tcp://127.0.0.1:1"), "no scheduler answers at {}"),
        (lambda: contextlib.nullcontext("nonsense"), "no scheduler answers at {}"),
        (without_workers, "the scheduler at {} has had no worker"),
    ],
)
def test_what_does_not_answer_is_named_by_its_address(place, what):
    import dask

    with (
        place() as address,
        dask.config.set({"scheduler-address": address}),
        pytest.raises(ValueError, match=f"^executor cluster: {what.format(address)}"),
        executor_named("cluster").open(2),
    ):
        pass
