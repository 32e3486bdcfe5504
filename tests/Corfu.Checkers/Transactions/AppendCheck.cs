namespace Corfu.Checkers;

/// <summary>
/// Strict serializability of transactions that read and append to lists, after Elle: the order of a list's values is
/// the order of its writers, so what stands before what is known, and a circle of it is an anomaly. Knows numbers and
/// names only.
/// </summary>
/// <remarks>
/// In doubt counts as committed if any of its values is in a list, else as nothing. The reads of an aborted transaction
/// must fit in too (R17), though they may be old.
/// </remarks>
public sealed class AppendCheck
{
    private sealed record Place(TxRecord Writer, string List);

    private readonly IReadOnlyList<TxRecord> _transactions;
    private readonly IReadOnlyDictionary<string, IReadOnlyList<long>> _lists;
    private readonly Dictionary<long, Place> _writers = [];
    private readonly HashSet<TxRecord> _effective = [];
    private readonly List<Anomaly> _found = [];

    private AppendCheck(IReadOnlyList<TxRecord> transactions,
        IReadOnlyDictionary<string, IReadOnlyList<long>> lists) => (_transactions, _lists) = (transactions, lists);

    /// <param name="transactions">All that were begun and may have had an effect.</param>
    /// <param name="lists">The content of every list when all had ended.</param>
    public static IReadOnlyList<Anomaly> Check(
        IReadOnlyList<TxRecord> transactions, IReadOnlyDictionary<string, IReadOnlyList<long>> lists)
    {
        var check = new AppendCheck(transactions, lists);
        check.FindWriters();
        check.CheckLists();
        foreach (var transaction in transactions) check.CheckSteps(transaction);
        // Circles need a place for every value.
        if (check._found.TrueForAll(a => a.Kind is AnomalyKind.G1b or AnomalyKind.Internal or AnomalyKind.LostAppend))
            check._found.AddRange(new AppendCycles(check._effective, lists).Find(transactions));
        return check._found;
    }

    private void FindWriters()
    {
        foreach (var transaction in _transactions)
        {
            foreach (var step in transaction.Steps.Where(s => s.IsAppend))
            {
                if (!_writers.TryAdd(step.Values[0], new Place(transaction, step.List)))
                    Add(AnomalyKind.Duplicate, $"{transaction} writes {step.Values[0]}, which was written before");
            }
        }

        foreach (var transaction in _transactions.Where(t => t.Fate == TxFate.Committed)) _effective.Add(transaction);
        foreach (var values in _lists.Values) MarkSeen(values, null);
        foreach (var reader in _transactions)
        {
            foreach (var step in reader.Steps.Where(s => !s.IsAppend)) MarkSeen(step.Values, reader);
        }
    }

    // A transaction's own appends in its reads prove nothing.
    private void MarkSeen(IReadOnlyList<long> values, TxRecord? reader)
    {
        foreach (var value in values)
        {
            if (_writers.TryGetValue(value, out var place) && place.Writer != reader
                && place.Writer.Fate == TxFate.InDoubt)
                _effective.Add(place.Writer);
        }
    }

    // Nothing lost, nothing twice, nothing invented.
    private void CheckLists()
    {
        var stands = new HashSet<long>();
        foreach (var (list, values) in _lists)
        {
            foreach (var value in values)
            {
                if (!stands.Add(value)) Add(AnomalyKind.Duplicate, $"{list} holds {value}, which stands before it too");
                CheckOrigin(list, value, "the end");
            }
        }

        foreach (var (value, place) in _writers)
        {
            if (_effective.Contains(place.Writer) && !stands.Contains(value))
                Add(AnomalyKind.LostAppend, $"{place.Writer} appended {value} to {place.List}, which lacks it");
        }
    }

    private void CheckOrigin(string list, long value, string reader)
    {
        if (!_writers.TryGetValue(value, out var place) || place.List != list)
            Add(AnomalyKind.Invented, $"{list} held {value} at {reader}, which no transaction appended to it");
        else if (place.Writer.Fate == TxFate.Aborted)
            Add(AnomalyKind.G1a, $"{list} held {value} of {place.Writer} at {reader}");
    }

    private void CheckSteps(TxRecord transaction)
    {
        var own = new Dictionary<string, List<long>>();
        var read = new Dictionary<string, IReadOnlyList<long>>();
        foreach (var step in transaction.Steps)
        {
            if (!own.TryGetValue(step.List, out var appended)) own.Add(step.List, appended = []);
            if (step.IsAppend)
            {
                appended.Add(step.Values[0]);
                continue;
            }

            var before = step.Values.Count - appended.Count;
            if (before < 0 || !step.Values.Skip(before).SequenceEqual(appended))
            {
                Add(AnomalyKind.Internal, $"{transaction} does not see its own appends to {step.List}");
                continue;
            }

            IReadOnlyList<long> seen = [.. step.Values.Take(before)];
            if (!read.TryAdd(step.List, seen) && !read[step.List].SequenceEqual(seen))
                Add(AnomalyKind.Internal, $"{transaction} read {step.List} twice and saw two states");
            CheckRead(transaction, step.List, seen);
        }
    }

    private void CheckRead(TxRecord reader, string list, IReadOnlyList<long> seen)
    {
        var order = _lists.GetValueOrDefault(list) ?? [];
        if (!order.Take(seen.Count).SequenceEqual(seen))
        {
            var found = _found.Count;
            foreach (var value in seen.Except(order)) CheckOrigin(list, value, $"{reader}");
            if (found == _found.Count) Add(AnomalyKind.Order, $"{reader} read {list} in another order than it has");
            return;
        }

        if (seen.Count == 0 || seen.Count == order.Count) return;
        var writer = _writers.GetValueOrDefault(seen[^1])?.Writer;
        if (writer is not null && writer == _writers.GetValueOrDefault(order[seen.Count])?.Writer)
            Add(AnomalyKind.G1b, $"{reader} read {seen[^1]} of {list}, which is not the last that {writer} wrote");
    }

    private void Add(AnomalyKind kind, string text) => _found.Add(new Anomaly(kind, text));
}
