#!/usr/bin/env python3
"""Records what README shows: real commands in real terminals, as asciinema casts and as SVG that moves without scripts.

    dotnet build -c Release src/hosts/Corfu.Cli && dotnet build -c Release samples/Basics/History
    docs/recordings/record.py kill             # runs it, writes kill-*.cast and kill.svg
    docs/recordings/record.py history
    docs/recordings/record.py kill --render    # the SVG again, from the casts
    docs/recordings/record.py kill --at 12.5   # a still picture of that second, on standard output

A recording has one or more panes, each a bash on a pseudo-terminal of its own. Pauses in which no pane prints are cut
to two seconds, and lines are as wide as the terminal; nothing else is changed.
"""
import argparse, fcntl, json, os, pathlib, pty, re, select, shutil, signal, struct, subprocess, sys, tempfile
import termios, time
from xml.sax.saxutils import escape

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parents[1]
COLUMNS = 100
LONGEST_PAUSE = 2.0
HOLD = 5.0  # The last picture, before it begins again.
LINE, CHAR, MARGIN = 18, 8.0, 12
PROMPT = "$ "
KEYED = ' class="k"'


class Pane:
    """A shell on a pseudo-terminal, and what it printed when."""

    def __init__(self, name, rows, folder, path, began):
        self.name, self.rows, self.began, self.events = name, rows, began, []
        self.process, self.terminal = pty.fork()
        if self.process == 0:
            os.chdir(folder)
            os.environ.update(PS1=PROMPT, PS2="> ", TERM="dumb", NO_COLOR="1", PATH=path, HISTFILE="",
                              DOTNET_NOLOGO="1", DOTNET_CLI_TELEMETRY_OPTOUT="1")
            os.execvp("bash", ["bash", "--noprofile", "--norc", "-i"])
        fcntl.ioctl(self.terminal, termios.TIOCSWINSZ, struct.pack("HHHH", rows, COLUMNS, 0, 0))

    def text(self):
        return "".join(text for _, text in self.events)

    def type(self, command):
        os.write(self.terminal, command.encode() + b"\n")

    def save(self, file):
        header = {"version": 2, "width": COLUMNS, "height": self.rows, "title": self.name}
        lines = [json.dumps(header)] + [json.dumps([round(at, 3), "o", text]) for at, text in self.events]
        file.write_text("\n".join(lines) + "\n")


class Stage:
    """The panes of a recording, read together."""

    def __init__(self, folder, path, panes):
        began = time.monotonic()
        self.panes = {name: Pane(name, rows, folder, path, began) for name, rows in panes.items()}
        for pane in self.panes.values():
            self.until(lambda: pane.text().endswith(PROMPT), f"a prompt of {pane.name}")

    def read(self, wait):
        terminals = {pane.terminal: pane for pane in self.panes.values()}
        for terminal in select.select(list(terminals), [], [], wait)[0]:
            pane = terminals[terminal]
            text = os.read(terminal, 65536).decode(errors="replace")
            pane.events.append((time.monotonic() - pane.began, text))

    def pause(self, seconds):
        end = time.monotonic() + seconds
        while (left := end - time.monotonic()) > 0:
            self.read(left)

    def until(self, condition, what, patience=40):
        end = time.monotonic() + patience
        while not condition():
            if time.monotonic() > end:
                raise SystemExit(f"nothing shows {what}: {[pane.text()[-300:] for pane in self.panes.values()]}")
            self.read(0.1)

    def run(self, name, command):
        """Types a command and waits for the next prompt."""
        pane = self.panes[name]
        self.pause(1)
        before = len(pane.text())
        pane.type(command)
        self.until(lambda: pane.text().endswith("\n" + PROMPT) and len(pane.text()) > before + len(command),
                   f"the end of '{command}'")

    def close(self):
        for pane in self.panes.values():
            os.write(pane.terminal, b"\x03")
            os.kill(pane.process, signal.SIGKILL)
            os.close(pane.terminal)  # Hangs up: what the shell started ends.
            os.waitpid(pane.process, 0)


def kill(stage):
    """A storage unit dies while numbers go into the log."""
    appends = stage.panes["appends"]
    stage.run("operator", "corfu cluster up --dir demo --units 3 --replicas 2 --spares 1 --sequencers 2 | tail -1")
    connect = "C=$(corfu cluster status --dir demo | head -1)"
    stage.run("operator", connect)
    appends.type(connect)
    stage.pause(2)
    appends.type("while sleep 0.2; do date +%T.%1N; done | corfu log append --lines --connect $C")
    stage.until(lambda: "e1:8\t" in appends.text(), "appends")
    stage.run("operator", "kill -9 $(pgrep -f $PWD/demo/unit-0/)     # a storage unit")
    stage.until(lambda: re.search(r"e[2-9]:\d+\t", appends.text()), "appends in a new epoch")
    stage.pause(3)
    stage.run("operator", "corfu history --connect $C | cut -c1-7,74-")
    stage.run("operator", "corfu status --connect $C | head -1")
    stage.pause(2)


def history(stage):
    """An object as it was, and a fork from there."""
    stage.run("shell", "sed -n 12,28p Program.cs")
    stage.run("shell", "dotnet run -c Release --no-build")


SCENES = {
    "kill": (kill, {"appends": 11, "operator": 14}, None),
    "history": (history, {"shell": 26}, ROOT / "samples/Basics/History"),
}


