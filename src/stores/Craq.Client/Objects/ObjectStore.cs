using Craq.Calls;

namespace Craq;

/// <summary>Objects by key: of one chain (<see cref="CraqChain"/>), or of a keyspace over many
/// (<see cref="CraqKeyspace"/>). Handles are cheap and thread-safe.</summary>
/// <remarks>Cancelling a write leaves its outcome unknown: it may have been applied.</remarks>
public abstract class ObjectStore
{
    private readonly ChainCalls _calls;

    private protected ObjectStore(ChainCalls calls, string name, ReadTerms terms, CraqSession? session)
    {
        _calls = calls;
        Name = name;
        Terms = terms;
        InSession = session;
    }

    /// <summary>The chain's name, or the keyspace's.</summary>
    public string Name { get; }

    private protected ReadTerms Terms { get; }

    private protected CraqSession? InSession { get; }

    private protected ChainCalls Calls => _calls;

    /// <exception cref="CraqUnavailableException">No replica kept the promise in time.</exception>
    public async ValueTask<StoredObject> GetAsync(
        ObjectKey key, ReadTerms terms = default, CancellationToken cancellationToken = default)
    {
        var chain = await ChainOfAsync(key, cancellationToken);
        return (await _calls.ReadAsync(chain, [key], Of(terms), InSession, true, cancellationToken))[0];
    }

    /// <summary>The object without its value.</summary>
    public async ValueTask<StoredObject> FindAsync(
        ObjectKey key, ReadTerms terms = default, CancellationToken cancellationToken = default)
    {
        var chain = await ChainOfAsync(key, cancellationToken);
        return (await _calls.ReadAsync(chain, [key], Of(terms), InSession, false, cancellationToken))[0];
    }

    /// <summary>Objects in the order of the keys. Each keeps the promise for itself: together they are no
    /// snapshot.</summary>
    public async ValueTask<ImmutableArray<StoredObject>> GetManyAsync(ImmutableArray<ObjectKey> keys,
        ReadTerms terms = default, CancellationToken cancellationToken = default)
    {
        if (keys.IsDefaultOrEmpty) return [];
        var found = new StoredObject[keys.Length];
        var byChain = new Dictionary<ChainEntry, List<int>>();
        for (var i = 0; i < keys.Length; i++)
        {
            var chain = await ChainOfAsync(keys[i], cancellationToken);
            if (!byChain.TryGetValue(chain, out var places)) byChain[chain] = places = [];
            places.Add(i);
        }

        await Task.WhenAll(byChain.Select(async part =>
        {
            ImmutableArray<ObjectKey> own = [.. part.Value.Select(place => keys[place])];
            var objects = await _calls.ReadAsync(part.Key, own, Of(terms), InSession, true, cancellationToken);
            for (var i = 0; i < own.Length; i++) found[part.Value[i]] = objects[i];
        }));
        return [.. found];
    }

    /// <param name="expires">The object reads as absent from then on; null: never.</param>
    public ValueTask<WriteResult> PutAsync(ObjectKey key, ReadOnlyMemory<byte> value, uint flags = 0,
        DateTimeOffset? expires = null, CancellationToken cancellationToken = default)
    {
        CheckValue(value);
        return WriteAsync(key, Mutation.Of(new ObjectOperation(
            ObjectOperationKind.Put, key, flags, MutateBuilder.ExpiryOf(expires), value)), cancellationToken);
    }

    /// <summary>Deletes; a mismatch, if the object is absent.</summary>
    public ValueTask<WriteResult> DeleteAsync(ObjectKey key, CancellationToken cancellationToken = default) =>
        WriteAsync(key, Mutation.Of(new ObjectOperation(ObjectOperationKind.Delete, key, 0, 0, default)),
            cancellationToken);

    /// <summary>Behind the value that is there; of an absent object: a mismatch.</summary>
    public ValueTask<WriteResult> AppendAsync(
        ObjectKey key, ReadOnlyMemory<byte> value, CancellationToken cancellationToken = default) =>
        ExtendAsync(ObjectOperationKind.Append, key, value, cancellationToken);

