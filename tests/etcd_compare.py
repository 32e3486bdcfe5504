"""Random calls to an etcd and to front ends of a store, in turns: answers and errors are equal, field by field.

Usage: etcd_compare.py ETCD FRONT_END[,FRONT_END...] CALLS SEED. Left out of the comparison: the ids of cluster and member, the term,
the seconds that a lease has left, and the order of keys that an order does not tell apart. The last line counts the differences.
"""
import random
import sys
import threading
import time

import etcd3.etcdrpc as rpc
import grpc

KEYS = [b'%s%d' % (prefix, i) for prefix in (b'a/', b'b/', b'c') for i in range(6)]
PREFIXES = [(b'a/', b'a0'), (b'b/', b'b0'), (b'c', b'd'), (b'a', b'c'), (b'b/3', b'c2'), (b'\0', b'\0'), (b'b/2', b'\0'), (b'c', b'a')]
VALUES = [b'', b'x', b'value', bytes(range(256)) * 9]
LEASES = [1001, 1002, 1003, 2**40]
MISSING_LEASE = 999
# None ends while calls are compared: the two servers' clocks end it at different calls.
TIMES = [5000, 6000, 604800, 9000000000, 9000000001]
BY_KEY = rpc.RangeRequest.KEY


class Server:
    def __init__(self, address):
        channel = grpc.insecure_channel(address, options=[('grpc.max_receive_message_length', -1)])
        self.kv, self.lease, self.watch = rpc.KVStub(channel), rpc.LeaseStub(channel), rpc.WatchStub(channel)

    def call(self, name, request):
        """The answer, or the error as (code, text)."""
        try:
            if name == 'KeepAlive':
                return next(iter(self.lease.LeaseKeepAlive(iter([request]))))
            return getattr(self.lease if name.startswith('Lease') else self.kv, name)(request)
        except grpc.RpcError as e:
            return (e.code(), e.details())

    def events(self, first, last):
        """The changes of all keys at the revisions from one to another."""
        create = rpc.WatchCreateRequest(key=b'\0', range_end=b'\0', start_revision=first, prev_kv=True)
        done = []

        def requests():
            yield rpc.WatchRequest(create_request=create)
            while not done:
                time.sleep(0.02)
        found = []
        # An event that is never told fails the run with the revisions, in place of holding it.
        answers = self.watch.Watch(requests(), timeout=60)
        try:
            for answer in answers:
                found.extend(answer.events)
                if answer.canceled or (answer.events and answer.events[-1].kv.mod_revision >= last):
                    break
        except grpc.RpcError as e:
            print(f'a watch from {first} to {last} ended with {e.code()} after {len(found)} events', flush=True)
        done.append(True)
        answers.cancel()
        return [event for event in found if event.kv.mod_revision <= last]


class Standing:
    """A watch of all keys that runs beside the calls, whatever is compacted meanwhile."""

    def __init__(self, server):
        self.events, self.revision, self.end, self.lock = [], 1, None, threading.Condition()
        self.done = threading.Event()
        self.answers = server.watch.Watch(self.requests())
        created = next(self.answers)
        assert created.created and created.header.revision == 1, created
        threading.Thread(target=self.read, daemon=True).start()

    def requests(self):
        yield rpc.WatchRequest(create_request=rpc.WatchCreateRequest(key=b'\0', range_end=b'\0', prev_kv=True))
        self.done.wait()

    def read(self):
        try:
            for answer in self.answers:
                with self.lock:
                    self.events.extend(answer.events)
                    if answer.canceled:
                        self.end = ('canceled', answer.compact_revision, answer.header.revision)
                    elif answer.header.revision < max([self.revision] + [event.kv.mod_revision for event in answer.events]):
                        self.end = ('revisions go back', self.revision, answer.header.revision)
                    self.revision = max(self.revision, answer.header.revision)
                    self.lock.notify_all()
        except grpc.RpcError as e:
            with self.lock:
                self.end = self.end or (e.code(), e.details())
                self.lock.notify_all()

    def until(self, last):
        """The events up to a revision, and how the watch ended: None, it runs."""
        with self.lock:
            self.lock.wait_for(lambda: self.end or self.events and self.events[-1].kv.mod_revision >= last, timeout=60)
            found, self.events = [event for event in self.events if event.kv.mod_revision <= last], [
                event for event in self.events if event.kv.mod_revision > last]
            return found, self.end


