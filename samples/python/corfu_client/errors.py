"""What a front end says when a call fails: google.rpc.Status with an ErrorInfo, as an exception."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

import grpc
import rpc_status_pb2

DETAILS_KEY = "grpc-status-details-bin"


@dataclass
class CorfuError(Exception):
    """A failed call. `reason` is stable and meant for programs; `message` is for people."""

    code: grpc.StatusCode
    message: str
    reason: str = ""
    metadata: dict[str, str] = field(default_factory=dict)

    def __str__(self) -> str:
        return f"{self.reason or self.code.name}: {self.message}"

    @property
    def is_front_end_gone(self) -> bool:
        """Another front end may be able to answer."""
        return self.code == grpc.StatusCode.UNAVAILABLE


def error_of(failure: grpc.RpcError) -> CorfuError:
    """The typed error that a failed call carries, or the bare code where no front end has answered."""
    code, message = failure.code(), failure.details() or ""
    for key, value in failure.trailing_metadata() or ():
        if key != DETAILS_KEY:
            continue
        status = rpc_status_pb2.Status.FromString(value)
        for detail in status.details:
            info = rpc_status_pb2.ErrorInfo()
            if detail.Unpack(info):
                return CorfuError(code, status.message, info.reason, dict(info.metadata))
    return CorfuError(code, message)


@contextmanager
def typed_errors() -> Iterator[None]:
    """Raises CorfuError where grpc raises RpcError."""
    try:
        yield
    except grpc.RpcError as failure:
        raise error_of(failure) from failure
