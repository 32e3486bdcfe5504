namespace Corfu.Checkers;

/// <summary>
/// Strict serializability by witness: the log is the claimed order, a single-threaded model is
/// replayed in it and compared with every read and decision, the order is compared with real time, and every abort must
/// have a cause.
/// </summary>
public sealed class TxChecker
{
    private readonly TxHistory _history;
    private readonly List<Violation> _found = [];
    // Per key, ascending: the position and order of each effective write, and the value from there on.
    private readonly Dictionary<string, List<(Place At, long Value)>> _versions = [];
    private readonly List<(TxOp Tx, Place At)> _effective = [];
    private readonly VersionMarks _marks;

    private TxChecker(TxHistory history) =>
        (_history, _marks) = (history, new VersionMarks(history.VersionAge, history.TicketKey));

    public static List<Violation> CheckAll(TxHistory history)
    {
        var checker = new TxChecker(history);
        checker.Replay();
        checker.RealTime();
        checker.ReadOnly();
        checker.EarlyAborts();
        checker.Opacity();
        checker.Views();
        checker.Awaited();
        checker.Past();
        checker.Feeds();
        return checker._found;
    }

    private readonly record struct Place(long Position, int Order) : IComparable<Place>
    {
        public int CompareTo(Place other)
        {
            int c = Position.CompareTo(other.Position);
            return c != 0 ? c : Order.CompareTo(other.Order);
        }
    }

    private void Replay()
    {
        foreach ((TxOp tx, Place at) in PlaceAll().OrderBy(p => p.At))
        {
            if (tx.Writes.Any(w => _history.SpilledTooEarly.Contains(w.Value)))
            {
                if (tx.Decision == TxDecision.Committed)
                    _found.Add(new(CheckerNames.Transactions,
                        $"{tx}: committed at {at.Position}, too far behind its first spill"));
                continue;
            }

            KeyValuePair<string, long>? stale = FirstStale(tx, at);
            if (tx.Writes.Any(w => _history.Decided.Contains(w.Value)))
            {
                Decided(tx, at, stale);
                continue;
            }

            bool isTooOld = _marks.IsTooOld(tx);
            if (tx.Decision == TxDecision.Committed && isTooOld)
                _found.Add(new(CheckerNames.Transactions,
                    $"{tx}: committed at {at.Position}, though versions from {tx.SnapshotEnd} on are forgotten"));
            if (tx.Decision == TxDecision.Committed && stale is { } wrong)
            {
                _found.Add(new(
                    CheckerNames.Transactions,
                    $"{tx}: committed at {at.Position}, but {wrong.Key} was {ValueBefore(wrong.Key, at)} there, "
                    + $"written at {_history.Places.GetValueOrDefault(ValueBefore(wrong.Key, at)).Position}"));
            }
            else if (tx.Decision == TxDecision.Aborted && stale is null && !isTooOld)
            {
                _found.Add(new(CheckerNames.AbortJustified,
                    $"{tx}: aborted at {at.Position} though nothing it read had changed"));
            }

            // An unknown outcome follows the rule: it commits exactly if what it read is still there, and known.
            if (tx.Decision == TxDecision.Committed
                || (tx.Decision == TxDecision.Unknown && stale is null && !isTooOld))
            {
                _marks.Write(tx, at.Position);
                int refused = Apply(tx, at);
                if (tx.Decision == TxDecision.Committed && tx.Refused is { } told && refused != told)
                    _found.Add(new(CheckerNames.Transactions,
                        $"{tx}: committed at {at.Position}, where {refused} of its writes are refused; it was told "
                        + $"{told}"));
            }
        }
    }

    /// <returns>The transactions that the log holds.</returns>
    private List<(TxOp Tx, Place At)> PlaceAll()
    {
        List<(TxOp Tx, Place At)> placed = [];
        foreach (TxOp tx in _history.Transactions.Where(t => t.Writes.Count > 0))
        {
            if (PlaceOf(tx) is { } place)
            {
                placed.Add((tx, place));
                if (tx.Decision == TxDecision.NotWritten)
                    _found.Add(new(CheckerNames.Transactions,
                        $"{tx}: refused by the log, which holds its writes at {place.Position}"));
            }
            else if (tx.Decision == TxDecision.Committed)
            {
                _found.Add(new(CheckerNames.Transactions, $"{tx}: committed, but the log does not hold its writes"));
            }
        }

        return placed;
    }

    /// <summary>R29: the sequencer let it commit, so that nothing that it read was written below. What replicas have
    /// forgotten does not matter: the model forgets nothing.</summary>
    private void Decided(TxOp tx, Place at, KeyValuePair<string, long>? stale)
    {
        if (stale is { } wrong)
        {
            _found.Add(new(CheckerNames.Decided,
                $"{tx}: decided at {at.Position}, but {wrong.Key} was {ValueBefore(wrong.Key, at)} there, written at "
                + $"{_history.Places.GetValueOrDefault(ValueBefore(wrong.Key, at)).Position}"));
        }

        if (tx.Decision == TxDecision.Aborted)
            _found.Add(new(CheckerNames.Decided, $"{tx}: aborted, and its decided record stands at {at.Position}"));
        _marks.Write(tx, at.Position);
        int refused = Apply(tx, at);
        if (tx.Decision == TxDecision.Committed && tx.Refused is { } told && refused != told)
            _found.Add(new(CheckerNames.Transactions,
                $"{tx}: committed at {at.Position}, where {refused} of its writes are refused; it was told {told}"));
    }

