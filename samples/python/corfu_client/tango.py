"""Tango objects by name: dictionaries, transactions, locks, work queues, watches.

Reads go on at another front end by themselves. A write is sent once: if its front end dies meanwhile it may have taken
effect, and the CorfuError with the code UNAVAILABLE leaves it to the caller to read and decide. Versions and places are
generated messages that are only passed back; see tango/v1/tango.proto.
"""

from __future__ import annotations

import queue
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from types import TracebackType
from typing import TypeVar

import grpc
from google.protobuf.duration_pb2 import Duration
from tango.v1 import tango_pb2 as pb
from tango.v1 import tango_pb2_grpc

from .errors import CorfuError, typed_errors
from .front_ends import FrontEnds

T = TypeVar("T")


class Tango:
    def __init__(self, front_ends: FrontEnds) -> None:
        self.front_ends = front_ends

    def create_dictionary(self, name: str) -> Dictionary:
        """Finds it where it exists."""
        self._create(name, pb.OBJECT_TYPE_DICTIONARY)
        return Dictionary(self, name)

    def create_work_queue(self, name: str) -> WorkQueue:
        self._create(name, pb.OBJECT_TYPE_WORK_QUEUE)
        return WorkQueue(self, name)

    def create_lock(self, name: str) -> Lock:
        self._create(name, pb.OBJECT_TYPE_LOCK)
        return Lock(self, name)

    def session(self, time_to_live: float = 10.0, owner: str = "") -> Session:
        return Session(self.front_ends, time_to_live, owner)

    def transact(
            self, compare: Sequence[pb.Compare], on_success: Sequence[pb.Operation],
            on_failure: Sequence[pb.Operation] = ()) -> pb.TransactResponse:
        """All comparisons and one of the two lists of operations at one place of the log. The response is committed,
        aborted or in_doubt: see WhichOneof("outcome")."""
        request = pb.TransactRequest(compare=compare, on_success=on_success, on_failure=on_failure)
        return self.write(lambda channel: tango_pb2_grpc.TransactionsStub(channel).Transact(request, timeout=30.0))

    def read(self, operation: Callable[[grpc.Channel], T]) -> T:
        return self.front_ends.call(operation)

    def write(self, operation: Callable[[grpc.Channel], T]) -> T:
        """Once. After UNAVAILABLE the next call goes to another front end."""
        address, channel = self.front_ends.pick()
        try:
            with typed_errors():
                return operation(channel)
        except CorfuError as error:
            if error.is_front_end_gone:
                self.front_ends.next_after(address)
            raise

    def _create(self, name: str, kind: int) -> None:
        # May be repeated: programs that create one name at once get one object.
        request = pb.CreateRequest(object=name, type=kind)
        self.front_ends.call(lambda channel: tango_pb2_grpc.ObjectsStub(channel).Create(request, timeout=30.0))


class Dictionary:
    """Keys are text, values are bytes. .NET programs open it as TangoDictionary<string, byte[]>."""

    def __init__(self, tango: Tango, name: str) -> None:
        self._tango = tango
        self.name = name

    def get(self, key: str) -> bytes | None:
        return self.get_with_version(key)[0]

    def get_with_version(self, key: str) -> tuple[bytes | None, pb.Version]:
        """The version is for set_if and transactions; a key that is not there has one too."""
        request = pb.GetRequest(object=self.name, key=key)
        response = self._tango.read(
            lambda channel: tango_pb2_grpc.DictionariesStub(channel).Get(request, timeout=10.0))
        return response.value if response.HasField("value") else None, response.version

    def get_many(self, *keys: str) -> dict[str, bytes | None]:
        """All at one position of the log."""
        request = pb.GetManyRequest(object=self.name, keys=keys)
        response = self._tango.read(
            lambda channel: tango_pb2_grpc.DictionariesStub(channel).GetMany(request, timeout=10.0))
        return {found.key: found.value if found.HasField("value") else None for found in response.lookups}

    def set(self, key: str, value: bytes) -> pb.Version:
        request = pb.SetRequest(object=self.name, key=key, value=value)
        return self._tango.write(
            lambda channel: tango_pb2_grpc.DictionariesStub(channel).Set(request, timeout=10.0)).version

    def set_if(self, key: str, value: bytes, condition: pb.Condition) -> bool:
        """False: the condition did not hold, and nothing was written."""
        request = pb.SetIfRequest(object=self.name, key=key, value=value, condition=condition)
        return self._tango.write(
            lambda channel: tango_pb2_grpc.DictionariesStub(channel).SetIf(request, timeout=10.0)).succeeded

    def remove(self, key: str) -> bool:
        request = pb.RemoveRequest(object=self.name, key=key)
        return self._tango.write(
            lambda channel: tango_pb2_grpc.DictionariesStub(channel).Remove(request, timeout=10.0)).removed

    def items(self, prefix: str = "") -> tuple[dict[str, bytes], int]:
        """All entries at one position of the log, and the position from which a watch goes on."""
        request = pb.ListRequest(object=self.name, prefix=prefix)

        def all_messages(channel: grpc.Channel) -> list[pb.ListResponse]:
            return list(tango_pb2_grpc.DictionariesStub(channel).List(request, timeout=30.0))

        messages = self._tango.read(all_messages)
        return ({entry.key: entry.value for message in messages for entry in message.entries},
                messages[0].next_position)

    def count(self) -> int:
        request = pb.CountRequest(object=self.name)
        return self._tango.read(
            lambda channel: tango_pb2_grpc.DictionariesStub(channel).Count(request, timeout=10.0)).count

    def watch(self, prefix: str = "", after: pb.Place | None = None, from_position: int | None = None) -> Watch:
        """Changes behind a place or from a position on; neither: from now on."""
        return Watch(self._tango.front_ends, self.name, prefix, after, from_position)

    # What transactions are made of.

    def compare(self, key: str, condition: pb.Condition) -> pb.Compare:
        return pb.Compare(object=self.name, key=pb.KeyCompare(key=key, condition=condition))

    def getting(self, key: str) -> pb.Operation:
        return pb.Operation(object=self.name, get=pb.GetOperation(key=key))

    def setting(self, key: str, value: bytes) -> pb.Operation:
        return pb.Operation(object=self.name, set=pb.SetOperation(key=key, value=value))

    def removing(self, key: str) -> pb.Operation:
        return pb.Operation(object=self.name, remove=pb.RemoveOperation(key=key))


