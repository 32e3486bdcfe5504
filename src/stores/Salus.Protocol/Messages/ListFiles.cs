namespace Salus.Protocol;

/// <summary>Lists the checkpoint files that a store has of a region.</summary>
public sealed record ListFilesRequest(Epoch Epoch, RegionKey Region)
    : Request<ListFilesResponse>(SalusOpcode.ListFiles, Epoch)
{
    /// <summary>Far more than a region keeps: compaction begins beyond 12.</summary>
    public const int MaxFiles = 4096;

    public override void WriteBody(ref WireWriter w) => w.Region(Region);

    internal static ListFilesRequest Read(Epoch epoch, ref WireReader r) => new(epoch, r.Region());

    public override Response ReadResponse(Status status, Epoch epoch, ref WireReader r) => status == Status.Ok
        ? new ListFilesResponse(status, epoch) { Files = r.Array(ListedFile.Size, ListedFile.Read, MaxFiles) }
        : Fail(status, epoch);

    public override Response Fail(Status status, Epoch epoch) => new ListFilesResponse(status, epoch);
}

/// <summary>The files, ascending.</summary>
public sealed record ListFilesResponse(Status Status, Epoch Epoch) : Response(Status, Epoch)
{
    public ImmutableArray<ListedFile> Files { get; init; } = [];

    public override void WriteBody(ref WireWriter w)
    {
        if (IsOk) w.Array(Files, static (ref w, file) => file.Write(ref w));
    }
}

/// <param name="Length">Bytes of the file.</param>
public readonly record struct ListedFile(CheckpointName Name, long Length)
{
    internal const int Size = (5 * 8) + (2 * Hash128.Size);

    internal void Write(ref WireWriter w)
    {
        Name.Write(ref w);
        w.Int64(Length);
    }

    internal static ListedFile Read(ref WireReader r) => new(CheckpointName.Read(ref r), r.Number());
}