class Calls:
    """Makes requests. Knows how far the store has come, and no answer."""

    def __init__(self, seed):
        self.random = random.Random(seed)
        self.revision, self.floor = 1, 1

    def chance(self, p):
        return self.random.random() < p

    def span(self):
        if self.chance(0.6):
            return self.random.choice(KEYS), b''
        return self.random.choice(PREFIXES)

    def past(self, faults):
        low, high = (self.floor - 2, self.revision + 2) if faults else (self.floor, self.revision)
        return max(1, self.random.randint(low, max(low, high)))

    def range(self, faults=True):
        key, end = self.span()
        request = rpc.RangeRequest(key=key, range_end=end)
        if faults and self.chance(0.01):
            request.key = b''
        if self.chance(0.25):
            request.revision = self.past(faults)
        request.sort_order = self.random.choice([0, 0, 1, 2])
        request.sort_target = self.random.choice([0, 0, 0, 1, 2, 3, 4])
        request.keys_only, request.count_only = self.chance(0.15), self.chance(0.15)
        is_bounded = False
        for bound in ('min_mod_revision', 'max_mod_revision', 'min_create_revision', 'max_create_revision'):
            if self.chance(0.06):
                is_bounded = True
                setattr(request, bound, self.random.randint(1, self.revision + 1))
        # Beyond a limit, keys that the order does not tell apart are others; up to twelve keys etcd's order is stable.
        if self.chance(0.4) and (request.sort_target == BY_KEY or request.sort_order == 0 and not is_bounded):
            request.limit = self.random.choice([1, 1, 2, 3, 5, 8, 11] + ([-1, 2**40] if request.sort_target == BY_KEY else []))
        return request

    def put(self, faults=True, leases=True):
        request = rpc.PutRequest(key=self.random.choice(KEYS), value=self.random.choice(VALUES), prev_kv=self.chance(0.3))
        if faults and self.chance(0.01):
            request.key = b''
        kind = self.random.random()
        if kind < 0.15 and leases:
            request.lease = self.random.choice(LEASES)
        elif kind < 0.17 and faults:
            request.lease = MISSING_LEASE
        elif kind < 0.25 and faults:
            request.ignore_value = True
            if self.chance(0.9):
                request.value = b''
        elif kind < 0.32 and faults:
            request.ignore_lease = True
            if self.chance(0.1):
                request.lease = 1001
        return request

    def delete(self):
        key, end = self.span()
        return rpc.DeleteRangeRequest(key=key, range_end=end, prev_kv=self.chance(0.4))

    def compare(self):
        key, end = self.span()
        compare = rpc.Compare(key=key, range_end=end, result=self.random.choice([0, 0, 1, 2, 3]), target=self.random.randint(0, 4))
        names = ['version', 'create_revision', 'mod_revision', 'value', 'lease']
        operands = [self.random.randint(0, 3), self.random.choice([0, self.random.randint(1, self.revision)]),
                    self.random.choice([0, self.random.randint(1, self.revision)]), self.random.choice(VALUES), self.random.choice([0] + LEASES)]
        if self.chance(0.97):
            setattr(compare, names[compare.target], operands[compare.target])
        return compare

    def txn(self, depth=2, kind=None):
        # Etcd looks for faults of puts before those of reads, and the store for those of each operation in turn: a transaction has faults of one kind.
        kind = kind or self.random.choice(['put', 'range', 'none'])
        request = rpc.TxnRequest(compare=[self.compare() for _ in range(self.random.choice([0, 0, 1, 1, 2, 3]))])
        for branch in (request.success, request.failure):
            for _ in range(self.random.choice([0, 1, 1, 2, 3, 4])):
                which = self.random.random()
                if which < 0.4:
                    branch.add().request_put.CopyFrom(self.put(kind == 'put', kind != 'range'))
                elif which < 0.7:
                    branch.add().request_range.CopyFrom(self.range(kind == 'range'))
                elif which < 0.85 or depth == 0:
                    branch.add().request_delete_range.CopyFrom(self.delete())
                else:
                    branch.add().request_txn.CopyFrom(self.txn(depth - 1, kind))
        return request

    def next(self):
        which = self.random.random()
        if which < 0.3:
            return 'Put', self.put()
        if which < 0.55:
            return 'Range', self.range()
        if which < 0.63:
            return 'DeleteRange', self.delete()
        if which < 0.92:
            request = self.txn()
            return ('Txn', request) if is_comparable(request) else self.next()
        if which < 0.94:
            return 'LeaseGrant', rpc.LeaseGrantRequest(TTL=self.random.choice(TIMES), ID=self.random.choice(LEASES))
        if which < 0.955:
            return 'LeaseRevoke', rpc.LeaseRevokeRequest(ID=self.random.choice(LEASES + [MISSING_LEASE]))
        if which < 0.975:
            return 'LeaseTimeToLive', rpc.LeaseTimeToLiveRequest(ID=self.random.choice(LEASES + [MISSING_LEASE]), keys=self.chance(0.7))
        if which < 0.995:
            return 'KeepAlive', rpc.LeaseKeepAliveRequest(ID=self.random.choice(LEASES + [MISSING_LEASE]))
        if self.revision > 20:
            return 'Compact', rpc.CompactionRequest(revision=self.random.randint(self.floor - 1, self.revision + 1), physical=self.chance(0.5))
        return self.next()


def is_comparable(txn):
    """Etcd overlooks some changes of one key by two operations: deletions of all from a key on, and those of a nested transaction beside an
    earlier one's puts. The store refuses them."""
    return all(are_comparable(branch) for branch in (txn.success, txn.failure))


