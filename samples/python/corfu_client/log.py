"""The shared log: append, read, subscribe, check, trim.

Results are generated messages where they are plain data (Entry, ReadResult); see corfu/log/v1/log.proto for their
fields. `from` is a word of Python, so requests with such a field are built from a dictionary.
"""

from __future__ import annotations

import hashlib
import time
import uuid
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from enum import Enum

import grpc
from corfu.log.v1 import log_pb2 as pb
from corfu.log.v1 import log_pb2_grpc

from .errors import CorfuError, error_of, typed_errors
from .front_ends import FrontEnds

ENTRIES_A_MESSAGE = 64

# A front end gives up an append at its deadline. Later than this behind it, nothing more of the append happens.
MARGIN = 1.0

# The codes of a call that ended without the front end's word about the entry.
CUT_OFF = (grpc.StatusCode.UNAVAILABLE, grpc.StatusCode.DEADLINE_EXCEEDED, grpc.StatusCode.CANCELLED,
           grpc.StatusCode.UNKNOWN, grpc.StatusCode.INTERNAL)


class Outcome(Enum):
    APPENDED = pb.OUTCOME_APPENDED
    NOT_APPENDED = pb.OUTCOME_NOT_APPENDED
    UNKNOWN = pb.OUTCOME_UNKNOWN


@dataclass(frozen=True)
class Appended:
    """What became of an append. UNKNOWN remains only where the cluster did not answer in time."""

    outcome: Outcome
    position: int | None = None
    error: CorfuError | None = None
    """Why it was refused."""


@dataclass
class _Append:
    """An append under way."""

    payload: bytes
    result: pb.AppendResult | None = None
    final: Appended | None = None


