using Corfu.Client.Layout;

namespace Corfu.Client;

/// <summary>From a few endpoints to the newest projection, by way of the acceptors among them.</summary>
internal static class ClusterFinder
{
    private static readonly TimeSpan s_grace = TimeSpan.FromMilliseconds(100);

    /// <summary>Finds the cluster's identity and acceptors. The transport need not know the cluster yet.</summary>
    /// <exception cref="ClusterNotFoundException">Says for every endpoint what was found there.</exception>
    public static Task<FoundCluster> DiscoverAsync(
        ConnectionString connection, ITransport transport, TimeProvider time, CancellationToken cancellationToken) =>
        DiscoverAsync(connection, transport, time, s_grace, cancellationToken);

    private static async Task<FoundCluster> DiscoverAsync(ConnectionString connection, ITransport transport,
        TimeProvider time, TimeSpan grace, CancellationToken cancellationToken)
    {
        var answers = await AskAllAsync(connection, transport, time, grace, cancellationToken);
        var clusters = answers.Select(a => a.Description?.Cluster ?? default).Where(c => !c.IsNone).Distinct().ToList();
        if (clusters.Count > 1)
            throw new ClusterNotFoundException(
                $"The endpoints of {connection} belong to {clusters.Count} different clusters: "
                + $"{string.Join(", ", clusters)}.");
        ImmutableArray<NodeAddress> acceptors = [.. answers.SelectMany(a => a.Acceptors)];
        if (acceptors.IsEmpty)
            throw new ClusterNotFoundException(
                $"No layout acceptor answers at {connection} ({string.Join("; ", answers)}).");

        // A silent node may know a projection: only all of them together can say that there is none.
        var silent = answers.Where(a => a.Description is null).ToList();
        var whyNoProjection = silent.Count == 0
            ? $"The cluster at {connection} has no projection yet: it was never started."
            : $"No layout acceptor that answers at {connection} knows a projection; others do not answer "
                + $"({string.Join("; ", silent)}).";
        return new FoundCluster(connection, clusters.SingleOrDefault(), acceptors, silent.Count > 0, whyNoProjection);
    }

    /// <summary>Finds the newest projection, over a transport that names the cluster.</summary>
    /// <exception cref="ClusterNotFoundException">The acceptors do not answer, or know no projection.</exception>
    public static async Task<Projection> FindLatestAsync(FoundCluster found, LayoutClient layout, ITransport transport,
        TimeProvider time, CancellationToken cancellationToken)
    {
        try
        {
            var latest = await layout.FindLatestAsync(found.Acceptors, cancellationToken);
            if (latest is null && found.HasSilent)
            {
                // A standby answers before the others and knows nothing: now they get the transport's whole time-out.
                found = await DiscoverAsync(found.Connection, transport, time, Timeout.InfiniteTimeSpan,
                    cancellationToken);
                latest = await layout.FindLatestAsync(found.Acceptors, cancellationToken);
            }

            return latest ?? throw new ClusterNotFoundException(found.WhyNoProjection);
        }
        catch (LayoutUnavailableException e)
        {
            throw new ClusterNotFoundException($"The cluster at {found.Connection} is not available: {e.Message}", e);
        }
    }

    /// <summary>A frozen process takes connections and is silent: once an acceptor is found, the others get a moment
    /// and not the transport's whole time-out.</summary>
    private static async Task<EndpointAnswer[]> AskAllAsync(
        ConnectionString connection, ITransport transport, TimeProvider time, TimeSpan grace,
        CancellationToken cancellationToken)
    {
        using var enough = new CancellationTokenSource(Timeout.InfiniteTimeSpan, time);
        using var either = CancellationTokenSource.CreateLinkedTokenSource(enough.Token, cancellationToken);
        var calls = connection.Endpoints.Select(e => EndpointAnswer.AskAsync(transport, e, either.Token)).ToList();
        var pending = calls.ToList();
        while (pending.Count > 0)
        {
            var ended = await Task.WhenAny(pending);
            pending.Remove(ended);
            if ((await ended).Acceptors.Any()) enough.CancelAfter(grace);
        }

        cancellationToken.ThrowIfCancellationRequested();
        return await Task.WhenAll(calls);
    }
}

/// <summary>The process that answered at an endpoint, or the reason why none did.</summary>
internal sealed record EndpointAnswer(NodeEndpoint Endpoint, NodeDescription? Description, string? Trouble)
{
    public IEnumerable<NodeAddress> Acceptors =>
        from role in Description?.Roles ?? []
        where role.Role == NodeRole.Acceptor
        select new NodeAddress(role.Id, Endpoint);

    public static async Task<EndpointAnswer> AskAsync(
        ITransport transport, NodeEndpoint endpoint, CancellationToken cancellationToken)
    {
        try
        {
            return new EndpointAnswer(endpoint, await transport.DescribeAsync(endpoint, cancellationToken), null);
        }
        catch (Exception e) when (e is TransportException or OperationCanceledException)
        {
            return new EndpointAnswer(endpoint, null, e is TransportException ? e.Message : "no answer yet");
        }
    }

    public override string ToString() =>
        $"{Endpoint}: {Trouble ?? "roles " + string.Join('+', Description!.Roles.Select(r => r.Role))}";
}

/// <param name="HasSilent">Endpoints did not answer in time.</param>
/// <param name="WhyNoProjection">The error's text if none of the acceptors knows a projection.</param>
internal sealed record FoundCluster(
    ConnectionString Connection, ClusterId Cluster, ImmutableArray<NodeAddress> Acceptors, bool HasSilent,
    string WhyNoProjection);

/// <summary>The endpoints of a connection string lead to no projection; the message says why, for each.</summary>
public sealed class ClusterNotFoundException(string message, Exception? inner = null) : CorfuException(message, inner);