    /// <summary>Before the value that is there; of an absent object: a mismatch.</summary>
    public ValueTask<WriteResult> PrependAsync(
        ObjectKey key, ReadOnlyMemory<byte> value, CancellationToken cancellationToken = default) =>
        ExtendAsync(ObjectOperationKind.Prepend, key, value, cancellationToken);

    /// <summary>Adds to a decimal number of 64 bits without sign: wraps at 2^64 upwards, stops at 0 downwards. Of an
    /// absent object, or one of another form: a mismatch.</summary>
    public ValueTask<WriteResult> IncrementAsync(
        ObjectKey key, long delta = 1, CancellationToken cancellationToken = default) =>
        WriteAsync(key, Mutation.Of(new ObjectOperation(
            ObjectOperationKind.Add, key, 0, ObjectOperation.KeepExpiry, default, delta)), cancellationToken);

    /// <summary>Another expiry; null: never. Of an absent object: a mismatch.</summary>
    public ValueTask<WriteResult> TouchAsync(
        ObjectKey key, DateTimeOffset? expires, CancellationToken cancellationToken = default) =>
        WriteAsync(key, Mutation.Of(new ObjectOperation(
            ObjectOperationKind.Touch, key, 0, MutateBuilder.ExpiryOf(expires), default)), cancellationToken);

    /// <summary>Puts the value if the object has exactly this version; <see cref="ObjectVersion.None"/>: if it is
    /// absent.</summary>
    public ValueTask<WriteResult> CompareAndSetAsync(ObjectKey key, ObjectVersion expected,
        ReadOnlyMemory<byte> value, uint flags = 0, DateTimeOffset? expires = null,
        CancellationToken cancellationToken = default)
    {
        CheckValue(value);
        return WriteAsync(key, Mutation.Of(
            new ObjectCompare(key, ObjectCompareKind.Version, expected, default),
            new ObjectOperation(ObjectOperationKind.Put, key, flags, MutateBuilder.ExpiryOf(expires), value)),
            cancellationToken);
    }

    /// <summary>Compares, reads and writes in one atomic step.</summary>
    /// <exception cref="ArgumentException">The mutation is too large, or its keys are of several chains.</exception>
    public async ValueTask<WriteResult> MutateAsync(
        MutateBuilder builder, CancellationToken cancellationToken = default)
    {
        ArgumentNullException.ThrowIfNull(builder);
        var mutation = builder.Build(_calls.Options.MaxValue);
        ChainEntry? chain = null;
        foreach (var key in builder.Keys)
        {
            var own = await ChainOfAsync(key, cancellationToken);
            if (chain is not null && own.Id != chain.Id)
                throw new ArgumentException($"A mutation's keys are of one chain; '{key}' of {Name} is of another one "
                    + "than the keys before. Keys that are written together belong into one chain by its name.",
                    nameof(builder));
            chain = own;
        }

        return await _calls.WriteAsync(chain!, mutation, InSession, cancellationToken);
    }

    /// <summary>Deletes all objects. A keyspace is cleared chain by chain, and not in one step.</summary>
    public abstract ValueTask<WriteResult> ClearAsync(CancellationToken cancellationToken = default);

    private protected abstract ValueTask<ChainEntry> ChainOfAsync(ObjectKey key, CancellationToken cancellationToken);

    private ValueTask<WriteResult> ExtendAsync(ObjectOperationKind kind, ObjectKey key, ReadOnlyMemory<byte> value,
        CancellationToken cancellationToken)
    {
        CheckValue(value);
        return WriteAsync(key, Mutation.Of(
            new ObjectOperation(kind, key, 0, ObjectOperation.KeepExpiry, value)), cancellationToken);
    }

    private async ValueTask<WriteResult> WriteAsync(
        ObjectKey key, Mutation mutation, CancellationToken cancellationToken)
    {
        var chain = await ChainOfAsync(key, cancellationToken);
        return await _calls.WriteAsync(chain, mutation, InSession, cancellationToken);
    }

    private void CheckValue(ReadOnlyMemory<byte> value) =>
        MutateBuilder.CheckValue(value.Length, _calls.Options.MaxValue);

    private ReadTerms Of(ReadTerms terms) => terms.Or(Terms);
}
