"""The shared log: append, read, subscribe, check, trim.

Results are generated messages where they are plain data (Entry, ReadResult); see corfu/log/v1/log.proto for their
fields.
"""

from __future__ import annotations

import hashlib
import itertools
import time
import uuid
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from enum import Enum

import grpc
from corfu.log.v1 import log_pb2 as pb
from corfu.log.v1 import log_pb2_grpc
from corfu.v1 import types_pb2

from .errors import CorfuError, error_of, typed_errors
from .front_ends import FrontEnds

ENTRIES_A_MESSAGE = 64
ENTRIES_A_CALL = 32_768
ORIGINS_A_CALL = 4_096

# How far the log may go on before an entry is refused. A lost append in a log where nothing else happens burns so many
# positions when it is settled.
WINDOW = 8_192

# Refused, and not for the entry's sake: it is sent again.
AGAIN = ("BOUND_PASSED", "SHUTTING_DOWN")


class Outcome(Enum):
    APPENDED = pb.OUTCOME_APPENDED
    NOT_APPENDED = pb.OUTCOME_NOT_APPENDED
    UNKNOWN = pb.OUTCOME_UNKNOWN


@dataclass(frozen=True)
class Appended:
    """What became of an append. UNKNOWN remains only where the cluster did not answer in time, or what was written
    has been trimmed."""

    outcome: Outcome
    position: int | None = None
    error: CorfuError | None = None
    """Why it was refused."""


@dataclass
class _Append:
    """An append under way. Its origin is in the entry, so that a lost answer can be looked up."""

    payload: bytes
    origin: pb.Origin
    unknown: pb.AppendResult | None = None
    error: CorfuError | None = None
    final: Appended | None = None


@dataclass
class _Call:
    """One AppendMany call: the entries that it carries, by their ids, and those without an answer."""

    appends: list[_Append]
    below: int
    unanswered: set[int] = field(default_factory=set)
    leaving: bool = False


