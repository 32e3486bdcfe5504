"""pytest plugin: kazoo's own tests (Debian's python3-kazoo) against servers that already run; tests/zookeeper.sh uses it.

  FOREIGN_ZK=127.0.0.1:2181[,...]   the servers
  FOREIGN_ZK_CTL="cmd"              run as `cmd stop 0` and `cmd start 0` where a test stops a server; without it such tests are skipped
  ZOOKEEPER_VERSION=3.9.0           read by kazoo's tests: what `srvr` says
"""
import os, shlex, subprocess
import pytest
import kazoo.testing.harness as H

class Server:
    def __init__(self, i, addr):
        self.i, self.address = i, addr
        self.secure_address = addr
        self.host, p = addr.rsplit(":", 1)
        self.client_port = int(p)
        self.running = True
    def _ctl(self, verb):
        ctl = os.environ.get("FOREIGN_ZK_CTL")
        if not ctl:
            pytest.skip("needs to %s server %d (set FOREIGN_ZK_CTL)" % (verb, self.i))
        subprocess.run(shlex.split(ctl) + [verb, str(self.i)], check=True)
    def stop(self):
        self._ctl("stop"); self.running = False
    def run(self):
        self._ctl("start"); self.running = True
    def get_logs(self, num_lines=100):
        return []

class Cluster:
    def __init__(self, addrs):
        self.s = [Server(i, a) for i, a in enumerate(addrs)]
    def __getitem__(self, k):
        try: return self.s[k]
        except IndexError: pytest.skip("test wants server %d, only %d given" % (k, len(self.s)))
    def __iter__(self): return iter(list(self.s))
    def start(self):
        for x in self.s:
            if not x.running: x.run()
    def stop(self): pass
    def terminate(self): pass
    def reset(self): pass
    def get_logs(self, *a): return []

_C = Cluster(os.environ.get("FOREIGN_ZK", "127.0.0.1:2181").split(","))
H.get_global_cluster = lambda: _C
H.CLUSTER = _C
