"""Front ends that die (kill -9), at a time that a client cannot choose. These checks come last: the cluster is mended
after each, by its agents and by `cluster up`."""

from __future__ import annotations

import os
import signal
import threading
import time
import uuid

import grpc
from corfu.log.v1 import log_pb2, log_pb2_grpc

from corfu_client.errors import CorfuError
from corfu_client.front_ends import FrontEnds
from corfu_client.log import Appended, CorfuLog, Outcome, stream_id
from corfu_client.tango import Tango

from .runner import Bench, check, holds, same


def mend(bench: Bench) -> None:
    """Brings dead nodes back. A unit that was replaced formats itself anew and becomes a spare."""
    bench.cluster.up()
    bench.eventually("the cluster is whole", lambda: bench.cluster.status()["verdict"].startswith("OK"), 60.0)


class Writer:
    """Appends on a thread of its own, one entry after the other, until it is stopped."""

    def __init__(self, bench: Bench, stream: str) -> None:
        self._log = CorfuLog(bench.front_ends)
        self._stream = stream
        self._stop = threading.Event()
        self.results: list[tuple[bytes, Appended]] = []
        self._thread = threading.Thread(target=self._run, daemon=True)
        self._thread.start()

    def stop(self) -> None:
        self._stop.set()
        self._thread.join()

    def _run(self) -> None:
        number = 0
        while not self._stop.is_set():
            payload = f"{number}".encode()
            self.results.append((payload, self._log.append(payload, [self._stream], timeout=5.0)))
            number += 1


def in_stream(log: CorfuLog, stream: str, start: int) -> dict[int, bytes]:
    """What the log has of a stream, by reading all of it."""
    return {result.position.offset: result.entry.payload for result in log.read_range(start, log.tail())
            if result.state == log_pb2.STATE_DATA
            and stream_id(stream) in [header.stream_id for header in result.entry.streams]}


@check("killed node: a subscription goes on at another, nothing lost, nothing twice")
def subscribe_across_a_kill(bench: Bench) -> None:
    log = CorfuLog(bench.front_ends)
    stream = bench.fresh_name("stream")
    start = log.tail()
    subscription = log.subscribe(start, [stream]).open()
    serving = subscription.front_end
    writer = Writer(bench, stream)
    found = {entry.position.offset: entry.payload for entry in (next(subscription) for _ in range(20))}
    bench.cluster.kill(serving)
    order: list[int] = list(found)
    # What the killed front end had sent already still arrives.
    while len(order) < 60 or subscription.front_end == serving:
        entry = next(subscription)
        holds(entry.position.offset not in found, f"Position {entry.position.offset} came twice.")
        found[entry.position.offset] = entry.payload
        order.append(entry.position.offset)
    writer.stop()
    log_has = in_stream(log, stream, start)
    while len(found) < len(log_has):
        entry = next(subscription)
        found[entry.position.offset] = entry.payload
        order.append(entry.position.offset)
    subscription.cancel()
    same(found, log_has, "what was delivered")
    same(order, sorted(order), "the order")
    mend(bench)


@check("killed node: a watch goes on at another, nothing lost, nothing twice")
def watch_across_a_kill(bench: Bench) -> None:
    tango = Tango(bench.front_ends)
    numbers = tango.create_dictionary(bench.fresh_name("dictionary"))
    watched = numbers.watch().open()
    serving = watched.front_end
    seen: list[str] = []
    for number in range(30):
        if number == 10:
            bench.cluster.kill(serving)
        key = f"{number:02}"
        # A write whose answer was lost is made again: it has the same key and value.
        while True:
            try:
                numbers.set(key, b"x")
                break
            except CorfuError as error:
                holds(error.is_front_end_gone, f"The write failed with {error}.")
        while not seen or seen[-1] != key:
            seen.append(next(watched).set.key)
    watched.cancel()
    holds(watched.front_end != serving, "The watch is still at the killed front end.")
    # The write that was under way may stand twice in the log, and then both are told.
    same(sorted(set(seen)), [f"{number:02}" for number in range(30)], "the keys")
    holds(seen == sorted(seen) and len(seen) <= 31, f"The order is {seen}.")
    mend(bench)


@check("killed node: a session goes on at another, with its lock and its delivery")
def session_across_a_kill(bench: Bench) -> None:
    tango = Tango(bench.front_ends)
    guard = tango.create_lock(bench.fresh_name("lock"))
    work = tango.create_work_queue(bench.fresh_name("work"))
    work.enqueue(b"item")
    with tango.session(15.0, "survivor") as session, tango.session(60.0, "next") as other:
        token = guard.acquire(session)
        holds(token, "A free lock was not acquired.")
        delivery = work.receive(session)
        holds(delivery, "Nothing was received.")
        serving = session.attached().address
        bench.cluster.kill(serving)
        bench.eventually("the session is at another front end",
                         lambda: session.attached().address != serving, 15.0)
        same(guard.holder(), (token, "survivor"), "the holder")
        same(guard.acquire(other, max_wait=0.0), None, "a lock that is held")
        work.complete(session, delivery.delivery)
        same(session.lost.empty(), True, "that nothing was lost")
        same(guard.release(session, token), True, "the release")
        holds((guard.acquire(other) or 0) > token, "The next token is not higher.")
    mend(bench)


