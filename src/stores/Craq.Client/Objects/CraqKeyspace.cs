using Craq.Calls;

namespace Craq;

/// <summary>The objects of a fixed array of chains: the key's hash says the chain.</summary>
public sealed class CraqKeyspace : ObjectStore
{
    private readonly KeyspaceEntry _keyspace;

    internal CraqKeyspace(ChainCalls calls, KeyspaceEntry keyspace, ReadTerms terms, CraqSession? session = null)
        : base(calls, keyspace.Name, terms, session) => _keyspace = keyspace;

    /// <summary>A handle whose reads ask for these terms where a call says none.</summary>
    public CraqKeyspace With(ReadTerms terms) => new(Calls, _keyspace, terms.Or(Terms), InSession);

    /// <summary>A handle whose reads and writes are the session's; its reads are session reads where a call says
    /// nothing else.</summary>
    public CraqKeyspace In(CraqSession session) => new(Calls, _keyspace, ReadTerms.Session(session), session);

    /// <summary>The chain of a key.</summary>
    public async ValueTask<CraqChain> ChainAsync(ObjectKey key, CancellationToken cancellationToken = default) =>
        new(Calls, await ChainOfAsync(key, cancellationToken), Terms, InSession);

    /// <summary>Written: all chains are. Unknown: at least one of them may not be.</summary>
    public override async ValueTask<WriteResult> ClearAsync(CancellationToken cancellationToken = default)
    {
        var view = await Calls.ViewOfAsync(_keyspace, cancellationToken);
        var cleared = await Task.WhenAll(view.Chains.Select(chain => Calls.WriteAsync(Calls.Map.Get(chain),
            MutateBuilder.Clear().Build(Calls.Options.MaxValue), InSession, cancellationToken).AsTask()));
        return cleared.MaxBy(one => one.Outcome);
    }

    private protected override ValueTask<ChainEntry> ChainOfAsync(ObjectKey key, CancellationToken cancellationToken)
    {
        return _keyspace.View is { } view ? ValueTask.FromResult(Calls.Map.Get(view.ChainOf(key))) : FindAsync();

        async ValueTask<ChainEntry> FindAsync() =>
            Calls.Map.Get((await Calls.ViewOfAsync(_keyspace, cancellationToken)).ChainOf(key));
    }
}
