namespace Salus.Region.Recovery;

/// <summary>The stores that may have something of a region, as the recovery of a generation calls them. The own one is
/// asked without a message.</summary>
internal sealed class StoreCalls(RecoveryPorts ports, RegionKey region, Epoch generation)
{
    private const int MaxBytes = 4 << 20;

    /// <summary>Ends the generations below at the store.</summary>
    /// <returns>False: no answer, or the store does not know the generation yet.</returns>
    public async ValueTask<bool> TrySealAsync(StoreId store, CancellationToken cancellationToken)
    {
        if (store != ports.Store)
        {
            return await CallAsync(store, new SealRegionRequest(generation, region), cancellationToken)
                is { IsOk: true };
        }

        if (ports.Log.State == StoreState.Salvaged) return true;
        if (ports.Log.TrySeal(region, generation, out var lsn) != Status.Ok) return false;
        await ports.Log.WaitDurableAsync(lsn);
        return true;
    }

    /// <summary>All that the store has of the region's log from an index on, durable there.</summary>
    /// <returns>Null: it has not answered.</returns>
    public async ValueTask<HeardStore?> TryListAsync(StoreId store, long from, CancellationToken cancellationToken)
    {
        var records = ImmutableArray.CreateBuilder<ListedRecord>();
        while (true)
        {
            var request = new ListLogRequest(generation, region, from, ListLogRequest.MaxRecords);
            var page = store == ports.Store
                ? await ListOwnAsync(request)
                : await CallAsync(store, request, cancellationToken);
            // A store that has nothing of the region is heard.
            if (page?.Status == SalusStatus.NotFound) return new HeardStore(new StoreListing(store, []), null);
            if (page is not { IsOk: true }) return null;
            records.AddRange(page.Records);
            if (!page.HasMore) return new HeardStore(new StoreListing(store, records.ToImmutable()), page.Commit);
            // A store that goes round in circles tells nothing.
            if (page.Records.IsEmpty || page.Records[^1].Head.Index < from) return null;
            from = page.Records[^1].Head.Index + 1;
        }
    }

    /// <summary>Records of another store, as many from the first one on as one answer has; no bytes: the store does not
    /// have it.</summary>
    /// <returns>Null: no answer.</returns>
    public async ValueTask<ImmutableArray<ReadOnlyMemory<byte>>?> TryReadAsync(
        StoreId store, ImmutableArray<RecordName> names, CancellationToken cancellationToken) =>
        await CallAsync(store, new ReadRecordsRequest(generation, region, names, MaxBytes), cancellationToken)
            is { IsOk: true } answer ? answer.Records : null;

    /// <summary>Null: no answer, or the store is not known.</summary>
    public async ValueTask<TResponse?> CallAsync<TResponse>(
        StoreId store, Request<TResponse> request, CancellationToken cancellationToken)
        where TResponse : Response =>
        ports.Map.Nodes.Find(store) is { } node
            ? await ports.TryCallAsync(node.StoreAddress, request, cancellationToken)
            : null;

    private async ValueTask<ListLogResponse> ListOwnAsync(ListLogRequest request)
    {
        if (ports.Log.Find(region) is not { } found)
            return (ListLogResponse)request.Fail(SalusStatus.NotFound, generation);
        var (records, hasMore) = await ports.Log.ListAsync(region, request.From, request.Most);
        return new ListLogResponse(Status.Ok, generation)
        {
            Sealed = found.Sealed,
            Records = records,
            HasMore = hasMore,
            Commit = found.Commit,
        };
    }
}

/// <summary>A store that has answered.</summary>
/// <param name="Commit">The newest proof that it has, unverified.</param>
internal sealed record HeardStore(StoreListing Listing, CommitProof? Commit);