@check("unknown outcomes: a front end dies with 1,000 appends in flight")
def unknown_outcomes(bench: Bench) -> None:
    log = CorfuLog(bench.front_ends)
    stream = bench.fresh_name("stream")
    start = log.tail()
    victim = bench.front_ends.current
    process = next(node.process for node in bench.cluster.nodes() if node.front_end == victim)
    observed = log.subscribe(start, [stream])
    killed = threading.Event()

    def kill_after_some() -> None:
        for _ in range(100):
            next(observed)
        os.kill(process, signal.SIGKILL)
        killed.set()

    killer = threading.Thread(target=kill_after_some, daemon=True)
    killer.start()
    sent = [f"{number}".encode() for number in range(20_000)]
    results = log.append_many(sent, [stream], timeout=10.0)
    holds(killed.is_set(), "The kill hit no append.")
    observed.cancel()
    same(sum(result.outcome == Outcome.UNKNOWN for result in results), 0, "the number of unknown outcomes")
    appended = {result.position: payload for result, payload in zip(results, sent)
                if result.outcome == Outcome.APPENDED}
    holds(len(appended) >= 100, f"{len(appended)} of {len(sent)} are appended.")
    same(in_stream(log, stream, start), appended, "the log")
    mend(bench)


@check("unknown outcomes: an append that its deadline cut short is resolved")
def resolve(bench: Bench) -> None:
    log = CorfuLog(bench.front_ends)
    stream = bench.fresh_name("stream")
    start = log.tail()
    serving = bench.front_ends.current
    paused = [node.process for node in bench.cluster.nodes()
              if "unit serving" in node.duties and node.front_end != serving]
    for process in paused:
        os.kill(process, signal.SIGSTOP)
    resumed = threading.Timer(1.5, lambda: [os.kill(process, signal.SIGCONT) for process in paused])
    resumed.start()
    try:
        results = [(f"{number}".encode(), log.append(f"{number}".encode(), [stream], timeout=0.5))
                   for number in range(3)]
    finally:
        resumed.join()
    bench.eventually("the cluster is well", lambda: bench.cluster.status()["writable"], 60.0)
    same([result.outcome for _, result in results if result.outcome == Outcome.UNKNOWN], [], "the unknown outcomes")
    same(in_stream(log, stream, start),
         {result.position: payload for payload, result in results if result.outcome == Outcome.APPENDED}, "the log")
    mend(bench)


@check("unknown outcomes: what a stopped front end still holds is settled for good")
def settle_across_a_stop(bench: Bench) -> None:
    stopped = next(node for node in bench.cluster.nodes()
                   if not any(duty.endswith("serving") for duty in node.duties))
    others = [address for address in bench.cluster.front_ends() if address != stopped.front_end]
    stream = bench.fresh_name("stream")
    with FrontEnds([stopped.front_end]) as held, FrontEnds(others) as serving:
        log = CorfuLog(serving)
        since = log.check().tail
        below = since.offset + 100
        origin = log_pb2.Origin(writer=uuid.uuid4().bytes, sequence=1)
        entry = log_pb2.NewEntry(payload=b"held", stream_names=[stream], origin=origin, below_offset=below)
        stub = log_pb2_grpc.LogServiceStub(held.pick()[1])
        stub.Describe(log_pb2.DescribeRequest(), timeout=10.0)
        os.kill(stopped.process, signal.SIGSTOP)
        try:
            call = stub.Append.future(log_pb2.AppendRequest(entry=entry), timeout=60.0)
            [settled] = log.settle([origin], since, below)
            same(settled.outcome, Outcome.NOT_APPENDED, "what it is settled as")
        finally:
            os.kill(stopped.process, signal.SIGCONT)
        # Awake it tries, and is too late.
        error = call.exception(timeout=90.0)
        holds(isinstance(error, grpc.RpcError), "The entry was appended though it was settled as absent.")
        same(in_stream(log, stream, since.offset), {}, "the log")
    mend(bench)


@check("trimmed: a subscription from below the mark says so, with the mark")
def trimmed(bench: Bench) -> None:
    # Last: it trims what the other checks have written.
    log = CorfuLog(bench.front_ends)
    results = log.append_many([b"x"] * 10)
    mark = max(result.position or 0 for result in results) - 2
    log.trim_prefix(mark)
    try:
        next(log.subscribe(0))
    except CorfuError as error:
        same((error.code, error.reason), (grpc.StatusCode.OUT_OF_RANGE, "TRIMMED"), "the error")
        same(error.metadata.get("mark"), str(mark), "the mark")
    else:
        raise AssertionError("The subscription began below the mark.")
    same(next(log.subscribe(mark)).position.offset, mark, "the first position from the mark on")
    same(log.read(mark - 1)[0].state, log_pb2.STATE_TRIMMED, "the state below the mark")
