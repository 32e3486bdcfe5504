using Craq.Calls;

namespace Craq;

/// <summary>The objects of one chain. Writes of several of them are atomic (<see cref="ObjectStore.MutateAsync"/>), and
/// a session over them is never behind itself.</summary>
public sealed class CraqChain : ObjectStore
{
    private readonly ChainEntry _chain;

    internal CraqChain(ChainCalls calls, ChainEntry chain, ReadTerms terms, CraqSession? session = null)
        : base(calls, chain.Name, terms, session) => _chain = chain;

    public ChainId Id => _chain.Id;

    /// <summary>The newest config that the client knows; null: none yet.</summary>
    public ChainConfig? Config => _chain.Route?.View.Config;

    /// <summary>A handle whose reads ask for these terms where a call says none.</summary>
    public CraqChain With(ReadTerms terms) => new(Calls, _chain, terms.Or(Terms), InSession);

    /// <summary>A handle whose reads and writes are the session's; its reads are session reads where a call says
    /// nothing else.</summary>
    public CraqChain In(CraqSession session) => new(Calls, _chain, ReadTerms.Session(session), session);

    public override ValueTask<WriteResult> ClearAsync(CancellationToken cancellationToken = default) =>
        Calls.WriteAsync(_chain, MutateBuilder.Clear().Build(Calls.Options.MaxValue), InSession, cancellationToken);

    internal ClientPart Part(Mutation mutation) => new(_chain, mutation, InSession);

    private protected override ValueTask<ChainEntry> ChainOfAsync(
        ObjectKey key, CancellationToken cancellationToken) => ValueTask.FromResult(_chain);
}
