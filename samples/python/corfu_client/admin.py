"""The cluster itself: status, history, and changes where the front end allows them."""

from __future__ import annotations

from collections.abc import Iterator

from corfu.admin.v1 import admin_pb2 as pb
from corfu.admin.v1 import admin_pb2_grpc

from .errors import typed_errors
from .front_ends import FrontEnds


class Admin:
    def __init__(self, front_ends: FrontEnds) -> None:
        self._front_ends = front_ends

    def status(self) -> pb.StatusResponse:
        return self._front_ends.call(
            lambda channel: admin_pb2_grpc.AdminServiceStub(channel).Status(pb.StatusRequest(), timeout=10.0))

    def history(self, count: int = 0) -> list[pb.Projection]:
        """The newest epochs, newest first."""
        return list(self._page(count, "").epochs)

    def all_history(self, page_size: int = 0) -> Iterator[pb.Projection]:
        """All epochs, newest first, page by page."""
        token = ""
        while True:
            page = self._page(page_size, token)
            yield from page.epochs
            token = page.next_page_token
            if not token:
                return

    def _page(self, size: int, token: str) -> pb.HistoryResponse:
        request = pb.HistoryRequest(page_size=size, page_token=token)
        return self._front_ends.call(
            lambda channel: admin_pb2_grpc.AdminServiceStub(channel).History(request, timeout=10.0))

    def reconfigure(self, change: pb.ReconfigureRequest) -> Iterator[pb.ReconfigureEvent]:
        """Progress, and Done as the last event. It may be made again where it was cut off."""
        _, channel = self._front_ends.pick()
        with typed_errors():
            yield from admin_pb2_grpc.AdminServiceStub(channel).Reconfigure(change)
