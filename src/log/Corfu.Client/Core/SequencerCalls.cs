namespace Corfu.Client;

/// <summary>Requests to an epoch's sequencer, which gets the projection first if it has to (R7).</summary>
internal sealed class SequencerCalls(ITransport transport, ProjectionHolder projections)
{
    public async ValueTask<TResponse> CallAsync<TResponse>(
        EpochView view, Request<TResponse> request, CancellationToken cancellationToken)
        where TResponse : Response
    {
        if (
            projections.Current is var newest && newest != view
            && newest.Projection.Sequencer.Id != view.Projection.Sequencer.Id)
            return (TResponse)request.Fail(Status.Sealed, newest.Epoch);
        var address = view.Projection.Sequencer;
        var response = await transport.CallAsync(address, request, cancellationToken);
        if (response.Status != Status.NotBootstrapped) return response;
        var bootstrapped = await transport.CallAsync(address, new BootstrapRequest(view.Projection), cancellationToken);
        if (!bootstrapped.IsOk) return (TResponse)request.Fail(bootstrapped.Status, bootstrapped.Epoch);
        return await transport.CallAsync(address, request, cancellationToken);
    }
}
