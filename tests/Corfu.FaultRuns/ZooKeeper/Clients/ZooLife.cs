namespace Corfu.FaultRuns.ZooKeeper.Clients;

/// <summary>History of one session, from its first packet to its last.</summary>
public sealed class ZooLife(string name)
{
    private readonly List<ZooEntry> _entries = [];
    private readonly List<string> _faults = [];

    public string Name => name;

    public IReadOnlyList<ZooEntry> Entries => _entries;

    /// <summary>Packets that no server may send.</summary>
    public IReadOnlyList<string> Faults => _faults;

    public void Add(ZooEntry entry) => _entries.Add(entry);

    public void AddFault(string fault) => _faults.Add($"{name}: {fault}");
}
