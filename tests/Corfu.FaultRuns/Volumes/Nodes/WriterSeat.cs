using Corfu.FaultRuns.Machine;
using Corfu.FaultRuns.Nodes;

namespace Corfu.FaultRuns.Volumes.Nodes;

/// <summary>The process that has the volume mounted: one after the other, each with a history and numbers of its
/// own.</summary>
internal sealed class WriterSeat(UndoList undo, VolumeRig rig, int seed)
{
    private const long NumbersEach = 1_000_000_000;

    private readonly string _folder = Directory.CreateDirectory(Path.Combine(undo.Folder, "lives")).FullName;
    private readonly List<string> _histories = [];
    private readonly List<Child> _all = [];

    public string Folder => _folder;

    /// <summary>In the order of the mounts.</summary>
    public IReadOnlyList<string> Histories => _histories;

    /// <summary>Mounts that are over.</summary>
    public int Ended => _all.Count - 1;

    private Child Current => _all[^1];

    public string Describe() => $"life {_all.Count}: {Current.LastLine}";

    /// <summary>Writes and reads that have begun, and come to their end, after that moment.</summary>
    public bool GoesOnSince(long moment) =>
        Current.LastLine.Split(' ') is ["progress", var write, var read]
        && Math.Min(long.Parse(write), long.Parse(read)) > moment;

    /// <summary>Another process takes over where the last one has ended.</summary>
    public void Up()
    {
        if (_all.Count == 0 || Current.HasExited) Start(isAudit: false);
    }

    public Task KillAsync() => Current.KillAsync();

    /// <summary>Writes and reads of all lives.</summary>
    public string Counts()
    {
        var counts = _all.Select(life => life.Last("counts ")?.Split(' ')).OfType<string[]>().ToList();
        return $"{counts.Sum(words => long.Parse(words[1]))} puts, {counts.Sum(words => long.Parse(words[2]))} gets";
    }

    /// <summary>Ends the last life, and reads the volume whole in one more.</summary>
    /// <returns>The fault, or null.</returns>
    public async Task<string?> AuditAsync(TimeSpan patience)
    {
        Current.Tell("stop");
        if (!await Current.EndsAsync(patience)) return $"the writer does not end: {Current.Output}";
        Start(isAudit: true);
        return await Current.EndsAsync(patience) && Current.Last("ended True") is not null
            ? null
            : $"the volume cannot be mounted and read in the end: {Current.Output}";
    }

    private void Start(bool isAudit)
    {
        var life = _all.Count + 1;
        var file = Path.Combine(_folder, $"{life}.history");
        _histories.Add(file);
        var ns = rig.Log.Network is null ? null : rig.Log.NamespaceOf($"clients-{life % 2}");
        string[] command =
        [
            "dotnet", ClusterRig.Self, "volume-writer", "--connect", rig.Log.Connection, "--first",
            $"{(life * NumbersEach) + 1}", "--seed", $"{seed + (100 * life)}", "--history", file,
            .. isAudit ? ["--audit"] : Array.Empty<string>(),
        ];
        _all.Add(Child.Start(undo, ns, "Corfu.FaultRuns", [], command));
    }
}
