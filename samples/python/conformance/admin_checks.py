"""The administration service: it reads for everybody, and changes nothing unless the front end allows it."""

from __future__ import annotations

import grpc
from corfu.admin.v1 import admin_pb2 as pb

from corfu_client.admin import Admin
from corfu_client.errors import CorfuError
from corfu_client.log import CorfuLog

from .runner import Bench, check, holds, same


@check("admin: status has the units, the chains and the tail")
def status(bench: Bench) -> None:
    log = CorfuLog(bench.front_ends)
    log.append(b"x")
    tail = log.tail()
    found = Admin(bench.front_ends).status()
    by_tool = bench.cluster.status()["projection"]
    same(found.projection.epoch, by_tool["epoch"], "the epoch")
    same([len(chain.units) for chain in found.projection.chains], [len(chain) for chain in by_tool["chains"]],
         "the replicas of each chain")
    holds(found.HasField("tail") and found.tail.offset >= tail, f"The tail is {found.tail.offset}, after {tail}.")


@check("admin: history begins with the newest epoch")
def history(bench: Bench) -> None:
    admin = Admin(bench.front_ends)
    epochs = [projection.epoch for projection in admin.history()]
    holds(epochs, "There is no epoch.")
    same(epochs, sorted(epochs, reverse=True), "the order")
    same(len(admin.history(1)), 1, "the number of epochs that were asked for")
    same([projection.epoch for projection in admin.all_history(1)], epochs, "the epochs, page by page")


@check("admin: a change is refused unless the front end allows changes")
def not_allowed(bench: Bench) -> None:
    change = pb.ReconfigureRequest(set_automatic=pb.SetAutomatic(on=True))
    try:
        list(Admin(bench.front_ends).reconfigure(change))
    except CorfuError as error:
        same((error.code, error.reason), (grpc.StatusCode.PERMISSION_DENIED, "NOT_ALLOWED"), "the error")
    else:
        raise AssertionError("The change was made.")
