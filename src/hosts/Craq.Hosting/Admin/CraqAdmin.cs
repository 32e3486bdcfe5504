using Corfu.Client;
using Craq.Coordination;
using Tango;

namespace Craq.Hosting;

/// <summary>Nodes, chains and keyspaces, for operators: reads and changes the directory in the log.</summary>
public sealed class CraqAdmin : IAsyncDisposable
{
    // A change that another one overtook is tried again on the newer config.
    private const int MaxAttempts = 10;

    // The members of an epoch install it within moments, where they are there.
    private static readonly TimeSpan s_openPatience = TimeSpan.FromSeconds(10);
    private static readonly TimeSpan s_openPoll = TimeSpan.FromMilliseconds(50);

    private readonly TangoRuntime _runtime;
    private readonly TangoChainDirectory _directory;

    private CraqAdmin(TangoRuntime runtime, TangoChainDirectory directory) =>
        (_runtime, _directory) = (runtime, directory);

    /// <param name="log">Stays the caller's.</param>
    /// <exception cref="CorfuException">The log does not answer.</exception>
    public static async Task<CraqAdmin> OpenAsync(CorfuClient log, CancellationToken cancellationToken = default)
    {
        var runtime = new TangoRuntime(log);
        try
        {
            return new CraqAdmin(runtime, await TangoChainDirectory.OpenAsync(
                runtime, TimeProvider.System, LoopContext.Pool, cancellationToken));
        }
        catch (TangoException e)
        {
            await runtime.DisposeAsync();
            throw new CorfuException($"The directory of chains cannot be opened: {e.Message}", e);
        }
        catch
        {
            await runtime.DisposeAsync();
            throw;
        }
    }

    /// <summary>All that the directory has, as new as the call.</summary>
    public async Task<CraqOverview> ReadAsync(CancellationToken cancellationToken = default)
    {
        var view = await _directory.ReadAsync(cancellationToken);
        return new CraqOverview(
            [.. view.Nodes.Values.Select(node => new CraqNodeInfo(node.Id, node.Datacenter, node.Endpoint,
                (CraqNodeState)node.State, view.Chains.Values.Count(chain => chain.IndexOf(node.Id) >= 0)))],
            [.. view.Chains.Values.OrderBy(chain => chain.Name, StringComparer.Ordinal)],
            [.. view.Keyspaces.Select(own => new KeyspaceView(own.Key, own.Value))]);
    }

    /// <exception cref="CraqRefusedException">There is such a chain, or too few nodes for its placement.</exception>
    public async Task<ChainConfig> CreateChainAsync(string name, Placement placement, ChainOptions? options = null,
        CancellationToken cancellationToken = default) => Recorded($"The chain '{name}' was not created",
        await _directory.CreateChainAsync(name, placement, options ?? ChainOptions.Default, cancellationToken));

    /// <summary>Changes how a chain is placed and served. The chain goes on in another epoch. Waits for up to ten
    /// seconds until its newest epoch is open.</summary>
    /// <param name="change">From what the chain has to what it shall have.</param>
    /// <exception cref="CraqRefusedException">There is no such chain, or its newest epoch is not open.</exception>
    public async Task<ChainConfig> SetChainAsync(string name,
        Func<ChainConfig, (Placement Placement, ChainOptions Options)> change,
        CancellationToken cancellationToken = default)
    {
        for (var attempt = 1; ; attempt++)
        {
            var config = await FindOpenAsync(name, cancellationToken);
            var (placement, options) = change(config);
            var outcome = await _directory.TryChangeAsync(config.Id, config.Epoch,
                new ChainChange.SetOptions(placement, options), cancellationToken);
            if (outcome.IsRecorded || outcome.Config?.Epoch == config.Epoch || attempt == MaxAttempts)
                return Recorded($"The chain '{name}' was not changed", outcome);
        }
    }

    /// <summary>Drops a chain with all its objects. Its name is never used again.</summary>
    /// <exception cref="CraqRefusedException">There is no such chain, or a keyspace uses it.</exception>
    public async Task DropChainAsync(string name, CancellationToken cancellationToken = default) => Recorded(
        $"The chain '{name}' was not dropped",
        await _directory.DropChainAsync(ChainId.FromName(name), cancellationToken));

