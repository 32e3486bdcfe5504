namespace Salus.Coordination;

/// <summary>A volume as an agent knows it between two looks: since when each generation is there, and which regions
/// need a look. Pure.</summary>
internal sealed class KnownVolume(TimeSpan now)
{
    // By region, since when its newest generation was seen; the others since this volume was.
    private readonly Dictionary<int, TimeSpan> _since = [];
    private NodeBookView? _nodes;

    public VolumeState State { get; private set; } = VolumeState.Empty;

    /// <summary>Regions of which a member may be gone or is accused, or whose newest generation has not
    /// opened.</summary>
    public ImmutableArray<int> Troubled { get; private set; } = [];

    public TimeSpan SinceOf(int region) => _since.GetValueOrDefault(region, now);

    public void Observe(VolumeState state, NodeBookView nodes, TimeSpan at)
    {
        if (ReferenceEquals(state, State) && ReferenceEquals(nodes, _nodes)) return;
        foreach (var (region, known) in state.Regions)
        {
            if (State.Regions.TryGetValue(region, out var before) && !ReferenceEquals(known, before)
                && before.Current.Number != known.Current.Number) _since[region] = at;
        }

        var accused = state.Head.Suspicions.Select(static suspicion => (suspicion.Region, suspicion.Generation))
            .ToHashSet();
        Troubled = [.. state.Regions.Where(region => region.Value.Current is var current
            && (current.Opening is null || accused.Contains((region.Key, current.Number))
                || current.Members.Any(member => !nodes.IsLive(member)))).Select(static region => region.Key)];
        (State, _nodes) = (state, nodes);
    }
}
