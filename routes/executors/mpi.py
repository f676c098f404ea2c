"""Ranks of MPI, on one machine or on many: no memory is shared, arrays go as buffers.

Every rank calls :func:`routes.run`. What rank 0 was given counts; it has the checkpoint and returns the
answer. Each rank does its own tasks in ascending order, sends what others need of them as soon as it is
found, and everything to rank 0. Nobody blocks: who waits looks for messages and sleeps, so that ranks beyond
the number of cores do not take them from those that work.
"""

from __future__ import annotations

import math
import pickle
import signal
import sys
import threading
import time
import traceback
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from itertools import count
from typing import Any, TypeVar

import numpy as np
import numpy.typing as npt

from routes.executors.inner_threads import one_for_each
from routes.executors.last_words import last_words
from routes.executors.sealed import sealed, unsealed
from routes.executors.shares import owners, receivers, sources
from routes.executors.watch import Watch
from routes.job import Bench, TaskError
from routes.plan import Plan
from routes.workspace import Workspace, in_memory

Bytes = npt.NDArray[np.uint8]
Answer = TypeVar("Answer")
Execute = Callable[[Bench, Sequence[int], Watch], None]

#: Kinds of messages: rows that another rank computes with, all results of a task, a failure, the end.
ROWS, RESULT, FAILURE, STOP = 1, 2, 3, 4

#: Messages that may be under way from one rank before it waits.
UNDER_WAY = 32

#: Seconds between two looks for messages, at most.
NAP = 0.5e-3


def on_all_ranks(plan: Plan, solve: Callable[[Execute], Answer]) -> Answer | None:
    """Let rank 0 solve with the help of all ranks, which call this too; None on the others.

    Parameters
    ----------
    solve : takes the executor; called on rank 0 alone

    Raises
    ------
    ValueError
        The plan is for another number of ranks.
    BaseException
        Whatever has ended rank 0: on all ranks, so that none goes on alone.
    """
    world = mpi().COMM_WORLD.Dup()
    try:
        if not world.rank:
            with last_words("error: a rank has died; what a checkpoint has is kept, resume goes on from it"):
                return _lead(world, plan, solve)
        try:
            failure = _help(world)
        except BaseException:  # between jobs: rank 0 would wait for ever
            traceback.print_exc(file=sys.__stderr__)  # sys.stderr may be silent here
            world.Abort(1)
            raise
        if failure is not None:
            raise failure
        return None
    finally:
        world.Free()


def mpi() -> Any:
    """MPI, which begins as it is imported: nothing else imports it.

    Raises
    ------
    ValueError
        ``mpi4py`` is not installed, or has no runtime: what to write.
    """
    try:
        from mpi4py import MPI
    except (ImportError, RuntimeError) as error:  # the extra, or the runtime under it
        raise ValueError(f"ranks of MPI cannot be used ({error}); pip install 'mbssa[mpi]'") from None
    return MPI


def _lead(world: Any, plan: Plan, solve: Callable[[Execute], Answer]) -> Answer:
    def execute(bench: Bench, todo: Sequence[int], watch: Watch) -> None:
        if not todo:
            return
        with _interruptible() as interrupted:
            _send_job(world, bench)
            rank = _Rank(world, interrupted, _clocks(world))
            rank.to_the_end(lambda: bench, watch)
        if rank.failure is not None:
            raise rank.failure

    try:
        if plan.workers != world.size:
            raise ValueError(_other_ranks(plan.workers, world.size))
        answer = solve(execute)
    except BaseException as failure:
        with _interruptible():
            _tell(world, (None, _portable(failure)))
        raise
    with _interruptible():
        _tell(world, (None, None))
    return answer


def _help(world: Any) -> BaseException | None:
    """What ranks other than 0 do: jobs, until they are told the end, and what ended rank 0."""
    with _interruptible() as interrupted:
        while True:
            job, failure = _tell(world)
            if job is None:
                ended: BaseException | None = failure
                return ended
            pickled, sizes = job
            buffers = [np.empty(size, np.uint8) for size in sizes]
            for buffer in buffers:
                world.Bcast(buffer, root=0)
            rank = _Rank(world, interrupted, _clocks(world))
            rank.to_the_end(partial(_bench, pickled, buffers), None)


def _other_ranks(wanted: int, there: int) -> str:
    from mbssa.ranks import mpiexec

    try:
        command = str(mpiexec())
    except FileNotFoundError:
        command = "mpiexec"
    ranks = "1 rank" if there == 1 else f"{there} ranks"
    return (
        f"the plan is for {wanted} ranks of MPI, and here {'is' if there == 1 else 'are'} {ranks}; "
        f"start it with {command} -n {wanted}, or plan for {ranks}"
    )


def _send_job(world: Any, bench: Bench) -> None:
    pickled, arrays = sealed(bench.job)
    buffers = [np.frombuffer(array, np.uint8) for array in arrays] + [_bytes(a) for a in _state(bench.space)]
    _tell(world, ((pickled, [len(buffer) for buffer in buffers]), None))
    for buffer in buffers:
        world.Bcast(buffer, root=0)


