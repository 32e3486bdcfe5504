namespace Salus.Region.Recovery;

/// <summary>Reads the listings of all stores that may have something of a region, with patience: a store that is heard
/// may be the only one with an acknowledged record.</summary>
internal sealed class StoreReading(RecoveryPorts ports, StoreCalls calls, VolumeState volume, RegionState region)
{
    // Stores keep the records above (S19). A return to the stable point needs them, and a region whose newest
    // checkpoint has all its batches finds the header of the last one there.
    private readonly long _from = 1 + region.Checkpoints
        .Where(checkpoint => checkpoint.Batch <= volume.Head.Stable)
        .Select(static checkpoint => checkpoint.Index).DefaultIfEmpty().Max();

    // Missing records show when the writer compares (S11); without one, nothing may show it but another store.
    private readonly bool _hasWriter = volume.Head.Phase == RunPhase.Opened;

    /// <summary>The stores of all generations that are remembered: copies count wherever they are.</summary>
    public ImmutableArray<StoreId> Stores { get; } =
    [
        .. region.Past.Add(region.Current).SelectMany(static generation => generation.Members)
            .Select(static member => member.Store).Distinct(),
    ];

    /// <summary>Reads the stores until all are heard or patience is over. Goes on until one is heard that has what was
    /// acknowledged when the anchor was admitted.</summary>
    /// <param name="isShort">Whether the stores prove that a record is missing.</param>
    public async Task<ImmutableArray<HeardStore>> ReadAsync(
        Func<ImmutableArray<HeardStore>, bool> isShort, CancellationToken cancellationToken)
    {
        using var enough = CancellationTokenSource.CreateLinkedTokenSource(cancellationToken);
        var readings = Stores.ToDictionary(static store => store, store => HearAsync(store, enough.Token));
        var all = Task.WhenAll(readings.Values);
        var begun = ports.Time.GetTimestamp();
        while (!all.IsCompleted)
        {
            await Task.WhenAny(all, ports.PauseAsync(cancellationToken));
            cancellationToken.ThrowIfCancellationRequested();
            var took = ports.Time.GetElapsedTime(begun);
            var missing = readings.Where(static reading => !reading.Value.IsCompleted);
            if (missing.All(reading => took >= PatienceWith(reading.Key)) && IsEnough(took)) break;
        }

        enough.Cancel();
        await all;
        return HeardOf(readings.Values);

        bool IsEnough(TimeSpan took)
        {
            var heard = HeardOf(readings.Values);
            return heard.Any(store => region.Informed.Contains(store.Listing.Store))
                && (took >= ports.Options.LongPatience || !isShort(heard));
        }
    }

    /// <summary>Stores of the anchor that are among these: fewer than all of them make the region suspect where roots
    /// differ.</summary>
    public int CountOf(ImmutableArray<HeardStore> heard) => region.Anchor.Members.Count(member =>
        heard.Any(store => store.Listing.Store == member.Store));

    /// <summary>The highest proof of a batch that counts.</summary>
    public CommitProof? ProofOf(ImmutableArray<HeardStore> heard)
    {
        CommitProof? highest = null;
        foreach (var store in heard)
        {
            if (store.Commit is { } proof && (highest is null || proof.Batch.Number > highest.Batch.Number)
                && volume.Head.Bar?.Voids(proof.Batch) != true && volume.Proves(proof))
                highest = proof;
        }

        return highest;
    }

    private static ImmutableArray<HeardStore> HeardOf(IEnumerable<Task<HeardStore?>> readings) =>
        [.. readings.Where(static reading => reading.IsCompletedSuccessfully).Select(static reading => reading.Result)
            .OfType<HeardStore>()];

    private TimeSpan PatienceWith(StoreId store)
    {
        if (!_hasWriter) return ports.Options.LongPatience;
        return ports.Map.Nodes.Find(store)?.State == BookedState.Gone
            ? ports.Options.GonePatience
            : ports.Options.Patience;
    }

    // Null: patience is over, or the store is forgotten and never comes back.
    private async Task<HeardStore?> HearAsync(StoreId store, CancellationToken enough)
    {
        try
        {
            while (store == ports.Store || ports.Map.Nodes.Find(store) is not null)
            {
                if (await calls.TryListAsync(store, _from, enough) is { } heard) return heard;
                await ports.PauseAsync(enough);
            }
        }
        catch (OperationCanceledException)
        {
            // The reading has ended.
        }

        return null;
    }
}
