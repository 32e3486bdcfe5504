using System.Collections.Concurrent;
using System.Diagnostics;

namespace Corfu.FaultRuns.Machine;

/// <summary>A process of the run, in its namespace if there is one. Its lines are kept, and it dies with the
/// run.</summary>
internal sealed class Child
{
    private readonly Process _process;
    private readonly ConcurrentQueue<string> _lines = new();

    private Child(Process process) => _process = process;

    public int Id => _process.Id;

    public bool HasExited => _process.HasExited;

    public string LastLine { get; private set; } = "";

    public string Output => string.Join('\n', _lines);

    /// <param name="mark">Words of the command line by which the process is known again.</param>
    /// <param name="before">A program, with arguments, that runs it: strace, for one.</param>
    public static Child Start(UndoList undo, string? ns, string mark, IEnumerable<string> before,
        params string[] command)
    {
        List<string> all = [.. Network.Enter(ns)];
        all.AddRange(before);
        all.AddRange(command);
        var process = Process.Start(new ProcessStartInfo(all[0], all[1..])
        {
            RedirectStandardInput = true,
            RedirectStandardOutput = true,
            RedirectStandardError = true,
        })!;
        undo.AddProcess(process.Id, mark);
        var child = new Child(process);
        process.OutputDataReceived += (_, e) => child.Take(e.Data);
        process.ErrorDataReceived += (_, e) => child.Take(e.Data);
        process.BeginOutputReadLine();
        process.BeginErrorReadLine();
        return child;
    }

    /// <summary>The newest of the kept lines that begin so.</summary>
    public string? Last(string prefix) => _lines.LastOrDefault(l => l.StartsWith(prefix, StringComparison.Ordinal));

    /// <summary>Waits for a line that begins so; false if the process ends first.</summary>
    public async Task<bool> SaysAsync(string prefix, TimeSpan patience)
    {
        var clock = Stopwatch.StartNew();
        while (!_lines.Any(l => l.StartsWith(prefix, StringComparison.Ordinal)))
        {
            if (_process.HasExited || clock.Elapsed > patience) return false;
            await Task.Delay(10);
        }

        return true;
    }

    public void Tell(string line)
    {
        try
        {
            _process.StandardInput.WriteLine(line);
            _process.StandardInput.Flush();
        }
        catch (IOException)
        {
            // The process has ended; its absence is noticed elsewhere.
        }
    }

    public async Task KillAsync()
    {
        // Kills the parent that runs it (strace) first: it would leave the process behind.
        var children = HasExited ? "" : (await Shell.LineAsync($"cat /proc/{Id}/task/*/children 2>/dev/null")).Output;
        foreach (var child in children.Split(' ', StringSplitOptions.RemoveEmptyEntries))
            Signals.Kill(int.Parse(child));
        Signals.Kill(Id);
        await _process.WaitForExitAsync();
    }

    public async Task<bool> EndsAsync(TimeSpan patience)
    {
        using var deadline = new CancellationTokenSource(patience);
        try
        {
            await _process.WaitForExitAsync(deadline.Token);
            return true;
        }
        catch (OperationCanceledException)
        {
            return false;
        }
    }

    private void Take(string? line)
    {
        if (line is null) return;
        LastLine = line;
        _lines.Enqueue(line);
        while (_lines.Count > 200) _lines.TryDequeue(out _);
    }
}
