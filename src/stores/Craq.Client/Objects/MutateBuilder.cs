namespace Craq;

/// <summary>A mutation of objects of one chain: compares, reads and writes in one atomic step at the head (CRAQ 4.1).
/// Writes are applied only if all compares hold. Memory that is given must not change before the call has
/// ended.</summary>
public sealed class MutateBuilder
{
    private readonly ImmutableArray<ObjectCompare>.Builder _compares = ImmutableArray.CreateBuilder<ObjectCompare>();
    private readonly ImmutableArray<ObjectKey>.Builder _reads = ImmutableArray.CreateBuilder<ObjectKey>();
    private readonly ImmutableArray<ObjectOperation>.Builder _writes =
        ImmutableArray.CreateBuilder<ObjectOperation>();

    private bool _isAtHead;

    /// <summary>The object has exactly this version; <see cref="ObjectVersion.None"/>: it is absent.</summary>
    public MutateBuilder IfVersion(ObjectKey key, ObjectVersion version) =>
        If(new ObjectCompare(key, ObjectCompareKind.Version, version, default));

    public MutateBuilder IfExists(ObjectKey key) =>
        If(new ObjectCompare(key, ObjectCompareKind.Exists, default, default));

    public MutateBuilder IfAbsent(ObjectKey key) =>
        If(new ObjectCompare(key, ObjectCompareKind.Absent, default, default));

    /// <summary>The object has exactly this value.</summary>
    public MutateBuilder IfValue(ObjectKey key, ReadOnlyMemory<byte> value) =>
        If(new ObjectCompare(key, ObjectCompareKind.Value, default, value));

    /// <summary>Returns the object as it is before the writes (<see cref="WriteResult.Reads"/>).</summary>
    public MutateBuilder Read(ObjectKey key)
    {
        _reads.Add(key);
        return this;
    }

    /// <param name="expires">The object reads as absent from then on; null: never.</param>
    public MutateBuilder Put(
        ObjectKey key, ReadOnlyMemory<byte> value, uint flags = 0, DateTimeOffset? expires = null) =>
        Do(new ObjectOperation(ObjectOperationKind.Put, key, flags, ExpiryOf(expires), value));

    /// <summary>Deletes; a mismatch, if the object is absent.</summary>
    public MutateBuilder Delete(ObjectKey key) =>
        Do(new ObjectOperation(ObjectOperationKind.Delete, key, 0, 0, default));

    /// <summary>Behind the value that is there; of an absent object: a mismatch.</summary>
    public MutateBuilder Append(ObjectKey key, ReadOnlyMemory<byte> value) =>
        Do(new ObjectOperation(ObjectOperationKind.Append, key, 0, ObjectOperation.KeepExpiry, value));

    /// <summary>Before the value that is there; of an absent object: a mismatch.</summary>
    public MutateBuilder Prepend(ObjectKey key, ReadOnlyMemory<byte> value) =>
        Do(new ObjectOperation(ObjectOperationKind.Prepend, key, 0, ObjectOperation.KeepExpiry, value));

    /// <summary>Adds to a decimal number of 64 bits without sign: wraps at 2^64 upwards, stops at 0 downwards. Of an
    /// absent object, or one of another form: a mismatch.</summary>
    public MutateBuilder Add(ObjectKey key, long delta) =>
        Do(new ObjectOperation(ObjectOperationKind.Add, key, 0, ObjectOperation.KeepExpiry, default, delta));

    /// <summary>Another expiry; null: never. Of an absent object: a mismatch.</summary>
    public MutateBuilder Touch(ObjectKey key, DateTimeOffset? expires) =>
        Do(new ObjectOperation(ObjectOperationKind.Touch, key, 0, ExpiryOf(expires), default));

    /// <summary>Answers as soon as the writes are durable at the head: earlier than committed, and lost if the head is
    /// lost before they go down the chain.</summary>
    public MutateBuilder AnswerAtHead()
    {
        _isAtHead = true;
        return this;
    }

    internal static MutateBuilder Clear() => new MutateBuilder().Do(
        new ObjectOperation(ObjectOperationKind.Clear, "*", 0, 0, default));

    internal IEnumerable<ObjectKey> Keys => _compares.Select(compare => compare.Key).Concat(_reads)
        .Concat(_writes.Select(write => write.Key));

    internal Mutation Build(int maxValue)
    {
        if (_compares.Count + _reads.Count + _writes.Count == 0)
            throw new InvalidOperationException("A mutation needs a compare, a read or a write.");
        if (Math.Max(_compares.Count, Math.Max(_reads.Count, _writes.Count)) > MutateRequest.MaxItems)
            throw new InvalidOperationException(
                $"A mutation has at most {MutateRequest.MaxItems} compares, reads and writes each: split it.");
        foreach (var write in _writes) CheckValue(write.Value.Length, maxValue);
        var mutation = new Mutation(
            _compares.ToImmutable(), _reads.ToImmutable(), _writes.ToImmutable(), _isAtHead);
        var bytes = mutation.ValueBytes;
        if (bytes > MessageLimits.MaxFrame / 2)
            throw new ArgumentException($"A mutation has at most {MessageLimits.MaxFrame / 2} bytes of values, not "
                + $"{bytes}: split it.");
        return mutation;
    }

    internal static void CheckValue(int length, int maxValue)
    {
        if (length > maxValue)
            throw new ArgumentException($"A value has at most {maxValue} bytes here, not {length}: store it in "
                + "parts, and a manifest of them last.");
    }

    internal static long ExpiryOf(DateTimeOffset? expires) =>
        expires is { } at ? Math.Max(1, at.ToUnixTimeMilliseconds()) : 0;

    private MutateBuilder If(ObjectCompare compare)
    {
        _compares.Add(compare);
        return this;
    }

    private MutateBuilder Do(ObjectOperation write)
    {
        _writes.Add(write);
        return this;
    }
}

/// <summary>The content of a mutation, whatever its id and however often it is sent.</summary>
internal sealed record Mutation(ImmutableArray<ObjectCompare> Compares, ImmutableArray<ObjectKey> Reads,
    ImmutableArray<ObjectOperation> Writes, bool IsAtHead = false)
{
    public static Mutation Of(ObjectOperation write) => new([], [], [write]);

    public static Mutation Of(ObjectCompare compare, ObjectOperation write) => new([compare], [], [write]);

    public long ValueBytes =>
        Writes.Sum(write => (long)write.Value.Length) + Compares.Sum(one => (long)one.Value.Length);

    /// <summary>Whether the mismatch can never turn into a match: a version names one write for ever, so an object that
    /// does not have it now never has it again.</summary>
    public bool IsFinalMismatch(int index) =>
        index < Compares.Length && Compares[index] is { Kind: ObjectCompareKind.Version, Version.IsNone: false };
}
