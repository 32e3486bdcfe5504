"""python3 -m conformance --tool CORFU --dir FOLDER [--only TEXT] [--list]"""

from __future__ import annotations

import argparse
import sys

from corfu_client.front_ends import FrontEnds

from . import admin_checks, kill_checks, log_checks, service_checks, tango_checks
from .cluster import Cluster
from .runner import CHECKS, Bench, run_all

# Importing a module registers its checks; they run in this order.
MODULES = (service_checks, log_checks, tango_checks, admin_checks, kill_checks)


def main() -> int:
    parser = argparse.ArgumentParser(prog="conformance", description="Checks a cluster's gRPC front ends.")
    parser.add_argument("--tool", help="The corfu tool.")
    parser.add_argument("--dir", help="The folder of a cluster that runs with --grpc.")
    parser.add_argument("--only", default="", help="Run the checks whose names contain this text.")
    parser.add_argument("--list", action="store_true", help="Print the names of the checks.")
    arguments = parser.parse_args()
    names = [name for module in MODULES for name, function in CHECKS.items()
             if function.__module__ == module.__name__ and arguments.only in name]
    if arguments.list:
        print("\n".join(names))
        return 0
    if not arguments.tool or not arguments.dir:
        parser.error("--tool and --dir are needed.")
    if not names:
        parser.error(f"No check has a name with {arguments.only!r}.")
    cluster = Cluster(arguments.tool, arguments.dir)
    with FrontEnds(cluster.front_ends()) as front_ends:
        return 1 if run_all(Bench(cluster, front_ends), names) else 0


if __name__ == "__main__":
    sys.exit(main())
