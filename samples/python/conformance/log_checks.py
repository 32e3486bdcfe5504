"""The log while all nodes are well: appends, reads, subscriptions, streams, trims."""

from __future__ import annotations

import threading
import uuid

import grpc
from corfu.log.v1 import log_pb2, log_pb2_grpc

from corfu_client.errors import CorfuError, typed_errors
from corfu_client.log import Appended, CorfuLog, Outcome, stream_id

from .runner import Bench, check, holds, same


def positions(results: list[Appended]) -> list[int]:
    """Of appends that all have to be in the log."""
    failed = [result for result in results if result.outcome != Outcome.APPENDED]
    holds(not failed, f"{len(failed)} of {len(results)} are not appended, the first: {failed[:1]}")
    return [result.position for result in results if result.position is not None]


@check("append: an entry is read back")
def append_and_read(bench: Bench) -> None:
    log = CorfuLog(bench.front_ends)
    stream = bench.fresh_name("stream")
    [position] = positions([log.append(b"hello", [stream])])
    holds(position < log.tail(), "The tail is not above an acknowledged entry.")
    [found] = log.read(position)
    same(found.state, log_pb2.STATE_DATA, "the state")
    same((found.entry.payload, found.entry.position.offset), (b"hello", position), "the entry")
    holds(stream_id(stream) in [header.stream_id for header in found.entry.streams], "It is not in its stream.")


@check("append: an empty payload and all byte values come back as they were")
def payloads(bench: Bench) -> None:
    log = CorfuLog(bench.front_ends)
    sent = [b"", bytes(range(256)), b"\x00" * 4096]
    found = log.read(*positions([log.append(payload) for payload in sent]))
    same([result.entry.payload for result in found], sent, "the payloads")


@check("append many: 1,000 entries, each once, outcomes in any order")
def append_many(bench: Bench) -> None:
    log = CorfuLog(bench.front_ends)
    stream = bench.fresh_name("batch")
    sent = [f"entry {number}".encode() for number in range(1000)]
    start = log.tail()
    of_entries = positions(log.append_many(sent, [stream]))
    same(len(set(of_entries)), len(sent), "the number of positions")
    found = {result.position.offset: result.entry.payload for result in log.read_range(start, log.tail())
             if stream_id(stream) in [header.stream_id for header in result.entry.streams]}
    same(found, dict(zip(of_entries, sent)), "the log")


@check("append many: an entry that is refused leaves the others alone")
def append_many_refused(bench: Bench) -> None:
    log = CorfuLog(bench.front_ends)
    first, refused, last = log.append_many([b"first", bytes(1 << 20 | 1), b"last"])
    positions([first, last])
    same(refused.outcome, Outcome.NOT_APPENDED, "the outcome of the large one")
    same(refused.error.reason if refused.error else None, "ENTRY_TOO_LARGE", "its reason")


@check("read range: every position in order, up to the tail")
def read_range(bench: Bench) -> None:
    log = CorfuLog(bench.front_ends)
    positions(log.append_many([bytes([number]) for number in range(100)]))
    tail = log.tail()
    found = list(log.read_range(tail - 100, tail + 3))
    same([result.position.offset for result in found], list(range(tail - 100, tail)), "the positions")
    holds(all(result.state in (log_pb2.STATE_DATA, log_pb2.STATE_JUNK) for result in found), "A hole was left open.")


@check("settle: says what is there, and makes final what is not")
def settle(bench: Bench) -> None:
    log = CorfuLog(bench.front_ends)
    since = log.check().tail
    below = since.offset + 100
    there, absent = (log_pb2.Origin(writer=uuid.uuid4().bytes, sequence=number) for number in (1, 2))
    _, channel = bench.front_ends.pick()
    stub = log_pb2_grpc.LogServiceStub(channel)

    def send(origin: log_pb2.Origin) -> log_pb2.AppendResult:
        entry = log_pb2.NewEntry(payload=b"x", origin=origin, below_offset=below)
        with typed_errors():
            return stub.Append(log_pb2.AppendRequest(entry=entry), timeout=10.0).result

    position = send(there).position.offset
    same([(found.outcome, found.position) for found in log.settle([there, absent], since, below)],
         [(Outcome.APPENDED, position), (Outcome.NOT_APPENDED, None)], "the outcomes")
    try:
        send(absent)
    except CorfuError as error:
        same((error.code, error.reason), (grpc.StatusCode.ABORTED, "BOUND_PASSED"), "the error")
    else:
        raise AssertionError("An entry came to stand where it was said to be absent for good.")