def record(name):
    scene, panes, folder = SCENES[name]
    work = pathlib.Path(tempfile.mkdtemp())
    try:
        tool = work / "bin" / "corfu"
        tool.parent.mkdir()
        tool.write_text(f'#!/bin/sh\nexec dotnet "{ROOT}/src/hosts/Corfu.Cli/bin/Release/net10.0/corfu.dll" "$@"\n')
        tool.chmod(0o755)
        stage = Stage(folder or work, f"{tool.parent}:{os.environ['PATH']}", panes)
        try:
            scene(stage)
            for pane in stage.panes.values():
                pane.save(HERE / f"{name}-{pane.name}.cast")
        finally:
            stage.close()
            if (work / "demo").exists():
                subprocess.run([tool, "cluster", "down", "--dir", work / "demo"], stdout=subprocess.DEVNULL)
    finally:
        shutil.rmtree(work, ignore_errors=True)


def load(name):
    """The events of each pane, at times without long pauses."""
    casts = {pane: [json.loads(line) for line in (HERE / f"{name}-{pane}.cast").read_text().splitlines()[1:]]
             for pane in SCENES[name][1]}
    shown, last, moved = 1.0, None, {}
    for at in sorted({event[0] for events in casts.values() for event in events}):
        shown += min(at - last, LONGEST_PAUSE) if last is not None else 0
        last, moved[at] = at, shown
    return {pane: [(moved[at], text) for at, _, text in events] for pane, events in casts.items()}, shown


def lines_of(events):
    """The lines of a pane, and how many of them there are from which moment on."""
    lines, column, counts = [""], 0, []
    for at, text in events:
        for part in re.findall(r"\r|\n|\t|[^\r\n\t]+", text):
            if part == "\n":
                lines.append("")
                column = 0
            elif part == "\r":
                column = 0
            else:
                part = " " * (8 - column % 8) if part == "\t" else part
                while part:
                    if column == COLUMNS:
                        lines.append("")
                        column = 0
                    fits = part[:COLUMNS - column]
                    lines[-1] = lines[-1][:column].ljust(column) + fits + lines[-1][column + len(fits):]
                    column, part = column + len(fits), part[len(fits):]
        counts.append((at, len(lines)))
    return lines, counts


def render(name, still=None):
    casts, length = load(name)
    length += HOLD
    width = int(COLUMNS * CHAR) + 2 * MARGIN
    css, body, top = [], [], 0
    for number, (pane, rows) in enumerate(SCENES[name][1].items()):
        lines, counts = lines_of(casts[pane])
        height = rows * LINE + MARGIN
        steps = [(0.0, 0)] + counts
        if still is not None:
            steps = [step for step in steps if step[0] <= still]
        shown = steps[-1][1]
        up, down = -max(0, shown - rows) * LINE, shown * LINE
        moves = [("s", lambda n: -max(0, n - rows) * LINE), ("c", lambda n: n * LINE)]
        for kind, place in moves if still is None else []:
            frames = {}
            for at, count in steps:
                frames[f"{at / length * 100:.2f}%"] = f"transform:translateY({place(count)}px)"
            css.append(f"@keyframes {kind}{number}{{{''.join(f'{at}{{{to}}}' for at, to in frames.items())}}}")
            css.append(f".{kind}{number}{{animation:{kind}{number} {length:.1f}s step-end infinite}}")
        texts = "".join(
            f'<text y="{i * LINE + 13}"{KEYED if line.startswith(PROMPT) else ""}>{escape(line)}</text>'
            for i, line in enumerate(lines[:shown]) if line.strip())
        body.append(
            f'<svg x="{MARGIN}" y="{top + MARGIN // 2}" width="{width - MARGIN}" height="{rows * LINE}">'
            f'<g class="s{number}" transform="translate(0 {up})">{texts}<rect class="c{number}" '
            f'transform="translate(0 {down})" width="{width}" height="{(len(lines) + rows) * LINE}"/></g></svg>')
        if number:
            body.append(f'<path d="M0 {top}h{width}" stroke="#444c56"/>')
        top += height
    css += [f"text{{font:13px ui-monospace,SFMono-Regular,Menlo,Consolas,'DejaVu Sans Mono',monospace;fill:#adbac7;"
            f"white-space:pre}}", ".k{fill:#f0f6fc;font-weight:bold}", "rect{fill:#22272e}",
            "@media(prefers-reduced-motion:reduce){*{animation:none!important}}"]
    title = SCENES[name][0].__doc__
    return (f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{top}" viewBox="0 0 {width} {top}" '
            f'role="img" xml:space="preserve"><title>{escape(title)}</title><style>{"".join(css)}</style>'
            f'<rect width="{width}" height="{top}" rx="6"/>{"".join(body)}</svg>\n')


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("scene", choices=SCENES)
    parser.add_argument("--render", action="store_true", help="from the casts that are there")
    parser.add_argument("--at", type=float, help="a still picture of this second, on standard output")
    options = parser.parse_args()
    if options.at is not None:
        sys.stdout.write(render(options.scene, options.at))
        return
    if not options.render:
        record(options.scene)
    svg = HERE / f"{options.scene}.svg"
    svg.write_text(render(options.scene))
    print(f"{svg.name}: {svg.stat().st_size} bytes")


main()
