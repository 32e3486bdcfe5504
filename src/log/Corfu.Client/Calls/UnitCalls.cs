
namespace Corfu.Client;

/// <summary>Requests to units. A unit without the epoch's projection gets it first (R14), once for all
/// callers.</summary>
internal sealed class UnitCalls(ITransport transport, ProjectionHolder projections, ClientClock clock)
{
    private readonly Lock _gate = new();

    // Guarded by _gate. The last install at each unit, running or not.
    private readonly Dictionary<NodeAddress, (Epoch Epoch, Task<AckResponse> Install)> _installs = [];

    /// <summary>Any status may come back; <see cref="TransportException"/> as the transport throws it.</summary>
    public async ValueTask<TResponse> CallAsync<TResponse>(
        EpochView view, NodeId unit, Request<TResponse> request, CancellationToken cancellationToken)
        where TResponse : Response
    {
        // A unit that has left the projection may never answer.
        if (projections.Current is var newest && newest != view && !newest.Projection.HasUnit(unit))
            return (TResponse)request.Fail(Status.Sealed, newest.Epoch);
        var response = await transport.CallAsync(view.Projection.AddressOf(unit), request, cancellationToken);
        return response.Status == Status.NotInstalled
            ? await InstallAndCallAsync(view, unit, request, cancellationToken)
            : response;
    }

    /// <summary>For the answer <see cref="Status.NotInstalled"/>.</summary>
    private async ValueTask<TResponse> InstallAndCallAsync<TResponse>(
        EpochView view, NodeId unit, Request<TResponse> request, CancellationToken cancellationToken)
        where TResponse : Response
    {
        var address = view.Projection.AddressOf(unit);
        var installed = await InstallAsync(view.Projection, address).WaitOrCancelAsync(cancellationToken);
        return installed.IsOk
            ? await transport.CallAsync(address, request, cancellationToken)
            : (TResponse)request.Fail(installed.Status, installed.Epoch);
    }

    private Task<AckResponse> InstallAsync(Projection projection, NodeAddress unit)
    {
        lock (_gate)
        {
            if (
                _installs.TryGetValue(unit, out var last) && last.Epoch == projection.Epoch
                && !last.Install.IsCompleted) return last.Install;
            var install = clock.Loops.RunAsync(() => SendAsync(projection, unit));
            _installs[unit] = (projection.Epoch, install);
            return install;
        }
    }

    private async Task<AckResponse> SendAsync(Projection projection, NodeAddress unit)
    {
        // Outside the lock: the call may complete synchronously.
        await Task.Yield();
        return await transport.CallAsync(unit, new InstallRequest(projection), clock.Closed);
    }
}