class CorfuLog:
    """Safe for several threads; each append is independent of the others."""

    def __init__(self, front_ends: FrontEnds) -> None:
        self._front_ends = front_ends
        # A client that starts anew is another writer, so that no two entries ever have the same origin.
        self._writer = uuid.uuid4().bytes
        self._sequence = itertools.count(1)

    def _pick(self) -> tuple[str, log_pb2_grpc.LogServiceStub]:
        address, channel = self._front_ends.pick()
        return address, log_pb2_grpc.LogServiceStub(channel)

    # ---- appends

    def append(self, payload: bytes, streams: Sequence[str] = (), timeout: float = 10.0) -> Appended:
        """Appends one entry; durable at every replica when the outcome is APPENDED."""
        append, deadline = self._new(payload), time.monotonic() + timeout
        while append.final is None:
            since = self.check().tail
            below = since.offset + WINDOW
            address, stub = self._pick()
            request = pb.AppendRequest(entry=self._entry(append, streams, below))
            try:
                result = stub.Append(request, timeout=max(0.001, deadline - time.monotonic())).result
                if not self._take(append, result):
                    self._settle([append], since, below)
            except grpc.RpcError as failure:
                append.error = error_of(failure)
                if append.error.is_front_end_gone:
                    self._front_ends.next_after(address)
                # With a reason the front end has spoken: not in the log, unless the front end itself failed.
                if not append.error.reason or append.error.code == grpc.StatusCode.INTERNAL:
                    self._settle([append], since, below)
                elif append.error.reason not in AGAIN or time.monotonic() > deadline:
                    append.final = Appended(Outcome.NOT_APPENDED, error=append.error)
            self._resolve_unknown([append])
        return append.final

    def append_many(
            self, payloads: Sequence[bytes], streams: Sequence[str] = (), timeout: float = 30.0) -> list[Appended]:
        """Appends entries, many of them at once. Their order in the log is any; the results are in the order of the
        payloads."""
        appends, deadline = [self._new(payload) for payload in payloads], time.monotonic() + timeout
        while still_open := [append for append in appends if append.final is None]:
            if time.monotonic() > deadline:
                for append in still_open:
                    append.final = Appended(Outcome.NOT_APPENDED, error=append.error)
                break
            self._append_once(still_open[:ENTRIES_A_CALL], streams, deadline)
        return [_final(append) for append in appends]

    def resolve(self, unknown: pb.AppendResult, patience: float = 30.0) -> Outcome:
        """What became of an append whose outcome was UNKNOWN; never appends anew."""
        request = pb.ResolveRequest(position=unknown.position, origin=unknown.origin)
        deadline = time.monotonic() + patience
        while True:
            outcome = self._front_ends.call(
                lambda channel: log_pb2_grpc.LogServiceStub(channel).Resolve(request, timeout=10.0).outcome)
            if outcome != pb.OUTCOME_UNKNOWN or time.monotonic() > deadline:
                return Outcome(outcome)
            time.sleep(0.1)

    def settle(self, origins: Sequence[pb.Origin], since: types_pb2.Position, below: int) -> list[Appended]:
        """What became of appends whose answers were lost. Where it says NOT_APPENDED, the entry can no more come to
        stand below the bound, whatever front end still holds it."""
        found: list[Appended] = []
        for first in range(0, len(origins), ORIGINS_A_CALL):
            request = pb.SettleRequest(
                origins=origins[first:first + ORIGINS_A_CALL], since=since, below_offset=below)
            results = self._front_ends.call(
                lambda channel: log_pb2_grpc.LogServiceStub(channel).Settle(request, timeout=30.0), 60.0).results
            found += [Appended(Outcome(result.outcome),
                               result.position.offset if result.HasField("position") else None)
                      for result in results]
        return found

    def _new(self, payload: bytes) -> _Append:
        return _Append(payload, pb.Origin(writer=self._writer, sequence=next(self._sequence)))

    @staticmethod
    def _entry(append: _Append, streams: Sequence[str], below: int) -> pb.NewEntry:
        return pb.NewEntry(
            payload=append.payload, stream_names=streams, origin=append.origin, below_offset=below)

    def _append_once(self, appends: list[_Append], streams: Sequence[str], deadline: float) -> None:
        """1. Each entry is sent once; a front end that stops is sent nothing more. 2. A call that broke: what has no
        answer is settled. 3. What was refused for the front end's or the bound's sake, or was not sent, stays open."""
        since = self.check().tail
        call = _Call(appends, since.offset + len(appends) + WINDOW, set(range(len(appends))))
        address, stub = self._pick()
        lost: list[_Append] = []
        try:
            for response in stub.AppendMany(
                    self._requests(call, streams), timeout=max(0.001, deadline - time.monotonic())):
                for item in response.items:
                    append = appends[item.id]
                    call.unanswered.discard(item.id)
                    if not self._take(append, item.result):
                        lost.append(append)
                    if append.error is not None and append.error.reason == "SHUTTING_DOWN":
                        call.leaving = True
        except grpc.RpcError as failure:
            error = error_of(failure)
            call.leaving = error.is_front_end_gone
            for number in call.unanswered:
                appends[number].error = error
                lost.append(appends[number])
        self._settle(lost, since, call.below)
        if call.leaving:
            self._front_ends.next_after(address)
        self._resolve_unknown(appends)

    def _requests(self, call: _Call, streams: Sequence[str]) -> Iterator[pb.AppendManyRequest]:
        for first in range(0, len(call.appends), ENTRIES_A_MESSAGE):
            if call.leaving:
                return
            batch = call.appends[first:first + ENTRIES_A_MESSAGE]
            yield pb.AppendManyRequest(items=[
                pb.AppendManyRequest.Item(id=first + index, entry=self._entry(append, streams, call.below))
                for index, append in enumerate(batch)])

    @staticmethod
    def _take(append: _Append, result: pb.AppendResult) -> bool:
        """False: the answer leaves it open, and names no position that Resolve could look at."""
        append.error = _refused(result.error) if result.HasField("error") else None
        if result.outcome == pb.OUTCOME_APPENDED:
            append.final = Appended(Outcome.APPENDED, result.position.offset)
        elif result.outcome == pb.OUTCOME_NOT_APPENDED:
            if append.error is None or append.error.reason not in AGAIN:
                append.final = Appended(Outcome.NOT_APPENDED, error=append.error)
        elif result.HasField("position"):
            append.unknown = result
        else:
            return False
        return True

    def _resolve_unknown(self, appends: list[_Append]) -> None:
        for append in appends:
            if append.final is None and append.unknown is not None:
                append.final = Appended(self.resolve(append.unknown), append.unknown.position.offset)

    def _settle(self, lost: list[_Append], since: types_pb2.Position, below: int) -> None:
        for append, settled in zip(lost, self.settle([append.origin for append in lost], since, below)):
            append.final = Appended(settled.outcome, settled.position,
                                    append.error if settled.outcome == Outcome.NOT_APPENDED else None)

    # ---- reads

    def tail(self) -> int:
        """Every append that was acknowledged to any client before this call is below it."""
        return self.check().tail.offset

    def check(self, streams: Sequence[str] = ()) -> pb.CheckResponse:
        request = pb.CheckRequest(stream_names=streams)
        return self._front_ends.call(
            lambda channel: log_pb2_grpc.LogServiceStub(channel).Check(request, timeout=10.0))

    def read(self, *positions: int) -> list[pb.ReadResult]:
        """In the order of the positions. A hole below the tail is closed first."""
        request = pb.ReadRequest(offsets=positions)

        def all_results(channel: grpc.Channel) -> list[pb.ReadResult]:
            stub = log_pb2_grpc.LogServiceStub(channel)
            return [result for response in stub.Read(request, timeout=30.0) for result in response.results]

        return self._front_ends.call(all_results)

    def read_range(self, start: int, end: int) -> Iterator[pb.ReadResult]:
        """Ends at the tail where that is below the end. Goes on at another front end where one dies."""
        while start < end:
            address, stub = self._pick()
            call = stub.ReadRange(pb.ReadRangeRequest(from_offset=start, to_offset=end))
            try:
                with typed_errors():
                    for response in call:
                        for result in response.results:
                            start = result.position.offset + 1
                            yield result
                return
            except CorfuError as error:
                if not error.is_front_end_gone:
                    raise
                self._front_ends.next_after(address)
                time.sleep(0.1)
            finally:
                call.cancel()

    def subscribe(self, start: int | None = None, streams: Sequence[str] = ()) -> Subscription:
        """Entries from a position on; None: from now on. No stream: the whole log."""
        return Subscription(self._front_ends, start, streams)

    # ---- trims

    def trim(self, position: int) -> None:
        request = pb.TrimRequest(position=types_pb2.Position(offset=position))
        self._front_ends.call(lambda channel: log_pb2_grpc.LogServiceStub(channel).Trim(request, timeout=10.0))

    def trim_prefix(self, below: int) -> None:
        request = pb.TrimPrefixRequest(below=types_pb2.Position(offset=below))
        self._front_ends.call(lambda channel: log_pb2_grpc.LogServiceStub(channel).TrimPrefix(request, timeout=10.0))