def _bench(pickled: bytes, buffers: list[Bytes]) -> Bench:
    """The job on another rank, with what the workspace of rank 0 says of its beginning."""
    arrays = buffers[: len(buffers) - 3]
    job = unsealed(pickled, arrays)
    space = in_memory(job.shapes)
    for array, buffer in zip(_state(space), buffers[len(arrays) :], strict=True):
        _bytes(array)[:] = buffer
    return Bench(job, space)


def _state(space: Workspace) -> tuple[npt.NDArray[Any], ...]:
    return space.memory, space.last, space.done


def _bytes(array: npt.NDArray[Any]) -> Bytes:
    found: Bytes = array.reshape(-1).view(np.uint8)
    return found


class _Rank:
    """One rank's part of a run: its tasks, and the messages to and from others.

    Messages from one rank to another come in the order in which they were sent, and both know it: rows of
    tasks that were done before, then those of the tasks of this run, ascending.
    """

    def __init__(self, world: Any, interrupted: threading.Event, clocks: list[float]) -> None:
        self.mpi = mpi()
        self.world, self.me, self.interrupted, self.clocks = world, int(world.rank), interrupted, clocks
        self.failure: BaseException | None = None
        self.stopped = self.leaving = False
        self._sent: list[tuple[Any, Any]] = []
        self._bench: Bench | None = None
        self._watch: Watch | None = None
        self._there: set[int] = set()
        self._coming: dict[int, deque[int]] = {}

    def to_the_end(self, bench: Callable[[], Bench], watch: Watch | None) -> None:
        """Do this rank's tasks; all ranks end together, whatever has happened to one of them."""
        try:
            try:
                made = bench()
                with one_for_each(made.job):
                    self._work(made, watch)
            except BaseException as failure:
                self._fail(failure)
            self._part()
        except BaseException:  # MPI itself fails: nobody can be told
            traceback.print_exc(file=sys.__stderr__)  # sys.stderr may be silent here
            self.world.Abort(1)

    def _work(self, bench: Bench, watch: Watch | None) -> None:
        tasks, done = bench.job.tasks, bench.space.done.astype(bool)
        owner = owners(bench.job, done, self.world.size)
        sends = receivers(bench, done, owner)
        self._watch, self._there = watch, set(np.flatnonzero(owner == self.me).tolist())
        for source in range(self.world.size):
            if not self.me:
                coming = np.flatnonzero(~done & (owner == source)).tolist() if source else []
            else:
                to_me = [task for task, ranks in sends.items() if self.me in ranks and owner[task] == source]
                coming = sorted(to_me, key=lambda task: (not done[task], task))
            self._coming[source] = deque(coming)
        self._bench = bench
        mine = np.flatnonzero(~done & (owner == self.me)).tolist()
        self._there.difference_update(mine)
        if not self.me:
            for task in np.flatnonzero(done).tolist():
                self._send_rows(task, sends.get(task, ()))
        needed = sources(bench)
        for task in mine:
            chunk, call = tasks.place(task)
            wait_for = {chunk * len(tasks.calls) + source for source in needed[call]}
            self._until(partial(self._there.issuperset, wait_for))
            if self.stopped or not bench.perform(task, self.me, self._wanted):
                return
            self._there.add(task)
            self._send_rows(task, sends.get(task, ()))
            if self.me:
                self._send(_packed(bench, task, whole=True), 0, RESULT)
            elif watch is not None:
                watch.finished(task)
        if not self.me:
            self._until(lambda: not any(self._coming.values()))

    def _wanted(self) -> bool:
        self._look()
        if self._watch is not None and not self._watch.wanted():
            self._stop()
        return not self.stopped

    def _until(self, there: Callable[[], bool]) -> None:
        """Take in messages until something is there, or the run has been stopped."""
        for nap in _naps():
            if not self._wanted() or there():
                return
            time.sleep(nap)

    def _part(self) -> None:
        """Leave together: once all that this rank has sent has arrived, and that of all other ranks too."""
        together = None
        for nap in _naps():
            self._look()
            if together is None and not self._sent:
                together, self.leaving = self.world.Ibarrier(), True
            if together is not None and together.Test():
                return
            time.sleep(nap)

    def _look(self) -> None:
        """Take in what has come."""
        if self.interrupted.is_set() and not self.stopped:
            self._fail(KeyboardInterrupt())
        status = self.mpi.Status()
        while self.world.Iprobe(self.mpi.ANY_SOURCE, self.mpi.ANY_TAG, status):
            source, kind = status.Get_source(), status.Get_tag()
            buffer = np.empty(status.Get_count(self.mpi.BYTE), np.uint8)
            self.world.Recv(buffer, source, kind)
            self._take_in(source, kind, buffer)
        self._sent = [(request, buffer) for request, buffer in self._sent if not request.Test()]

    def _take_in(self, source: int, kind: int, buffer: Bytes) -> None:
        bench = self._bench
        if kind == STOP:
            self.stopped = True
        elif kind == FAILURE:
            self._fail(pickle.loads(buffer.tobytes()))
        elif bench is not None:
            task = self._coming[source].popleft()
            _unpack(bench, task, buffer, whole=kind == RESULT)
            self._there.add(task)
            if kind == RESULT:
                bench.space.log[task, :2] -= self.clocks[source]
                bench.space.done[task] = 1
                if self._watch is not None:
                    try:
                        self._watch.finished(task)
                    except BaseException as failure:  # of who is told of the progress, while ranks part too
                        self._fail(failure)

    def _send_rows(self, task: int, ranks: Sequence[int]) -> None:
        assert self._bench is not None
        rows = _packed(self._bench, task, whole=False) if ranks else None
        for rank in ranks:
            self._send(rows, rank, ROWS)

    def _send(self, buffer: Any, rank: int, kind: int) -> None:
        # Synchronous: it is over once the other side has taken it in, which is what leaving together needs.
        self._sent.append((self.world.Issend(buffer, rank, kind), buffer))
        if kind in (ROWS, RESULT) and len(self._sent) > UNDER_WAY:
            self._until(lambda: len(self._sent) <= UNDER_WAY)

    def _fail(self, failure: BaseException) -> None:
        self.failure = self.failure or failure
        if self.leaving:
            return
        if self.me and not self.stopped:
            self.stopped = True
            self._send(np.frombuffer(pickle.dumps(_portable(failure)), np.uint8), 0, FAILURE)
        elif not self.me:
            self._stop()

    def _stop(self) -> None:
        if self.stopped:
            return
        self.stopped = True
        if not self.me:
            for rank in range(1, self.world.size):
                self._send(np.zeros(0, np.uint8), rank, STOP)


