namespace Tango;

/// <summary>
/// When a runtime makes checkpoints by itself, of the objects and groups that it has open and of the directory: after
/// so many updates, or so many bytes of them, since the last one. Those that have few updates follow once the log has
/// grown by as many positions, so that they do not keep its history. The runtimes that have an object open need not
/// agree.
/// </summary>
public sealed record CheckpointPolicy
{
    /// <summary>Updates of an object, or of a group together. An opener plays about so many at most. Default
    /// 50,000.</summary>
    public long Updates { get; init; } = 50_000;

    /// <summary>Bytes of the updates' keys and arguments. Default 64 MiB.</summary>
    public long Bytes { get; init; } = 64 << 20;

    /// <summary>Whether the log is trimmed after checkpoints, as <see cref="TangoRuntime.TrimAsync"/> does. Default
    /// true.</summary>
    public bool TrimsLog { get; init; } = true;
}
