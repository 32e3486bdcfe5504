using System.Buffers;

namespace Salus.Protocol;

/// <summary>A batch as a region's log has it.</summary>
/// <param name="VolumeRoot">The volume's root after the batch.</param>
/// <param name="Participants">The regions of its header, ascending; empty: a marker, all regions.</param>
public sealed record ReportedBatch(BatchName Name, Hash128 VolumeRoot, ImmutableArray<int> Participants)
{
    internal const int SmallestSize = 8 + 8 + Hash128.Size + Hash128.Size + 4;

    public static ReportedBatch Of(BatchHeader header) => new(header.Name, header.VolumeRoot,
        header.IsMarker ? [] : [.. header.Participants.Select(static participant => participant.Region)]);

    public bool Equals(ReportedBatch? other) =>
        other is not null && Name == other.Name && VolumeRoot == other.VolumeRoot
        && Participants.AsSpan().SequenceEqual(other.Participants.AsSpan());

    public override int GetHashCode() => Name.GetHashCode();

    internal void Write(ref WireWriter w)
    {
        Name.Write(ref w);
        w.Hash(VolumeRoot);
        w.Array(Participants, static (ref w, region) => w.Int32(region));
    }

    internal static ReportedBatch Read(ref WireReader r)
    {
        var batch = new ReportedBatch(BatchName.Read(ref r), r.Hash(),
            r.Array(4, static (ref r) => r.RegionNumber(), RegionReport.MaxParticipants));
        if (batch.Name.IsNone) throw new MalformedDataException("A reported batch has no number.");
        for (var i = 1; i < batch.Participants.Length; i++)
        {
            if (batch.Participants[i] <= batch.Participants[i - 1])
                throw new MalformedDataException("The regions of a reported batch are not in their order.");
        }

        return batch;
    }
}

/// <summary>A region's word to a run that begins: lower runs are refused from here on, and this is all that it had
/// accepted of them (S12).</summary>
/// <param name="Run">The run that begins.</param>
/// <param name="Committed">The highest proof that any member has; null: none.</param>
/// <param name="Last">The region's last batch at or below that proof, or a later one that an earlier run has decided;
/// null: none.</param>
/// <param name="Above">The region's batches above both, ascending.</param>
public sealed record RegionReport(
    long Run, CommitProof? Committed, ReportedBatch? Last, ImmutableArray<ReportedBatch> Above)
{
    /// <summary>More than a window of batches: a driver sends its newest proof with every batch.</summary>
    public const int MaxBatches = 64;

    /// <summary>Regions that the requests of one batch can touch, twice over: each may cross a border.</summary>
    public const int MaxParticipants = 4 * BatchLimits.MaxRequests;

    /// <summary>The digest of the bytes: members sign it.</summary>
    public Hash128 Digest => Hash128.Of(Encode());

    public bool Equals(RegionReport? other) => other is not null && Digest == other.Digest;

    public override int GetHashCode() => HashCode.Combine(Run, Above.Length);

    public byte[] Encode()
    {
        var buffer = new ArrayBufferWriter<byte>(256);
        var w = new WireWriter(buffer);
        Write(ref w);
        w.Flush();
        return buffer.WrittenSpan.ToArray();
    }

    public void Write(ref WireWriter w)
    {
        w.Int64(Run);
        CommitProof.WriteOptional(ref w, Committed);
        w.Bool(Last is not null);
        Last?.Write(ref w);
        w.Array(Above, static (ref w, batch) => batch.Write(ref w));
    }

    /// <exception cref="MalformedDataException">The bytes are no report.</exception>
    public static RegionReport Read(ref WireReader r)
    {
        var report = new RegionReport(r.Number(), CommitProof.ReadOptional(ref r),
            r.Bool() ? ReportedBatch.Read(ref r) : null,
            r.Array(ReportedBatch.SmallestSize, ReportedBatch.Read, MaxBatches));
        var before = Math.Max(report.Committed?.Batch.Number ?? 0, report.Last?.Name.Number ?? 0);
        foreach (var batch in report.Above)
        {
            if (batch.Name.Number <= before)
                throw new MalformedDataException("The batches of a report are not ascending above its committed ones.");
            before = batch.Name.Number;
        }

        return report;
    }
}
