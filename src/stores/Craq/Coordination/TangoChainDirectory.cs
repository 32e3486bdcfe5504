using Tango;
using Tango.Collections;

#pragma warning disable TANGO008 // StoredFormat registers the formatters of the protocol's types.

namespace Craq.Coordination;

/// <summary>The directory of the log, and the outcomes of transactions, as a process sees them. One loop follows the
/// log for all that wait in the process. Safe for concurrent use.</summary>
internal sealed class TangoChainDirectory : IChainDirectory, IAsyncDisposable
{
    public const string DecisionsName = "craq.decisions";

    private readonly CraqDirectory _directory;
    private readonly TangoDictionary<Guid, TransactionDecision> _decisions;
    private readonly Followed<DirectoryView> _followed;

    private TangoChainDirectory(CraqDirectory directory, TangoDictionary<Guid, TransactionDecision> decisions,
        DirectoryView view, TimeProvider time, LoopContext loops)
    {
        (_directory, _decisions) = (directory, decisions);
        _followed = new Followed<DirectoryView>(
            new FollowedObject<DirectoryView>(static view => view.Revision, directory.WaitForViewAsync), view, null,
            time, loops);
    }

    public DirectoryView View => _followed.State;

    /// <summary>Opens the directory, and creates it in a log that has none.</summary>
    /// <param name="runtime">The caller's, and of the same time and context.</param>
    public static async ValueTask<TangoChainDirectory> OpenAsync(TangoRuntime runtime, TimeProvider time,
        LoopContext loops, CancellationToken cancellationToken)
    {
        var directory = await runtime.OpenAsync<CraqDirectory>(
            CraqDirectory.DefaultName, OpenMode.Create, cancellationToken);
        var decisions = await runtime.OpenAsync<TangoDictionary<Guid, TransactionDecision>>(
            DecisionsName, OpenMode.Create, cancellationToken);
        var view = await directory.ViewAsync(cancellationToken);
        return new TangoChainDirectory(directory, decisions, view, time, loops);
    }

    public ValueTask<DirectoryView> ReadAsync(CancellationToken cancellationToken) => CallAsync(
        "Reading the directory", async token => _followed.Take(await _directory.ViewAsync(token)), cancellationToken);

    public ValueTask<DirectoryView> WaitAsync(DirectoryView after, CancellationToken cancellationToken) =>
        _followed.WaitAsync(after, cancellationToken);

    public ValueTask<ChangeOutcome> TryChangeAsync(ChainId chain, Epoch expected, ChainChange change,
        CancellationToken cancellationToken) => ChangeAsync($"Changing chain {chain}",
        token => _directory.TryChangeAsync(chain, expected, change, token), cancellationToken);

    public ValueTask OpenedAsync(ChainId chain, Epoch epoch, CancellationToken cancellationToken) => CallAsync(
        $"Recording that {epoch} of chain {chain} is open",
        token => _directory.OpenedAsync(chain, epoch, token), cancellationToken);

    public async ValueTask<TransactionOutcome> DecideAsync(Guid transaction, TransactionDecision wanted,
        CancellationToken cancellationToken) => (await CallAsync($"Deciding transaction {transaction}",
        token => _decisions.GetOrAddAsync(transaction, wanted, token), cancellationToken)).Outcome;

    public async ValueTask<IReadOnlyDictionary<Guid, TransactionDecision>> DecisionsAsync(
        CancellationToken cancellationToken) =>
        await CallAsync("Reading the outcomes of transactions", _decisions.SnapshotAsync, cancellationToken);

    /// <summary>No chain holds a lock of the transaction, and none asks for its outcome again (C15).</summary>
    public async ValueTask DropDecisionAsync(Guid transaction, CancellationToken cancellationToken) => await CallAsync(
        $"Dropping the outcome of transaction {transaction}",
        token => _decisions.RemoveAsync(transaction, token), cancellationToken);