def _pieces(bench: Bench, task: int, whole: bool) -> Iterator[tuple[npt.NDArray[Any], Any]]:
    """Arrays, and where in them a task's results are; without ``whole``, those that others compute with."""
    job, space = bench.job, bench.space
    chunk, call = job.tasks.place(task)
    span = slice(*job.tasks.span(task))
    memory, rows = bench.hands_on[call]
    for array in space.answer.outputs:
        if array.shape[1]:
            yield array, (rows, span)
    if not whole:
        return
    for quality in space.answer.quality:
        yield quality, (list(job.tasks.calls[call]), span)
    yield space.log, task
    into = bench.goes_on_in(chunk)
    if into is not None:
        yield into[0], memory
        yield into[1], rows


def _packed(bench: Bench, task: int, *, whole: bool) -> Bytes:
    return np.concatenate([_bytes(np.ascontiguousarray(a[at])) for a, at in _pieces(bench, task, whole)])


def _unpack(bench: Bench, task: int, buffer: Bytes, *, whole: bool) -> None:
    first = 0
    for array, at in _pieces(bench, task, whole):
        part = array[at]
        stop = first + part.nbytes
        array[at] = buffer[first:stop].view(array.dtype).reshape(part.shape)
        first = stop


def _tell(world: Any, what: Any = None) -> Any:
    """What rank 0 tells all; the others sleep until it does."""
    all_here = world.Ibarrier()
    for nap in _naps():
        if all_here.Test():
            break
        time.sleep(nap)
    return world.bcast(what, root=0)


def _naps() -> Iterator[float]:
    """Seconds to sleep between looks: none at first, then more and more."""
    for look in count():
        yield min(max(0.0, (look - 50) * 1e-5), NAP)


def _clocks(world: Any) -> list[float]:
    """How far each rank's clock is ahead of that of rank 0, s; 0 on one machine, which has one clock."""
    machines = world.allgather(mpi().Get_processor_name())
    return [0.0 if name == machines[0] else clock_ahead(world, r) for r, name in enumerate(machines)]


def clock_ahead(world: Any, rank: int, rounds: int = 10) -> float:
    """How far a rank's clock is ahead of that of rank 0, s, by the quickest of some questions.

    All ranks call it; 0 on ranks other than 0, who do not need it.
    """
    if world.rank == rank:
        for _ in range(rounds):
            world.recv(source=0)
            world.send(time.perf_counter(), dest=0)
    best, ahead = math.inf, 0.0
    for _ in range(rounds if world.rank == 0 else 0):
        asked = time.perf_counter()
        world.send(None, dest=rank)
        said = world.recv(source=rank)
        answered = time.perf_counter()
        if answered - asked < best:
            best, ahead = answered - asked, said - (asked + answered) / 2
    return ahead


def _portable(failure: BaseException) -> BaseException:
    """A failure as another rank can raise it, without the arrays that it may hold."""
    if isinstance(failure, TaskError):
        return TaskError(str(failure), failure.task)
    try:
        found: BaseException = pickle.loads(pickle.dumps(failure))
    except Exception:
        return RuntimeError(f"{type(failure).__name__}: {failure}")
    return found


@contextmanager
def _interruptible() -> Iterator[threading.Event]:
    """Ctrl-C is noted, not raised: a message that is half received would hold up all other ranks."""
    interrupted = threading.Event()
    if threading.current_thread() is not threading.main_thread():
        yield interrupted
        return
    before = signal.signal(signal.SIGINT, lambda *_: interrupted.set())
    try:
        yield interrupted
    finally:
        signal.signal(signal.SIGINT, before)
