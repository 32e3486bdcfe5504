namespace Salus.Coordination;

/// <summary>The nodes and volumes that a process has played of its log: immutable.</summary>
/// <param name="ById">The same entries, by their volumes.</param>
/// <param name="Volumes">The states of the volumes in <paramref name="Entries"/>, as far as they are made.</param>
public sealed record MapView(NodeBookView Nodes, ImmutableSortedDictionary<string, VolumeEntry> Entries,
    ImmutableDictionary<VolumeId, VolumeEntry> ById, ImmutableDictionary<VolumeId, VolumeState> Volumes)
{
    public static MapView Empty { get; } = new(NodeBookView.Empty,
        ImmutableSortedDictionary.Create<string, VolumeEntry>(StringComparer.Ordinal),
        ImmutableDictionary<VolumeId, VolumeEntry>.Empty, ImmutableDictionary<VolumeId, VolumeState>.Empty);

    /// <summary>Whether the volume is in use: no operator has deleted it.</summary>
    public bool IsInUse(VolumeId volume) => ById.ContainsKey(volume) && !IsOver(volume);

    /// <summary>Whether an operator has deleted the volume: it never comes back.</summary>
    public bool IsOver(VolumeId volume) =>
        ById.TryGetValue(volume, out var entry) && entry.Stage == VolumeStage.Deleting;

    /// <summary>Whether the region has had the generation: stores seal for no other one.</summary>
    public bool IsRecorded(RegionKey region, Epoch generation) =>
        Volumes.TryGetValue(region.Volume, out var volume)
        && volume.Regions.TryGetValue(region.Region, out var known)
        && generation >= Epoch.First && generation <= known.Current.Number;

    /// <summary>Whether a store that has something of the region is free to drop all of it: the volume is being
    /// deleted, or the region has moved away for good.</summary>
    // While a recovery may read the store, its copy may be the only good one (S9, S19). Of a volume that has no entry
    // nothing is known: it stays.
    public bool MayForget(RegionKey region, StoreId store)
    {
        if (IsOver(region.Volume)) return true;
        if (!Volumes.TryGetValue(region.Volume, out var volume)
            || !volume.Regions.TryGetValue(region.Region, out var known)) return false;
        var named = Planted.Is("forgets-a-copy-in-need") ? [known.Current] : known.Generations;
        return known.Current.IsAdmitted && known.Current.Members.All(static member => member.IsFilled)
            && named.All(generation => generation.Members.All(member => member.Store != store));
    }

    internal MapView With(IReadOnlyDictionary<string, VolumeEntry> entries) => this with
    {
        Entries = entries.ToImmutableSortedDictionary(StringComparer.Ordinal),
        ById = entries.Values.ToImmutableDictionary(static entry => entry.Id),
    };
}
