using System.Buffers;

namespace Salus.Protocol;

/// <summary>A region that takes part in a batch.</summary>
/// <param name="Previous">The number of the region's batch before this one; 0: none.</param>
/// <param name="Root">The region's root after the batch.</param>
public readonly record struct Participant(int Region, long Previous, Hash128 Root);

/// <summary>The driver's part of a batch, the same in every sub-batch. Its name is the run, the number and the digest
/// of these bytes (S15).</summary>
public sealed record BatchHeader
{
    private const byte Format = 1;
    private const int ParticipantSize = 4 + 8 + Hash128.Size;

    private Hash128 _digest;

    public BatchHeader()
    {
    }

    // A changed copy has another digest.
    private BatchHeader(BatchHeader original)
    {
        Volume = original.Volume;
        Run = original.Run;
        Number = original.Number;
        Driver = original.Driver;
        Participants = original.Participants;
        Leader = original.Leader;
        PreviousLeader = original.PreviousLeader;
        VolumeRoot = original.VolumeRoot;
        IsMarker = original.IsMarker;
    }

    public required VolumeId Volume { get; init; }

    public required long Run { get; init; }

    /// <summary>Counts the batches of the volume over all runs, from 1.</summary>
    public required long Number { get; init; }

    public required Incarnation Driver { get; init; }

    /// <summary>In the order of their regions.</summary>
    public required ImmutableArray<Participant> Participants { get; init; }

    /// <summary>The participant that decides the batch.</summary>
    public required int Leader { get; init; }

    /// <summary>The leader of the batch before; null: the run begins, and what it begins above is committed.</summary>
    public required int? PreviousLeader { get; init; }

    /// <summary>The volume's root after the batch.</summary>
    public required Hash128 VolumeRoot { get; init; }

    /// <summary>A place where a snapshot may be cut: every region takes part (S22).</summary>
    public bool IsMarker { get; init; }

    public Hash128 Digest
    {
        get
        {
            if (_digest.IsEmpty) _digest = Hash128.Of(Encode());
            return _digest;
        }
    }

    public BatchName Name => new(Run, Number, Digest);

    /// <summary>Null: the region takes no part.</summary>
    public Participant? Find(int region)
    {
        var at = IndexOf(region);
        return at < 0 ? null : Participants[at];
    }

    public WeakSignature SignedBy(Signer driver) => driver.Sign(Statement.Batch(Volume, Digest));

    public bool IsSigned(WeakSignature signature) => signature.IsOf(Driver, Statement.Batch(Volume, Digest));

    public bool Equals(BatchHeader? other) => other is not null && Name == other.Name && Volume == other.Volume;

    public override int GetHashCode() => Name.GetHashCode();

    public byte[] Encode()
    {
        var buffer = new ArrayBufferWriter<byte>(96 + (Participants.Length * ParticipantSize));
        var w = new WireWriter(buffer);
        Write(ref w);
        w.Flush();
        return buffer.WrittenSpan.ToArray();
    }

    /// <exception cref="MalformedDataException">The bytes are no header.</exception>
    public static BatchHeader Decode(ReadOnlyMemory<byte> bytes)
    {
        var r = new WireReader(bytes);
        if (r.Byte() is not Format and var format)
            throw new MalformedDataException($"A batch has format {format}, which this build does not know.");
        var header = ReadBody(ref r);
        r.End();
        header.Check();
        header._digest = Hash128.Of(bytes.Span);
        return header;
    }

    private static BatchHeader ReadBody(ref WireReader r) => new()
    {
        Volume = r.Volume(),
        Run = r.Number(),
        Number = r.Number(),
        Driver = new Incarnation(r.Guid()),
        Leader = r.RegionNumber(),
        PreviousLeader = r.Bool() ? r.RegionNumber() : null,
        IsMarker = r.Bool(),
        VolumeRoot = r.Hash(),
        Participants = r.Array(ParticipantSize,
            static (ref r) => new Participant(r.RegionNumber(), r.Number(), r.Hash()), BatchLimits.MaxParticipants),
    };

    private void Write(ref WireWriter w)
    {
        w.Byte(Format);
        w.Volume(Volume);
        w.Int64(Run);
        w.Int64(Number);
        w.Guid(Driver.Value);
        w.Int32(Leader);
        w.Bool(PreviousLeader is not null);
        if (PreviousLeader is { } leader) w.Int32(leader);
        w.Bool(IsMarker);
        w.Hash(VolumeRoot);
        w.Array(Participants, static (ref w, participant) =>
        {
            w.Int32(participant.Region);
            w.Int64(participant.Previous);
            w.Hash(participant.Root);
        });
    }

    private void Check()
    {
        if (Run == 0 || Number == 0) throw new MalformedDataException("A batch has no run or no number.");
        for (var i = 0; i < Participants.Length; i++)
        {
            if (i > 0 && Participants[i].Region <= Participants[i - 1].Region)
                throw new MalformedDataException("The regions of a batch are not in their order.");
            if (Participants[i].Previous >= Number)
                throw new MalformedDataException("A batch follows itself, or a later one.");
        }

        if (IndexOf(Leader) < 0)
            throw new MalformedDataException($"The leader of a batch, region {Leader}, takes no part in it.");
    }

    private int IndexOf(int region)
    {
        var (low, high) = (0, Participants.Length - 1);
        while (low <= high)
        {
            var middle = (low + high) / 2;
            var found = Participants[middle].Region;
            if (found == region) return middle;
            if (found < region) low = middle + 1;
            else high = middle - 1;
        }

        return -1;
    }
}
