using Corfu.FaultRuns.Machine;
using Corfu.FaultRuns.Nodes;
using Corfu.Hosting;

namespace Corfu.FaultRuns.ZooKeeper.Nodes;

/// <summary>Front ends of one tree, each a process of <c>corfu zookeeper serve</c> at a port that it keeps.</summary>
internal sealed class FrontEnds(UndoList undo, ClusterRig log, int count)
{
    private static readonly TimeSpan s_patience = TimeSpan.FromSeconds(60);

    private readonly Child?[] _processes = new Child?[count];
    private readonly bool[] _killed = new bool[count];

    public IReadOnlyList<int> Ports { get; } = new ClusterShape().FreePorts(count, []);

    public static string NameOf(int place) => $"front end {place + 1}";

    public int IdOf(int place) => _processes[place]!.Id;

    /// <summary>Starts every front end that does not run.</summary>
    /// <returns>The fault, or null.</returns>
    public async Task<string?> UpAsync()
    {
        for (var place = 0; place < count; place++)
        {
            if (_processes[place] is { HasExited: true } ended && !_killed[place])
                return $"{NameOf(place)} has ended by itself: {ended.Output}";
            if (_processes[place] is { HasExited: false }) continue;
            _killed[place] = false;
            _processes[place] = Child.Start(undo, null, "corfu.dll", [], "dotnet", ClusterRig.Tool, "zookeeper",
                "serve", "--connect", log.Connection, "--listen", $"127.0.0.1:{Ports[place]}",
                "--connections-per-address", "0", "--verbose");
        }

        for (var place = 0; place < count; place++)
        {
            if (!await _processes[place]!.SaysAsync("127.0.0.1:", s_patience))
                return $"{NameOf(place)} does not start: {_processes[place]!.Output}";
        }

        return null;
    }

    public async Task KillAsync(int place)
    {
        _killed[place] = true;
        await _processes[place]!.KillAsync();
    }

    /// <summary>The newest lines of all, for a run that failed.</summary>
    public string Describe() => string.Join('\n',
        _processes.Select((process, place) => $"{NameOf(place)}:\n{process?.Output}"));
}