    /// <summary>Creates a keyspace over new chains, <c>NAME-0</c> and so on. Chains that are there already, of a
    /// creation that was interrupted, are taken.</summary>
    /// <param name="chains">A power of two.</param>
    /// <exception cref="CraqRefusedException">There is such a keyspace of other chains, or a chain was not
    /// created.</exception>
    public async Task<KeyspaceView> CreateKeyspaceAsync(string name, int chains, Placement placement,
        ChainOptions? options = null, CancellationToken cancellationToken = default)
    {
        if (!int.IsPow2(chains) || chains > ChainsRequest.MaxChains)
            throw new CraqRefusedException($"The keyspace '{name}' was not created: it has 1, 2, 4 or another power of "
                + $"two of chains, up to {ChainsRequest.MaxChains}, not {chains}.");
        var known = (await _directory.ReadAsync(cancellationToken)).Chains;
        var ids = ImmutableArray.CreateBuilder<ChainId>(chains);
        for (var i = 0; i < chains; i++)
        {
            var chain = $"{name}-{i}";
            ids.Add(ChainId.FromName(chain));
            if (!known.ContainsKey(ids[i])) await CreateChainAsync(chain, placement, options, cancellationToken);
        }

        var view = new KeyspaceView(name, ids.MoveToImmutable());
        return await _directory.CreateKeyspaceAsync(name, view.Chains, cancellationToken) is { } refusal
            ? throw new CraqRefusedException($"The keyspace '{name}' was not created: {refusal}.")
            : view;
    }

    /// <summary>Drops the name. Its chains stay.</summary>
    /// <exception cref="CraqRefusedException">There is no such keyspace.</exception>
    public async Task DropKeyspaceAsync(string name, CancellationToken cancellationToken = default)
    {
        if (!await _directory.DropKeyspaceAsync(name, cancellationToken))
            throw new CraqRefusedException($"There is no keyspace '{name}': 'corfu craq status' lists the keyspaces.");
    }

    /// <summary>Moves the node's chains to other nodes, or lets it have chains again.</summary>
    /// <exception cref="CraqRefusedException">There is no such node.</exception>
    public async Task DrainAsync(NodeId node, bool isDraining = true, CancellationToken cancellationToken = default)
    {
        if (!await _directory.SetDrainingAsync(node, isDraining, cancellationToken))
            throw new CraqRefusedException($"There is no node {node}: 'corfu craq status' shows the nodes.");
    }

    /// <summary>Takes members out of a chain by force. With <paramref name="areDestroyed"/> an operator says that these
    /// members will never come back: then the chain may go on even where no other one is known to hold all that was
    /// committed.</summary>
    /// <exception cref="CraqRefusedException">The rules of chains do not allow it; the message says why.</exception>
    public async Task<ChainConfig> RemoveMembersAsync(string name, ImmutableArray<NodeId> nodes, bool areDestroyed,
        CancellationToken cancellationToken = default)
    {
        var config = await FindAsync(name, cancellationToken);
        return Recorded($"The members of '{name}' were not removed", await _directory.TryChangeAsync(
            config.Id, config.Epoch, new ChainChange.Remove(nodes, areDestroyed), cancellationToken));
    }

    /// <summary>Drops what the directory knows of a node that is gone for good.</summary>
    /// <exception cref="CraqRefusedException">The node runs, or is a member of chains.</exception>
    public async Task ForgetNodeAsync(NodeId node, CancellationToken cancellationToken = default)
    {
        if (await _directory.ForgetNodeAsync(node, cancellationToken) is { } refusal)
            throw new CraqRefusedException($"The node {node} was not forgotten: {refusal}.");
    }

    public async ValueTask DisposeAsync()
    {
        await _directory.DisposeAsync();
        await _runtime.DisposeAsync();
    }

    // As it is, if it does not open in time.
    private async Task<ChainConfig> FindOpenAsync(string name, CancellationToken cancellationToken)
    {
        var began = TimeProvider.System.GetTimestamp();
        while (true)
        {
            var config = await FindAsync(name, cancellationToken);
            if (config.IsRecordedOpen || TimeProvider.System.GetElapsedTime(began) > s_openPatience) return config;
            await Task.Delay(s_openPoll, cancellationToken);
        }
    }

    private async Task<ChainConfig> FindAsync(string name, CancellationToken cancellationToken) =>
        (await _directory.ReadAsync(cancellationToken)).Chains.GetValueOrDefault(ChainId.FromName(name))
        ?? throw new CraqRefusedException($"There is no chain '{name}': 'corfu craq chain list' lists the chains.");

    private static ChainConfig Recorded(string what, ChangeOutcome outcome) => outcome.Refusal is { } refusal
        ? throw new CraqRefusedException($"{what}: {refusal}.")
        : outcome.Config!;
}

/// <summary>The directory does not allow a change; the message says why. Nothing was changed.</summary>
public sealed class CraqRefusedException(string message) : CorfuException(message);
