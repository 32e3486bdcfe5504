namespace Corfu.Client;

/// <summary>Limits of a <see cref="StreamCursor"/>.</summary>
public sealed record StreamCursorOptions
{
    public static readonly StreamCursorOptions Default = new();

    /// <summary>Most entries in one read; the size in use adapts to <see cref="BatchBytes"/>.</summary>
    public int MaxBatch { get; init; } = 256;

    /// <summary>Payload bytes that one batch of read-ahead aims at.</summary>
    public int BatchBytes { get; init; } = 1 << 20;

    /// <summary>Batches fetched ahead of the player.</summary>
    public int ReadAhead { get; init; } = 2;

    /// <summary>Neighbouring positions fetched in one read while walking a stream that is dense in the log.</summary>
    public int WalkWindow { get; init; } = 512;

    /// <summary>Average distance between a stream's entries up to which the walk reads windows instead of single entries.</summary>
    public int DenseDistance { get; init; } = 8;

    /// <summary>First batch of the backward scan that gets past bare junk (Tango 5); doubles up to <see cref="MaxScanBatch"/>.</summary>
    public int ScanBatch { get; init; } = 64;

    public int MaxScanBatch { get; init; } = 1024;

    /// <summary>Positions of one stream held at once; a longer backlog is walked again in pieces of this size.</summary>
    public int MaxPositions { get; init; } = 65536;

    internal StreamCursorOptions Validated()
    {
        ArgumentOutOfRangeException.ThrowIfLessThan(MaxBatch, 1);
        ArgumentOutOfRangeException.ThrowIfLessThan(BatchBytes, 1);
        ArgumentOutOfRangeException.ThrowIfLessThan(ReadAhead, 1);
        ArgumentOutOfRangeException.ThrowIfLessThan(WalkWindow, 1);
        ArgumentOutOfRangeException.ThrowIfLessThan(ScanBatch, 1);
        ArgumentOutOfRangeException.ThrowIfLessThan(MaxScanBatch, ScanBatch);
        ArgumentOutOfRangeException.ThrowIfLessThan(MaxPositions, Protocol.StreamHeader.MaxBackpointers);
        return this;
    }
}
