using Corfu.Protocol;

namespace Corfu.Client;

public sealed partial class Reconfigurer
{
    /// <summary>
    /// Hands the projection to its units and its sequencer (R7, R14). One attempt each: whoever is missed gets it from the first client that
    /// meets it.
    /// </summary>
    private async Task InstallAsync(Projection projection, CancellationToken cancellationToken)
    {
        using var timeout = new CancellationTokenSource(_options.InstallTimeout, _time);
        using var either = CancellationTokenSource.CreateLinkedTokenSource(timeout.Token, cancellationToken);
        List<Task> calls = [TryAsync(projection.Sequencer, new BootstrapRequest(projection), either.Token)];
        foreach (var unit in projection.Units) calls.Add(TryAsync(unit, new InstallRequest(projection), either.Token));
        await Task.WhenAll(calls);
        cancellationToken.ThrowIfCancellationRequested();
    }

    private async Task TryAsync(NodeAddress node, AckRequest request, CancellationToken cancellationToken)
    {
        try
        {
            var response = await _transport.CallAsync(node, request, cancellationToken);
            if (!response.IsOk && response.Status != Status.Sealed) ClientLog.NotInstalled(_logger, request.Epoch.ToString(), node.ToString(), response.Status.ToString());
        }
        catch (Exception e) when (e is TransportException or OperationCanceledException)
        {
            ClientLog.NotInstalled(_logger, request.Epoch.ToString(), node.ToString(), e.Message);
        }
    }
}
