namespace Corfu.Checkers;

/// <summary>Why one transaction stands before another in every order that explains what was seen.</summary>
[Flags]
internal enum Dependency
{
    /// <summary>The other transaction overwrote a write of this one.</summary>
    WriteWrite = 1,

    /// <summary>The other transaction read a write of this one.</summary>
    WriteRead = 2,

    /// <summary>The other transaction overwrote a value that this one read.</summary>
    ReadWrite = 4,

    /// <summary>This transaction had ended when the other began.</summary>
    RealTime = 8,
}

/// <summary>Nodes by number, and the order between them.</summary>
internal sealed class DependencyGraph
{
    private readonly List<List<(int To, Dependency Why)>> _edges = [];

    public int Count => _edges.Count;

    public int AddNode()
    {
        _edges.Add([]);
        return _edges.Count - 1;
    }

    public void Add(int from, int to, Dependency why)
    {
        if (from != to) _edges[from].Add((to, why));
    }

    public IEnumerable<int> From(int node, Dependency kinds)
    {
        foreach (var (to, why) in _edges[node])
        {
            if ((why & kinds) != 0) yield return to;
        }
    }

    /// <summary>The circles' places: sets of more than one node that all reach each other (Tarjan, without
    /// recursion: histories are long).</summary>
    public List<HashSet<int>> Components(Dependency kinds)
    {
        var found = new List<HashSet<int>>();
        var index = new int[Count];
        var low = new int[Count];
        var onStack = new bool[Count];
        var stack = new Stack<int>();
        var path = new Stack<(int Node, IEnumerator<int> Next)>();
        var next = 0;
        for (var root = 0; root < Count; root++)
        {
            if (index[root] == 0) Enter(root);
            while (path.TryPeek(out var at))
            {
                if (at.Next.MoveNext())
                {
                    var to = at.Next.Current;
                    if (index[to] == 0) Enter(to);
                    else if (onStack[to]) low[at.Node] = Math.Min(low[at.Node], index[to]);
                    continue;
                }

                path.Pop();
                if (path.TryPeek(out var parent)) low[parent.Node] = Math.Min(low[parent.Node], low[at.Node]);
                if (low[at.Node] == index[at.Node]) Leave(at.Node);
            }
        }

        return found;

        void Enter(int node)
        {
            index[node] = low[node] = ++next;
            stack.Push(node);
            onStack[node] = true;
            path.Push((node, From(node, kinds).GetEnumerator()));
        }

        void Leave(int node)
        {
            var component = new HashSet<int>();
            int member;
            do
            {
                member = stack.Pop();
                onStack[member] = false;
                component.Add(member);
            }
            while (member != node);

            if (component.Count > 1) found.Add(component);
        }
    }

    /// <summary>The shortest way from one node to another within a set; null if there is none.</summary>
    public List<int>? Path(int from, int to, IReadOnlySet<int> within, Dependency kinds)
    {
        var before = new Dictionary<int, int> { [from] = from };
        var queue = new Queue<int>([from]);
        while (queue.TryDequeue(out var node))
        {
            foreach (var next in From(node, kinds))
            {
                if (!within.Contains(next) || !before.TryAdd(next, node)) continue;
                if (next != to)
                {
                    queue.Enqueue(next);
                    continue;
                }

                var path = new List<int> { to };
                while (path[^1] != from) path.Add(before[path[^1]]);
                path.Reverse();
                return path;
            }
        }

        return null;
    }

    /// <summary>Why one node stands directly before another, in the words of the literature.</summary>
    public string Why(int from, int to)
    {
        var all = _edges[from].Where(e => e.To == to).Aggregate(default(Dependency), (sum, e) => sum | e.Why);
        return string.Join('+', Enum.GetValues<Dependency>().Where(d => all.HasFlag(d)).Select(d => d switch
        {
            Dependency.WriteWrite => "ww",
            Dependency.WriteRead => "wr",
            Dependency.ReadWrite => "rw",
            _ => "rt",
        }));
    }
}
