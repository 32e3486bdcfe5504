namespace Corfu.Unit;

/// <summary>Limits of a unit's request handling.</summary>
public sealed record UnitHandlerOptions
{
    /// <summary>Answers that may wait for durability at once; requests beyond get Overloaded. Default 65,536.</summary>
    public int MaxWaitingAnswers { get; init; } = 65536;

    /// <summary>Reads that may wait for the disk at once; reads beyond get Overloaded. Default 4,096.</summary>
    public int MaxPendingReads { get; init; } = 4096;

    /// <summary>Bytes of pages that these reads may hold at once; a single read is always let in. Default 64
    /// MiB.</summary>
    public long MaxPendingReadBytes { get; init; } = 64 << 20;
}
