using Craq.Calls;
using Microsoft.Extensions.Logging;
using Microsoft.Extensions.Logging.Abstractions;

namespace Craq;

/// <summary>Objects in chains of replicas. One instance serves a whole process: all calls may run
/// concurrently.</summary>
public sealed partial class CraqClient : IAsyncDisposable
{
    private readonly CallClock _clock;
    private readonly ChainCalls _calls;
    private IDisposable? _ownedTransport;
    private IDisposable? _ownedTls;

    /// <param name="nodes">Some nodes, at least one; others are learnt.</param>
    /// <param name="transport">Stays the caller's.</param>
    /// <param name="loops">Runs the work that callers share. Null: the thread pool.</param>
    public CraqClient(ImmutableArray<NodeAddress> nodes, ITransport transport, TimeProvider time, IEntropy entropy,
        CraqClientOptions? options = null, ILogger? logger = null, LoopContext? loops = null)
        : this(nodes, [], transport, time, entropy, options, logger, loops)
    {
    }

    private CraqClient(ImmutableArray<NodeAddress> nodes, ImmutableArray<NodeEndpoint> endpoints,
        ITransport transport, TimeProvider time, IEntropy entropy, CraqClientOptions? options, ILogger? logger,
        LoopContext? loops)
    {
        options ??= CraqClientOptions.Default;
        options.Validate();
        _clock = new CallClock(time, loops ?? LoopContext.Pool);
        var book = new NodeBook(_clock);
        foreach (var node in nodes) book.Of(node);
        var map = new ChainMap(transport, book, _clock, options, logger ?? NullLogger.Instance)
        {
            Endpoints = endpoints,
        };
        _calls = new ChainCalls(
            transport, map, new Retry(map, _clock, entropy, options), _clock, entropy, options);
    }

    /// <summary>A chain by its name. Whether it exists shows with the first call.</summary>
    public CraqChain Chain(string name) =>
        new(_calls, _calls.Map.Get(ChainId.FromName(name), name), ReadTerms.Strong);

    /// <summary>A chain by its id.</summary>
    public CraqChain Chain(ChainId id) => new(_calls, _calls.Map.Get(id), ReadTerms.Strong);

    /// <summary>A keyspace by its name. Whether it exists shows with the first call.</summary>
    public CraqKeyspace Keyspace(string name)
    {
        ArgumentException.ThrowIfNullOrEmpty(name);
        return new CraqKeyspace(_calls, _calls.Map.GetKeyspace(name), ReadTerms.Strong);
    }

    /// <summary>Carries out a transaction over the chains of its parts: strictly serializable with other transactions
    /// and writes.</summary>
    /// <remarks>Cancelling it leaves its outcome unknown.</remarks>
    /// <exception cref="CraqUnavailableException">The transaction was certainly not carried out, and never will
    /// be.</exception>
    public ValueTask<CraqTransactionResult> TransactAsync(
        CraqTransaction transaction, CancellationToken cancellationToken = default)
    {
        ArgumentNullException.ThrowIfNull(transaction);
        return _calls.TransactAsync([.. transaction.Build(_calls.Options.MaxValue)
            .Select(part => part.Chain.Part(part.Mutation))], cancellationToken);
    }

    /// <summary>Asks a few nodes until one answers, without a wait for chains: for health checks.</summary>
    /// <exception cref="CraqUnavailableException">No node answers.</exception>
    public async ValueTask PingAsync(CancellationToken cancellationToken = default)
    {
        if (!await _calls.Map.PingAsync(cancellationToken))
            throw new CraqUnavailableException("No CRAQ node answers.", Status.Ok);
    }

    /// <summary>The chains of the nodes that answer, by name, each with the newest config that one of them knows.
    /// </summary>
    public ValueTask<ImmutableArray<ChainView>> ListChainsAsync(CancellationToken cancellationToken = default) =>
        _calls.Map.ListAsync(cancellationToken);

    /// <summary>Ends all calls under way: writes that were sent with their outcome unknown, the rest with an
    /// error.</summary>
    public ValueTask DisposeAsync()
    {
        _clock.Close();
        _ownedTransport?.Dispose();
        _ownedTls?.Dispose();
        return ValueTask.CompletedTask;
    }
}
