using System.Collections.Concurrent;
using Craq.Connecting;
using Microsoft.Extensions.Logging;

namespace Craq.Calls;

/// <summary>The configs of the chains that the client uses, and the way to newer ones. A stale or a forged config
/// breaks no promise: its nodes refuse what is not theirs.</summary>
internal sealed class ChainMap(
    ITransport transport, NodeBook nodes, CallClock clock, CraqClientOptions options, ILogger logger)
{
    // Nodes asked at once; more only if none of them answers.
    private const int Wave = 4;

    // A frozen process is silent: once a node has answered, the others get a moment.
    private static readonly TimeSpan s_grace = TimeSpan.FromMilliseconds(50);

    private readonly ConcurrentDictionary<ChainId, ChainEntry> _chains = new();
    private readonly ConcurrentDictionary<string, KeyspaceEntry> _keyspaces = new(StringComparer.Ordinal);
    private int _turn;

    /// <summary>The endpoints of the connection string; asked again when no known node answers.</summary>
    public ImmutableArray<NodeEndpoint> Endpoints { get; init; } = [];

    public ChainEntry Get(ChainId id, string? name = null)
    {
        if (_chains.TryGetValue(id, out var entry)) return entry;
        // Handles keep their entries: a second one of a chain costs a question.
        if (_chains.Count >= options.MaxChains && _chains.Keys.FirstOrDefault() is { IsNone: false } other)
            _chains.TryRemove(other, out _);
        return _chains.GetOrAdd(id, static (id, name) => new ChainEntry(id, name ?? id.ToString()), name);
    }

    public KeyspaceEntry GetKeyspace(string name) =>
        _keyspaces.GetOrAdd(name, static name => new KeyspaceEntry(name));

    /// <summary>Whether the view is newer than what was known.</summary>
    public bool Adopt(ChainEntry chain, ChainView? view)
    {
        if (view is null || view.Config.Id != chain.Id) return false;
        // Reads of many chains, and of many clients, begin at different replicas.
        if (!chain.TryAdopt(view, nodes, options.Datacenter, Interlocked.Increment(ref _turn))) return false;
        CraqClientTelemetry.Views.Add(1);
        if (logger.IsEnabled(LogLevel.Debug)) CraqClientLog.Adopted(logger, view.Config.ToString());
        return true;
    }

    /// <summary>Asks nodes for a newer config of the chain. Callers share one question.</summary>
    public async ValueTask<LearnOutcome> LearnAsync(ChainEntry chain, CancellationToken cancellationToken) =>
        await Learning(chain).WaitOrCancelAsync(cancellationToken);

    /// <summary>As above, for a caller that does not wait.</summary>
    public void BeginLearning(ChainEntry chain) => Learning(chain).Abandon();

    /// <summary>The chains of a keyspace.</summary>
    /// <returns>Null: no node that answers knows it; with the outcome Silent, no node answers.</returns>
    public async ValueTask<(LearnOutcome Outcome, KeyspaceView? View)> FindKeyspaceAsync(
        string name, CancellationToken cancellationToken)
    {
        KeyspaceView? found = null;
        var answers = await AskNodesAsync(new ChainsRequest(Epoch.None, [], [name]), Candidates(null), answer =>
        {
            found ??= answer.Keyspaces.FirstOrDefault(own => own.Name == name);
            return found is not null;
        }, cancellationToken);
        if (found is not null) return (LearnOutcome.Newer, found);
        return (answers > 0 ? LearnOutcome.Unknown : LearnOutcome.Silent, null);
    }

    /// <summary>Whether a node answers. No keyspace has an empty name, so the answer is short.</summary>
    public async ValueTask<bool> PingAsync(CancellationToken cancellationToken) =>
        await AskNodesAsync(new ChainsRequest(Epoch.None, [], [""]), Candidates(null), static _ => true,
            cancellationToken) > 0;

    /// <summary>The newest configs of all chains that nodes of this client know to be theirs.</summary>
    public async ValueTask<ImmutableArray<ChainView>> ListAsync(CancellationToken cancellationToken)
    {
        var newest = new Dictionary<ChainId, ChainView>();
        var asked = new HashSet<NodeLink>();
        while (Candidates(null).Where(link => !asked.Contains(link)).Take(Wave).ToArray() is { Length: > 0 } wave)
        {
            asked.UnionWith(wave);
            await AskWaveAsync(new ChainsRequest(Epoch.None, [], []), wave, answer =>
            {
                foreach (var view in answer.Views)
                {
                    if (!newest.TryGetValue(view.Config.Id, out var known) || known.Config.Epoch < view.Config.Epoch)
                        newest[view.Config.Id] = view;
                    for (var i = 0; i < view.Endpoints.Length; i++) nodes.Of(view.Address(i));
                }

                return false;
            }, cancellationToken);
        }

        return [.. newest.Values.OrderBy(view => view.Config.Name, StringComparer.Ordinal)];
    }

    private Task<LearnOutcome> Learning(ChainEntry chain) =>
        chain.ShareLearning(() => clock.Loops.RunAsync(() => AskAsync(chain)));

    private async Task<LearnOutcome> AskAsync(ChainEntry chain)
    {
        // Outside the lock of the caller: a call may complete synchronously.
        await Task.Yield();
        var (isNewer, isKnown) = (false, false);
        var answers = await AskNodesAsync(new ChainsRequest(Epoch.None, [chain.Id], []), Candidates(chain), answer =>
        {
            var view = answer.Views.FirstOrDefault(view => view.Config.Id == chain.Id);
            isKnown |= view is not null;
            return isNewer |= Adopt(chain, view);
        }, clock.Closed);
        return isNewer ? LearnOutcome.Newer
            : answers == 0 ? LearnOutcome.Silent
            : isKnown ? LearnOutcome.Same : LearnOutcome.Unknown;
    }

    // Members first, since they learn first; silent ones last.
    private List<NodeLink> Candidates(ChainEntry? chain)
    {
        ImmutableArray<NodeLink> members = chain?.Route?.Members ?? [];
        var turn = (uint)Interlocked.Increment(ref _turn);
        var others = nodes.All.Except(members).OrderBy(link => link.Address.Id).ToArray();
        var start = others.Length == 0 ? 0 : (int)(turn % (uint)others.Length);
        return [.. members.Concat(others[start..]).Concat(others[..start]).OrderBy(link => link.IsAvoided)];
    }

    /// <summary>Asks in waves until the visitor has what it wants, or a wave has answered.</summary>
    /// <param name="visit">Called for one answer at a time; true: enough.</param>
    /// <returns>The number of nodes that answered.</returns>
    private async Task<int> AskNodesAsync(ChainsRequest request, IReadOnlyCollection<NodeLink> candidates,
        Func<ChainsResponse, bool> visit, CancellationToken cancellationToken)
    {
        foreach (var wave in candidates.Chunk(Wave))
        {
            if (await AskWaveAsync(request, wave, visit, cancellationToken) is > 0 and var answers) return answers;
        }

        // All nodes that are known have gone, or moved.
        if (Endpoints.IsEmpty) return 0;
        try
        {
            var found = await NodeFinder.FindAsync(Endpoints, transport, clock.Time, cancellationToken);
            NodeLink[] links = [.. found.Nodes.Select(nodes.Of).Except(candidates)];
            return links.Length == 0 ? 0 : await AskWaveAsync(request, links, visit, cancellationToken);
        }
        catch (CraqNotFoundException e)
        {
            CraqClientLog.Lost(logger, e.Message);
            return 0;
        }
    }

    private async Task<int> AskWaveAsync(ChainsRequest request, NodeLink[] wave, Func<ChainsResponse, bool> visit,
        CancellationToken cancellationToken)
    {
        using var enough = new CancellationTokenSource(Timeout.InfiniteTimeSpan, clock.Time);
        using var either = CancellationTokenSource.CreateLinkedTokenSource(enough.Token, cancellationToken);
        var pending = wave.Select(link => AskOneAsync(request, link, either.Token)).ToList();
        var answers = 0;
        while (pending.Count > 0)
        {
            var ended = await Task.WhenAny(pending);
            pending.Remove(ended);
            if (await ended is not { IsOk: true } answer) continue;
            answers++;
            if (visit(answer)) enough.CancelAfter(TimeSpan.Zero);
            else enough.CancelAfter(s_grace);
        }

        cancellationToken.ThrowIfCancellationRequested();
        return answers;
    }

    private async Task<ChainsResponse?> AskOneAsync(
        ChainsRequest request, NodeLink link, CancellationToken cancellationToken)
    {
        try
        {
            var answer = await transport.CallAsync(link.Address, request, cancellationToken);
            link.Answered();
            return answer;
        }
        catch (TransportException e)
        {
            link.Silent(options.AvoidTime);
            CraqClientLog.Silent(logger, link.Address.ToString(), e.Message);
            return null;
        }
        catch (OperationCanceledException)
        {
            return null;
        }
    }
}
