namespace Corfu.Unit;

// The newest data positions of streams: answered to sequencers below the epoch's start, and to replicas that join the
// unit's chains below the trim mark.
internal sealed partial class UnitCore
{
    // R4: a copied entry below the start may have changed a list just now, and a trim may have made the lists complete,
    // so every record of pages so far counts.
    private long StreamsLsn => Newest(_endLsn, _markLsn, _epochLsn, _pageLsn);

    private UnitAnswer StreamTails(StreamTailsRequest request)
    {
        var below = LogPosition.Max(_start, request.Below);
        var tails = request.Streams.Select(stream => new StreamTail(stream, _streams.NewestBelow(stream, below)));
        return new UnitAnswer(StreamsLsn, new StreamTailsResponse(Status.Ok, Epoch, [.. tails], !_corrupt.HideStreams));
    }

    private UnitAnswer ListStreamTails(ListStreamTailsRequest request)
    {
        var next = request.From.Run == _run ? Math.Min(request.From.Next, _streams.Count) : 0;
        var tails = _streams.List(request.Below, ref next);
        var cursor = new StreamListCursor(_run, next);
        return new UnitAnswer(StreamsLsn, new ListStreamTailsResponse(Status.Ok, Epoch, tails, cursor,
            IsLast: next == _streams.Count, Complete: !_corrupt.HideStreams));
    }

    // In records as the cleaner writes them, several for a long list. Idempotent: known positions are skipped.
    private UnitAnswer ImportStreamTails(ImportStreamTailsRequest request)
    {
        var below = LogPosition.Max(_start, _mark);
        if (request.Tails.Any(t => t.Positions.Any(p => p >= below))) return Refuse(request, Status.BadRequest);
        for (var next = 0; next < request.Tails.Length;)
        {
            var body = _streams.WriteUnknown(request.Tails, ref next);
            if (body.IsEmpty) continue;
            if (!Admits(request, body.Length, SpaceUse.Trims, out var full)) return full;
            var place = _store.Append(new LogRecord(RecordKind.StreamTails, LogPosition.Zero, body));
            _streams.Replay(body, _store.SegmentOf(place.BodyAddress));
            _pageLsn = place.Lsn;
        }

        return Ack(StreamsLsn);
    }
}
