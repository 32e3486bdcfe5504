using System.Collections.Immutable;
using Corfu.Protocol;
using Corfu.Transport;

namespace Corfu.Client.Layout;

/// <summary>The way back for a client that slept while every acceptor it knew was replaced.</summary>
public sealed partial class LayoutClient
{
    /// <summary>
    /// A newer projection than any of the acceptors known can tell: from other acceptors that answer at their
    /// endpoints, or at <see cref="LayoutClientOptions.Endpoints"/>. What an acceptor calls decided is so (R12),
    /// whoever it is; those that it names are asked next.
    /// </summary>
    private async Task<Projection?> FindElsewhereAsync(
        ImmutableArray<NodeAddress> known, Projection? newest, CancellationToken cancellationToken)
    {
        List<NodeEndpoint> endpoints = [.. known.Select(a => a.Endpoint).Concat(_options.Endpoints).Distinct()];
        using var timeout = new CancellationTokenSource(_options.RoundTimeout, _time);
        using var either = CancellationTokenSource.CreateLinkedTokenSource(timeout.Token, cancellationToken);
        var described = await Task.WhenAll(endpoints.Select(e => DescribeAsync(e, either.Token)));
        cancellationToken.ThrowIfCancellationRequested();
        var others = ImmutableArray.CreateBuilder<NodeAddress>();
        for (var i = 0; i < described.Length; i++)
        {
            foreach (var role in described[i]?.Roles ?? [])
            {
                var acceptor = new NodeAddress(role.Id, endpoints[i]);
                if (role.Role == NodeRole.Acceptor && !known.Contains(acceptor)) others.Add(acceptor);
            }
        }

        if (others.Count == 0) return null;
        var answers = await AskAsync(
            others.DrainToImmutable(), static _ => new LatestRequest(Epoch.None), static a => Newest(a) is not null,
            cancellationToken);
        return Newest(answers) is { } found
            && (newest is null || (found.Epoch > newest.Epoch && found.Cluster == newest.Cluster))
            ? found
            : null;
    }

    private async Task<NodeDescription?> DescribeAsync(NodeEndpoint endpoint, CancellationToken cancellationToken)
    {
        try
        {
            return await _transport.DescribeAsync(endpoint, cancellationToken);
        }
        catch (Exception e) when (e is TransportException or OperationCanceledException)
        {
            return null;
        }
    }
}
