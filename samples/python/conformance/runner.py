"""Named checks: each runs once, prints one line, and fails on its own."""

from __future__ import annotations

import faulthandler
import time
import traceback
import uuid
from collections.abc import Callable
from dataclasses import dataclass

from corfu_client.front_ends import FrontEnds

from .cluster import Cluster


@dataclass
class Bench:
    """What a check works with."""

    cluster: Cluster
    front_ends: FrontEnds

    def fresh_name(self, kind: str) -> str:
        """A name that no other check uses: all of them share one cluster."""
        return f"{kind}-{uuid.uuid4().hex[:8]}"

    def eventually(self, what: str, holds: Callable[[], bool], patience: float = 30.0) -> None:
        """For what has no answer to wait for. A check that asks in vain fails and says what it waited for."""
        deadline = time.monotonic() + patience
        while not holds():
            if time.monotonic() > deadline:
                raise AssertionError(f"{what}: not within {patience:.0f} s")
            time.sleep(0.05)


# Seconds that a check may take, kills and their mending included.
LONGEST = 120

Check = Callable[[Bench], None]
CHECKS: dict[str, Check] = {}


def check(name: str) -> Callable[[Check], Check]:
    def add(function: Check) -> Check:
        if name in CHECKS:
            raise ValueError(f"Two checks have the name {name!r}.")
        CHECKS[name] = function
        return function

    return add


def same(actual: object, expected: object, what: str = "value") -> None:
    """Unlike a bare assert it says both sides, and holds under python -O too."""
    if actual != expected:
        raise AssertionError(f"{what} is {actual!r}, expected {expected!r}")


def holds(condition: object, what: str) -> None:
    if not condition:
        raise AssertionError(what)


def run_all(bench: Bench, names: list[str]) -> int:
    """Returns the number of failures. The last line counts."""
    failed = 0
    for name in names:
        began = time.monotonic()
        # A check that hangs ends the program, with the stacks of its threads.
        faulthandler.dump_traceback_later(LONGEST, exit=True)
        try:
            CHECKS[name](bench)
            print(f"ok {name} ({time.monotonic() - began:.1f} s)", flush=True)
        except Exception as failure:  # Whatever it is, the other checks still mean something.
            failed += 1
            print(f"FAILED {name}: {type(failure).__name__}: {failure}", flush=True)
            for frame in traceback.extract_tb(failure.__traceback__):
                print(f"    {frame.filename}:{frame.lineno}: {frame.line}", flush=True)
    faulthandler.cancel_dump_traceback_later()
    print(f"conformance {len(names) - failed} passed {failed} failed", flush=True)
    return failed
