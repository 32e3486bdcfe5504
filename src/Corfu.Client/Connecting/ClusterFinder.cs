using System.Collections.Immutable;
using Corfu.Client.Layout;
using Corfu.Protocol;
using Corfu.Transport;

namespace Corfu.Client;

/// <summary>From a few endpoints to the newest projection: asks who is there, then the layout acceptors among them.</summary>
internal static class ClusterFinder
{
    /// <exception cref="ClusterNotFoundException">Says for every endpoint what was found there.</exception>
    public static async Task<Projection> FindAsync(
        ConnectionString connection, ITransport transport, LayoutClient layout, CancellationToken cancellationToken)
    {
        var answers = await Task.WhenAll(connection.Endpoints.Select(e => DescribeAsync(transport, e, cancellationToken)));
        var clusters = answers.Where(a => a.Description is not null).Select(a => a.Description!.Cluster).Where(c => !c.IsNone).Distinct().ToList();
        if (clusters.Count > 1)
            throw new ClusterNotFoundException($"The endpoints of {connection} belong to {clusters.Count} different clusters: {string.Join(", ", clusters)}.");
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
            var found = answers.Select(a => $"{a.Endpoint}: {a.Trouble ?? "roles " + string.Join('+', a.Description!.Roles.Select(r => r.Role))}");
            throw new ClusterNotFoundException($"No layout acceptor answers at {connection} ({string.Join("; ", found)}).");
        }

        return await AskAsync(connection, layout, acceptors.DrainToImmutable(), cancellationToken);
    }

    // A connection string need not name all acceptors, and a majority of those it names need not answer: each knows a projection,
    // which names all of them.
    private static async Task<Projection> AskAsync(
        ConnectionString connection, LayoutClient layout, ImmutableArray<NodeAddress> acceptors, CancellationToken cancellationToken)
    {
        CorfuException? trouble = null;
        foreach (var acceptor in acceptors)
        {
            try
            {
                if (await layout.ReadLatestAsync([acceptor], cancellationToken) is { } projection) return projection;
            }
            catch (LayoutUnavailableException e)
            {
                trouble = e;
            }
        }

        throw new ClusterNotFoundException(
            trouble is null ? $"The cluster at {connection} has no projection yet: it was never started." : $"The cluster at {connection} is not available: {trouble.Message}", trouble);
    }

    private static async Task<(NodeEndpoint Endpoint, NodeDescription? Description, string? Trouble)> DescribeAsync(
        ITransport transport, NodeEndpoint endpoint, CancellationToken cancellationToken)
    {
        try
        {
            return (endpoint, await transport.DescribeAsync(endpoint, cancellationToken), null);
        }
        catch (TransportException e)
        {
            return (endpoint, null, e.Message);
        }
    }
}
