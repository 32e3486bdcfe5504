"""The cluster under test: processes on this machine, started by `corfu cluster up --grpc`."""

from __future__ import annotations

import json
import os
import signal
import subprocess
from dataclasses import dataclass
from pathlib import Path
from typing import Any


@dataclass(frozen=True)
class Node:
    name: str
    process: int
    front_end: str  # HOST:PORT
    duties: frozenset[str]


class Cluster:
    def __init__(self, tool: str, folder: str) -> None:
        self._tool = tool
        self._folder = Path(folder)

    def up(self) -> None:
        """Starts what does not run; processes that live are left alone."""
        self._run("up")

    def status(self) -> dict[str, Any]:
        """Also of a cluster that does not serve: the tool then exits with 1 and prints the same."""
        return json.loads(self._run("status", "--json", codes=(0, 1)))

    def nodes(self) -> list[Node]:
        """Those that run, in the order of the cluster's file."""
        roles: dict[str, list[dict[str, Any]]] = {}
        for role in self.status()["roles"]:
            if role.get("processId"):
                roles.setdefault(role["node"], []).append(role)
        return [
            Node(name, of[0]["processId"], self._front_end(name),
                 frozenset(f'{role["role"]} {role["duty"]}' for role in of))
            for name, of in roles.items()]

    def _front_end(self, node: str) -> str:
        """As the node's own file has it: it stays the same from start to start."""
        front_ends = json.loads((self._folder / node / "node.json").read_text())["frontEnds"]
        return next(own["listen"] for own in front_ends if own["kind"] == "grpc")

    def front_ends(self) -> list[str]:
        return [node.front_end for node in self.nodes()]

    def kill(self, front_end: str) -> Node:
        """kill -9 of the process that serves the front end."""
        node = next(node for node in self.nodes() if node.front_end == front_end)
        os.kill(node.process, signal.SIGKILL)
        return node

    def _run(self, verb: str, *options: str, codes: tuple[int, ...] = (0,)) -> str:
        done = subprocess.run(
            [self._tool, "cluster", verb, "--dir", str(self._folder), *options], capture_output=True, text=True, check=False)
        if done.returncode not in codes:
            raise RuntimeError(f"cluster {verb} ended with {done.returncode}: {done.stderr.strip() or done.stdout}")
        return done.stdout
