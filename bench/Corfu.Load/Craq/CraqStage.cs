using Craq;

namespace Corfu.Load;

/// <summary>Nodes, chains and generators, shared by the sections that need no nodes of their own.</summary>
internal sealed class CraqStage(CraqRig rig, CraqNodes nodes, int memcachedPort)
{
    /// <summary>Nodes of the longest chain.</summary>
    public const int Nodes = 7;

    public const string Keyspace = "main";

    // Compiled code of the nodes' paths: a new process is slow for seconds.
    private const double WarmUpSeconds = 4;

    private readonly Dictionary<string, CraqMembers> _chains = [];
    private bool _hasKeyspace;

    public CraqRig Rig => rig;

    public CraqPlan Plan => rig.Plan;

    public string Target => nodes.ConnectionString;

    /// <summary>A chain of that length, made at the first call.</summary>
    public async Task<CraqMembers> ChainAsync(int length, CancellationToken cancellationToken,
        ChainOptions? options = null, string suffix = "")
    {
        options ??= ChainOptions.Default;
        var name = $"{(options.Protocol == ChainProtocol.Cr ? "CR" : "CRAQ")}-{length}"
            + $"{(options.Values == ValuePath.Relay ? "-relay" : "")}"
            + $"{(options.Reads == EpochProof.Leased ? "-leased" : "")}{suffix}";
        if (!_chains.TryGetValue(name, out var members))
            _chains[name] = members = await nodes.CreateChainAsync(name, length, options, cancellationToken);
        return members;
    }

    /// <summary>The address of the first node's memcached port, whose keyspace has chains of three nodes.</summary>
    public async Task<string> MemcachedAsync(CancellationToken cancellationToken)
    {
        if (!_hasKeyspace) await nodes.CreateKeyspaceAsync(Keyspace, cancellationToken);
        _hasKeyspace = true;
        return $"memcached/127.0.0.1:{memcachedPort}";
    }

    /// <summary>Loads every node for a while.</summary>
    public async Task WarmUpAsync(CancellationToken cancellationToken)
    {
        var members = await ChainAsync(Nodes, cancellationToken);
        Console.WriteLine($"warming up {Nodes} nodes");
        await rig.WarmUpAsync(
        [
            CraqPoint.Own("put", WorkloadKind.CraqPut, members, CraqPlan.Window, Plan.Size),
            CraqPoint.Get("get", members, CraqPlan.Window, Plan.Size),
        ], Target, WarmUpSeconds);
    }
}