    /// <summary>Registers a node; see <see cref="NodeLease"/>.</summary>
    /// <returns>The lease, and the revision of the directory that granted it.</returns>
    public ValueTask<(TangoLease Lease, long Revision)> RegisterAsync(
        DirectoryNode node, TimeSpan timeToLive, CancellationToken cancellationToken) => CallAsync(
        $"Registering node {node.Id}", token => _directory.RegisterAsync(node, timeToLive, token), cancellationToken);

    /// <returns>Why it is not evicted; null: it is.</returns>
    public ValueTask<string?> EvictAsync(NodeId node, CancellationToken cancellationToken) => CallAsync(
        $"Evicting node {node}", token => _directory.EvictAsync(node, token), cancellationToken);

    /// <returns>False: there is no such node.</returns>
    public ValueTask<bool> SetDrainingAsync(NodeId node, bool isDraining, CancellationToken cancellationToken) =>
        CallAsync($"Draining node {node}",
            token => _directory.SetDrainingAsync(node, isDraining, token), cancellationToken);

    /// <returns>Why the node stays; null: it is dropped.</returns>
    public ValueTask<string?> ForgetNodeAsync(NodeId node, CancellationToken cancellationToken) => CallAsync(
        $"Forgetting node {node}", token => _directory.ForgetNodeAsync(node, token), cancellationToken);

    /// <returns>Why there is no such chain; or the new one's config.</returns>
    public ValueTask<ChangeOutcome> CreateChainAsync(string name, Placement placement, ChainOptions options,
        CancellationToken cancellationToken)
    {
        // Before it is a record: the log takes nothing that the rules refuse anyway.
        var fault = PlacementRules.IsName(name)
            ? PlacementRules.Fault(placement)
            : $"a chain's name has 1 to {ChainConfig.MaxName} bytes";
        return fault is not null
            ? new(new ChangeOutcome(fault, null))
            : ChangeAsync($"Creating chain {name}",
                token => _directory.CreateChainAsync(name, placement, options, token), cancellationToken);
    }

    public ValueTask<ChangeOutcome> DropChainAsync(ChainId chain, CancellationToken cancellationToken) => ChangeAsync(
        $"Dropping chain {chain}", token => _directory.DropChainAsync(chain, token), cancellationToken);

    /// <summary>The holder of this lease serves no reads by it in this epoch (C7).</summary>
    /// <returns>False: the chain is at another epoch, or the node has another lease by now.</returns>
    public ValueTask<bool> ReleaseAsync(
        ChainId chain, Epoch epoch, long lease, CancellationToken cancellationToken) => CallAsync(
        $"Releasing chain {chain}", token => _directory.ReleaseAsync(chain, epoch, lease, token), cancellationToken);

    /// <returns>Why there is no such keyspace; null: there is.</returns>
    public ValueTask<string?> CreateKeyspaceAsync(
        string name, ImmutableArray<ChainId> chains, CancellationToken cancellationToken) => CallAsync(
        $"Creating keyspace {name}", token => _directory.CreateKeyspaceAsync(name, chains, token), cancellationToken);

    /// <returns>False: there was none.</returns>
    public ValueTask<bool> DropKeyspaceAsync(string name, CancellationToken cancellationToken) => CallAsync(
        $"Dropping keyspace {name}", token => _directory.DropKeyspaceAsync(name, token), cancellationToken);

    public ValueTask DisposeAsync() => _followed.DisposeAsync();

    private async ValueTask<ChangeOutcome> ChangeAsync(string what,
        Func<CancellationToken, ValueTask<ChangeOutcome>> change, CancellationToken cancellationToken) =>
        await CallAsync(what, change, cancellationToken);

    private static async ValueTask CallAsync(
        string what, Func<CancellationToken, ValueTask> call, CancellationToken cancellationToken) =>
        await CallAsync(what, async token =>
        {
            await call(token);
            return true;
        }, cancellationToken);

    private static async ValueTask<T> CallAsync<T>(
        string what, Func<CancellationToken, ValueTask<T>> call, CancellationToken cancellationToken)
    {
        try
        {
            return await call(cancellationToken);
        }
        catch (TangoException e)
        {
            throw new CorfuException($"{what} has failed: {e.Message}", e);
        }
    }
}
