namespace Corfu.Conformance;

/// <summary>An event of the disk; events are in order. Notes are the test's own, and record the
/// acknowledgements.</summary>
internal abstract record DiskEvent
{
    public sealed record Create(int Segment) : DiskEvent;

    public sealed record Delete(int Segment) : DiskEvent;

    public sealed record Write(int Segment, long Offset, byte[] Bytes) : DiskEvent;

    public sealed record Sync(int Segment) : DiskEvent;

    public sealed record Mark(long Offset, byte[] Bytes, bool Synced) : DiskEvent;

    public sealed record Acknowledged(long Lsn) : DiskEvent;
}