class CorfuLog:
    """Safe for several threads; each append is independent of the others."""

    def __init__(self, front_ends: FrontEnds) -> None:
        self._front_ends = front_ends
        # Every entry of this client is in this stream too, where it is found again after a call that broke.
        self._own_stream = f"writer-{uuid.uuid4().hex}"

    def _pick(self) -> tuple[str, log_pb2_grpc.LogServiceStub]:
        address, channel = self._front_ends.pick()
        return address, log_pb2_grpc.LogServiceStub(channel)

    # ---- appends

    def append(self, payload: bytes, streams: Sequence[str] = (), timeout: float = 10.0) -> Appended:
        """Appends one entry; durable at every replica when the outcome is APPENDED."""
        began, start = time.monotonic(), self.tail()
        append = _Append(payload)
        address, stub = self._pick()
        try:
            append.result = stub.Append(
                pb.AppendRequest(entry=self._entry(payload, streams)), timeout=timeout).result
        except grpc.RpcError as failure:
            error = error_of(failure)
            if not self._is_cut_off(error):
                append.final = Appended(Outcome.NOT_APPENDED, error=error)
            if error.is_front_end_gone:
                self._front_ends.next_after(address)
        self._settle([append], start, began + timeout)
        return _final(append)

    def append_many(
            self, payloads: Sequence[bytes], streams: Sequence[str] = (), timeout: float = 30.0) -> list[Appended]:
        """Appends entries over one call, many of them at once. Their order in the log is any; the results are in the
        order of the payloads."""
        began, start = time.monotonic(), self.tail()
        appends = [_Append(payload) for payload in payloads]
        address, stub = self._pick()
        call = stub.AppendMany(self._requests(payloads, streams), timeout=timeout)
        try:
            for response in call:
                for item in response.items:
                    if item.result.outcome == pb.OUTCOME_NOT_APPENDED:
                        appends[item.id].final = Appended(Outcome.NOT_APPENDED, error=_refused(item.error))
                    else:
                        appends[item.id].result = item.result
        except grpc.RpcError as failure:
            if error_of(failure).is_front_end_gone:
                self._front_ends.next_after(address)
        self._settle(appends, start, began + timeout)
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

    def _requests(self, payloads: Sequence[bytes], streams: Sequence[str]) -> Iterator[pb.AppendManyRequest]:
        for first in range(0, len(payloads), ENTRIES_A_MESSAGE):
            batch = payloads[first:first + ENTRIES_A_MESSAGE]
            yield pb.AppendManyRequest(items=[
                pb.AppendManyRequest.Item(id=first + index, entry=self._entry(payload, streams))
                for index, payload in enumerate(batch)])

    def _entry(self, payload: bytes, streams: Sequence[str]) -> pb.NewEntry:
        return pb.NewEntry(payload=payload, stream_names=[*streams, self._own_stream])

    @staticmethod
    def _is_cut_off(error: CorfuError) -> bool:
        """With a reason the front end has spoken: the entry is not in the log, unless the front end itself failed."""
        return error.code in CUT_OFF and (not error.reason or error.code == grpc.StatusCode.INTERNAL)

    def _settle(self, appends: list[_Append], start: int, deadline: float) -> None:
        """1. Results that are final. 2. UNKNOWN with a position: the cluster is asked about it. 3. No result: the entry
        is looked for in this client's own stream. What is not there once the front end has given up is not appended."""
        known: set[int] = set()
        for append in appends:
            result = append.result
            if append.final is None and result is not None and result.HasField("position"):
                outcome = Outcome(result.outcome)
                append.final = Appended(
                    self.resolve(result) if outcome == Outcome.UNKNOWN else outcome, result.position.offset)
            if append.final is not None and append.final.position is not None:
                known.add(append.final.position)
        # Entries with the same payload are alike: it does not matter which of them is which.
        missing: defaultdict[bytes, list[_Append]] = defaultdict(list)
        for append in appends:
            if append.final is None:
                missing[append.payload].append(append)
        given_up = False
        while any(missing.values()) and not given_up:
            given_up = time.monotonic() > deadline + MARGIN
            for entry in self._own_entries(start):
                offset = entry.position.offset
                if offset not in known and missing[entry.payload]:
                    missing[entry.payload].pop().final = Appended(Outcome.APPENDED, offset)
                    known.add(offset)
            if not given_up and any(missing.values()):
                time.sleep(0.2)
        for append in appends:
            if append.final is None:
                append.final = Appended(Outcome.NOT_APPENDED)

    def _own_entries(self, start: int) -> Iterator[pb.Entry]:
        """Up to the tail of now. Reading closes the holes that a dead front end left: afterwards they stay closed."""
        tail = self.tail()
        for result in self.read_range(start, tail):
            if result.state == pb.STATE_DATA and any(
                    header.stream == stream_id(self._own_stream) for header in result.entry.streams):
                yield result.entry

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
        request = pb.ReadRequest(positions=positions)

        def all_results(channel: grpc.Channel) -> list[pb.ReadResult]:
            stub = log_pb2_grpc.LogServiceStub(channel)
            return [result for response in stub.Read(request, timeout=30.0) for result in response.results]

        return self._front_ends.call(all_results)

    def read_range(self, start: int, end: int) -> Iterator[pb.ReadResult]:
        """Goes on at another front end where one dies."""
        while start < end:
            address, stub = self._pick()
            call = stub.ReadRange(pb.ReadRangeRequest(**{"from": start, "to": end}))
            try:
                with typed_errors():
                    for response in call:
                        for result in response.results:
                            start = result.position.offset + 1
                            yield result
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
        request = pb.TrimRequest(position=pb.Position(offset=position))
        self._front_ends.call(lambda channel: log_pb2_grpc.LogServiceStub(channel).Trim(request, timeout=10.0))

    def trim_prefix(self, below: int) -> None:
        request = pb.TrimPrefixRequest(below=pb.Position(offset=below))
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
                        setattr(request, "from", self._next_message)
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
        self._next_message = response.resume_from
        if not self._waiting:
            self.resume_from = self._next_message


def stream_id(name: str) -> int:
    """The id that a stream's name stands for."""
    digest = hashlib.sha256(name.encode()).digest()
    return int.from_bytes(digest[:8], "little") | 1 << 63


def _refused(error: pb.Error) -> CorfuError:
    code = next(code for code in grpc.StatusCode if code.value[0] == error.code)
    return CorfuError(code, error.message, error.reason, dict(error.metadata))


def _final(append: _Append) -> Appended:
    if append.final is None:
        raise AssertionError("Settling leaves no append open.")
    return append.final