@check("clusters: a call that demands another cluster is refused")
def wrong_cluster(bench: Bench) -> None:
    _, channel = bench.front_ends.pick()
    stub = log_pb2_grpc.LogServiceStub(channel)
    own = stub.Describe(log_pb2.DescribeRequest(), timeout=10.0).cluster_id
    same(stub.Check(log_pb2.CheckRequest(), timeout=10.0, metadata=[("corfu-cluster-id", own)]).cluster_id, own,
         "the cluster")
    try:
        with typed_errors():
            stub.Check(log_pb2.CheckRequest(), timeout=10.0, metadata=[("corfu-cluster-id", str(uuid.uuid4()))])
    except CorfuError as error:
        same((error.code, error.reason), (grpc.StatusCode.FAILED_PRECONDITION, "WRONG_CLUSTER"), "the error")
    else:
        raise AssertionError("It was answered.")


@check("subscribe: from a position, in order")
def subscribe_from(bench: Bench) -> None:
    log = CorfuLog(bench.front_ends)
    stream = bench.fresh_name("stream")
    expected = sorted(positions(log.append_many([b"before"] * 50, [stream])))
    subscription = log.subscribe(expected[0], [stream])
    found = [next(subscription).position.offset for _ in range(50)]
    expected += positions([log.append(b"after", [stream])])
    found.append(next(subscription).position.offset)
    subscription.cancel()
    same(found, expected, "the positions")


@check("subscribe: from now, without what was before")
def subscribe_now(bench: Bench) -> None:
    log = CorfuLog(bench.front_ends)
    stream = bench.fresh_name("stream")
    log.append(b"before", [stream])
    subscription = log.subscribe(streams=[stream]).open()
    log.append(b"after", [stream])
    same(next(subscription).payload, b"after", "the first payload")
    subscription.cancel()


@check("subscribe: goes on where the last one stopped")
def subscribe_resume(bench: Bench) -> None:
    log = CorfuLog(bench.front_ends)
    stream = bench.fresh_name("stream")
    expected = sorted(positions(log.append_many([b"x"] * 20, [stream])))
    found: list[int] = []
    resume = expected[0]
    for count in (1, 7, 12):
        subscription = log.subscribe(resume, [stream])
        found += [next(subscription).position.offset for _ in range(count)]
        subscription.cancel()
        resume = subscription.resume_from
    same(found, expected, "the positions")


@check("streams: entries of several streams, merged and apart")
def streams(bench: Bench) -> None:
    log = CorfuLog(bench.front_ends)
    left, right = bench.fresh_name("left"), bench.fresh_name("right")
    sent = [(b"left", [left]), (b"right", [right]), (b"both", [left, right]), (b"left again", [left])]
    of_entries = positions([log.append(payload, names) for payload, names in sent])
    for names, expected in (([left], [b"left", b"both", b"left again"]), ([right], [b"right", b"both"]),
                            ([left, right], [b"left", b"right", b"both", b"left again"])):
        subscription = log.subscribe(of_entries[0], names)
        same([next(subscription).payload for _ in expected], expected, f"stream {'+'.join(names)}")
        subscription.cancel()
    tails = log.check([left, right])
    same([list(tail.offsets) for tail in tails.streams],
         [[of_entries[3], of_entries[2], of_entries[0]], [of_entries[2], of_entries[1]]], "the newest positions")


@check("two writers at once: one order for all readers")
def two_writers(bench: Bench) -> None:
    stream = bench.fresh_name("stream")
    logs = [CorfuLog(bench.front_ends) for _ in range(2)]
    start = logs[0].tail()
    results: dict[int, list[Appended]] = {}

    def write(number: int) -> None:
        results[number] = logs[number].append_many([f"{number}".encode()] * 200, [stream])

    writers = [threading.Thread(target=write, args=(number,)) for number in range(2)]
    for writer in writers:
        writer.start()
    for writer in writers:
        writer.join()
    expected = sorted(positions(results[0]) + positions(results[1]))
    for log in logs:
        subscription = log.subscribe(start, [stream])
        same([next(subscription).position.offset for _ in expected], expected, "the order")
        subscription.cancel()


@check("trim: one position is released, its neighbours stay")
def trim(bench: Bench) -> None:
    log = CorfuLog(bench.front_ends)
    of_entries = positions(log.append_many([b"a", b"b", b"c"]))
    log.trim(of_entries[1])
    same([result.state for result in log.read(*of_entries)],
         [log_pb2.STATE_DATA, log_pb2.STATE_TRIMMED, log_pb2.STATE_DATA], "the states")


@check("trim: above the tail it is refused")
def trim_above(bench: Bench) -> None:
    log = CorfuLog(bench.front_ends)
    try:
        log.trim_prefix(log.tail() + 1000)
    except CorfuError as error:
        same((error.code, error.reason), (grpc.StatusCode.OUT_OF_RANGE, "NOT_GRANTED"), "the error")
    else:
        raise AssertionError("It was accepted.")
