using System.Collections.Immutable;
using Corfu.Protocol;
using Corfu.Simulation.Kernel;
using Corfu.Simulation.Kernel.Network;
using Salus.Coordination;
using Salus.Protocol;

namespace Corfu.Simulation.Salus;

/// <summary>Checks the invariants that users of a volume cannot see: the monitor knows what the log says, what every
/// disk holds, which machines are bad, and sees every message.</summary>
internal sealed partial class SalusMonitor(World world, SalusTruth truth) : IMessageObserver, ICallObserver
{
    private const int MostFindings = 50;

    private readonly SortedDictionary<string, SimSalusMachine> _machines = new(StringComparer.Ordinal);
    private readonly Dictionary<Guid, string> _machineOfStore = [];
    private readonly Dictionary<Incarnation, string> _machineOf = [];
    private readonly Dictionary<(RegionKey Region, Epoch Generation), ImmutableArray<RegionMember>> _members = [];
    private readonly SortedDictionary<Guid, CommitOrderCheck> _orders = [];
    private readonly Dictionary<RegionKey, RegionContentCheck> _contents = [];
    private readonly HashSet<Guid> _mayLose = [];
    private readonly SignatureCheck _signatures = new();
    private readonly RegionFilesCheck _files = new();

    public List<Violation> Violations { get; } = [];

    /// <summary>Situations that occurred, and how often.</summary>
    public SortedDictionary<string, long> Marks { get; } = new(StringComparer.Ordinal);

    public void Add(SimSalusMachine machine)
    {
        _machines.Add(machine.Name, machine);
        _machineOfStore[machine.Store.Value] = machine.Name;
    }

    /// <summary>A machine has a new store.</summary>
    public void Stored(SimSalusMachine machine) => _machineOfStore[machine.Store.Value] = machine.Name;

    /// <summary>Records that the machine had durably count no more.</summary>
    public void Lost(string machine)
    {
        foreach (var order in _orders.Values) order.Lost(machine);
    }

    public void Follow()
    {
        truth.NodesChanged = Learn;
        truth.VolumeChanged = Learn;
    }

    public void Mark(string situation, long times = 1)
    {
        if (times > 0) Marks[situation] = Marks.GetValueOrDefault(situation) + times;
    }

    public void Found(string checker, string what)
    {
        if (Violations.Count >= MostFindings) return;
        Violations.Add(new Violation(checker, $"{what} (t={world.Now / 10_000.0:F3} ms, step {world.Steps})"));
        if (world.Trace is not null) world.Explain($"VIOLATION [{checker}] {what}");
    }

    /// <summary>All that proves some batches may be gone: the next run of each volume may begin below them.</summary>
    public void MayLose()
    {
        foreach (var volume in _orders.Keys) _mayLose.Add(volume);
    }

    /// <summary>Proves of a volume, of its highest batch.</summary>
    public long ProvenOf(VolumeId volume) => OrderOf(volume).Proven;

    private void Found(Violation? found)
    {
        if (found is not null) Found(found.Checker, found.What);
    }

    private CommitOrderCheck OrderOf(VolumeId volume)
    {
        if (!_orders.TryGetValue(volume.Value, out var order))
            _orders.Add(volume.Value, order = new CommitOrderCheck($"{volume}"));
        return order;
    }

    private RegionContentCheck? ContentOf(RegionKey region)
    {
        if (_contents.TryGetValue(region, out var content)) return content;
        if (truth.StateOf(region.Volume).Head.Geometry is not { } geometry) return null;
        content = new RegionContentCheck($"{region}", geometry.BlocksOf(region.Region), SalusText.RootOf);
        _contents.Add(region, content);
        return content;
    }

    private bool IsCorrect(string? machine) => machine is not null && !_machines[machine].IsBad;

    private string NameOf(Incarnation incarnation) =>
        _machineOf.TryGetValue(incarnation, out var machine) ? $"{machine}:{incarnation}" : $"{incarnation}";

