namespace Corfu.Unit;

/// <summary>The outcome for a record whose segment is to be deleted.</summary>
internal enum KeepOutcome
{
    /// <summary>Nothing needs it any more.</summary>
    Dead,

    /// <summary>Written again at the end of the log.</summary>
    Moved,

    /// <summary>No memory or space at the moment.</summary>
    Busy,

    /// <summary>Damaged: it stays where it is until it has been repaired or trimmed.</summary>
    Stuck,
}

// R5: a random trim frees the payload. The live records of a sparse segment are written again at the end of the log,
// and the segment is deleted. Each step is a short call under the handler's lock; requests are served in between.
internal sealed partial class UnitCore
{
    private readonly List<int> _carried = [];

    /// <summary>Writes a record again at the end of the log if the unit still needs it where it stands.</summary>
    public KeepOutcome Keep(in LogRecord record, in RecordPlace place)
    {
        // The facts of other records are in the state record that follows, or in carried stream tails.
        if (record.Kind is not (RecordKind.Page or RecordKind.Junk or RecordKind.Moved or RecordKind.Trim)
            || record.Position < _mark) return KeepOutcome.Dead;
        var slot = _store.Find(record.Position);
        if (record.Kind == RecordKind.Trim)
            return slot.State == PageState.Trimmed && slot.Lsn == place.Lsn ? KeepTrim(record, slot) : KeepOutcome.Dead;
        if (slot.Address != place.BodyAddress) return KeepOutcome.Dead;
        switch (slot.State)
        {
            case PageState.Trimmed:
                // The tombstone is this record's headers.
                return place.DamagedHeaders is null
                    ? KeepTrim(new LogRecord(RecordKind.Trim, record.Position, record.Body[..slot.HeaderLength]), slot)
                    : KeepTrim(new LogRecord(RecordKind.Trim, record.Position), slot with { HeaderLength = 0 });
            case PageState.Data when Planted.Is("cleaner-drops-a-live-page"):
                return KeepOutcome.Dead;
            case PageState.Data or PageState.Junk:
                return place.PayloadIntact ? KeepPage(record, slot) : KeepOutcome.Stuck;
            default:
                var whole = place.PayloadIntact && place.DamagedHeaders is null
                    && MarkSound(record.Position, place.BodyAddress, record.Body);
                return whole ? KeepPage(record, _store.Find(record.Position)) : KeepOutcome.Stuck;
        }
    }

    /// <summary>Records again the stream tails that stand in these segments, some at a time. True when all
    /// are.</summary>
    public bool CarryStreams(IReadOnlySet<int> going, ref int next, int largestBody)
    {
        // First what tells the positions below the epoch's start from those above.
        if (next == 0 && !TryAppendState()) return false;
        var from = next;
        var body = _streams.Carry(going, ref next, largestBody, _carried);
        if (!body.IsEmpty)
        {
            if (_store.Admit(body.Length, SpaceUse.Vital) != Status.Ok)
            {
                next = from;
                return false;
            }

            var place = _store.Append(new LogRecord(RecordKind.StreamTails, LogPosition.Zero, body));
            _streams.Carried(_carried, _store.SegmentOf(place.BodyAddress));
        }

        return next >= _streams.Count;
    }

    /// <summary>How many streams <see cref="CarryStreams"/> would record, some at a time; done when
    /// <paramref name="next"/> is at the number of streams.</summary>
    public int CountStreams(IReadOnlySet<int> going, ref int next) => _streams.CountIn(going, ref next);

    public int Streams => _streams.Count;

    /// <summary>False if there is no room at the moment.</summary>
    public bool TryAppendState()
    {
        var record = Snapshot();
        if (_store.Admit(record.Body.Length, SpaceUse.Vital) != Status.Ok) return false;
        _store.Append(record);
        return true;
    }

    private KeepOutcome KeepPage(in LogRecord record, in PageSlot slot)
    {
        if (_store.Admit(record.Body.Length, SpaceUse.Trims) != Status.Ok) return KeepOutcome.Busy;
        _store.Dead(slot.Address, slot.Length, wholePage: true);
        var place = _store.Append(record with { Kind = RecordKind.Moved });
        _store.Set(record.Position, slot with { Address = place.BodyAddress, Lsn = place.Lsn });
        if (slot.State == PageState.Data)
            Index(EntryCodec.DecodeHeaders(record.Body), _store.SegmentOf(place.BodyAddress));
        return KeepOutcome.Moved;
    }

    private KeepOutcome KeepTrim(in LogRecord record, in PageSlot slot)
    {
        if (_store.Admit(record.Body.Length, SpaceUse.Trims) != Status.Ok) return KeepOutcome.Busy;
        var place = _store.Append(record with { CheckedLength = record.Body.Length });
        var moved = slot with { State = PageState.Trimmed, Lsn = place.Lsn };
        if (!record.Body.IsEmpty) moved = moved with { Address = place.BodyAddress, Length = record.Body.Length };
        _store.Set(record.Position, moved);
        if (!record.Body.IsEmpty) Index(EntryCodec.DecodeHeaders(record.Body), _store.SegmentOf(place.BodyAddress));
        return KeepOutcome.Moved;
    }
}