    /// <returns>How many of the writes are refused (R23): those have no effect, the others have.</returns>
    private int Apply(TxOp tx, Place at)
    {
        _effective.Add((tx, at));
        int refused = 0;
        foreach ((string key, long value) in tx.Writes)
        {
            if (_history.Refuses(key, ValueBefore(key, at), value))
            {
                refused++;
                continue;
            }

            if (!_versions.TryGetValue(key, out List<(Place At, long Value)>? versions))
            {
                _versions.Add(key, versions = []);
            }

            versions.Add((at, value));
        }

        return refused;
    }

    private Place? PlaceOf(TxOp tx)
    {
        Place? place = null;
        foreach ((_, long value) in tx.Writes)
        {
            if (!_history.Places.TryGetValue(value, out (long Position, int Order) at))
            {
                continue;
            }

            var candidate = new Place(at.Position, at.Order);
            // Several writes of one commit record stand together: the first marks the place.
            place = place is null || candidate.CompareTo(place.Value) < 0 ? candidate : place;
        }

        return place;
    }

    private KeyValuePair<string, long>? FirstStale(TxOp tx, Place at)
    {
        foreach (KeyValuePair<string, long> read in tx.Reads)
        {
            if (ValueBefore(read.Key, at) != read.Value)
            {
                return read;
            }
        }

        return null;
    }

    private long ValueBefore(string key, Place at)
    {
        long value = 0;
        foreach ((Place from, long v) in _versions.GetValueOrDefault(key) ?? [])
        {
            if (from.CompareTo(at) >= 0)
            {
                break;
            }

            value = v;
        }

        return value;
    }

    /// <summary>A transaction that ended before another began stands before that one.</summary>
    private void RealTime()
    {
        List<(TxOp Tx, Place At)> byEnd = [.. _effective.Where(e => e.Tx.Decision == TxDecision.Committed)
            .OrderBy(e => e.Tx.End)];
        (TxOp Tx, Place At)? highest = null;
        int ended = 0;
        foreach ((TxOp tx, Place at) in _effective.OrderBy(e => e.Tx.Start))
        {
            for (; ended < byEnd.Count && byEnd[ended].Tx.End < tx.Start; ended++)
            {
                highest = highest is null || byEnd[ended].At.CompareTo(highest.Value.At) > 0 ? byEnd[ended] : highest;
            }

            if (highest is { } h && at.CompareTo(h.At) < 0)
            {
                _found.Add(new(CheckerNames.Transactions,
                    $"{tx} stands at {at.Position}, before {h.Tx} at {h.At.Position}, which had ended earlier"));
            }
        }
    }

    /// <summary>
    /// A read-only transaction saw one state of the log, no older than everything that had ended when it began and no
    /// newer than what had begun when it ended.
    /// </summary>
    private void ReadOnly()
    {
        foreach (TxOp tx in _history.Transactions.Where(t => t.Writes.Count == 0 && t.Decision == TxDecision.Committed))
        {
            if (!StatesDuring(tx).Any(at => FirstStale(tx, at) is null))
            {
                _found.Add(new(CheckerNames.Transactions,
                    $"{tx}: no single state between its begin and its end shows what it read"));
            }
        }
    }

    /// <summary>An abort without a record in the log: some state during the transaction must differ from what it had
    /// read, and the write that the abort names is in the log.</summary>
    private void EarlyAborts()
    {
        foreach (TxOp tx in _history.Transactions.Where(t => t.Decision == TxDecision.Aborted && PlaceOf(t) is null))
        {
            if (tx.LostTo is { } lost && (!_history.Located.Contains(lost) || lost < tx.SnapshotEnd))
            {
                _found.Add(new(CheckerNames.AbortJustified,
                    $"{tx}: aborted by position {lost}, which has no write above its snapshot {tx.SnapshotEnd}"));
            }

            // The marks are those of the log's end: they only rise.
            if (StatesDuring(tx).All(at => FirstStale(tx, at) is null) && !_marks.IsTooOld(tx))
            {
                _found.Add(new(CheckerNames.AbortJustified,
                    $"{tx}: aborted though nothing it read changed while it ran"));
            }
        }
    }

