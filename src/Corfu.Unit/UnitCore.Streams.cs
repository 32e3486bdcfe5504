using System.Collections.Immutable;
using Corfu.Protocol;

namespace Corfu.Unit;

// What this unit knows of streams: its newest data positions, told to sequencers below the epoch's start, and to those
// who join its chains below the mark.
internal sealed partial class UnitCore
{
    // Another one after each start, for each start appends something: streams are then known in another order.
    private long _run;

    private UnitAnswer StreamTails(StreamTailsRequest request)
    {
        if (Refuses(request, out var refusal)) return refusal;
        var tails = ImmutableArray.CreateBuilder<StreamTail>(request.Streams.Length);
        var below = LogPosition.Max(_start, request.Below);
        foreach (var stream in request.Streams) tails.Add(new StreamTail(stream, _streams.NewestBelow(stream, below)));
        return new UnitAnswer(StreamsLsn,
            new StreamTailsResponse(Status.Ok, Epoch, tails.MoveToImmutable(), !_corrupt.HideStreams));
    }

    // R4: a copied entry below the start may have changed a list just now, and a trim may have made the lists complete,
    // so every record of pages so far counts.
    private long StreamsLsn => Math.Max(Math.Max(_endLsn, _markLsn), Math.Max(_epochLsn, _pageLsn));

    private UnitAnswer ListStreamTails(ListStreamTailsRequest request)
    {
        if (Refuses(request, out var refusal)) return refusal;
        var next = request.From.Run == _run ? Math.Min(request.From.Next, _streams.Count) : 0;
        var tails = _streams.List(request.Below, ref next);
        return new UnitAnswer(
            StreamsLsn,
            new ListStreamTailsResponse(Status.Ok, Epoch, tails, new StreamListCursor(_run, next),
                next == _streams.Count, !_corrupt.HideStreams));
    }

    // Written down in records as the cleaner writes them, several for a long list: what is in some of them already is
    // passed over when it is told again.
    private UnitAnswer ImportStreamTails(ImportStreamTailsRequest request)
    {
        if (Refuses(request, out var refusal)) return refusal;
        var below = LogPosition.Max(_start, _mark);
        if (request.Tails.Any(t => t.Positions.Any(p => p >= below))) return Refuse(request, Status.BadRequest, 0);
        for (var next = 0; next < request.Tails.Length;)
        {
            var body = _streams.WriteUnknown(request.Tails, ref next);
            if (body.IsEmpty) continue;
            if (!Admits(request, body.Length, SpaceUse.Trims, out var full)) return full;
            var place = Append(new LogRecord(RecordKind.StreamTails, LogPosition.Zero, body));
            _streams.Replay(body, _store.SegmentOf(place.BodyAddress));
            _pageLsn = place.Lsn;
        }

        return new UnitAnswer(StreamsLsn, new AckResponse(Status.Ok, Epoch));
    }
}
