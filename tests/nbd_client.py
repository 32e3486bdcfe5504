"""What libnbd sees of Salus's volumes: a line for each check. Called by tests/nbd.sh with the URI of a server whose exports are vol, wide, early and slow, and the name of a read-only view of vol."""
import errno
import random
import sys

import nbd

uri = sys.argv[1]
view = sys.argv[2]
BLOCK = 4096


def connect(name, *, structured=True, flags=None, contexts=True):
    client = nbd.NBD()
    if flags is not None:
        client.set_handshake_flags(flags)
    client.set_request_structured_replies(structured)
    if structured and contexts:
        client.add_meta_context(nbd.CONTEXT_BASE_ALLOCATION)
    # Commands that a client should not send are sent, so that the server refuses them.
    client.set_strict_mode(0)
    client.connect_uri(f"{uri}/{name}")
    return client


def check(name, holds):
    print(("ok " if holds else "FAILED ") + name, flush=True)


def fails(number, call):
    try:
        call()
        return False
    except nbd.Error as error:
        return error.errnum == number


def extents(client, count, offset, flags=0):
    found = []
    client.block_status(count, offset, lambda name, at, entries, error: found.extend(entries) or 0, flags)
    return found


vol, other = connect("vol"), connect("vol")
size = vol.get_size()

vol.zero(size, 0)
check("libnbd zero of the whole volume", vol.pread(1 << 20, 0) == bytes(1 << 20) and extents(vol, size, 0) == [size, 3])
vol.pwrite(b"x" * 5000, 3000)
check("libnbd block status of written blocks", extents(vol, 5 * BLOCK, 0) == [2 * BLOCK, 0, 3 * BLOCK, 3])
check("libnbd block status of parts of blocks", extents(vol, 9000, 100) == [2 * BLOCK - 100, 0, 9100 - 2 * BLOCK, 3])
check("libnbd block status of one extent", extents(vol, 5 * BLOCK, 0, nbd.CMD_FLAG_REQ_ONE) == [2 * BLOCK, 0])

chunks = []
data = vol.pread_structured(4 * BLOCK, BLOCK, lambda part, at, status, error: chunks.append((at, len(part), status)) or 0)
check("libnbd chunks of data and holes", chunks == [(BLOCK, BLOCK, nbd.READ_DATA), (2 * BLOCK, 3 * BLOCK, nbd.READ_HOLE)]
      or chunks == [(BLOCK, BLOCK, nbd.READ_DATA), (2 * BLOCK, 0, nbd.READ_HOLE)])
check("libnbd content of chunks", bytes(data[:3904]) == b"x" * 3904 and bytes(data[3904:]) == bytes(4 * BLOCK - 3904))
chunks.clear()
vol.pread_structured(4 * BLOCK, BLOCK, lambda part, at, status, error: chunks.append((at, len(part), status)) or 0, nbd.CMD_FLAG_DF)
check("libnbd a read in one chunk", chunks == [(BLOCK, 4 * BLOCK, nbd.READ_DATA)])

check("libnbd read beyond the end", fails(errno.EINVAL, lambda: vol.pread(512, size)))
check("libnbd write beyond the end", fails(errno.ENOSPC, lambda: vol.pwrite(bytes(512), size - 511)))
check("libnbd zero beyond the end", fails(errno.ENOSPC, lambda: vol.zero(512, size)))
check("libnbd trim beyond the end", fails(errno.EINVAL, lambda: vol.trim(512, size)))
check("libnbd read of no bytes", fails(errno.EINVAL, lambda: vol.pread(0, 0)))
check("libnbd unknown flag", fails(errno.EINVAL, lambda: vol.trim(BLOCK, 0, nbd.CMD_FLAG_DF)))
check("libnbd fast zero that keeps its space",
      fails(errno.ENOTSUP, lambda: vol.zero(BLOCK, 0, nbd.CMD_FLAG_FAST_ZERO | nbd.CMD_FLAG_NO_HOLE)))
vol.zero(3 * BLOCK, BLOCK, nbd.CMD_FLAG_FAST_ZERO)
check("libnbd fast zero", vol.pread(BLOCK, BLOCK) == bytes(BLOCK))
vol.zero(2 * BLOCK, 100, nbd.CMD_FLAG_NO_HOLE)
check("libnbd zero that keeps its space", extents(vol, 4 * BLOCK, 0) == [3 * BLOCK, 0, BLOCK, 3])
vol.pwrite(b"y" * BLOCK, 0, nbd.CMD_FLAG_FUA)
vol.trim(BLOCK + 100, BLOCK - 100, nbd.CMD_FLAG_FUA)
check("libnbd trim leaves parts of blocks", vol.pread(BLOCK, 0) == b"y" * BLOCK and extents(vol, 2 * BLOCK, 0) == [BLOCK, 0, BLOCK, 3])
vol.cache(1 << 20, 0)
check("libnbd cache", True)
check("libnbd the connection lives on after errors", vol.pread(10, 0) == b"y" * 10)

