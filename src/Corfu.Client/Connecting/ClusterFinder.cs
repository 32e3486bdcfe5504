using System.Collections.Immutable;
using Corfu.Client.Layout;
using Corfu.Protocol;
using Corfu.Transport;

namespace Corfu.Client;

/// <summary>
/// From a few endpoints to the newest projection: asks who is there, then the layout acceptors among them.
/// </summary>
internal static class ClusterFinder
{
    private static readonly TimeSpan s_grace = TimeSpan.FromMilliseconds(100);

    /// <summary>Which cluster it is, and its acceptors. The transport need not know the cluster yet.</summary>
    /// <exception cref="ClusterNotFoundException">Says for every endpoint what was found there.</exception>
    public static async Task<FoundCluster> DiscoverAsync(
        ConnectionString connection, ITransport transport, TimeProvider time, CancellationToken cancellationToken)
    {
        var answers = await DescribeAllAsync(connection, transport, time, cancellationToken);
        var clusters = answers.Where(a => a.Description is not null).Select(
            a => a.Description!.Cluster).Where(c => !c.IsNone).Distinct().ToList();
        if (clusters.Count > 1)
            throw new ClusterNotFoundException(
                $"The endpoints of {connection} belong to {clusters.Count} different clusters: "
                + $"{string.Join(", ", clusters)}.");
        var acceptors = ImmutableArray.CreateBuilder<NodeAddress>();
        foreach (var (endpoint, description, _) in answers)
        {
            foreach (var role in description?.Roles ?? [])
            {
                if (role.Role == NodeRole.Acceptor) acceptors.Add(new NodeAddress(role.Id, endpoint));
            }
        }

        if (acceptors.Count == 0)
        {
            var found = answers.Select(
                a =>
                    $"{a.Endpoint}: "
                    + $"{a.Trouble ?? "roles " + string.Join('+', a.Description!.Roles.Select(r => r.Role))}");
            throw new ClusterNotFoundException(
                $"No layout acceptor answers at {connection} ({string.Join("; ", found)}).");
        }

        return new FoundCluster(
            connection, clusters.SingleOrDefault(), acceptors.DrainToImmutable(),
            WhyNothingIsKnown(connection, answers));
    }

    /// <summary>Its newest projection, over a transport that names the cluster.</summary>
    /// <exception cref="ClusterNotFoundException">Its acceptors do not answer, or know none.</exception>
    public static async Task<Projection> FindLatestAsync(
        FoundCluster found, LayoutClient layout, CancellationToken cancellationToken)
    {
        try
        {
            return await layout.FindLatestAsync(found.Acceptors,
            cancellationToken) ?? throw new ClusterNotFoundException(found.WhyNoProjection);
        }
        catch (LayoutUnavailableException e)
        {
            throw new ClusterNotFoundException($"The cluster at {found.Connection} is not available: {e.Message}", e);
        }
    }

    // Who is silent may know one: only all of them together can say that there is none.
    private static string WhyNothingIsKnown(
        ConnectionString connection,
        List<(NodeEndpoint Endpoint, NodeDescription? Description, string? Trouble)> answers)
    {
        var silent = answers.Where(a => a.Description is null).Select(a => $"{a.Endpoint}: {a.Trouble}").ToList();
        return silent.Count == 0
            ? $"The cluster at {connection} has no projection yet: it was never started."
            : $"No layout acceptor that answers at {connection} knows a projection; others do not answer "
                + $"({string.Join("; ", silent)}).";
    }

    /// <summary>
    /// A frozen process takes connections and says nothing: once an acceptor is found, the others get a moment and not
    /// the transport's whole time-out.
    /// </summary>
    private static async Task<List<(
        NodeEndpoint Endpoint, NodeDescription? Description, string? Trouble)>> DescribeAllAsync(
        ConnectionString connection, ITransport transport, TimeProvider time, CancellationToken cancellationToken)
    {
        using var enough = new CancellationTokenSource(Timeout.InfiniteTimeSpan, time);
        using var either = CancellationTokenSource.CreateLinkedTokenSource(enough.Token, cancellationToken);
        var calls = connection.Endpoints.Select(e => DescribeAsync(transport, e, either.Token)).ToList();
        var pending = calls.ToList();
        while (pending.Count > 0)
        {
            var done = await Task.WhenAny(pending);
            pending.Remove(done);
            if ((await done).Description?.Roles.Any(r => r.Role == NodeRole.Acceptor) == true)
                enough.CancelAfter(s_grace);
        }

        cancellationToken.ThrowIfCancellationRequested();
        return [.. await Task.WhenAll(calls)];
    }

    private static async Task<(NodeEndpoint Endpoint, NodeDescription? Description, string? Trouble)> DescribeAsync(
        ITransport transport, NodeEndpoint endpoint, CancellationToken cancellationToken)
    {
        try
        {
            return (endpoint, await transport.DescribeAsync(endpoint, cancellationToken), null);
        }
        catch (Exception e) when (e is TransportException or OperationCanceledException)
        {
            return (endpoint, null, e is TransportException ? e.Message : "no answer yet");
        }
    }
}

/// <param name="WhyNoProjection">What to say if none of the acceptors knows one.</param>
internal sealed record FoundCluster(
    ConnectionString Connection, ClusterId Cluster, ImmutableArray<NodeAddress> Acceptors, string WhyNoProjection);

/// <summary>
/// Nothing at the endpoints of a connection string led to a cluster's projection; the message says what was found at
/// each.
/// </summary>
public sealed class ClusterNotFoundException(string message, Exception? inner = null) : CorfuException(message, inner);