class Watch:
    """An iterator of changes without an end, which goes on at another front end: the place of an event is the same for
    all of them. Events without a change (started, progress) move the place on and are not returned."""

    def __init__(self, front_ends: FrontEnds, name: str, prefix: str, after: pb.Place | None,
                 from_position: int | None) -> None:
        self._front_ends = front_ends
        self._name = name
        self._prefix = prefix
        self._from_position = from_position
        self._call: grpc.Call | None = None
        self._cancelled = False
        self._waiting: list[pb.WatchEvent] = []
        self._received = after
        self.front_end = ""

    def open(self) -> Watch:
        """Waits until the watch has begun. From then on it misses nothing."""
        while self._call is None or self._received is None:
            self._next_event()
        return self

    def cancel(self) -> None:
        self._cancelled = True
        if self._call is not None:
            self._call.cancel()

    def __iter__(self) -> Watch:
        return self

    def __next__(self) -> pb.WatchEvent:
        while not self._waiting:
            if self._cancelled:
                raise StopIteration
            self._next_event()
        return self._waiting.pop(0)

    def _next_event(self) -> None:
        address, channel = self._front_ends.pick()
        try:
            with typed_errors():
                if self._call is None:
                    self.front_end, self._call = address, tango_pb2_grpc.DictionariesStub(channel).Watch(
                        self._request())
                event = next(self._call)
        except (CorfuError, StopIteration) as ended:
            self._call = None
            if self._cancelled:
                return
            if isinstance(ended, CorfuError) and not ended.is_front_end_gone:
                raise
            self._front_ends.next_after(self.front_end or address)
            time.sleep(0.1)
            return
        # The rest of a reset has the same place: a watch that breaks within one begins it anew.
        if not event.reset.more:
            self._received = event.place
        if event.WhichOneof("event") not in ("started", "progress"):
            self._waiting.append(event)

    def _request(self) -> pb.WatchRequest:
        request = pb.WatchRequest(object=self._name, prefix=self._prefix)
        if self._received is not None:
            request.after.CopyFrom(self._received)
        elif self._from_position is not None:
            request.from_position = self._from_position
        return request


