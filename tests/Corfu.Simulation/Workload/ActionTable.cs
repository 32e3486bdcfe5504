using Corfu.Simulation.Kernel;

namespace Corfu.Simulation.Workload;

/// <summary>
/// The actions that the workloads of a mix offer to a client: each step draws one, by weight. Actions that write stand
/// first, each half in the order of the workloads: the meaning of a seed depends on this order.
/// </summary>
internal sealed class ActionTable<TClient>
{
    private readonly (double Weight, WorkloadAction<TClient> Action)[] _rows;
    private readonly double _total;

    public ActionTable(IEnumerable<IWorkload<TClient>> workloads, ClientProfile profile)
    {
        _rows = [.. workloads.SelectMany(static workload => workload.Actions)
            .Where(action => !(action.Writes && profile.ReadsOnly))
            .OrderBy(static action => !action.Writes)
            .Select(action => (action.Weight(profile), action))];
        _total = _rows.Sum(static row => row.Weight);
    }

    public Func<TClient, SimRandom, Task> Draw(SimRandom random)
    {
        double dice = random.NextDouble() * _total;
        WorkloadAction<TClient> drawn =
            Array.Find(_rows, row => (dice -= row.Weight) < 0).Action ?? _rows[^1].Action;
        return (drawn.IsPossible() ? drawn : _rows[^1].Action).Step;
    }
}
