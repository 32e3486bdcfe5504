namespace Corfu.Checkers;

/// <summary>Transactions over several chains are strictly serializable with all writes, and all or nothing.</summary>
public static class TransactCheck
{
    private const Dependency All = Dependency.WriteWrite | Dependency.WriteRead | Dependency.ReadWrite
        | Dependency.RealTime;

    public static List<Violation> Check(ObjectHistory history)
    {
        var deleted = Deleted(history);
        var parts = history.Calls.Where(IsPart).ToList();
        var transactions = history.Transactions
            .Concat(parts.Where(call => call.Transaction is null).Select(call => AsTransaction(call, deleted)))
            .Concat(parts.Where(call => call.Transaction is not null).GroupBy(call => call.Transaction!)
                .Select(whole => AsTransaction(whole.Key, [.. whole.Select(part => AsTransaction(part, deleted))])))
            .ToList();
        List<Violation> found = [];
        Halves(history, found);
        var seen = transactions.SelectMany(t => t.Reads).Where(read => read.Version > 0).ToHashSet();
        List<ObjectTransaction> effective = [];
        foreach (var transaction in transactions)
        {
            var shown = transaction.Writes.Where(write => write.Version > 0 && seen.Contains(write)).ToList();
            if (transaction.Fate == TxFate.Aborted && shown.Count > 0)
                found.Add(new(CheckerNames.Transact,
                    $"{transaction} was aborted, and its write of {shown[0].Item} was read"));
            if (transaction.Fate == TxFate.Committed || (transaction.Fate == TxFate.InDoubt && shown.Count > 0))
                effective.Add(transaction);
        }

        Circles(effective, found);
        return found;
    }

    // Only steps that transactions can meet: single-chain writes and mutations, which are transactions of one part, and
    // parts of transactions over several chains.
    private static bool IsPart(ObjectCall call) =>
        call is { Mode: ObjectMode.Mutate, Fate: ObjectFate.Done, Version: > 0 }
        && call.Acts.All(act => act.Kind != ObjectActKind.Clear);

    private static ObjectTransaction AsTransaction(ObjectCall call, HashSet<string> deleted) => new(
        call.Id, call.Start, call.End, TxFate.Committed,
        [
            .. call.Seen.Select(seen => (Item: Item(call.Chain, seen.Key), seen.Version))
                .Where(read => read.Version > 0
                    || (!deleted.Contains(read.Item) && !deleted.Contains(call.Chain))),
        ],
        [.. call.Acts.Select(act => Item(call.Chain, act.Key)).Distinct().Select(item => (item, call.Version))]);

    private static void Halves(ObjectHistory history, List<Violation> found)
    {
        foreach (var whole in history.Calls.Where(call => call.Transaction is not null)
            .GroupBy(call => call.Transaction))
        {
            var done = whole.FirstOrDefault(part => part.Fate == ObjectFate.Done);
            var undone = whole.FirstOrDefault(part => part.Fate is ObjectFate.Refused or ObjectFate.Mismatch);
            if (done is not null && undone is not null)
                found.Add(new(CheckerNames.Transact, $"half of a transaction: {done} was done, and {undone} was not"));
        }
    }

    private static ObjectTransaction AsTransaction(string name, List<ObjectTransaction> parts) => new(
        name, parts.Min(part => part.Began), parts.Max(part => part.Ended), TxFate.Committed,
        [.. parts.SelectMany(part => part.Reads)], [.. parts.SelectMany(part => part.Writes)]);

    // An absent object that was never deleted and cannot expire was read before its first write. Another one may have
    // been read at any time.
    private static HashSet<string> Deleted(ObjectHistory history) =>
    [
        .. from call in history.Calls
           from act in call.Acts
           where act.Kind is ObjectActKind.Delete or ObjectActKind.Clear || act.Expiry > 0
           select act.Kind == ObjectActKind.Clear ? call.Chain : Item(call.Chain, act.Key),
    ];

    /// <summary>The item of a chain's key.</summary>
    public static string Item(string chain, string key) => $"{chain}/{key}";

    private static void Circles(List<ObjectTransaction> transactions, List<Violation> found)
    {
        var graph = new DependencyGraph();
        foreach (var _ in transactions) graph.AddNode();
        Dictionary<string, SortedList<long, int>> writers = [];
        for (var i = 0; i < transactions.Count; i++)
        {
            foreach (var (item, version) in transactions[i].Writes.Where(write => write.Version > 0))
            {
                if (!writers.TryGetValue(item, out var versions)) writers[item] = versions = [];
                if (!versions.TryAdd(version, i))
                    found.Add(new(CheckerNames.Transact,
                        $"{transactions[versions[version]]} and {transactions[i]} wrote one version of {item}"));
            }
        }

        foreach (var versions in writers.Values)
        {
            for (var i = 1; i < versions.Count; i++)
                graph.Add(versions.Values[i - 1], versions.Values[i], Dependency.WriteWrite);
        }

        for (var i = 0; i < transactions.Count; i++) AddReads(graph, i, transactions[i], writers);
        AddTime(graph, transactions);
        foreach (var component in graph.Components(All))
        {
            var members = component.Where(node => node < transactions.Count).Order().ToList();
            found.Add(new(CheckerNames.Transact,
                $"no order explains {string.Join(", ", members.Take(6).Select(node => transactions[node].Name))}: "
                + Circle(graph, transactions, component, members[0])));
        }
    }

    private static void AddReads(DependencyGraph graph, int reader, ObjectTransaction transaction,
        Dictionary<string, SortedList<long, int>> writers)
    {
        foreach (var (item, version) in transaction.Reads)
        {
            if (!writers.TryGetValue(item, out var versions)) continue;
            if (versions.TryGetValue(version, out var writer)) graph.Add(writer, reader, Dependency.WriteRead);
            // The first writer above what was seen.
            foreach (var (other, node) in versions)
            {
                if (other <= version) continue;
                graph.Add(reader, node, Dependency.ReadWrite);
                break;
            }
        }
    }

    // A chain of moments instead of an edge for each pair.
    private static void AddTime(DependencyGraph graph, List<ObjectTransaction> transactions)
    {
        List<(long Time, bool IsEnd, int Node)> events = [];
        for (var i = 0; i < transactions.Count; i++)
        {
            events.Add((transactions[i].Began, false, i));
            if (transactions[i].Fate == TxFate.Committed && transactions[i].Ended != ObjectHistory.Never)
                events.Add((transactions[i].Ended, true, i));
        }

        var moment = -1;
        foreach (var (_, isEnd, node) in events.OrderBy(e => e.Time).ThenBy(e => e.IsEnd))
        {
            if (isEnd)
            {
                var next = graph.AddNode();
                if (moment >= 0) graph.Add(moment, next, Dependency.RealTime);
                graph.Add(node, next, Dependency.RealTime);
                moment = next;
            }
            else if (moment >= 0)
            {
                graph.Add(moment, node, Dependency.RealTime);
            }
        }
    }

    private static string Circle(DependencyGraph graph, List<ObjectTransaction> transactions,
        HashSet<int> component, int from)
    {
        List<int>? shortest = null;
        foreach (var next in graph.From(from, All).Where(component.Contains))
        {
            if (graph.Path(next, from, component, All) is { } back && (shortest is null || back.Count < shortest.Count))
                shortest = back;
        }

        List<int> circle = [from, .. shortest ?? []];
        return string.Join(" -> ", circle.Where(node => node < transactions.Count)
            .Select(node => transactions[node].ToString()));
    }
}
