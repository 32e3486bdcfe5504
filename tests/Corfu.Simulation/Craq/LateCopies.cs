using Corfu.Protocol;
using Corfu.Simulation.Kernel;
using Corfu.Transport;
using Craq.Protocol;

namespace Corfu.Simulation.Craq;

/// <summary>A node's port to others, where objects take longer than records: a learner asks for both at once, and gets
/// a newer version of an object before the copy of the older one.</summary>
internal sealed class LateCopies(CraqCluster cluster, SimProcess process, ITransport inner) : ITransport
{
    // Within a request's time-out.
    private const int MostTicks = 400_000;

    private readonly SimRandom _random = cluster.World.Random.Split($"late copies {process.Id}");

    public AccessRole Rights => inner.Rights;

    public async ValueTask<TResponse> CallAsync<TResponse>(
        NodeAddress to, Request<TResponse> request, CancellationToken cancellationToken)
        where TResponse : Response
    {
        var isFollowing = request is FetchRequest { CommittedOnly: true };
        if (isFollowing && _random.Chance(0.5)) await WaitAsync(MostTicks / 4, cancellationToken);
        var answer = await inner.CallAsync(to, request, cancellationToken);
        if (request is not ReconcileRequest { Keys.IsEmpty: false } || !_random.Chance(0.5)) return answer;
        cluster.Monitor.Mark("copies under way");
        await WaitAsync(MostTicks, cancellationToken);
        return answer;
    }

    public ValueTask<NodeDescription> DescribeAsync(NodeEndpoint endpoint, CancellationToken cancellationToken) =>
        inner.DescribeAsync(endpoint, cancellationToken);

    public void Drop(NodeAddress node) => inner.Drop(node);

    private Task WaitAsync(int most, CancellationToken cancellationToken) =>
        Task.Delay(TimeSpan.FromTicks(_random.Next(most)), process.Time, cancellationToken);
}
