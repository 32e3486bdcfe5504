"""Tango objects: dictionaries, transactions, watches, locks, queues."""

from __future__ import annotations

import threading

import grpc
from corfu.tango.v1 import transactions_pb2
from corfu.tango.v1.dictionaries_pb2 import Condition

from corfu_client.errors import CorfuError
from corfu_client.tango import Dictionary, Tango

from .runner import Bench, check, holds, same

ABSENT = Condition(exists=False)
PRESENT = Condition(exists=True)


def new_dictionary(bench: Bench) -> tuple[Tango, Dictionary]:
    tango = Tango(bench.front_ends)
    return tango, tango.create_dictionary(bench.fresh_name("dictionary"))


def committed(response: transactions_pb2.TransactResponse) -> transactions_pb2.Committed:
    same(response.WhichOneof("outcome"), "committed", "the outcome")
    return response.committed


@check("dictionary: set, get, remove, count, list")
def dictionary(bench: Bench) -> None:
    _, users = new_dictionary(bench)
    same(users.get("ada"), None, "before")
    for key, value in (("ada", b"1"), ("alan", b"2"), ("grace", b"\x00\xff"), ("ada", b"3")):
        users.set(key, value)
    same(users.get("ada"), b"3", "ada")
    same(users.get_many("grace", "nobody"), {"grace": b"\x00\xff", "nobody": None}, "several")
    same(users.items("a")[0], {"ada": b"3", "alan": b"2"}, "the list")
    same(list(users.items(page_size=1)[0]), ["ada", "alan", "grace"], "the list in pages")
    same((users.remove("alan"), users.remove("alan")), (True, False), "what was removed")
    same(users.count(), 2, "the count")


@check("dictionary: every front end reads what another has written")
def linearizable(bench: Bench) -> None:
    _, users = new_dictionary(bench)
    for address in bench.cluster.front_ends():
        written = users.set("key", address.encode())
        holds(written.position.offset > 0, "A write has no version.")
        bench.front_ends.next_after(bench.front_ends.current)
        same(users.get("key"), address.encode(), "the value at the next front end")


@check("dictionary: set if absent, if a value, if unchanged")
def set_if(bench: Bench) -> None:
    _, users = new_dictionary(bench)
    same([users.set_if("key", b"1", ABSENT), users.set_if("key", b"2", ABSENT)], [True, False], "if absent")
    same([users.set_if("key", b"3", Condition(value=b"1")), users.set_if("key", b"4", Condition(value=b"1"))],
         [True, False], "if a value")
    value, version = users.get_with_version("key")
    same(value, b"3", "the value")
    same(users.set_if("key", b"5", Condition(unchanged_since=version)), True, "if unchanged")
    same(users.set_if("key", b"6", Condition(unchanged_since=version)), False, "if unchanged since long ago")
    same(users.get("key"), b"5", "the value at the end")


@check("transaction: compare, then or else")
def transaction(bench: Bench) -> None:
    tango, users = new_dictionary(bench)
    compare = [users.compare("ada", ABSENT)]
    then = [users.setting("ada", b"1"), users.setting("log", b"created"), users.getting("ada")]
    otherwise = [users.getting("ada"), users.getting("nobody"), users.removing("ada")]
    done = committed(tango.transact(compare, then, otherwise))
    same((done.succeeded, done.results[2].value), (True, b"1"), "the first")
    done = committed(tango.transact(compare, then, otherwise))
    same((done.succeeded, done.results[0].value, done.results[1].HasField("value"), done.results[2].removed),
         (False, b"1", False, True), "the second")
    same(users.items()[0], {"log": b"created"}, "the entries")


@check("transaction: over two dictionaries and a queue, all or nothing")
def transaction_over_objects(bench: Bench) -> None:
    tango, stock = new_dictionary(bench)
    orders = tango.create_dictionary(bench.fresh_name("orders"))
    work = tango.create_work_queue(bench.fresh_name("work"))
    stock.set("apples", b"5")
    take = [stock.compare("apples", Condition(value=b"5"))]
    then = [stock.setting("apples", b"0"), orders.setting("1", b"5 apples"), work.enqueuing(b"pack 1")]
    same([committed(tango.transact(take, then)).succeeded for _ in range(2)], [True, False], "the two orders")
    same((stock.get("apples"), orders.count(), work.count().ready), (b"0", 1, 1), "the objects")


