namespace Corfu.Checkers;

/// <summary>The circles among transactions whose lists, reads and fates agree.</summary>
/// <param name="effective">Whose appends count.</param>
internal sealed class AppendCycles(
    IReadOnlySet<TxRecord> effective, IReadOnlyDictionary<string, IReadOnlyList<long>> lists)
{
    private const Dependency Written = Dependency.WriteWrite | Dependency.WriteRead;
    private const Dependency Seen = Written | Dependency.ReadWrite;

    private readonly DependencyGraph _graph = new();
    private readonly List<TxRecord> _nodes = [];
    private readonly Dictionary<TxRecord, int> _numbers = new(ReferenceEqualityComparer.Instance);
    private readonly Dictionary<long, int> _writers = [];

    public IEnumerable<Anomaly> Find(IEnumerable<TxRecord> transactions)
    {
        foreach (var transaction in transactions)
        {
            if (!effective.Contains(transaction) && transaction.Fate != TxFate.Aborted) continue;
            _numbers.Add(transaction, _graph.AddNode());
            _nodes.Add(transaction);
            if (!effective.Contains(transaction)) continue;
            foreach (var step in transaction.Steps.Where(s => s.IsAppend))
                _writers.Add(step.Values[0], _numbers[transaction]);
        }

        AddWrites();
        foreach (var transaction in _nodes) AddReads(transaction);
        AddTime();
        var told = new HashSet<int>();
        foreach (var (kinds, classify) in Levels())
        {
            foreach (var component in _graph.Components(kinds))
            {
                if (component.Overlaps(told)) continue;
                told.UnionWith(component);
                yield return classify(component);
            }
        }
    }

    // The simplest first: what is a circle already with fewer kinds of dependency is told as that.
    private IEnumerable<(Dependency, Func<HashSet<int>, Anomaly>)> Levels() =>
    [
        (Dependency.WriteWrite, c => Tell(AnomalyKind.G0, Circle(c, Dependency.WriteWrite))),
        (Written, c => Tell(AnomalyKind.G1c, Circle(c, Written))),
        (Seen, ClassifyReads),
        (Seen | Dependency.RealTime, c => Tell(AnomalyKind.RealTime, Circle(c, Seen | Dependency.RealTime))),
    ];

    private void AddWrites()
    {
        foreach (var values in lists.Values)
        {
            for (var i = 1; i < values.Count; i++)
                _graph.Add(_writers[values[i - 1]], _writers[values[i]], Dependency.WriteWrite);
        }
    }

    private void AddReads(TxRecord reader)
    {
        var number = _numbers[reader];
        var own = reader.Steps.Where(s => s.IsAppend).Select(s => s.Values[0]).ToHashSet();
        foreach (var step in reader.Steps.Where(s => !s.IsAppend))
        {
            var seen = step.Values.Count(v => !own.Contains(v));
            var order = lists.GetValueOrDefault(step.List) ?? [];
            // Told already, as a contradiction in itself.
            if (seen > order.Count) continue;
            if (seen > 0) _graph.Add(_writers[order[seen - 1]], number, Dependency.WriteRead);
            if (seen < order.Count) _graph.Add(number, _writers[order[seen]], Dependency.ReadWrite);
        }
    }

    // A chain of moments instead of an edge for each pair: who ended stands before the moment, who began after it.
    private void AddTime()
    {
        List<(long Time, bool IsEnd, int Node)> events = [];
        foreach (var (transaction, node) in _numbers)
        {
            // An aborted one may have read the past.
            if (transaction.Fate != TxFate.Aborted) events.Add((transaction.Began, false, node));
            if (transaction.Ended != long.MaxValue) events.Add((transaction.Ended, true, node));
        }

        var moment = -1;
        foreach (var (_, isEnd, node) in events.OrderBy(e => e.Time).ThenBy(e => e.IsEnd))
        {
            if (isEnd)
            {
                var next = _graph.AddNode();
                if (moment >= 0) _graph.Add(moment, next, Dependency.RealTime);
                _graph.Add(node, next, Dependency.RealTime);
                moment = next;
            }
            else if (moment >= 0)
            {
                _graph.Add(moment, node, Dependency.RealTime);
            }
        }
    }

    private Anomaly ClassifyReads(HashSet<int> component)
    {
        foreach (var reader in component)
        {
            foreach (var writer in _graph.From(reader, Dependency.ReadWrite).Where(component.Contains))
            {
                if (_graph.Path(writer, reader, component, Written) is { } back)
                    return Tell(AnomalyKind.GSingle, [reader, .. back]);
            }
        }

        return Tell(AnomalyKind.G2, Circle(component, Seen));
    }

    private List<int> Circle(HashSet<int> component, Dependency kinds)
    {
        List<int>? shortest = null;
        // Moments are no transactions, and large sets have short circles nearly anywhere.
        foreach (var node in component.Where(n => n < _nodes.Count).Take(100))
        {
            foreach (var next in _graph.From(node, kinds).Where(component.Contains))
            {
                if (_graph.Path(next, node, component, kinds) is { } back
                    && (shortest is null || back.Count < shortest.Count - 1))
                    shortest = [node, .. back];
            }
        }

        return shortest!;
    }

    private Anomaly Tell(AnomalyKind kind, List<int> circle)
    {
        var text = $"{_nodes[circle[0]]}";
        for (var i = 1; i < circle.Count; i++)
        {
            if (circle[i] >= _nodes.Count) continue;
            var why = circle[i - 1] < _nodes.Count ? _graph.Why(circle[i - 1], circle[i]) : "rt";
            text += $" -{why}-> {_nodes[circle[i]]}";
        }

        return new Anomaly(kind, text);
    }
}
