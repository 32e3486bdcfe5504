using Craq.Coordination;
using Craq.Storage;
using Craq.Transactions;

namespace Craq;

/// <summary>A running node: store, chains and handler. Register <see cref="Handler"/> with the process's server; watch
/// <see cref="Fault"/>.</summary>
internal sealed class CraqNode : IAsyncDisposable
{
    private readonly CancellationTokenSource _stop = new();
    private readonly Task _sweeps;

    private CraqNode(CraqHandler handler, ExpirySweep expiry, DecisionSweep decisions, TimeProvider time,
        CraqNodeOptions options)
    {
        Handler = handler;
        _sweeps = Task.WhenAll(
            Sweeps.RunAsync(options.ExpiryInterval, time, expiry.SweepAllAsync, _stop.Token),
            Sweeps.RunAsync(options.DecisionInterval, time, decisions.SweepAsync, _stop.Token));
    }

    public CraqHandler Handler { get; }

    public NodeId Id => Handler.Id;

    /// <summary>Completes, with the reason, when the store has failed.</summary>
    public Task<Exception> Fault => Handler.Fault;

    /// <summary>Recovers the chains from the store, and is ready to serve on return. The node owns the store from here
    /// on; directory and transport are the caller's.</summary>
    /// <exception cref="CorfuException">The store lacks something that was acknowledged.</exception>
    public static async ValueTask<CraqNode> OpenAsync(NodeId id, INodeStore store, IChainDirectory directory,
        ITransport transport, TimeProvider time, CraqNodeOptions options)
    {
        var handler = new CraqHandler(id, store, directory, transport, time, options);
        var lead = new TransactionLead(handler, directory, transport, time, options);
        await handler.RecoverAsync();
        handler.Start();
        return new CraqNode(handler, new ExpirySweep(handler, store, time), lead.Sweep, time, options);
    }

    /// <summary>Ends the node: what waits is answered with <see cref="Status.Failed"/>, its outcome is
    /// unknown.</summary>
    public async ValueTask DisposeAsync()
    {
        _stop.Cancel();
        await _sweeps;
        await Handler.DisposeAsync();
        _stop.Dispose();
    }
}
