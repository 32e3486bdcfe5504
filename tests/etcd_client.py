"""python3-etcd3 against a front end: HOST PORT. Prints "all" if everything is as with etcd."""
import sys

import etcd3


def main(host, port):
    client = etcd3.client(host=host, port=int(port), timeout=30)
    client.delete_prefix('/py/')
    client.put('/py/a', 'one')
    assert client.get('/py/a')[0] == b'one'
    assert client.get('/py/none') == (None, None)
    assert client.replace('/py/a', 'one', 'two') and not client.replace('/py/a', 'one', 'three')
    client.put('/py/b', 'x')
    assert [meta.key for _, meta in client.get_prefix('/py/', sort_order='descend')] == [b'/py/b', b'/py/a']
    done, answers = client.transaction(
        compare=[client.transactions.value('/py/a') == 'two', client.transactions.version('/py/b') > 0],
        success=[client.transactions.put('/py/c', 'y'), client.transactions.get('/py/c')], failure=[client.transactions.delete('/py/a')])
    assert done and answers[1][0][0] == b'y'
    events, cancel = client.watch_prefix('/py/watched')
    client.put('/py/watched/1', 'a')
    client.delete('/py/watched/1')
    assert isinstance(next(events), etcd3.events.PutEvent) and isinstance(next(events), etcd3.events.DeleteEvent)
    cancel()
    lease = client.lease(600)
    client.put('/py/leased', 'z', lease=lease)
    assert lease.granted_ttl == 600 and 0 < lease.remaining_ttl <= 600 and lease.keys == [b'/py/leased']
    assert list(lease.refresh())[0].TTL == 600
    lease.revoke()
    assert client.get('/py/leased') == (None, None)
    # A lock that another one holds is not tried: waiting fails in this client, with the tenacity that Debian has.
    lock = client.lock('/py/lock', ttl=30)
    assert lock.acquire() and lock.is_acquired()
    assert lock.release() and not lock.is_acquired()
    assert len(list(client.members)) >= 1
    assert client.status().leader is not None
    client.delete_prefix('/py/')
    assert list(client.get_prefix('/py/')) == []
    print('all')


main(*sys.argv[1:])
