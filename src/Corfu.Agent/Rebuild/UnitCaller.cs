using Corfu.Protocol;
using Corfu.Transport;

namespace Corfu.Agent;

/// <summary>One request to one unit under one projection, which the unit gets first where it has not heard of it
/// (R14).</summary>
internal sealed class UnitCaller(ITransport transport)
{
    public async ValueTask<TResponse> CallAsync<TResponse>(
        Projection projection, NodeId unit, Request<TResponse> request, CancellationToken cancellationToken)
        where TResponse : Response
    {
        var address = projection.AddressOf(unit);
        var response = await transport.CallAsync(address, request, cancellationToken);
        if (response.Status != Status.NotInstalled) return response;
        var installed = await transport.CallAsync(address, new InstallRequest(projection), cancellationToken);
        if (!installed.IsOk) return (TResponse)request.Fail(installed.Status, installed.Epoch);
        return await transport.CallAsync(address, request, cancellationToken);
    }
}
