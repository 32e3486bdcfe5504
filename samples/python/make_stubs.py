"""Makes Python stubs from .proto files: make_stubs.py TARGET ROOT...

Debian's grpc_tools carries a compiler that is older than the `optional` fields of proto3. So protoc (package
protobuf-compiler) makes the messages and a descriptor set, and grpc_tools makes the service stubs from the set.
"""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from grpc_tools import protoc


def make_stubs(target: Path, roots: list[Path]) -> int:
    """Returns the number of .proto files that have stubs in target afterwards."""
    target.mkdir(parents=True, exist_ok=True)
    made = 0
    # Files of one root may import those of another.
    includes = [f"-I{root}" for root in roots]
    for root in roots:
        files = sorted(path.relative_to(root).as_posix() for path in root.rglob("*.proto"))
        if not files:
            raise SystemExit(f"{root} holds no .proto file.")
        descriptors = target / f"{root.name}-{made}.descriptors"
        subprocess.run(
            ["protoc", *includes, f"--python_out={target}", f"--pyi_out={target}",
             "--include_imports", f"--descriptor_set_out={descriptors}", *files],
            check=True)
        # main, not `python3 -m`: the module run as a program adds an include path, which a descriptor set excludes.
        code = protoc.main(
            ["protoc", f"--descriptor_set_in={descriptors}", f"--grpc_python_out={target}", *files])
        if code != 0:
            raise SystemExit(f"grpc_tools made no stubs of {root}.")
        made += len(files)
    return made


if __name__ == "__main__":
    if len(sys.argv) < 3:
        raise SystemExit(__doc__)
    print(f"stubs of {make_stubs(Path(sys.argv[1]), [Path(root) for root in sys.argv[2:]])} files in {sys.argv[1]}")
