namespace Corfu.Storage;

/// <summary>A store's port to its log of records: FasterLog, or the simulator's. One growing address space in pages of
/// <see cref="RecordLogSizes.Page"/>, from address <see cref="FirstAddress"/> on. Each record stands in a frame,
/// <see cref="FrameHeader"/> bytes behind its beginning; frames are aligned to <see cref="Alignment"/> and never cross
/// a page's end: what does not fit goes to the next page. A commit may add a frame of the log's own, of at most
/// <see cref="CommitFrame"/> bytes. Appends and commits never overlap.</summary>
public interface IRecordLog : IDisposable
{
    /// <summary>FASTER's: XOR checksum (8), length (4).</summary>
    const int FrameHeader = 12;

    const int CommitFrame = 1024;

    const int FirstAddress = 64;

    /// <summary>Frames, and so records, start at multiples of this.</summary>
    const int Alignment = 4;

    static int Align(int length) => (length + Alignment - 1) & ~(Alignment - 1);

    static long Align(long address) => (address + Alignment - 1) & ~(long)(Alignment - 1);

    /// <summary>The address of the next frame if it fits.</summary>
    long Tail { get; }

    /// <summary>Everything below is durable.</summary>
    long FlushedUntil { get; }

    /// <summary>Begins behind the records of an earlier run, at the beginning of a page; before the first
    /// append.</summary>
    void GoOnFrom(long address, uint incarnation);

    /// <summary>Appends a frame to the volatile end. False when there is no memory left for it.</summary>
    bool TryAppend(ReadOnlySpan<byte> record, out long frame);

    /// <summary>Ends a batch: the next flush writes everything appended so far.</summary>
    void Commit();

    /// <summary>Writes and syncs what has been committed. One at a time; an error is final.</summary>
    ValueTask FlushAsync();
}

/// <summary>Opens a log over the store's segments; it is empty until it is told to go on from somewhere.</summary>
public delegate IRecordLog OpenRecordLog(ISegmentFiles files, SegmentSpace space, RecordLogSizes sizes);
