namespace Corfu.Agent;

/// <summary>An attempt to copy a batch, under one projection.</summary>
internal sealed class Attempt(ITransport transport, Projection projection, CancellationToken cancellationToken)
{
    public Projection Projection => projection;

    public Epoch Epoch => projection.Epoch;

    public CancellationToken CancellationToken => cancellationToken;

    /// <summary>The chains that hold positions of the range.</summary>
    public ImmutableArray<Chain> ChainsOf(LogPosition from, LogPosition until) =>
    [
        .. projection.Segments.Where(s => s.From < until && (s.Until is not { } end || end > from))
            .SelectMany(s => s.Chains),
    ];

    /// <summary>R14: a unit that does not know the projection yet gets it first.</summary>
    public async ValueTask<TResponse> CallAsync<TResponse>(NodeId unit, Request<TResponse> request)
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
