namespace Craq.Calls;

/// <summary>Reads and writes of chains, for the handles.</summary>
internal sealed class ChainCalls(
    ITransport transport, ChainMap map, Retry retry, CallClock clock, IEntropy entropy, CraqClientOptions options)
{
    // New with each client: ids of an earlier one are never used again.
    private readonly Guid _writer = entropy.NewGuid();
    private long _sequence;

    public ChainMap Map => map;

    public CraqClientOptions Options => options;

    public async ValueTask<ImmutableArray<StoredObject>> ReadAsync(ChainEntry chain, ImmutableArray<ObjectKey> keys,
        ReadTerms terms, CraqSession? session, bool withValues, CancellationToken cancellationToken)
    {
        foreach (var key in keys) Check(key);
        var began = clock.GetTimestamp();
        try
        {
            return await retry.RunAsync(
                new ReadCall(transport, map, chain, keys, terms, session, withValues), cancellationToken);
        }
        finally
        {
            CraqClientTelemetry.ReadTime.Record(clock.GetElapsedTime(began).TotalSeconds);
        }
    }

    public async ValueTask<WriteResult> WriteAsync(
        ChainEntry chain, Mutation mutation, CraqSession? session, CancellationToken cancellationToken)
    {
        foreach (var write in mutation.Writes) Check(write.Key);
        var began = clock.GetTimestamp();
        try
        {
            return await retry.RunAsync(
                new WriteCall(transport, chain, mutation, session, NextId), cancellationToken);
        }
        finally
        {
            CraqClientTelemetry.WriteTime.Record(clock.GetElapsedTime(began).TotalSeconds);
        }
    }

    /// <summary>A transaction with a part for each chain, in the order of their ids.</summary>
    public async ValueTask<CraqTransactionResult> TransactAsync(
        ImmutableArray<ClientPart> parts, CancellationToken cancellationToken)
    {
        foreach (var write in parts.SelectMany(part => part.Mutation.Writes)) Check(write.Key);
        var began = clock.GetTimestamp();
        try
        {
            while (true)
            {
                foreach (var part in parts)
                {
                    if (part.Chain.Mark is null)
                        await retry.RunAsync(new MarkCall(transport, part.Chain), cancellationToken);
                }

                var call = new TransactCall(transport, parts, entropy.NewGuid());
                if (await retry.RunAsync(call, cancellationToken) is { } result) return result;
                if (clock.GetElapsedTime(began) >= options.OperationTimeout)
                    throw new CraqUnavailableException($"{call.What}: given up, since the chains forget their recent "
                        + "writes too soon. More memory for the nodes' windows of write ids helps.",
                        CraqStatus.Forgotten);
            }
        }
        finally
        {
            CraqClientTelemetry.TransactTime.Record(clock.GetElapsedTime(began).TotalSeconds);
        }
    }

    /// <exception cref="ChainNotFoundException">No node knows the keyspace.</exception>
    /// <exception cref="CraqUnavailableException">No node answers.</exception>
    public async ValueTask<KeyspaceView> ViewOfAsync(KeyspaceEntry keyspace, CancellationToken cancellationToken)
    {
        if (keyspace.View is { } known) return known;
        var began = clock.GetTimestamp();
        for (var pauses = 1; ; pauses++)
        {
            var (outcome, view) = await map.FindKeyspaceAsync(keyspace.Name, cancellationToken);
            if (view is not null) return keyspace.View = view;
            var waited = clock.GetElapsedTime(began);
            if (outcome == LearnOutcome.Unknown && waited >= options.UnknownChainTimeout)
                throw new ChainNotFoundException($"No node knows the keyspace '{keyspace.Name}'. "
                    + "'corfu craq keyspace create' makes one.");
            if (waited >= options.OperationTimeout || clock.Closed.IsCancellationRequested)
                throw new CraqUnavailableException($"The keyspace '{keyspace.Name}' cannot be looked up: no node "
                    + "answers. Do the nodes run, and is the network between open?", Status.Ok);
            await clock.DelayAsync(BackOff.After(pauses, options.RetryDelay, options.MaxRetryDelay, entropy),
                cancellationToken);
        }
    }

    private WriteId NextId() => new(_writer, Interlocked.Increment(ref _sequence));

    private static void Check(ObjectKey key)
    {
        if (key.Bytes.IsEmpty) throw new ArgumentException("A key is empty: it has no bytes.", nameof(key));
    }
}
