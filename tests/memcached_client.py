"""What pymemcache sees of a CRAQ node: a line for each check. Called by tests/memcached.sh with the ports of a strong and an eventual listener."""
import socket
import sys
import threading
import time

from pymemcache.client.base import Client
from pymemcache.exceptions import MemcacheClientError, MemcacheServerError


def connect(port):
    return Client(("127.0.0.1", port), timeout=30, connect_timeout=30, default_noreply=False)


strong, eventual = connect(int(sys.argv[1])), connect(int(sys.argv[2]))


def check(name, holds):
    print(("ok " if holds else "FAILED ") + name, flush=True)


def refused(error, call):
    try:
        call()
        return False
    except error:
        return True


def until(holds):
    for _ in range(300):
        if holds():
            return True
        time.sleep(0.1)
    return False


def raw(command, end):
    with socket.create_connection(("127.0.0.1", int(sys.argv[1])), timeout=30) as connection:
        connection.sendall(command)
        answer = b""
        while not answer.endswith(end):
            answer += connection.recv(4096)
        return answer


strong.flush_all()
check("set and get", strong.set("a", b"1") and strong.get("a") == b"1")
check("miss", strong.get("nothing") is None)
check("flags", strong.set("f", b"x", flags=4242) and raw(b"get f\r\n", b"END\r\n") == b"VALUE f 4242 1\r\nx\r\nEND\r\n")
check("many", strong.set_many({"m%d" % i: b"v%d" % i for i in range(50)}) == []
      and strong.get_many(["m%d" % i for i in range(50)]) == {"m%d" % i: b"v%d" % i for i in range(50)})
check("add", strong.add("a", b"2") is False and strong.add("b", b"2") is True)
check("replace", strong.replace("nothing", b"2") is False and strong.replace("a", b"3") is True)
check("append and prepend", strong.append("a", b">") and strong.prepend("a", b"<") and strong.get("a") == b"<3>")
check("append to nothing", strong.append("nothing", b"x") is False)
value, version = strong.gets("a")
check("cas", strong.cas("a", b"4", version) is True and strong.cas("a", b"5", version) is False
      and strong.cas("nothing", b"5", version) is None and strong.get("a") == b"4")
strong.set("n", b"18446744073709551615")
check("incr wraps", strong.incr("n", 2) == 1)
check("decr stops", strong.decr("n", 5) == 0)
check("incr by more than 2^63", strong.incr("n", (1 << 63) + 5) == (1 << 63) + 5)
check("incr of nothing", strong.incr("nothing", 1) is None)
check("incr of text", refused(MemcacheClientError, lambda: strong.incr("b2", 1)) if strong.set("b2", b"x") else False)
check("delete", strong.delete("b") is True and strong.delete("b") is False)
check("touch", strong.touch("a", 100) is True and strong.touch("nothing", 100) is False)
check("expiry in the past", strong.set("e", b"x", expire=-1) and strong.get("e") is None)
check("expiry comes", strong.set("e", b"x", expire=2) and until(lambda: strong.get("e") is None))
check("date as expiry", strong.set("e", b"x", expire=int(time.time()) + 3600) and strong.get("e") == b"x")
large = bytes(range(256)) * 4096
check("1 MiB", strong.set("large", large) and strong.get("large") == large)
check("above 1 MiB", refused(MemcacheServerError, lambda: strong.set("large", large + b"x")) and strong.get("large") == large)
check("key of 250 bytes", strong.set("k" * 250, b"x") and strong.get("k" * 250) == b"x")
check("noreply", strong.set("q", b"1", noreply=True) is True and strong.get("q") == b"1")
check("eventual sees it", until(lambda: eventual.get("q") == b"1"))
check("version", strong.version().count(b".") >= 1)
check("stats", strong.stats()[b"get_hits"] > 0)
strong.set("counter", b"0")


def add():
    client = connect(int(sys.argv[1]))
    for _ in range(50):
        client.incr("counter", 1)
    client.close()


threads = [threading.Thread(target=add) for _ in range(4)]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
check("increments of four clients", strong.get("counter") == b"200")
strong.flush_all(delay=1)
check("delayed flush", until(lambda: strong.get("a") is None and strong.get("counter") is None))
