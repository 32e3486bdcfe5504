"""The front ends of a cluster. They are equal: when one dies, the next call goes to another."""

from __future__ import annotations

import itertools
import threading
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TypeVar

import grpc

from .errors import CorfuError, typed_errors

T = TypeVar("T")

# A front end that is stopped or cut off answers no ping; without pings a stream would wait for it without end.
CHANNEL_OPTIONS = [
    ("grpc.keepalive_time_ms", 5_000),
    ("grpc.keepalive_timeout_ms", 2_000),
    ("grpc.http2.max_pings_without_data", 0),
    ("grpc.max_receive_message_length", 16 * 1024 * 1024),
    ("grpc.initial_reconnect_backoff_ms", 100),
    ("grpc.max_reconnect_backoff_ms", 1_000),
]


def _credentials_of(folder: str) -> grpc.ChannelCredentials:
    # Key and certificate are in one file. The server's name must be among those of its certificate.
    anchors = Path(folder, "ca.pem").read_bytes()
    identity = Path(folder, "identity.pem").read_bytes()
    return grpc.ssl_channel_credentials(anchors, private_key=identity, certificate_chain=identity)


class FrontEnds:
    """One channel for each address, made when it is first used."""

    def __init__(self, addresses: Sequence[str], certificates: str | None = None) -> None:
        """certificates: the folder that 'corfu cert issue --to' wrote; None: without TLS."""
        if not addresses:
            raise ValueError("No front end is named.")
        self._addresses = list(addresses)
        self._credentials = _credentials_of(certificates) if certificates else None
        self._channels: dict[str, grpc.Channel] = {}
        self._lock = threading.Lock()
        self._current = 0

    @property
    def current(self) -> str:
        """The address that the next call goes to, as HOST:PORT."""
        return self._addresses[self._current]

    def pick(self) -> tuple[str, grpc.Channel]:
        """The front end for the next call, for next_after if the call fails."""
        with self._lock:
            address = self.current
            if address not in self._channels:
                self._channels[address] = (
                    grpc.secure_channel(address, self._credentials, CHANNEL_OPTIONS)
                    if self._credentials
                    else grpc.insecure_channel(address, CHANNEL_OPTIONS)
                )
            return address, self._channels[address]

    def next_after(self, failed: str) -> None:
        """Turns to another front end, unless another thread has left the failed one already."""
        with self._lock:
            if self.current == failed:
                self._current = (self._current + 1) % len(self._addresses)

    def call(self, operation: Callable[[grpc.Channel], T], patience: float = 30.0) -> T:
        """Runs an operation that may be repeated: reads, checks and the like, never an append."""
        deadline = time.monotonic() + patience
        for attempt in itertools.count():
            address, channel = self.pick()
            try:
                with typed_errors():
                    return operation(channel)
            except CorfuError as error:
                if not error.is_front_end_gone or time.monotonic() > deadline:
                    raise
                self.next_after(address)
                if attempt % len(self._addresses) == len(self._addresses) - 1:
                    time.sleep(0.1)
        raise AssertionError("The loop ends with an answer or an error.")

    def close(self) -> None:
        with self._lock:
            for channel in self._channels.values():
                channel.close()
            self._channels.clear()

    def __enter__(self) -> FrontEnds:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()
