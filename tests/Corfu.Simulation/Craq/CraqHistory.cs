using Corfu.Simulation.Kernel;
using Corfu.Simulation.Workload;

namespace Corfu.Simulation.Craq;

/// <summary>Records the calls of a run's clients. A call whose client dies is one of unknown outcome.</summary>
internal sealed class CraqHistory(World world, Ledger ledger)
{
    private readonly SortedDictionary<long, ObjectCall> _open = [];
    private readonly List<ObjectCall> _ended = [];
    private long _next;

    public long Begin(ObjectCall call)
    {
        _open.Add(++_next, call with { Start = world.Steps, From = world.Now });
        return _next;
    }

    public ObjectCall End(long number, Func<ObjectCall, ObjectCall> answer)
    {
        _open.Remove(number, out var call);
        var ended = answer(call!) with { End = world.Steps, Until = world.Now };
        _ended.Add(ended);
        if (ended.Fate is ObjectFate.Done or ObjectFate.Mismatch) ledger.Done();
        return ended;
    }

    public ObjectHistory Complete()
    {
        var history = new ObjectHistory();
        history.Calls.AddRange(_ended);
        history.Calls.AddRange(_open.Values);
        return history;
    }
}
