namespace Corfu.Protocol;

/// <summary>The copier tells a mirror's sequencer that every replica holds everything below <see cref="To"/>. The tail
/// rises to it, so that readers of the mirror never meet a hole. Idempotent: positions below the tail are
/// skipped.</summary>
/// <param name="From">At most the tail: nothing is skipped.</param>
/// <param name="Entries">The data entries from <paramref name="From"/> to <paramref name="To"/> that belong to streams,
/// ascending.</param>
public sealed record AdvanceRequest(Epoch Epoch, LogPosition From, LogPosition To,
    ImmutableArray<AdvancedEntry> Entries) : Request<TailResponse>(Opcode.Advance, Epoch)
{
    public override void WriteBody(ref WireWriter w)
    {
        w.Position(From);
        w.Position(To);
        w.Array(Entries, static (ref w, entry) =>
        {
            w.Position(entry.Position);
            w.Streams(entry.Streams);
        });
    }

    internal static AdvanceRequest Read(Epoch epoch, ref WireReader r)
    {
        var from = r.Position();
        var to = r.Position();
        var entries = r.Array(
            12, static (ref r) => new AdvancedEntry(r.Position(), r.Streams(EntryLimits.MaxStreams)));
        var next = from;
        foreach (var (position, _) in entries)
        {
            if (position < next || position >= to)
                throw new MalformedDataException("An advanced entry lies outside its range, or out of order.");
            next = position.Next;
        }

        if (to < from) throw new MalformedDataException("A tail would step back.");
        return new AdvanceRequest(epoch, from, to, entries);
    }

    public override Response ReadResponse(Status status, Epoch epoch, ref WireReader r) =>
        TailResponse.Read(status, epoch, ref r);

    public override Response Fail(Status status, Epoch epoch) => new TailResponse(status, epoch, default, [], 0, []);
}

/// <summary>A copied entry and the streams it belongs to.</summary>
public readonly record struct AdvancedEntry(LogPosition Position, ImmutableArray<StreamId> Streams);
