"""What a program holds while it lives: locks, deliveries, leases. They are leases in the log, which the program's
keep-alives renew through any front end."""

from __future__ import annotations

import queue
import threading
import time
from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass
from types import TracebackType

import grpc
from corfu.tango.v1 import sessions_pb2, sessions_pb2_grpc
from google.protobuf.duration_pb2 import Duration

from .errors import CorfuError, typed_errors
from .front_ends import FrontEnds


@dataclass(frozen=True)
class Attached:
    """The front end where the session's stream is."""

    id: str
    address: str
    channel: grpc.Channel


class Session:
    """A stream of keep-alives. If it breaks, the session goes on at another front end with all that it holds, as long
    as the time to live has not passed since the last keep-alive that was answered. Use it in a `with` statement."""

    def __init__(self, front_ends: FrontEnds, time_to_live: float, owner: str) -> None:
        self._front_ends = front_ends
        self._time_to_live = time_to_live
        self._owner = owner
        # Guards what follows.
        self._changed = threading.Condition()
        self._attached: Attached | None = None
        self._call: grpc.Call | None = None
        self._held: list[sessions_pb2.Holding] = []
        self._valid_until = 0.0
        self._closing = threading.Event()
        self.lost: queue.Queue[sessions_pb2.Holding] = queue.Queue()
        """What ended before the session."""
        self.ended = threading.Event()
        """Nothing is held any more."""

    def __enter__(self) -> Session:
        events = self._front_ends.call(lambda _: self._open())
        threading.Thread(target=self._run, args=[events], daemon=True).start()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None,
                 trace: TracebackType | None) -> None:
        """Waits until the front end has ended what is held."""
        self._closing.set()
        self.ended.wait(self._time_to_live)
        if self._call is not None:
            self._call.cancel()

    @property
    def is_held(self) -> bool:
        """False: others may have what the session held."""
        return not self.ended.is_set() and time.monotonic() < self._valid_until

    def abandon(self) -> None:
        """As if the program had died: no goodbye, the stream is just cut."""
        self.ended.set()
        self._closing.set()
        if self._call is not None:
            self._call.cancel()

    def attached(self) -> Attached:
        """Where calls that take the session go. Waits while it moves to another front end."""
        with self._changed:
            self._changed.wait_for(lambda: self._attached is not None or self.ended.is_set())
            if self._attached is None:
                raise CorfuError(grpc.StatusCode.NOT_FOUND, "The session has ended.", "SESSION_NOT_FOUND")
            return self._attached

    def hold(self, through: Attached, holding: sessions_pb2.Holding) -> None:
        """Something was acquired through that front end."""
        with self._changed:
            self._held.append(holding)
            if self._attached is not through and self._call is not None:
                # The session has moved meanwhile and did not name it: open it once more.
                self._call.cancel()

    def drop(self, holding: sessions_pb2.Holding) -> None:
        with self._changed:
            if holding in self._held:
                self._held.remove(holding)

    def _open(self) -> Iterator[sessions_pb2.SessionEvent]:
        """Opens the session with what it holds."""
        address, channel = self._front_ends.pick()
        sent: deque[float] = deque([time.monotonic()])
        with self._changed:
            held = list(self._held)
        opening = sessions_pb2.KeepRequest(open=sessions_pb2.OpenSession(
            time_to_live=duration(self._time_to_live), owner=self._owner, held=held))
        call = sessions_pb2_grpc.SessionServiceStub(channel).Keep(self._requests(opening, sent))
        with typed_errors():
            opened = next(call).opened
        with self._changed:
            self._call, self._attached = call, Attached(opened.session, address, channel)
            self._valid_until = sent.popleft() + self._time_to_live
            self._changed.notify_all()
            if any(holding not in held for holding in self._held):
                # Acquired while the session moved, and not named: open it once more.
                call.cancel()
        for lost in opened.lost:
            self._lose(lost)
        return self._events(call, sent)

    def _requests(self, opening: sessions_pb2.KeepRequest, sent: deque[float]) -> Iterator[sessions_pb2.KeepRequest]:
        yield opening
        # When it ends, the stream ends in order: the front end ends what is held.
        while not self._closing.wait(self._time_to_live / 3):
            sent.append(time.monotonic())
            yield sessions_pb2.KeepRequest(keep_alive=sessions_pb2.KeepAlive())

    def _events(self, call: grpc.Call, sent: deque[float]) -> Iterator[sessions_pb2.SessionEvent]:
        with typed_errors():
            for event in call:
                if event.WhichOneof("event") == "kept_alive":
                    self._valid_until = sent.popleft() + self._time_to_live
                yield event

    def _run(self, events: Iterator[sessions_pb2.SessionEvent]) -> None:
        while True:
            try:
                for event in events:
                    if event.WhichOneof("event") == "lost":
                        self._lose(event.lost)
            except CorfuError:
                pass  # However the stream ended, the session may go on.
            with self._changed:
                broken, self._attached = self._attached, None
            reopened = self._reopen(broken)
            if reopened is None:
                break
            events = reopened
        with self._changed:
            self.ended.set()
            self._changed.notify_all()

    def _reopen(self, broken: Attached | None) -> Iterator[sessions_pb2.SessionEvent] | None:
        failed = broken.address if broken else ""
        while not self._closing.is_set() and time.monotonic() < self._valid_until:
            self._front_ends.next_after(failed)
            failed = self._front_ends.current
            try:
                return self._open()
            except CorfuError:
                self._closing.wait(0.1)
        return None

    def _lose(self, holding: sessions_pb2.Holding) -> None:
        self.drop(holding)
        self.lost.put(holding)


def duration(seconds: float) -> Duration:
    value = Duration()
    value.FromNanoseconds(int(seconds * 1e9))
    return value
