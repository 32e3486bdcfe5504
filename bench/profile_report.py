"""One scenario's section of a profile, from the files that bench/profile.sh has written."""

import collections
import os
import re
import sys

TOP = 14

SAMPLE = re.compile(r"^\s*(\d+)\s+[0-9a-f]+ (.*) \((.*)\)$")
MANAGED = re.compile(r"\[([\w.]+)\] ([\w.`+<>\[\],!|]*)::([^(\[]*)")
# Calls, errors, milliseconds in all of them.
SYNC = re.compile(r"^\s+fdatasync\s+(\d+)\s+\d+\s+([\d.]+)")

SERIALIZATION = re.compile(
    r"MessagePack|Protobuf|Codec|WireReader|WireWriter|FrameBuffer|FrameHeader|Crc32C|Formatter|Formatting|EntryFormat")
KERNEL_KINDS = (
    ("kernel: network", re.compile(r"tcp|^ip_|^__ip|(?<![a-z])sk_|skb|sock|inet|net_|loopback|dev_|napi|__local_bh")),
    ("kernel: storage", re.compile(r"ext4|jbd2|blk|bio|virtio|virtqueue|vring|fsync|filemap|folio|writeback|iomap")),
    ("kernel: scheduling and waiting", re.compile(
        r"futex|sched|wake|epoll|^ep_|hrtimer|enqueue|dequeue|pick_|finish_task|switch|idle|poll|select|"
        r"update_|raw_spin|rq_|load_avg|vruntime")),
)


SERIALIZING = "serialization and checksums"
OURS = "Corfu and Tango"
FASTER = "FASTER"
LIBRARIES = ".NET libraries (tasks, sockets, pipelines, Kestrel)"
MANAGED_KINDS = (SERIALIZING, OURS, FASTER, LIBRARIES)


def shorten(name):
    """A state machine has the name of its method; type arguments are left out."""
    name = re.sub(r"\+<(\w+)>d__\d+(`\d+)?", r".\1", name).replace(".MoveNext", "")
    return re.sub(r"\[.*\]|`\d+", "", name)


def describe(symbol, image):
    """Kind and short name of a sample."""
    if "kernel" in image or "[vdso]" in image or image.endswith(".ko"):
        name = symbol.split("+")[0]
        for kind, pattern in KERNEL_KINDS:
            if pattern.search(name):
                return kind, name
        return "kernel: other", name
    found = MANAGED.search(symbol)
    if found:
        assembly, type_name, method = found.groups()
        name = shorten(f"{type_name}.{method}")
        if SERIALIZATION.search(name) or assembly.startswith("MessagePack"):
            return SERIALIZING, name
        if assembly.startswith(("Corfu", "Tango")):
            return OURS, name
        if assembly.startswith("FASTER"):
            return FASTER, name
        return LIBRARIES, name
    file = os.path.basename(image)
    if file.startswith("libcoreclr") or file.startswith("libclrgc"):
        return "native runtime (collection, allocation)", file
    if file.startswith("libclrjit"):
        return "just-in-time compiler", file
    if file.endswith(".dll"):
        return LIBRARIES, f"{file} (precompiled)"
    if file.startswith("lib"):
        return "native libraries", f"{symbol.split('+')[0]} ({file})"
    return "runtime stubs", "stubs and helpers"


def read_samples(path, roles):
    samples = collections.Counter()
    with open(path, encoding="utf-8", errors="replace") as lines:
        for line in lines:
            found = SAMPLE.match(line.rstrip("\n"))
            if found and int(found.group(1)) in roles:
                samples[(roles[int(found.group(1))], *describe(found.group(2), found.group(3)))] += 1
    return samples


def read_syncs(path, least):
    """Calls and milliseconds of each thread that writes a unit's log: one that syncs again and again."""
    if not os.path.exists(path):
        return []
    with open(path, encoding="utf-8", errors="replace") as lines:
        rows = [SYNC.match(line) for line in lines]
    syncs = [(int(row.group(1)), float(row.group(2))) for row in rows if row]
    return [(calls, milliseconds) for calls, milliseconds in syncs if calls >= least]


def share(count, total):
    return f"{100 * count / total:.1f} %"


def main():
    name, benchmark, work, sampled, traced, rate = sys.argv[1:]
    with open(f"{work}/{name}.processes", encoding="utf-8") as lines:
        roles = {int(pid): role.split("-")[0] for pid, role in (line.split() for line in lines)}
    samples = read_samples(f"{work}/{name}.samples", roles)
    total = sum(samples.values())
    if total == 0:
        sys.exit(f"{name}: perf has no samples")
    with open(f"{work}/{name}.log", encoding="utf-8") as log:
        result = log.read().strip().splitlines()[-1]
    columns = [role for role in ("client", "front_end", "sequencer", "unit") if role in roles.values()]
    cores = total / (float(rate) * float(sampled))
    print(f"## {name}\n")
    print(f"`{benchmark}`: {result}, {cores:.2f} cores busy.\n")

    per_role, per_kind = collections.Counter(), collections.Counter()
    for (role, kind, _), count in samples.items():
        per_role[role] += count
        per_kind[(kind, role)] += count
    counts = collections.Counter(roles.values())
    heads = [role if counts[role] == 1 else f"{counts[role]} {role}s" for role in columns]
    print("| processor time | all | " + " | ".join(heads) + " |")
    print("|---|---|" + "---|" * len(columns))
    print("| all | 100 % | " + " | ".join(share(per_role[role], total) for role in columns) + " |")
    kinds = {kind: sum(per_kind[(kind, role)] for role in columns) for kind, _ in per_kind}
    for kind, count in sorted(kinds.items(), key=lambda pair: -pair[1]):
        cells = " | ".join(share(per_kind[(kind, role)], total) for role in columns)
        print(f"| {kind} | {share(count, total)} | {cells} |")

    managed = collections.Counter({sample: count for sample, count in samples.items() if sample[1] in MANAGED_KINDS})
    for title, methods in ("method", samples), ("managed method", managed):
        print(f"\n| self time | process | {title} |\n|---|---|---|")
        for (role, _, method), count in methods.most_common(TOP):
            print(f"| {share(count, total)} | {role} | `{method}` |")

    syncs = read_syncs(f"{work}/{name}.trace", 10 * float(traced))
    if syncs:
        calls, busy = sum(row[0] for row in syncs), sum(row[1] for row in syncs)
        print(f"\nfdatasync: {calls / float(traced):.0f} calls/s on {len(syncs)} threads, {1000 * busy / calls:.0f} us "
              f"each; a thread that calls it waits in it for {100 * busy / 1000 / float(traced) / len(syncs):.0f} % of "
              "the time.")
    print()


main()
