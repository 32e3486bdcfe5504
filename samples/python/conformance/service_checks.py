"""What every gRPC service is expected to have: health, reflection, deadlines, rich errors."""

from __future__ import annotations

import grpc
import health_pb2
import health_pb2_grpc
import reflection_pb2
import reflection_pb2_grpc
from corfu.log.v1 import log_pb2, log_pb2_grpc
from google.protobuf import descriptor_pb2

from corfu_client.errors import CorfuError, typed_errors
from corfu_client.log import CorfuLog, Outcome
from corfu_client.tango import Dictionary, Tango

from .runner import Bench, check, holds, same

SERVICES = ("corfu.log.v1.LogService", "corfu.admin.v1.AdminService", "corfu.tango.v1.DictionaryService",
            "corfu.tango.v1.SessionService", "corfu.tango.v1.TransactionService")


def ask_health(bench: Bench, service: str) -> int:
    request = health_pb2.HealthCheckRequest(service=service)
    return bench.front_ends.call(
        lambda channel: health_pb2_grpc.HealthStub(channel).Check(request, timeout=10.0)).status


@check("health: the front end and its services serve")
def health(bench: Bench) -> None:
    for service in ("", *SERVICES):
        try:
            # It also answers before the client inside has found the cluster.
            bench.eventually(f"'{service}' is serving",
                             lambda name=service: ask_health(bench, name) == health_pb2.HealthCheckResponse.SERVING)
        except CorfuError as error:
            raise AssertionError(f"The health of '{service}' is {error}") from error


@check("health: a service that is not there is NOT_FOUND")
def health_of_nothing(bench: Bench) -> None:
    try:
        ask_health(bench, "no.such.Service")
    except CorfuError as error:
        same(error.code, grpc.StatusCode.NOT_FOUND, "the code")
    else:
        raise AssertionError("It has a health.")


def reflect(bench: Bench, request: reflection_pb2.ServerReflectionRequest) -> reflection_pb2.ServerReflectionResponse:
    return bench.front_ends.call(lambda channel: next(iter(
        reflection_pb2_grpc.ServerReflectionStub(channel).ServerReflectionInfo(iter([request]), timeout=10.0))))


@check("reflection: lists the services")
def reflection_lists(bench: Bench) -> None:
    response = reflect(bench, reflection_pb2.ServerReflectionRequest(list_services="*"))
    names = {service.name for service in response.list_services_response.service}
    holds(names.issuperset(SERVICES), f"Only {sorted(names)} are listed.")


@check("reflection: describes the log service as its .proto file does")
def reflection_describes(bench: Bench) -> None:
    response = reflect(bench, reflection_pb2.ServerReflectionRequest(file_containing_symbol=SERVICES[0]))
    files = [descriptor_pb2.FileDescriptorProto.FromString(file)
             for file in response.file_descriptor_response.file_descriptor_proto]
    served = next(file for file in files if file.package == "corfu.log.v1")
    ours = log_pb2.DESCRIPTOR.services_by_name["LogService"]
    same([method.name for method in served.service[0].method], [method.name for method in ours.methods], "the methods")


@check("errors: an entry that is too large has code, reason and domain")
def too_large(bench: Bench) -> None:
    limit = bench.front_ends.call(lambda channel: log_pb2_grpc.LogServiceStub(channel).Describe(
        log_pb2.DescribeRequest(), timeout=10.0)).max_payload
    result = CorfuLog(bench.front_ends).append(bytes(limit + 1))
    same(result.outcome, Outcome.NOT_APPENDED, "the outcome")
    holds(result.error is not None, "There is no error.")
    same(result.error.reason, "ENTRY_TOO_LARGE", "the reason")


@check("errors: an object that does not exist is named")
def object_not_found(bench: Bench) -> None:
    name = bench.fresh_name("nothing")
    try:
        Dictionary(Tango(bench.front_ends), name).get("key")
    except CorfuError as error:
        same((error.code, error.reason), (grpc.StatusCode.NOT_FOUND, "OBJECT_NOT_FOUND"), "the error")
        holds(name in error.message, f"The message does not name it: {error.message}")
    else:
        raise AssertionError("It was read.")


@check("deadline: a subscription ends at its deadline")
def deadline(bench: Bench) -> None:
    tail = CorfuLog(bench.front_ends).tail()
    request = log_pb2.SubscribeRequest(from_offset=tail)
    _, channel = bench.front_ends.pick()
    try:
        with typed_errors():
            for _ in log_pb2_grpc.LogServiceStub(channel).Subscribe(request, timeout=0.5):
                pass
    except CorfuError as error:
        same(error.code, grpc.StatusCode.DEADLINE_EXCEEDED, "the code")
    else:
        raise AssertionError("The subscription ended without an error.")


@check("cancellation: a cancelled subscription ends")
def cancellation(bench: Bench) -> None:
    subscription = CorfuLog(bench.front_ends).subscribe().open()
    subscription.cancel()
    same(list(subscription), [], "what came after the cancellation")
