namespace Salus.Protocol;

/// <summary>Lists what a store has of a region's log, in the order of the indexes, without the contents.</summary>
/// <param name="From">The first index; 1 or above.</param>
/// <param name="Most">Records in the answer, up to <see cref="MaxRecords"/>.</param>
public sealed record ListLogRequest(Epoch Epoch, RegionKey Region, long From, int Most)
    : Request<ListLogResponse>(SalusOpcode.ListLog, Epoch)
{
    public const int MaxRecords = 4096;

    public override void WriteBody(ref WireWriter w)
    {
        w.Region(Region);
        w.Int64(From);
        w.Int32(Most);
    }

    internal static ListLogRequest Read(Epoch epoch, ref WireReader r)
    {
        var request = new ListLogRequest(epoch, r.Region(), r.Number(), r.Int32());
        return request.Most is > 0 and <= MaxRecords
            ? request
            : throw new MalformedDataException("A listing asks for no records, or for too many.");
    }

    public override Response ReadResponse(Status status, Epoch epoch, ref WireReader r) => status == Status.Ok
        ? new ListLogResponse(status, epoch)
        {
            Sealed = r.Epoch(),
            Records = r.Array(ListedRecord.SmallestSize, ListedRecord.Read, MaxRecords),
            HasMore = r.Bool(),
            Commit = CommitProof.ReadOptional(ref r),
        }
        : Fail(status, epoch);

    public override Response Fail(Status status, Epoch epoch) => new ListLogResponse(status, epoch);
}

/// <summary>A page of the listing. One index may have records of several generations.</summary>
public sealed record ListLogResponse(Status Status, Epoch Epoch) : Response(Status, Epoch)
{
    /// <summary>The store takes no record of a lower generation.</summary>
    public Epoch Sealed { get; init; }

    public ImmutableArray<ListedRecord> Records { get; init; } = [];

    /// <summary>More records have higher indexes than the last one here, which is the only one of its index that may be
    /// cut off from others.</summary>
    public bool HasMore { get; init; }

    /// <summary>The newest proof in the store's log.</summary>
    public CommitProof? Commit { get; init; }

    public override void WriteBody(ref WireWriter w)
    {
        if (!IsOk) return;
        w.Epoch(Sealed);
        w.Array(Records, static (ref w, record) => record.Write(ref w));
        w.Bool(HasMore);
        CommitProof.WriteOptional(ref w, Commit);
    }
}

/// <summary>A record without its content.</summary>
/// <param name="Length">Bytes of the content.</param>
public sealed record ListedRecord(RecordHead Head, Certificate Certificate, int Length)
{
    internal const int SmallestSize = RecordHead.Size + Certificate.SmallestSize + 4;

    internal void Write(ref WireWriter w)
    {
        Head.Write(ref w);
        Certificate.Write(ref w);
        w.Int32(Length);
    }

    internal static ListedRecord Read(ref WireReader r) =>
        new(RecordHead.Read(ref r), Certificate.Read(ref r), r.Int32());
}