    /// <summary>R17: whatever became of it, a transaction read from one state that existed.</summary>
    private void Opacity()
    {
        foreach (TxOp tx in _history.Transactions.Where(t => t.Decision == TxDecision.Aborted && t.Reads.Count > 1))
        {
            Place low = default, high = new(long.MaxValue, 0);
            foreach ((string key, long value) in tx.Reads)
            {
                (Place from, Place until) = Lifetime(key, value);
                low = from.CompareTo(low) > 0 ? from : low;
                high = until.CompareTo(high) < 0 ? until : high;
            }

            if (low.CompareTo(high) >= 0)
                _found.Add(new(CheckerNames.Opacity, $"{tx}: aborted, and no single state shows what it read"));
        }
    }

    /// <summary>From which write on the key had the value, and until which; empty where it never had it.</summary>
    private (Place From, Place Until) Lifetime(string key, long value)
    {
        List<(Place At, long Value)> versions = _versions.GetValueOrDefault(key) ?? [];
        int index = versions.FindLastIndex(v => v.Value == value);
        if (index < 0 && value != 0) return (new(long.MaxValue, 0), default);
        return (index < 0 ? new(-1, 0) : versions[index].At,
            index + 1 < versions.Count ? versions[index + 1].At : new(long.MaxValue, 0));
    }

    private IEnumerable<Place> StatesDuring(TxOp tx)
    {
        var low = new Place(0, 0);
        foreach ((TxOp other, Place at) in _effective)
        {
            if (other.Decision == TxDecision.Committed && other.End < tx.Start && at.CompareTo(low) >= 0)
            {
                low = new Place(at.Position, at.Order + 1);
            }
        }

        yield return low;
        foreach ((TxOp other, Place at) in _effective)
        {
            if (at.CompareTo(low) >= 0 && other.Start < tx.End)
            {
                yield return new Place(at.Position, at.Order + 1);
            }
        }
    }

    /// <summary>Two replicas at one position show the same state.</summary>
    private void Views()
    {
        foreach (IGrouping<(long Position, string Object), ViewSample> same in _history.Views.GroupBy(
            v => (v.Position, v.Object)))
        {
            ViewSample first = same.First();
            foreach (ViewSample other in same.Where(v => v.State != first.State))
            {
                _found.Add(new(
                    CheckerNames.ViewsEqual,
                    $"{same.Key.Object} at {same.Key.Position}: client {first.Client} shows {first.State}, client "
                    + $"{other.Client} shows {other.State}"));
            }
        }
    }

    /// <summary>R20, R21: whether a unit was played or loaded, its hosts wait for the same decisions: of all commit
    /// records below that read it and whose decision records are not below.</summary>
    private void Awaited()
    {
        HistoryFacts facts = _history.Facts;
        foreach (AwaitedSample sample in _history.Awaited)
        {
            (long, int)[] expected = [.. facts.Commits
                .Where(c => c.Key.Position < sample.Position && c.Value.Any(sample.Members.Contains)
                    && facts.Decisions.GetValueOrDefault(c.Key, long.MaxValue) >= sample.Position)
                .Select(static c => c.Key)];
            (long, int)[] awaited = [.. sample.Commits
                .Where(c => facts.Commits.GetValueOrDefault(c, []).Any(sample.Members.Contains))];
            if (expected.SequenceEqual(awaited)) continue;
            _found.Add(new(CheckerNames.Awaited,
                $"client {sample.Client} at {sample.Position} waits for the decisions about "
                + $"{string.Join(" ", awaited)} that read {sample.Object}, and should for "
                + $"{string.Join(" ", expected)}"));
        }
    }

    /// <summary>A past state is the model's at that position.</summary>
    private void Past()
    {
        foreach (PastState past in _history.Past)
        {
            var at = new Place(past.Position, 0);
            foreach ((string key, long value) in past.Reads)
            {
                if (ValueBefore(key, at) != value)
                    _found.Add(new(CheckerNames.Past,
                        $"client {past.Client}: {key} was {ValueBefore(key, at)} below {past.Position}, not {value}"));
            }
        }
    }

    /// <summary>A feed has each write of its key, in their order, without gap or repeat. A reset has the value there,
    /// and the writes below it are left out.</summary>
    private void Feeds()
    {
        foreach (FeedRead feed in _history.Feeds)
        {
            List<(Place At, long Value)> writes = _versions.GetValueOrDefault(feed.Key) ?? [];
            int next = 0;
            foreach (FeedChange change in feed.Changes)
            {
                if (change.IsReset)
                {
                    var at = new Place(change.Position, 0);
                    int after = writes.FindIndex(w => w.At.CompareTo(at) >= 0);
                    after = after < 0 ? writes.Count : after;
                    if (after >= next && ValueBefore(feed.Key, at) == change.Value)
                    {
                        next = after;
                        continue;
                    }
                }
                else if (next < writes.Count && writes[next].Value == change.Value
                    && writes[next].At.Position == change.Position)
                {
                    next++;
                    continue;
                }

                string expected =
                    next < writes.Count ? $"{writes[next].Value} at {writes[next].At.Position}" : "nothing";
                _found.Add(new(CheckerNames.Feed,
                    $"client {feed.Client}: the feed of {feed.Key} goes on with {change}, and should with {expected}"));
                break;
            }
        }
    }
}