is_snapshot = "@" in view
view = connect(view)
check("libnbd write to a view", fails(errno.EPERM, lambda: view.pwrite(bytes(512), 0)))
check("libnbd trim of a view", fails(errno.EPERM, lambda: view.trim(BLOCK, 0)))
check("libnbd read of a view", view.is_read_only() and (is_snapshot or view.pread(10, 0) == b"y" * 10))

simple = connect("vol", structured=False)
check("libnbd simple replies", simple.pread(10, 0) == b"y" * 10 and simple.pread(BLOCK, 1 << 20) == bytes(BLOCK) and not simple.can_df())
check("libnbd an error as a simple reply", fails(errno.EINVAL, lambda: simple.pread(512, size)) and simple.pread(10, 0) == b"y" * 10)
for flags in (0, nbd.HANDSHAKE_FLAG_FIXED_NEWSTYLE, nbd.HANDSHAKE_FLAG_NO_ZEROES):
    plain = connect("vol", structured=flags == nbd.HANDSHAKE_FLAG_FIXED_NEWSTYLE, flags=flags)
    check(f"libnbd handshake flags {flags}", plain.pread(10, 0) == b"y" * 10)
    plain.shutdown()
bare = connect("vol", contexts=False)
check("libnbd block status without a context", fails(errno.EINVAL, lambda: extents(bare, BLOCK, 0)) or fails(errno.ENOTSUP, lambda: extents(bare, BLOCK, 0)))

other.pwrite(b"other", 7777)
vol.flush()
check("libnbd two connections see one volume", vol.pread(5, 7777) == b"other" and other.can_multi_conn())


def model(name, seed):
    """Random commands on parts of blocks, many in flight on two connections: a range of its own for each in flight."""
    chance, clients = random.Random(seed), [connect(name), connect(name)]
    area, lanes = 1 << 20, 16
    expected = bytearray(area)
    clients[0].zero(area, 0)
    for _ in range(60):
        cookies = []
        for lane in range(lanes):
            client = chance.choice(clients)
            # Lanes meet inside of blocks.
            first = lane * (area // lanes) + (100 if lane else 0)
            last = (lane + 1) * (area // lanes) + 100 if lane < lanes - 1 else area
            offset = chance.randrange(first, last)
            count = min(chance.choice([1, 100, 512, 4096, 5000, 60000]), last - offset)
            if chance.random() < 0.7:
                data = chance.randbytes(count)
                cookies.append((client, client.aio_pwrite(nbd.Buffer.from_bytearray(bytearray(data)), offset)))
            else:
                data = bytes(count)
                cookies.append((client, client.aio_zero(count, offset, flags=chance.choice([0, nbd.CMD_FLAG_NO_HOLE]))))
            expected[offset:offset + count] = data
        for client, cookie in cookies:
            while not client.aio_command_completed(cookie):
                client.poll(-1)
        if chance.random() < 0.2:
            chance.choice(clients).flush()
    return all(bytes(client.pread(area, 0)) == bytes(expected) for client in clients)


for name in ("vol", "wide", "early", "slow"):
    check(f"libnbd random commands on {name}", model(name, 1) and model(name, 2))

# One connection, commands that overlap and are sent without waiting: the last one sent stands (S25).
slow, expected, cookies = connect("slow"), bytearray(8 * BLOCK), []
slow.zero(8 * BLOCK, 0)
chance = random.Random(3)
for number in range(300):
    count = chance.choice([1, 10, 700, 4096, 9000])
    offset = chance.randrange(0, 8 * BLOCK - count)
    data = bytes([number % 255 + 1]) * count
    cookies.append(slow.aio_pwrite(nbd.Buffer.from_bytearray(bytearray(data)), offset))
    expected[offset:offset + count] = data
for cookie in cookies:
    while not slow.aio_command_completed(cookie):
        slow.poll(-1)
check("libnbd writes that overlap keep their order", slow.pread(8 * BLOCK, 0) == bytes(expected))

for client in (vol, other, view, simple, bare, slow):
    client.shutdown()
check("libnbd clean ends", True)
