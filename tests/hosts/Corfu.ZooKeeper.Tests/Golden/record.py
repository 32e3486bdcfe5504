#!/usr/bin/python3
"""Records requests and a real ZooKeeper's replies: record.py HOST PORT > transcript.txt

The server is new and empty, and has every option of a test server on (TTL nodes). Requests that kazoo has are encoded
by kazoo. Each line: name, request, reply, as hexadecimal frames without their lengths; '-' where there is none. Times
and the session's id are replaced, so that a second record differs in nothing.
"""
import re
import socket
import struct
import sys
import time

from kazoo.protocol import serialization as k
from kazoo.security import ACL, Id, OPEN_ACL_UNSAFE, make_digest_acl

SESSION = 0x1122334455667788
TIME = 0x0000018000000000


def s(text):
    return b'\xff\xff\xff\xff' if text is None else struct.pack('>i', len(text.encode())) + text.encode()


def strings(*texts):
    return struct.pack('>i', len(texts)) + b''.join(s(text) for text in texts)


class Raw:
    def __init__(self, kind, body=b''):
        self.type, self.body = kind, body

    def serialize(self):
        return self.body


class Connection:
    def __init__(self, host, port):
        self.socket = socket.create_connection((host, port))
        self.xid = 0
        request = struct.pack('>iqiqi', 0, 0, 10000, 0, 16) + bytes(16) + b'\0'
        self.send(request)
        answer = self.receive()
        self.session, = struct.unpack_from('>q', answer, 8)
        self.password = answer[20:36]
        self.line('connect', request, answer)

    def send(self, frame):
        self.socket.sendall(struct.pack('>i', len(frame)) + frame)

    def take(self, size):
        data = b''
        while len(data) < size:
            more = self.socket.recv(size - len(data))
            if not more:
                raise EOFError
            data += more
        return data

    def receive(self):
        return self.take(struct.unpack('>i', self.take(4))[0])

    def mask(self, frame):
        frame = frame.replace(struct.pack('>q', self.session), struct.pack('>q', SESSION))
        frame = frame.replace(self.password, bytes(range(16)))
        prefix = struct.pack('>q', int(time.time() * 1000))[:4]
        return re.sub(re.escape(prefix) + b'....', struct.pack('>q', TIME), frame, flags=re.S)

    def line(self, name, request, reply):
        print(name, self.mask(request).hex() if request else '-', self.mask(reply).hex() if reply else '-')

    def do(self, name, request, xid=None):
        self.xid += 1
        frame = struct.pack('>ii', self.xid if xid is None else xid, request.type) + bytes(request.serialize())
        self.send(frame)
        reply = self.receive()
        while reply[:4] == b'\xff\xff\xff\xff':
            self.line('event', None, reply)
            reply = self.receive()
        self.line(name, frame, reply)


def multi(*parts):
    body = b''
    for part in parts:
        body += struct.pack('>ibi', part.type, 0, -1) + bytes(part.serialize())
    return Raw(14, body + struct.pack('>ibi', -1, 1, -1))


