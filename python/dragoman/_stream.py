"""Results that come piece by piece from threads of the library."""

import asyncio
import atexit
import queue
from collections.abc import AsyncIterator, Callable, Iterator
from typing import Any, Generic, Protocol, TypeVar

from dragoman._dragoman import wait_for_calls

Part = TypeVar("Part")
Result = TypeVar("Result")


class Cancellable(Protocol):
    """Work that can be cancelled."""

    def cancel(self) -> None: ...


Done = Callable[[Any, BaseException | None], None]


class _Job:
    """Work of threads of the library, until its end is told."""

    def __init__(self) -> None:
        self.under_way: Cancellable | None = None


_jobs: set[_Job] = set()


def begin(start: Callable[[Done], Cancellable], done: Done) -> Cancellable:
    """Starts work that ends with a call of `done`. Work that is under way at the end of the program is cancelled."""
    job = _Job()

    def ended(result: Any, error: BaseException | None) -> None:
        try:
            done(result, error)
        finally:
            _jobs.discard(job)

    _jobs.add(job)
    try:
        job.under_way = start(ended)
    except BaseException:
        _jobs.discard(job)
        raise
    return job.under_way


@atexit.register
def _cancel_all() -> None:
    for job in list(_jobs):
        if job.under_way is not None:
            job.under_way.cancel()
    wait_for_calls(10_000)


class _End:
    """Stands behind the last part."""

    def __init__(self, result: Any, error: BaseException | None) -> None:
        self.result = result
        self.error = error


Start = Callable[[Callable[[Any], None], Done], Cancellable]


class Stream(Generic[Part, Result]):
    """The parts of one text, for `for` and `async for`; afterwards `result` is the whole.

    A stream can be read once. Leaving the loop early, or `close`, cancels the work. A stream is also a context manager.
    """

    def __init__(self, start: Start) -> None:
        self._start = start
        self._under_way: Cancellable | None = None
        self._result: Result | None = None
        self._is_read = False

    @property
    def result(self) -> Result:
        """The whole result. Raises: RuntimeError before the end of the loop."""
        if self._result is None:
            raise RuntimeError("stream: the result is there when the loop has come to its end")
        return self._result

    def close(self) -> None:
        """Cancels the work, if it is under way."""
        if self._under_way is not None:
            self._under_way.cancel()
            self._under_way = None

    def _begin(self, put: Callable[[Any], None]) -> None:
        if self._is_read:
            raise RuntimeError("stream: it can be read once; ask for another")
        self._is_read = True
        self._under_way = begin(lambda done: self._start(put, done), lambda result, error: put(_End(result, error)))

    def _finish(self, end: _End) -> None:
        self._under_way = None
        if end.error is not None:
            raise end.error
        self._result = end.result

    def __iter__(self) -> Iterator[Part]:
        parts: queue.SimpleQueue[Any] = queue.SimpleQueue()
        self._begin(parts.put)
        try:
            while not isinstance(part := parts.get(), _End):
                yield part
            self._finish(part)
        finally:
            self.close()

    async def __aiter__(self) -> AsyncIterator[Part]:
        parts: asyncio.Queue[Any] = asyncio.Queue()
        loop = asyncio.get_running_loop()
        self._begin(lambda part: put_soon(loop, parts, part))
        try:
            while not isinstance(part := await parts.get(), _End):
                yield part
            self._finish(part)
        finally:
            self.close()

    def __enter__(self) -> "Stream[Part, Result]":
        return self

    def __exit__(self, *error: object) -> None:
        self.close()


def put_soon(loop: asyncio.AbstractEventLoop, parts: "asyncio.Queue[Any]", part: Any) -> None:
    """Puts a part from another thread. A loop that is closed waits for nothing."""
    if not loop.is_closed():
        loop.call_soon_threadsafe(parts.put_nowait, part)


async def result_of(start: Callable[[Done], Cancellable]) -> Any:
    """Waits for a result without blocking the loop; cancelling the task cancels the work."""
    loop = asyncio.get_running_loop()
    future: asyncio.Future[Any] = loop.create_future()

    def settle(result: Any, error: BaseException | None) -> None:
        if future.done():
            return
        if error is None:
            future.set_result(result)
        else:
            future.set_exception(error)

    def done(result: Any, error: BaseException | None) -> None:
        if not loop.is_closed():
            loop.call_soon_threadsafe(settle, result, error)

    under_way = begin(start, done)
    try:
        return await future
    except asyncio.CancelledError:
        under_way.cancel()
        raise
