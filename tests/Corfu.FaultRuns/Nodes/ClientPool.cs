using Corfu.FaultRuns.Clients;
using Corfu.FaultRuns.Machine;

namespace Corfu.FaultRuns.Nodes;

/// <summary>The workload processes, their histories and how far each of them has got.</summary>
/// <param name="command">The command of each process, by its place.</param>
internal sealed class ClientPool(
    UndoList undo, ClusterRig rig, int count, int seed, Func<int, IEnumerable<string>> command,
    string folder = "histories")
{
    private readonly List<(string Name, int Slot, Child Process)> _running = [];
    private int _started;

    public string Folder { get; } = Directory.CreateDirectory(Path.Combine(undo.Folder, folder)).FullName;

    public IReadOnlyList<(string Name, int Slot, Child Process)> Running => _running;

    /// <summary>All processes, killed ones too.</summary>
    public List<Child> All { get; } = [];

    public IEnumerable<string> Histories => Directory.EnumerateFiles(Folder, "*.history").Order();

    public void Start()
    {
        for (var i = 0; i < count; i++) StartOne(i);
    }

    /// <summary>SIGKILL; another client, with a name of its own, takes its place.</summary>
    public async Task ReplaceAsync(int index)
    {
        var (_, slot, process) = _running[index];
        await process.KillAsync();
        _running.RemoveAt(index);
        StartOne(slot);
    }

    /// <summary>The longest time since when any activity of any client has begun nothing that succeeded.</summary>
    public TimeSpan Stalled()
    {
        var oldest = long.MaxValue;
        foreach (var (_, _, process) in _running)
        {
            var words = process.LastLine.Split(' ');
            if (words[0] != "progress") oldest = 0;
            else oldest = Math.Min(oldest, words.Skip(1).Min(long.Parse));
        }

        return System.Diagnostics.Stopwatch.GetElapsedTime(oldest);
    }

    /// <summary>True if every activity of every client has begun, and finished, something after that moment.</summary>
    public bool AllSince(long moment) =>
        _running.All(
            c => c.Process.LastLine.Split(' ') is ["progress", .. var times] && times.Min(long.Parse) > moment);

    public string Describe() =>
        string.Join("; ",
            _running.Select(
                c => $"{c.Name} {(c.Process.HasExited ? "ended: " + c.Process.Output : Ages(c.Process.LastLine))}"));

    public async Task<string?> StopAsync(TimeSpan patience)
    {
        foreach (var (_, _, process) in _running) process.Tell("stop");
        foreach (var (name, _, process) in _running)
        {
            if (!await process.EndsAsync(patience)) return $"{name} does not end";
        }

        return null;
    }

    private static string Ages(string line) => line.StartsWith("progress", StringComparison.Ordinal)
        ? "idle for "
            + string.Join('/',
                line.Split(' ').Skip(1)
                    .Select(
                        t =>
                            long.Parse(t) == 0
                                ? "ever"
                                : $"{System.Diagnostics.Stopwatch.GetElapsedTime(long.Parse(t)).TotalSeconds:0.0}"))
                                + " s (by activity)"
        : line;

    private void StartOne(int slot)
    {
        var name = $"c{++_started}";
        var file = Path.Combine(Folder, name + ".history");
        var ns = rig.Network is null ? null : rig.NamespaceOf($"clients-{slot % 2}");
        var process = Child.Start(
            undo, ns, "Corfu.FaultRuns", [], ["dotnet", ClusterRig.Self, .. command(slot), "--connect",
                rig.Connection, "--name", name, "--seed", $"{seed + _started * 100}", "--history", file]);
        All.Add(process);
        _running.Add((name, slot, process));
    }
}
