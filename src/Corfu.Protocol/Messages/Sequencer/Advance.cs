using System.Collections.Immutable;

namespace Corfu.Protocol;

/// <summary>
/// The copier tells a mirror's sequencer that every replica holds everything below <see cref="To"/>. The tail rises to
/// it, so that readers of the mirror never meet a hole. Idempotent: positions below the tail are skipped.
/// </summary>
/// <param name="From">At most the tail: nothing is skipped.</param>
/// <param name="Entries">The data entries from <paramref name="From"/> to <paramref name="To"/> that belong to streams,
/// ascending.</param>
public sealed record AdvanceRequest(Epoch Epoch, LogPosition From, LogPosition To,
    ImmutableArray<AdvancedEntry> Entries) : Request<TailResponse>(Epoch)
{
    public override Opcode Opcode => Opcode.Advance;

    public override void WriteBody(ref WireWriter w)
    {
        w.Position(From);
        w.Position(To);
        w.Int32(Entries.Length);
        foreach (var entry in Entries)
        {
            w.Position(entry.Position);
            StreamTail.WriteIds(ref w, entry.Streams);
        }
    }

    internal static AdvanceRequest Read(Epoch epoch, ref WireReader r)
    {
        var from = r.Position();
        var to = r.Position();
        var entries =
            ImmutableArray.CreateBuilder<AdvancedEntry>(r.Count(AdvancedEntry.SmallestSize, MessageLimits.MaxItems));
        var next = from;
        for (var i = entries.Capacity; i > 0; i--)
        {
            var position = r.Position();
            if (position < next || position >= to)
                throw new MalformedDataException("An advanced entry lies outside its range, or out of order.");
            next = position.Next;
            entries.Add(new AdvancedEntry(position, StreamTail.ReadIds(ref r)));
        }

        if (to < from) throw new MalformedDataException("A tail would step back.");
        return new AdvanceRequest(epoch, from, to, entries.DrainToImmutable());
    }

    public override Response ReadResponse(Status status, Epoch epoch, ref WireReader r) =>
        TailResponse.Read(status, epoch, ref r);

    public override Response Fail(Status status, Epoch epoch) => new TailResponse(status, epoch, default, [], 0, []);
}

/// <summary>One copied entry and the streams it belongs to.</summary>
public readonly record struct AdvancedEntry(LogPosition Position, ImmutableArray<StreamId> Streams)
{
    internal const int SmallestSize = 12;
}