    private string? MachineOf(Incarnation incarnation) => _machineOf.GetValueOrDefault(incarnation);

    private string? MachineOf(RegionMember member) => _machineOfStore.GetValueOrDefault(member.Store.Value);

    private void Learn(NodeBookView nodes)
    {
        foreach (var node in nodes.Stores.Values)
        {
            if (_machineOfStore.TryGetValue(node.Store.Value, out var machine)) _machineOf[node.Incarnation] = machine;
        }
    }

    private void Learn(VolumeState before, VolumeState state)
    {
        foreach (var (number, region) in state.Regions)
        {
            var known = before.Regions.GetValueOrDefault(number);
            if (ReferenceEquals(known, region)) continue;
            Learn(state.Key(number), known, region);
        }

        Learn(state.Head.Id, before.Head, state.Head);
    }

    private void Learn(RegionKey key, RegionState? before, RegionState region)
    {
        foreach (var generation in region.Past.Add(region.Current))
        {
            if (_members.TryAdd((key, generation.Number), generation.Members))
            {
                _signatures.Recorded($"{key}", generation.Number.Value,
                    [.. generation.Members.Select(member => NameOf(member.Incarnation))]);
                if (generation.Number > Epoch.First) Mark("region replaced");
            }
        }

        if (region.Current.IsAdmitted) _signatures.Admitted($"{key}", region.Current.Number.Value);
        if (region.Current.Opening is not null) _signatures.Opened($"{key}", region.Current.Number.Value);
        if (region.Current is { Opening.Index: > 0 } && before?.Current.Opening is null) Mark("region recovered");
        if (before is not null && region.Past.Length > 0 && region.Past[^1].Opening is null
            && before.Current.Number != region.Current.Number) Mark("recovery superseded");
        _files.Kept($"{key}", [.. region.Checkpoints.Select(checkpoint => checkpoint.Number)]);
        if (region.Newest != (before?.Newest ?? default)) Mark("checkpoint published");
    }

    private void Learn(VolumeId volume, VolumeHead before, VolumeHead head)
    {
        if (head.Run > before.Run) Mark("run begun");
        if (head.Phase == RunPhase.Waiting && before.Phase != RunPhase.Waiting) Mark("run waits");
        if (head.Decision is { } decision && decision != before.Decision)
        {
            Mark("run decided");
            if (decision.Batch.Number > ProvenOf(volume)) Mark("prefix above all proofs");
            Found(OrderOf(volume).Decided(decision.Run, decision.Batch.Number,
                head.Losses.Any(loss => loss.Run == decision.Run) || _mayLose.Remove(volume.Value)));
        }

        foreach (var suspicion in head.Suspicions.Where(suspicion => !before.Suspicions.Contains(suspicion)))
        {
            Mark($"suspicion {suspicion.Kind}");
            Found(AccusationCheck.Accused(NameOf(suspicion.Member), $"{new RegionKey(volume, suspicion.Region)}",
                suspicion.Kind == SuspicionKind.WrongAnswer, IsCorrect(MachineOf(suspicion.Member))));
        }

        foreach (var snapshot in head.Snapshots.Where(snapshot => !before.Snapshots.Contains(snapshot)))
        {
            Mark($"snapshot {snapshot.State}");
            if (snapshot.State == SnapshotState.Diverged)
                Found(CheckerNames.Snapshot, $"the roots of snapshot {snapshot.Name} are not those of its marker");
        }
    }

    // The correct members of a region in each generation that has opened; the machines of bad ones count for nothing.
    private List<IReadOnlyList<string>> StoresOf(VolumeId volume, int region)
    {
        if (!truth.StateOf(volume).Regions.TryGetValue(region, out var known)) return [];
        return
        [
            .. known.Past.Add(known.Current).Where(generation => generation.Opening is not null)
                .Select(generation => (IReadOnlyList<string>)
                [
                    .. generation.Members.Select(MachineOf).OfType<string>().Where(IsCorrect),
                ]),
        ];
    }
}
