"""Changes of a dictionary, without an end, from whichever front end answers."""

from __future__ import annotations

import time

import grpc
from corfu.tango.v1 import dictionaries_pb2, dictionaries_pb2_grpc
from corfu.v1 import types_pb2

from .errors import CorfuError, typed_errors
from .front_ends import FrontEnds


class Watch:
    """An iterator of changes without an end, which goes on at another front end: the place of an event is the same for
    all of them. Events without a change (started, progress) move the place on and are not returned."""

    def __init__(self, front_ends: FrontEnds, name: str, prefix: str, after: dictionaries_pb2.Place | None,
                 from_position: types_pb2.Position | None) -> None:
        self._front_ends = front_ends
        self._name = name
        self._prefix = prefix
        self._from_position = from_position
        self._call: grpc.Call | None = None
        self._cancelled = False
        self._waiting: list[dictionaries_pb2.WatchEvent] = []
        self._received = after
        self.front_end = ""

    def open(self) -> Watch:
        """Waits until the watch has begun. From then on it misses nothing."""
        while self._call is None or self._received is None:
            self._next_message()
        return self

    def cancel(self) -> None:
        self._cancelled = True
        if self._call is not None:
            self._call.cancel()

    def __iter__(self) -> Watch:
        return self

    def __next__(self) -> dictionaries_pb2.WatchEvent:
        while not self._waiting:
            if self._cancelled:
                raise StopIteration
            self._next_message()
        return self._waiting.pop(0)

    def _next_message(self) -> None:
        address, channel = self._front_ends.pick()
        try:
            with typed_errors():
                if self._call is None:
                    self.front_end = address
                    self._call = dictionaries_pb2_grpc.DictionaryServiceStub(channel).Watch(self._request())
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
        for event in response.events:
            # The rest of a reset has the same place: a watch that breaks within one begins it anew.
            if not event.reset.more:
                self._received = event.place
            if event.WhichOneof("event") not in ("started", "progress"):
                self._waiting.append(event)

    def _request(self) -> dictionaries_pb2.WatchRequest:
        request = dictionaries_pb2.WatchRequest(object=self._name, prefix=self._prefix)
        if self._received is not None:
            request.after.CopyFrom(self._received)
        elif self._from_position is not None:
            request.from_position.CopyFrom(self._from_position)
        return request
