namespace Salus.Store.Log;

/// <summary>The oldest file of the log, and what is still needed of it.</summary>
/// <param name="KeptFrom">The first record behind it.</param>
internal sealed record FreePlan(
    LogSegment Segment, long KeptFrom, IReadOnlyList<(RegionKey Region, RecordName Name)> Needed);

/// <summary>A copy that does not count before it is durable.</summary>
internal readonly record struct PendingMove(RegionKey Region, RecordName Name, long From, long To);

// Steps of the freer. Each is short and made under the lock.
public sealed partial class StoreLog
{
    /// <summary>Completes when there is nothing to free; for tests.</summary>
    internal Task FreeAsync() => _freer.RunAsync();

    /// <summary>Null: nothing is to be freed now.</summary>
    internal FreePlan? NextToFree()
    {
        lock (_gate)
        {
            // The newest is written to.
            if (State != StoreState.Serving || _segments.Count < 2) return null;
            var keptFrom = _segments.ElementAt(1).First;
            var needed = new List<(RegionKey, RecordName)>();
            var bytes = 0L;
            foreach (var region in _regions.Values)
            {
                foreach (var entry in region.Entries)
                {
                    bytes += RecordFraming.HeaderSize + entry.Length;
                    if (entry.Address >= keptFrom) continue;
                    // Damaged data comes again from a peer first; a copy would hide where it is.
                    if (!entry.IsIntact) return null;
                    needed.Add((region.Region, entry.Name));
                }
            }

            if (Planted.Is("freed-at-own-floor")) needed.Clear();
            var isPaid = LogBytes > _options.LogLimit / 2 && 2 * bytes <= LogBytes;
            return needed.Count == 0 || isPaid ? new FreePlan(_segments.Peek(), keptFrom, needed) : null;
        }
    }

    /// <summary>Appends a needed record once more.</summary>
    /// <returns>False: there is no room at the moment.</returns>
    internal bool TryCarry(RegionRecord record, RecordName name, long before, List<PendingMove> moves)
    {
        lock (_gate)
        {
            if (!_regions.TryGetValue(record.Head.Region, out var found) || found.Find(name) is not { } entry
                || entry.Address >= before) return true;
            RegionRecord.DigestOf(record.Head.Kind, record.Content, out var checkedContent);
            var body = BodyOf(record);
            if (Admit(body.Length, StoreUse.Copies) != Status.Ok) return false;
            var address = Add(new FramedRecord((byte)record.Head.Kind, name.Index, name.Generation.Value, body,
                body.Length - record.Content.Length + checkedContent));
            moves.Add(new PendingMove(record.Head.Region, name, entry.Address, address));
            return true;
        }
    }

    /// <summary>The copies are durable, and count from now on.</summary>
    internal void Apply(List<PendingMove> moves)
    {
        lock (_gate)
        {
            foreach (var move in moves)
            {
                if (_regions.TryGetValue(move.Region, out var found)) found.Move(move.Name, move.From, move.To);
            }
        }

        moves.Clear();
    }

    /// <summary>Writes the state of every region again whose records say it below the address, and where the log begins
    /// from then on. False: there is no room at the moment; a second call goes on.</summary>
    internal bool TryCarryStates(long keptFrom)
    {
        lock (_gate)
        {
            foreach (var region in _regions.Values.Where(region => region.StateAddress < keptFrom))
            {
                var body = BodyOf(region.Region, static (ref w, region) => region.WriteState(ref w), region);
                if (Admit(body.Length, StoreUse.Vital) != Status.Ok) return false;
                var address = Add(new FramedRecord((byte)StoreRecordKind.State, 0, 0, body, body.Length));
                region.Said(address, isAll: true);
            }

            if (Admit(0, StoreUse.Vital) != Status.Ok) return false;
            Add(new FramedRecord((byte)StoreRecordKind.Freed, keptFrom, 0, default, 0));
            _firstKept = keptFrom;
            return true;
        }
    }

    internal Task WaitAppendedAsync() => WaitDurableAsync(_log.AppendedUntil);

    /// <summary>Deletes the oldest file. The record that says so is durable.</summary>
    internal void DropOldest()
    {
        int oldest;
        lock (_gate)
        {
            _segments.Dequeue();
            oldest = _segments.Peek().Index;
            // Readers check this: what is deleted stands elsewhere, or counts no more, and is not damaged.
            _log.SetBegin(oldest * (long)_options.SegmentSize);
        }

        foreach (var segment in _log.Space.Below(oldest)) _log.Space.Delete(segment);
    }
}