@check("transaction: increments from several threads, none lost")
def conflicts(bench: Bench) -> None:
    tango, numbers = new_dictionary(bench)
    numbers.set("count", b"0")
    tries: list[int] = []

    def increment() -> None:
        for _ in range(10):
            for attempt in range(1, 1000):
                value, version = numbers.get_with_version("count")
                done = tango.transact(
                    [numbers.compare("count", Condition(unchanged_since=version))],
                    [numbers.setting("count", str(int(value or b"0") + 1).encode())])
                if done.WhichOneof("outcome") == "committed" and done.committed.succeeded:
                    tries.append(attempt)
                    break

    threads = [threading.Thread(target=increment) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    same((numbers.get("count"), len(tries)), (b"40", 40), "the count")


@check("watch: changes with a prefix, from a list on and from a place on")
def watch(bench: Bench) -> None:
    _, users = new_dictionary(bench)
    users.set("a/1", b"old")
    entries, position = users.items("a/")
    same(entries, {"a/1": b"old"}, "the list")
    first = users.watch("a/", from_position=position).open()
    for key, value in (("a/1", b"new"), ("b/1", b"other"), ("a/2", b"2")):
        users.set(key, value)
    users.remove("a/1")
    events = [next(first) for _ in range(3)]
    first.cancel()
    same([(event.set.key, event.set.value) for event in events[:2]], [("a/1", b"new"), ("a/2", b"2")], "the sets")
    same(events[2].removed, "a/1", "the removal")
    second = users.watch("a/", after=events[0].place)
    same(next(second), events[1], "what follows the first event")
    second.cancel()


@check("watch: a transaction's changes follow each other")
def watch_transaction(bench: Bench) -> None:
    tango, users = new_dictionary(bench)
    watched = users.watch().open()
    committed(tango.transact([], [users.setting("1", b"a"), users.setting("2", b"b")]))
    users.set("3", b"c")
    events = [next(watched) for _ in range(3)]
    watched.cancel()
    same([event.set.key for event in events], ["1", "2", "3"], "the keys")
    same(events[0].transaction, events[1].transaction, "the transaction")
    holds(events[2].transaction != events[0].transaction, "A later change has the same transaction.")


@check("lock: tokens rise, a lock goes to the next when its session ends")
def lock(bench: Bench) -> None:
    tango, state = new_dictionary(bench)
    guard = tango.create_lock(bench.fresh_name("lock"))
    same(guard.holder(), None, "the holder before")
    with tango.session(5.0, "first") as first, tango.session(5.0, "second") as second:
        token = guard.acquire(first)
        holds(token, "A free lock was not acquired.")
        same(guard.holder(), (token, "first"), "the holder")
        same(guard.acquire(second, max_wait=0.0), None, "a lock that is held")
        same(committed(tango.transact([guard.held(token)], [state.setting("by", b"first")])).succeeded, True,
             "a write under the lock")
        first.abandon()
        next_token = guard.acquire(second)
        holds(next_token and next_token > token, f"The tokens are {token} and {next_token}.")
        late = tango.transact([guard.held(token)], [state.setting("by", b"first, late")])
        holds(late.WhichOneof("outcome") != "committed" or not late.committed.succeeded, "A lost lock allowed a write.")
        same(guard.release(second, next_token), True, "the release")
    same((guard.holder(), state.get("by")), (None, b"first"), "the end")


@check("work queue: an item is delivered until it is completed, and then never")
def work_queue(bench: Bench) -> None:
    tango, results = new_dictionary(bench)
    work = tango.create_work_queue(bench.fresh_name("work"))
    work.enqueue(b"item")
    with tango.session() as session:
        first = work.receive(session)
        holds(first, "Nothing was received.")
        same((first.value, first.attempt), (b"item", 1), "the first delivery")
        same(work.abandon(session, first.delivery), True, "the return")
        second = work.receive(session)
        holds(second, "Nothing was received after the return.")
        same((second.value, second.attempt), (b"item", 2), "the second delivery")
        done = [results.setting("item", b"done"), work.completing(second.delivery)]
        same(committed(tango.transact([], done)).succeeded, True, "the completion with its write")
        same(work.receive(session, max_wait=0.0), None, "what is left")
        try:
            work.complete(session, first.delivery)
        except CorfuError as error:
            same(error.code, grpc.StatusCode.FAILED_PRECONDITION, "the code of an old delivery")
        else:
            raise AssertionError("An old delivery was completed.")
    same(results.get("item"), b"done", "the result")