def main():
    c = Connection(sys.argv[1], int(sys.argv[2]))
    anyone = OPEN_ACL_UNSAFE
    create = lambda path, data=b'd', flags=0, acl=anyone: k.Create(path, data, acl, flags)
    acl_body = struct.pack('>ii', 1, 31) + s('world') + s('anyone')
    c.do('create', create('/g'))
    c.do('create', create('/g/null', None))
    c.do('create', create('/g/empty', b''))
    c.do('create', create('/g/s-', b'', 2))
    c.do('create', create('/g/e', b'eph', 1))
    c.do('create', create('/g/e/child'))
    c.do('create', create('/g'))
    c.do('create', create('/missing/a'))
    c.do('create', create('/g/flags', b'', 99))
    c.do('create', create('/g/acl', b'', 0, []))
    c.do('create2', k.Create2('/g/two', b'2', anyone, 0))
    c.do('createContainer', Raw(19, s('/g/c') + s('data') + acl_body + struct.pack('>i', 4)))
    c.do('createTtl', Raw(21, s('/g/t') + s('data') + acl_body + struct.pack('>iq', 5, 600000)))
    c.do('createTtl', Raw(21, s('/g/t-') + s('data') + acl_body + struct.pack('>iq', 6, 600000)))
    c.do('exists', k.Exists('/g', None))
    c.do('exists', k.Exists('/g/none', lambda e: e))
    c.do('getData', k.GetData('/g', None))
    c.do('getData', k.GetData('/g/null', None))
    c.do('getData', k.GetData('/g/empty', None))
    c.do('getData', k.GetData('/g/e', lambda e: e))
    c.do('getData', k.GetData('/g/nothing', None))
    c.do('setData', k.SetData('/g/e', b'ephemeral', 0))
    c.do('setData', k.SetData('/g/e', b'ephemeral', 0))
    c.do('setData', k.SetData('/g/two', None, -1))
    c.do('getChildren', k.GetChildren('/g/e', lambda e: e))
    c.do('getChildren', k.GetChildren('/g', None))
    c.do('getChildren2', k.GetChildren2('/g', None))
    c.do('getAcl', k.GetACL('/g'))
    c.do('auth', k.Auth(0, 'digest', 'user:secret'), xid=-4)
    c.do('setAcl', k.SetACL('/g/two', [make_digest_acl('user', 'secret', all=True)], -1))
    c.do('setAcl', k.SetACL('/g/two', [ACL(31, Id('auth', ''))], 1))
    c.do('setAcl', k.SetACL('/g/two', anyone, 0))
    c.do('getAcl', k.GetACL('/g/two'))
    c.do('sync', k.Sync('/g'))
    c.do('ping', Raw(11), xid=-2)
    c.do('multi', multi(create('/g/m', b'm'), k.SetData('/g/m', b'n', 0), k.CheckVersion('/g/m', 1),
                        k.Create2('/g/m2', b'', anyone, 0), k.Delete('/g/m', 1)))
    c.do('multi', multi(create('/g/m3'), k.CheckVersion('/g', 7), k.Delete('/g/m3', -1)))
    c.do('multi', multi(Raw(19, s('/g/mc') + s('') + acl_body + struct.pack('>i', 4)),
                        Raw(21, s('/g/mt') + s('') + acl_body + struct.pack('>iq', 5, 600000)),
                        k.Delete('/g/mc', -1), k.Delete('/g/mt', -1)))
    c.do('multi', multi())
    c.do('multiRead', Raw(22, struct.pack('>ibi', 4, 0, -1) + s('/g/empty') + b'\0' + struct.pack('>ibi', 8, 0, -1)
                          + s('/g/none') + b'\0' + struct.pack('>ibi', 8, 0, -1) + s('/g/e') + b'\0'
                          + struct.pack('>ibi', -1, 1, -1)))
    c.do('addWatch', Raw(106, s('/g') + struct.pack('>i', 1)))
    c.do('create', create('/g/watched'))
    c.do('delete', k.Delete('/g/watched', -1))
    c.do('checkWatches', Raw(17, s('/g') + struct.pack('>i', 3)))
    c.do('removeWatches', Raw(18, s('/g') + struct.pack('>i', 3)))
    c.do('removeWatches', Raw(18, s('/g') + struct.pack('>i', 3)))
    c.do('delete', k.Delete('/g', -1))
    c.do('delete', k.Delete('/g/m2', 5))
    c.do('setWatches', Raw(101, struct.pack('>q', 1 << 40) + strings('/g') + strings('/g/later') + strings('/g')), xid=-8)
    c.do('setWatches2', Raw(105, struct.pack('>q', 0) + strings('/g/gone') + strings('/g') + strings()
                            + strings('/p') + strings('/r')), xid=-8)
    c.do('getEphemerals', Raw(103, s('/g')))
    c.do('getAllChildrenNumber', Raw(104, s('/g')))
    c.do('whoAmI', Raw(107))
    c.do('create', Raw(1, s('/g/short')))
    c.do('setAcl', Raw(7, struct.pack('>i', 1 << 30)))
    c.do('closeSession', k.Close())


main()
