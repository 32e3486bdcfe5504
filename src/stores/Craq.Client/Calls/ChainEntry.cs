namespace Craq.Calls;

/// <summary>A chain as this client knows it.</summary>
internal sealed class ChainEntry(ChainId id, string name)
{
    private const long NotKnown = -1;

    private readonly Lock _gate = new();
    private long _mark = NotKnown;
    private Task<LearnOutcome>? _learning;

    public ChainId Id => id;

    public string Name => name;

    /// <summary>The newest config. Null: none is known yet. Invariant: its epoch never falls. Written under the
    /// gate.</summary>
    public ChainRoute? Route { get; private set => Volatile.Write(ref field, value); }

    /// <summary>The greatest mark that a node of the chain has told; null: none, or it has become too old.</summary>
    public ObjectVersion? Mark =>
        Volatile.Read(ref _mark) is var mark && mark == NotKnown ? null : new ObjectVersion(mark);

    public void NoteMark(ObjectVersion mark)
    {
        var known = Volatile.Read(ref _mark);
        while (known < mark.Value)
        {
            var before = Interlocked.CompareExchange(ref _mark, mark.Value, known);
            if (before == known) return;
            known = before;
        }
    }

    /// <summary>The chain's window has gone beyond it: the next write asks for a newer one first.</summary>
    public void ForgetMark(ObjectVersion mark) => Interlocked.CompareExchange(ref _mark, NotKnown, mark.Value);

    /// <summary>Takes a config of a higher epoch.</summary>
    public bool TryAdopt(ChainView view, NodeBook nodes, string? datacenter, int turn)
    {
        lock (_gate)
        {
            if (Route is { } route && route.Epoch >= view.Config.Epoch) return false;
            Route = new ChainRoute(view, nodes, datacenter, turn);
            return true;
        }
    }

    /// <summary>Callers that ask meanwhile share a question.</summary>
    public Task<LearnOutcome> ShareLearning(Func<Task<LearnOutcome>> ask)
    {
        lock (_gate)
        {
            if (_learning is { IsCompleted: false } running) return running;
            return _learning = ask();
        }
    }
}

/// <summary>The answer of the nodes to a question about a chain.</summary>
internal enum LearnOutcome
{
    /// <summary>The client has a newer config now.</summary>
    Newer,

    /// <summary>Nodes answer, and know no newer one.</summary>
    Same,

    /// <summary>Nodes answer, and none of them knows the chain.</summary>
    Unknown,

    /// <summary>No node answers.</summary>
    Silent,
}

/// <summary>A keyspace as this client knows it: its chains never change.</summary>
internal sealed class KeyspaceEntry(string name)
{
    public string Name => name;

    /// <summary>Null: not asked for yet.</summary>
    public KeyspaceView? View { get; set => Volatile.Write(ref field, value); }
}
