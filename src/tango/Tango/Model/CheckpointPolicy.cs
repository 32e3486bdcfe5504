namespace Tango;

/// <summary>
/// When a runtime makes checkpoints by itself, of the objects and groups that it has open and of the directory: after
/// so many updates, or so many bytes of them, since the last one. Those that have few updates follow once the log has
/// grown by as many positions, so that they do not keep its history.
/// </summary>
/// <remarks>
/// A large object waits until its updates are at least half as many bytes as its last checkpoint, records included:
/// an opener loads the one and plays the other. With few updates it waits until the log has grown by a position for
/// each 512 bytes of its checkpoint. The runtimes that have an object open need not agree. Each waits up to
/// a quarter longer than the policy says, by a share that follows from its identity: as a rule one of them makes the
/// checkpoint, and the others find it made.
/// </remarks>
public sealed record CheckpointPolicy
{
    // Four times as many as there are shares, so that the last waits a quarter longer.
    private const long Shares = 4 * 256;

    /// <summary>Updates of an object, or of a group together. Default 50,000.</summary>
    public long Updates { get; init; } = 50_000;

    /// <summary>Bytes of the updates' keys and arguments. Default 64 MiB.</summary>
    public long Bytes { get; init; } = 64 << 20;

    /// <summary>Whether the log is trimmed after checkpoints, as <see cref="RuntimeLog.TrimAsync"/> does. Default
    /// true.</summary>
    public bool TrimsLog { get; init; } = true;

    /// <summary>The policy of one runtime for one cohort. Limits below <see cref="Shares"/> are not spread.</summary>
    internal CheckpointPolicy SpreadFor(ulong runtime, ObjectId cohort)
    {
        // The upper bits of a multiplicative hash: all of the input has a part in them.
        var share = (long)(((runtime ^ cohort.Value) * 0x9E37_79B9_7F4A_7C15) >> 56);
        return this with { Updates = Updates + (Updates / Shares * share), Bytes = Bytes + (Bytes / Shares * share) };
    }
}
