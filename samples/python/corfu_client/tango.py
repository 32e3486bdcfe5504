"""Tango objects by name: dictionaries, transactions, locks, work queues, watches.

Reads go on at another front end by themselves. A write is sent once: if its front end dies meanwhile it may have taken
effect, and the CorfuError with the code UNAVAILABLE leaves it to the caller to read and decide. Versions and places are
generated messages that are only passed back; see corfu/tango/v1/*.proto.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TypeVar

import grpc
from corfu.tango.v1 import (dictionaries_pb2, dictionaries_pb2_grpc, locks_pb2, locks_pb2_grpc, objects_pb2,
                            objects_pb2_grpc, queues_pb2, queues_pb2_grpc, sessions_pb2, transactions_pb2,
                            transactions_pb2_grpc)
from corfu.v1 import types_pb2

from .errors import CorfuError, typed_errors
from .front_ends import FrontEnds
from .session import Session, duration
from .watch import Watch

T = TypeVar("T")


class Tango:
    def __init__(self, front_ends: FrontEnds) -> None:
        self.front_ends = front_ends

    def create_dictionary(self, name: str) -> Dictionary:
        """Finds it where it exists."""
        self._create(name, objects_pb2.OBJECT_TYPE_DICTIONARY)
        return Dictionary(self, name)

    def create_work_queue(self, name: str) -> WorkQueue:
        self._create(name, objects_pb2.OBJECT_TYPE_WORK_QUEUE)
        return WorkQueue(self, name)

    def create_lock(self, name: str) -> Lock:
        self._create(name, objects_pb2.OBJECT_TYPE_LOCK)
        return Lock(self, name)

    def session(self, time_to_live: float = 10.0, owner: str = "") -> Session:
        return Session(self.front_ends, time_to_live, owner)

    def transact(
            self, compare: Sequence[transactions_pb2.Compare], on_success: Sequence[transactions_pb2.Operation],
            on_failure: Sequence[transactions_pb2.Operation] = (), request_id: str = ""
            ) -> transactions_pb2.TransactResponse:
        """All comparisons and one of the two lists of operations at one place of the log. The response is committed,
        aborted or in_doubt: see WhichOneof("outcome")."""
        request = transactions_pb2.TransactRequest(
            compare=compare, on_success=on_success, on_failure=on_failure, request_id=request_id)
        return self.write(
            lambda channel: transactions_pb2_grpc.TransactionServiceStub(channel).Transact(request, timeout=30.0))

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
        request = objects_pb2.CreateRequest(object=name, type=kind)
        self.front_ends.call(lambda channel: objects_pb2_grpc.ObjectServiceStub(channel).Create(request, timeout=30.0))


class Dictionary:
    """Keys are text, values are bytes. .NET programs open it as TangoDictionary<string, byte[]>."""

    def __init__(self, tango: Tango, name: str) -> None:
        self._tango = tango
        self.name = name

    def get(self, key: str) -> bytes | None:
        return self.get_with_version(key)[0]

    def get_with_version(self, key: str) -> tuple[bytes | None, dictionaries_pb2.Version]:
        """The version is for set_if and transactions; a key that is not there has one too."""
        request = dictionaries_pb2.GetRequest(object=self.name, key=key)
        response = self._tango.read(lambda channel: stub(channel).Get(request, timeout=10.0))
        return response.value if response.HasField("value") else None, response.version

    def get_many(self, *keys: str) -> dict[str, bytes | None]:
        """All at one position of the log."""
        request = dictionaries_pb2.GetManyRequest(object=self.name, keys=keys)
        response = self._tango.read(lambda channel: stub(channel).GetMany(request, timeout=10.0))
        return {found.key: found.value if found.HasField("value") else None for found in response.lookups}

    def set(self, key: str, value: bytes) -> dictionaries_pb2.Version:
        request = dictionaries_pb2.SetRequest(object=self.name, key=key, value=value)
        return self._tango.write(lambda channel: stub(channel).Set(request, timeout=10.0)).version

    def set_if(self, key: str, value: bytes, condition: dictionaries_pb2.Condition) -> bool:
        """False: the condition did not hold, and nothing was written."""
        request = dictionaries_pb2.SetIfRequest(object=self.name, key=key, value=value, condition=condition)
        return self._tango.write(lambda channel: stub(channel).SetIf(request, timeout=10.0)).succeeded

    def remove(self, key: str) -> bool:
        request = dictionaries_pb2.RemoveRequest(object=self.name, key=key)
        return self._tango.write(lambda channel: stub(channel).Remove(request, timeout=10.0)).removed

    def items(self, prefix: str = "", page_size: int = 0) -> tuple[dict[str, bytes], types_pb2.Position]:
        """All entries at one position of the log, and the position from which a watch goes on."""

        def all_pages(channel: grpc.Channel) -> tuple[dict[str, bytes], types_pb2.Position]:
            # Pages are one front end's. If it dies, the list begins again at another.
            found: dict[str, bytes] = {}
            request = dictionaries_pb2.ListRequest(object=self.name, prefix=prefix, page_size=page_size)
            while True:
                page = stub(channel).List(request, timeout=30.0)
                found.update((entry.key, entry.value) for entry in page.entries)
                if not page.next_page_token:
                    return found, page.next_position
                request.page_token = page.next_page_token

        return self._tango.read(all_pages)

    def count(self) -> int:
        request = dictionaries_pb2.CountRequest(object=self.name)
        return self._tango.read(lambda channel: stub(channel).Count(request, timeout=10.0)).count

    def watch(self, prefix: str = "", after: dictionaries_pb2.Place | None = None,
              from_position: types_pb2.Position | None = None) -> Watch:
        """Changes behind a place or from a position on; neither: from now on."""
        return Watch(self._tango.front_ends, self.name, prefix, after, from_position)

    # What transactions are made of.

    def compare(self, key: str, condition: dictionaries_pb2.Condition) -> transactions_pb2.Compare:
        return transactions_pb2.Compare(
            object=self.name, key=transactions_pb2.KeyCompare(key=key, condition=condition))

    def getting(self, key: str) -> transactions_pb2.Operation:
        return transactions_pb2.Operation(object=self.name, get=transactions_pb2.GetOperation(key=key))

    def setting(self, key: str, value: bytes) -> transactions_pb2.Operation:
        return transactions_pb2.Operation(object=self.name, set=transactions_pb2.SetOperation(key=key, value=value))

    def removing(self, key: str) -> transactions_pb2.Operation:
        return transactions_pb2.Operation(object=self.name, remove=transactions_pb2.RemoveOperation(key=key))


class Lock:
    def __init__(self, tango: Tango, name: str) -> None:
        self._tango = tango
        self.name = name

    def acquire(self, session: Session, max_wait: float = 30.0) -> int | None:
        """The fencing token, or None if it was not free in time. What the lock guards refuses a token that is lower
        than one it has seen, or is written by a transaction with `held`."""
        attached = session.attached()
        request = locks_pb2.AcquireRequest(object=self.name, session=attached.id, max_wait=duration(max_wait))
        with typed_errors():
            response = locks_pb2_grpc.LockServiceStub(attached.channel).Acquire(request, timeout=max_wait + 10.0)
        if not response.HasField("fencing_token"):
            return None
        session.hold(attached, self._holding(response.fencing_token))
        return response.fencing_token

    def release(self, session: Session, token: int) -> bool:
        session.drop(self._holding(token))
        request = locks_pb2.ReleaseRequest(object=self.name, fencing_token=token)
        return self._tango.read(
            lambda channel: locks_pb2_grpc.LockServiceStub(channel).Release(request, timeout=10.0)).released

    def holder(self) -> tuple[int, str] | None:
        """Token and owner, or None where it is free."""
        request = locks_pb2.GetHolderRequest(object=self.name)
        response = self._tango.read(
            lambda channel: locks_pb2_grpc.LockServiceStub(channel).GetHolder(request, timeout=10.0))
        return (response.fencing_token, response.owner) if response.HasField("fencing_token") else None

    def held(self, token: int) -> transactions_pb2.Compare:
        """For a transaction that commits only while the lock is held with this token."""
        return transactions_pb2.Compare(object=self.name, lock_held=token)

    def _holding(self, token: int) -> sessions_pb2.Holding:
        return sessions_pb2.Holding(object=self.name, fencing_token=token)


class WorkQueue:
    """Each item is delivered until it is completed."""

    def __init__(self, tango: Tango, name: str) -> None:
        self._tango = tango
        self.name = name

    def enqueue(self, value: bytes) -> None:
        request = queues_pb2.EnqueueRequest(object=self.name, value=value)
        self._tango.write(lambda channel: queues_pb2_grpc.QueueServiceStub(channel).Enqueue(request, timeout=10.0))

    def receive(self, session: Session, max_wait: float = 30.0) -> queues_pb2.ReceiveResponse | None:
        """An item that is this session's until it is completed or abandoned, or None if none was ready in time."""
        attached = session.attached()
        request = queues_pb2.ReceiveRequest(object=self.name, session=attached.id, max_wait=duration(max_wait))
        with typed_errors():
            response = queues_pb2_grpc.QueueServiceStub(attached.channel).Receive(request, timeout=max_wait + 10.0)
        if not response.HasField("delivery"):
            return None
        session.hold(attached, self._holding(response.delivery))
        return response

    def complete(self, session: Session, delivery: queues_pb2.Delivery) -> None:
        request = queues_pb2.CompleteRequest(object=self.name, delivery=delivery)
        self._tango.write(lambda channel: queues_pb2_grpc.QueueServiceStub(channel).Complete(request, timeout=10.0))
        session.drop(self._holding(delivery))

    def abandon(self, session: Session, delivery: queues_pb2.Delivery) -> bool:
        session.drop(self._holding(delivery))
        request = queues_pb2.AbandonRequest(object=self.name, delivery=delivery)
        return self._tango.read(
            lambda channel: queues_pb2_grpc.QueueServiceStub(channel).Abandon(request, timeout=10.0)).abandoned

    def count(self) -> queues_pb2.CountItemsResponse:
        request = queues_pb2.CountItemsRequest(object=self.name)
        return self._tango.read(
            lambda channel: queues_pb2_grpc.QueueServiceStub(channel).Count(request, timeout=10.0))

    def completing(self, delivery: queues_pb2.Delivery) -> transactions_pb2.Operation:
        """For a transaction: its writes and the completion happen together or not at all."""
        return transactions_pb2.Operation(object=self.name, complete=delivery)

    def enqueuing(self, value: bytes) -> transactions_pb2.Operation:
        return transactions_pb2.Operation(object=self.name, enqueue=transactions_pb2.EnqueueOperation(value=value))

    def _holding(self, delivery: queues_pb2.Delivery) -> sessions_pb2.Holding:
        return sessions_pb2.Holding(object=self.name, delivery=delivery)


def stub(channel: grpc.Channel) -> dictionaries_pb2_grpc.DictionaryServiceStub:
    return dictionaries_pb2_grpc.DictionaryServiceStub(channel)