def are_comparable(operations):
    changes = []
    for operation in operations:
        which = operation.WhichOneof('request')
        if which == 'request_txn':
            if not is_comparable(operation.request_txn):
                return False
            puts, spans = set(), []
            collect(operation.request_txn, puts, spans)
        elif which == 'request_put':
            puts, spans = {operation.request_put.key}, []
        elif which == 'request_delete_range':
            puts, spans = set(), [(operation.request_delete_range.key, operation.request_delete_range.range_end)]
        else:
            continue
        for nested, others, other_spans in changes:
            overlooked = which == 'request_txn' and nested
            for keys, ranges in ((puts, other_spans), (others, spans)):
                if any(contains(span, key) and (overlooked or span[1] == b'\0' or span[1] < span[0]) for span in ranges for key in keys):
                    return False
        changes.append((which == 'request_txn', puts, spans))
    return True


def collect(txn, puts, spans):
    for operation in list(txn.success) + list(txn.failure):
        which = operation.WhichOneof('request')
        if which == 'request_put':
            puts.add(operation.request_put.key)
        elif which == 'request_delete_range':
            spans.append((operation.request_delete_range.key, operation.request_delete_range.range_end))
        elif which == 'request_txn':
            collect(operation.request_txn, puts, spans)


def contains(span, key):
    first, end = span
    return key == first if end == b'' else first <= key and (end == b'\0' or key < end)


def comparable(request, answer):
    """The answer without what differs from server to server."""
    if isinstance(answer, tuple):
        return answer
    same = type(answer)()
    same.CopyFrom(answer)
    if same.HasField('header'):
        same.header.cluster_id, same.header.member_id, same.header.raft_term = 0, 0, 0
    if isinstance(same, rpc.LeaseTimeToLiveResponse) and same.TTL > 0:
        same.TTL = 1
    if isinstance(same, rpc.LeaseTimeToLiveResponse):
        keys = sorted(same.keys)
        del same.keys[:]
        same.keys.extend(keys)
    if isinstance(same, rpc.RangeResponse):
        order_ties(request, same)
    if isinstance(same, rpc.TxnResponse):
        order_ties_of(request, same)
    return same


def order_ties_of(request, answer):
    for operation, one in zip(request.success if answer.succeeded else request.failure, answer.responses):
        if one.WhichOneof('response') == 'response_range':
            order_ties(operation.request_range, one.response_range)
        elif one.WhichOneof('response') == 'response_txn':
            order_ties_of(operation.request_txn, one.response_txn)


def order_ties(request, answer):
    """Puts keys that the order does not tell apart in the order of keys. With keys alone, an order of values is not seen."""
    if request.sort_target == BY_KEY:
        return
    of = [None, lambda kv: kv.version, lambda kv: kv.create_revision, lambda kv: kv.mod_revision, lambda kv: kv.value][request.sort_target]
    if request.sort_target == 4 and request.keys_only:
        ordered = sorted(answer.kvs, key=lambda kv: kv.key)
    else:
        ranks, last = [], None
        for kv in answer.kvs:
            if last is None or of(kv) != last:
                ranks.append(of(kv))
            last = of(kv)
        ordered = [kv for rank in ranks for kv in sorted((one for one in answer.kvs if of(one) == rank), key=lambda kv: kv.key)]
    ordered = [type(kv).FromString(kv.SerializeToString()) for kv in ordered]
    del answer.kvs[:]
    answer.kvs.extend(ordered)


def main(etcd, front_ends, count, seed):
    reference, ours = Server(etcd), [Server(address) for address in front_ends.split(',')]
    standing, own_standing = Standing(reference), Standing(ours[0])
    calls, which = Calls(seed), random.Random(seed)
    different, told, kinds = 0, 1, {}

    def compare(what, expected, found):
        nonlocal different
        if expected == found:
            return
        different += 1
        if different <= 10:
            print(f'DIFFERENT {what}\n--- etcd\n{expected}\n--- corfu\n{found}', flush=True)

    def compare_events(last):
        nonlocal told
        if last <= told:
            return
        compare(f'events {told + 1} to {last}', reference.events(told + 1, last), which.choice(ours).events(told + 1, last))
        compare(f'events {told + 1} to {last} of a watch that runs', standing.until(last), own_standing.until(last))
        told = last

    for number in range(count):
        name, request = calls.next()
        if name == 'Compact':
            compare_events(calls.revision)
        expected = reference.call(name, request)
        found = which.choice(ours).call(name, request)
        compare(f'{number} {name}\n{request}', comparable(request, expected), comparable(request, found))
        kind = f'{name} {expected[0].name}' if isinstance(expected, tuple) else name
        kinds[kind] = kinds.get(kind, 0) + 1
        if not isinstance(expected, tuple):
            calls.revision = max(calls.revision, expected.header.revision)
            if name == 'Compact':
                calls.floor = request.revision
        if number % 1000 == 999:
            compare_events(calls.revision)
    compare_events(calls.revision)
    print(', '.join(f'{kind}: {n}' for kind, n in sorted(kinds.items())))
    print(f'calls={count} different={different}')
    return different != 0


if __name__ == '__main__':
    sys.exit(main(sys.argv[1], sys.argv[2], int(sys.argv[3]), int(sys.argv[4])))
