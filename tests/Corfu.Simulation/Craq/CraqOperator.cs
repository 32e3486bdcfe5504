using Corfu.Protocol;
using Corfu.Simulation.Kernel;
using Craq;
using Craq.Coordination;

namespace Corfu.Simulation.Craq;

/// <summary>The process of an operator, which reaches the log at all times.</summary>
internal sealed class CraqOperator(CraqCluster cluster)
{
    private readonly SimProcess _process = cluster.NewProcess("operator");
    private TangoChainDirectory? _directory;

    public bool IsReady => _directory is not null;

    public TangoChainDirectory Directory => _directory!;

    public TimeProvider Time => _process.Time;

    public void Start() => _process.Start("open", async () =>
    {
        var session = cluster.OpenLog(_process, "operator");
        _directory = await TangoChainDirectory.OpenAsync(session.Runtime, _process.Time, _process.Loops, default);
    });

    public void Do(string what, Func<Task> work) => _process.Start(what, work);

    public void Create(string name, Placement placement, ChainOptions options) => Do("create", async () =>
    {
        var outcome = await Directory.CreateChainAsync(name, placement, options, default);
        if (outcome.Refusal is { } refusal) cluster.World.Fail($"chain {name}: {refusal}");
    });

    public async Task<ChangeOutcome> ChangeAsync(ChainConfig config, ChainChange change)
    {
        if (change is ChainChange.Remove { Destroyed: true } remove)
        {
            foreach (var node in remove.Nodes) cluster.Truth.Destroyed(config.Id, node);
        }

        var outcome = await Directory.TryChangeAsync(config.Id, config.Epoch, change, default);
        cluster.World.Explain($"operator: {outcome.Refusal ?? "recorded"}");
        return outcome;
    }
}