class Subscription:
    """An iterator of entries without an end. Where a front end dies it goes on at another, behind the last entry that
    it has returned: nothing is lost, nothing comes twice."""

    def __init__(self, front_ends: FrontEnds, start: int | None, streams: Sequence[str]) -> None:
        self._front_ends = front_ends
        self._streams = list(streams)
        self._call: grpc.Call | None = None
        self._waiting: list[pb.Entry] = []
        self._cancelled = False
        self._next_message = start
        self.resume_from = start
        """Where a subscription goes on that is made anew; None before the front end's first word."""
        self.front_end = ""
        """The address that serves it."""

    def open(self) -> Subscription:
        """Waits until the front end has begun. From then on a subscription from now misses nothing."""
        while self._call is None:
            self._next_response()
        return self

    def cancel(self) -> None:
        """From any thread; ends the iteration."""
        self._cancelled = True
        if self._call is not None:
            self._call.cancel()

    def __iter__(self) -> Subscription:
        return self

    def __next__(self) -> pb.Entry:
        while not self._waiting:
            if self._cancelled:
                raise StopIteration
            self._next_response()
        entry = self._waiting.pop(0)
        self.resume_from = entry.position.offset + 1 if self._waiting else self._next_message
        return entry

    def _next_response(self) -> None:
        """One message, or none where the subscription has to begin anew at another front end."""
        address, channel = self._front_ends.pick()
        try:
            with typed_errors():
                if self._call is None:
                    request = pb.SubscribeRequest(stream_names=self._streams)
                    if self._next_message is not None:
                        request.from_offset = self._next_message
                    stub = log_pb2_grpc.LogServiceStub(channel)
                    self.front_end, self._call = address, stub.Subscribe(request)
                response = next(self._call)
        except (CorfuError, StopIteration) as ended:
            self._call = None
            if self._cancelled:
                return
            if isinstance(ended, CorfuError) and not ended.is_front_end_gone:
                raise
            self._front_ends.next_after(self.front_end or address)
            time.sleep(0.1)
            return
        self._waiting.extend(response.entries)
        self._next_message = response.resume_offset
        if not self._waiting:
            self.resume_from = self._next_message


def stream_id(name: str) -> int:
    """The id that a stream's name stands for."""
    digest = hashlib.sha256(name.encode()).digest()
    return int.from_bytes(digest[:8], "little") | 1 << 63


def _refused(error: types_pb2.EntryError) -> CorfuError:
    code = next(code for code in grpc.StatusCode if code.value[0] == error.code)
    return CorfuError(code, error.message, error.reason, dict(error.metadata))


def _final(append: _Append) -> Appended:
    if append.final is None:
        raise AssertionError("No append is left open.")
    return append.final
