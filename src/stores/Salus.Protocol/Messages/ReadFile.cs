namespace Salus.Protocol;

/// <summary>Reads a part of a checkpoint file. The reader knows the file's digest, and checks the whole.</summary>
public sealed record ReadFileRequest(Epoch Epoch, RegionKey Region, long File, long Offset, int Length)
    : Request<ReadFileResponse>(SalusOpcode.ReadFile, Epoch)
{
    public const int MaxLength = 1 << 20;

    public override bool AnswerKeepsInput() => true;

    public override void WriteBody(ref WireWriter w)
    {
        w.Region(Region);
        w.Int64(File);
        w.Int64(Offset);
        w.Int32(Length);
    }

    internal static ReadFileRequest Read(Epoch epoch, ref WireReader r)
    {
        var request = new ReadFileRequest(epoch, r.Region(), r.Number(), r.Number(), r.Int32());
        return request.Length is > 0 and <= MaxLength
            ? request
            : throw new MalformedDataException("A read of a file has no length, or is too long.");
    }

    public override Response ReadResponse(Status status, Epoch epoch, ref WireReader r) => status == Status.Ok
        ? new ReadFileResponse(status, epoch) { Total = r.Number(), Bytes = r.Bytes() }
        : Fail(status, epoch);

    public override Response Fail(Status status, Epoch epoch) => new ReadFileResponse(status, epoch);
}

/// <summary>A part of a file; <see cref="SalusStatus.NotFound"/>: there is no such file.</summary>
public sealed record ReadFileResponse(Status Status, Epoch Epoch) : Response(Status, Epoch)
{
    /// <summary>Bytes of the file.</summary>
    public long Total { get; init; }

    /// <summary>Fewer than asked for at the file's end.</summary>
    public ReadOnlyMemory<byte> Bytes { get; init; }

    public override void WriteBody(ref WireWriter w)
    {
        if (!IsOk) return;
        w.Int64(Total);
        w.Bytes(Bytes.Span);
    }
}
