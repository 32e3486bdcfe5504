using Corfu.Transport;

namespace Salus.Coordination.Tests.Support;

/// <summary>Nodes as an agent calls them: which of them answer, seal, and hold something of which volume.</summary>
internal sealed class FakeNodes : ITransport
{
    /// <summary>Stores and region servers that do not answer.</summary>
    public HashSet<NodeEndpoint> Mute { get; } = [];

    /// <summary>Processes that have no room for a recovery.</summary>
    public HashSet<Incarnation> Full { get; } = [];

    public HashSet<StoreId> Refusing { get; } = [];

    public Dictionary<StoreId, VolumeId> Holding { get; } = [];

    public List<(StoreId Store, RegionKey Region, Epoch Generation)> Seals { get; } = [];

    public ValueTask<TResponse> CallAsync<TResponse>(
        NodeAddress to, Request<TResponse> request, CancellationToken cancellationToken)
        where TResponse : Response
    {
        if (Mute.Contains(to.Endpoint))
            return ValueTask.FromException<TResponse>(new TransportException("no answer", outcomeUnknown: false));
        return new ValueTask<TResponse>((TResponse)Answer(to.Id, request));
    }

    public void Drop(NodeAddress node) => throw new NotSupportedException();

    public ValueTask<NodeDescription> DescribeAsync(NodeEndpoint endpoint, CancellationToken cancellationToken) =>
        throw new NotSupportedException();

    private Response Answer(NodeId role, Request request)
    {
        var store = new StoreId(role.Value);
        switch (request)
        {
            case SealRegionRequest seal:
                Seals.Add((store, seal.Region, seal.Epoch));
                return Refusing.Contains(store)
                    ? seal.Fail(Status.Failed, seal.Epoch)
                    : new SealRegionResponse(Status.Ok, seal.Epoch);
            case StoreInfoRequest info:
                return new StoreInfoResponse(Status.Ok, info.Epoch)
                {
                    Regions = Holding.TryGetValue(store, out var volume)
                        ? [new StoredRegion(new RegionKey(volume, 0), Epoch.First, 1)]
                        : [],
                };
            case RegionStatusRequest status:
                return new RegionStatusResponse(
                    Full.Contains(new Incarnation(role.Value)) ? Status.NoSpace : SalusStatus.Pending, status.Epoch);
            default:
                throw new NotSupportedException();
        }
    }
}