class Session:
    """What this program holds while it lives: a stream of keep-alives to one front end. Locks, deliveries and leases
    end with it. Use it in a `with` statement."""

    def __init__(self, front_ends: FrontEnds, time_to_live: float, owner: str) -> None:
        self._front_ends = front_ends
        self._time_to_live = time_to_live
        self._requests: queue.Queue[pb.KeepRequest | None] = queue.Queue()
        self._requests.put(pb.KeepRequest(open=pb.OpenSession(time_to_live=duration(time_to_live), owner=owner)))
        self._closing = threading.Event()
        self.lost: queue.Queue[pb.Lost] = queue.Queue()
        """What ended before the session."""
        self.ended = threading.Event()

    def __enter__(self) -> Session:
        self.address, self.channel = self._front_ends.pick()
        self._call = tango_pb2_grpc.SessionsStub(self.channel).Keep(iter(self._requests.get, None))
        with typed_errors():
            self.id = next(self._call).opened.session
        threading.Thread(target=self._listen, daemon=True).start()
        threading.Thread(target=self._keep_alive, daemon=True).start()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None,
                 trace: TracebackType | None) -> None:
        """Waits until the front end has ended it."""
        self._closing.set()
        self._requests.put(None)
        self.ended.wait(self._time_to_live)
        self._call.cancel()

    def abandon(self) -> None:
        """As if the program had died: no goodbye, the stream is just cut."""
        self._closing.set()
        self._call.cancel()

    def _listen(self) -> None:
        try:
            for event in self._call:
                if event.WhichOneof("event") == "lost":
                    self.lost.put(event.lost)
        except grpc.RpcError:
            pass  # However it ends, it has ended.
        finally:
            self._closing.set()
            self.ended.set()

    def _keep_alive(self) -> None:
        while not self._closing.wait(self._time_to_live / 3):
            self._requests.put(pb.KeepRequest(keep_alive=pb.KeepAlive()))


class Lock:
    def __init__(self, tango: Tango, name: str) -> None:
        self._tango = tango
        self.name = name

    def acquire(self, session: Session, max_wait: float = 30.0) -> int | None:
        """The fencing token, or None if it was not free in time. What the lock guards refuses a token that is lower than
        one it has seen, or is written by a transaction with `held`."""
        request = pb.AcquireRequest(object=self.name, session=session.id, max_wait=duration(max_wait))
        with typed_errors():
            token = tango_pb2_grpc.LocksStub(session.channel).Acquire(request, timeout=max_wait + 10.0).fencing_token
        return token or None

    def release(self, session: Session, token: int) -> bool:
        request = pb.ReleaseRequest(object=self.name, session=session.id, fencing_token=token)
        with typed_errors():
            return tango_pb2_grpc.LocksStub(session.channel).Release(request, timeout=10.0).released

    def holder(self) -> tuple[int, str] | None:
        """Token and owner, or None where it is free."""
        request = pb.GetHolderRequest(object=self.name)
        response = self._tango.read(
            lambda channel: tango_pb2_grpc.LocksStub(channel).GetHolder(request, timeout=10.0))
        return (response.fencing_token, response.owner) if response.HasField("fencing_token") else None

    def held(self, token: int) -> pb.Compare:
        """For a transaction that commits only while the lock is held with this token."""
        return pb.Compare(object=self.name, lock_held=token)


class WorkQueue:
    """Each item is delivered until it is completed."""

    def __init__(self, tango: Tango, name: str) -> None:
        self._tango = tango
        self.name = name

    def enqueue(self, value: bytes) -> None:
        request = pb.EnqueueRequest(object=self.name, value=value)
        self._tango.write(lambda channel: tango_pb2_grpc.WorkQueuesStub(channel).Enqueue(request, timeout=10.0))

    def receive(self, session: Session, max_wait: float = 30.0) -> pb.ReceiveResponse | None:
        """An item that is this session's until it is completed or abandoned, or None if none was ready in time."""
        request = pb.ReceiveRequest(object=self.name, session=session.id, max_wait=duration(max_wait))
        with typed_errors():
            response = tango_pb2_grpc.WorkQueuesStub(session.channel).Receive(request, timeout=max_wait + 10.0)
        return response if response.HasField("delivery") else None

    def complete(self, delivery: pb.Delivery) -> None:
        request = pb.CompleteRequest(object=self.name, delivery=delivery)
        self._tango.write(lambda channel: tango_pb2_grpc.WorkQueuesStub(channel).Complete(request, timeout=10.0))

    def abandon(self, session: Session, delivery: pb.Delivery) -> bool:
        request = pb.AbandonRequest(object=self.name, session=session.id, delivery=delivery)
        with typed_errors():
            return tango_pb2_grpc.WorkQueuesStub(session.channel).Abandon(request, timeout=10.0).abandoned

    def count(self) -> pb.CountItemsResponse:
        request = pb.CountItemsRequest(object=self.name)
        return self._tango.read(
            lambda channel: tango_pb2_grpc.WorkQueuesStub(channel).Count(request, timeout=10.0))

    def completing(self, delivery: pb.Delivery) -> pb.Operation:
        """For a transaction: its writes and the completion happen together or not at all."""
        return pb.Operation(object=self.name, complete=delivery)

    def enqueuing(self, value: bytes) -> pb.Operation:
        return pb.Operation(object=self.name, enqueue=pb.EnqueueOperation(value=value))


def duration(seconds: float) -> Duration:
    value = Duration()
    value.FromNanoseconds(int(seconds * 1e9))
    return value
