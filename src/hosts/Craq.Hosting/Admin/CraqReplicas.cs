using System.Runtime.CompilerServices;
using Craq.Connecting;
using Craq.Learning;

namespace Craq.Hosting;

/// <summary>Compares the replicas of chains by digests of their objects' versions. Reads only; takes no values.
/// </summary>
public static class CraqReplicas
{
    /// <summary>Compares chains, one after another, while they are used.</summary>
    /// <param name="nodes">The connection string of the nodes, for its encryption: with TLS an administrator's
    /// certificate.</param>
    /// <param name="overview">The nodes as the directory has them.</param>
    /// <param name="chains">Chains of the overview.</param>
    /// <exception cref="CertificateException">The certificates are missing or of no use.</exception>
    public static async IAsyncEnumerable<ChainComparison> CompareAsync(CraqConnectionString nodes,
        CraqOverview overview, IEnumerable<ChainConfig> chains,
        [EnumeratorCancellation] CancellationToken cancellationToken = default)
    {
        // A range of a large chain is one pass over the node's index.
        var tcp = CraqClientOptions.Default.Tcp with { RequestTimeout = TimeSpan.FromMinutes(1) };
        tcp = CraqTls.Apply(nodes, tcp, new TlsOptions(), out var tls, logger: null);
        using (tls)
        {
            var found = await FindAsync(nodes, tcp, cancellationToken);
            using var transport = new TcpTransport(tcp with { Cluster = found });
            foreach (var chain in chains)
                yield return await CompareAsync(chain, overview, transport, cancellationToken);
        }
    }

    private static async Task<ClusterId> FindAsync(
        CraqConnectionString nodes, TcpTransportOptions tcp, CancellationToken cancellationToken)
    {
        using var discovery = new TcpTransport(tcp);
        return (await NodeFinder.FindAsync(nodes.Endpoints, discovery, TimeProvider.System, cancellationToken)).Cluster;
    }

    private static async Task<ChainComparison> CompareAsync(ChainConfig chain, CraqOverview overview,
        ITransport transport, CancellationToken cancellationToken)
    {
        try
        {
            var comparison = new ReplicaComparison(chain, async (node, request, token) =>
            {
                var info = overview.Find(node) ?? throw new CorfuException($"node {node} is not registered");
                try
                {
                    return await transport.CallAsync(new NodeAddress(node, info.Endpoint), request, token);
                }
                catch (CorfuException e)
                {
                    throw new CorfuException($"node {node} at {info.Endpoint} does not answer: {e.Message}", e);
                }
            }, TimeProvider.System);
            var (found, unsettled) = await comparison.RunAsync(cancellationToken);
            return new ChainComparison(chain)
            {
                Unsettled = unsettled,
                Differences = [.. found.Select(one => new ObjectDifference(
                    one.Key?.ToString() ?? $"{one.Hash.High:x16}{one.Hash.Low:x16}", one.Key is not null,
                    [.. chain.Members.Zip(one.Versions, static (member, version) =>
                        new ReplicaVersion(member.Node, version.IsNone ? null : version))]))],
            };
        }
        catch (Exception e) when (e is CorfuException or MalformedDataException)
        {
            return new ChainComparison(chain) { Problem = e.Message };
        }
    }
}

/// <summary>The outcome for one chain.</summary>
public sealed record ChainComparison(ChainConfig Chain)
{
    /// <summary>Objects of which the members have different versions, the first 1,000.</summary>
    public ImmutableArray<ObjectDifference> Differences { get; init; } = [];

    /// <summary>Places of the index that were written again and again meanwhile, and are not compared.</summary>
    public int Unsettled { get; init; }

    /// <summary>Why the chain is not compared; null: it is.</summary>
    public string? Problem { get; init; }

    /// <summary>All members have the same versions of all objects.</summary>
    public bool IsEqual => Problem is null && Unsettled == 0 && Differences.IsEmpty;
}

/// <summary>An object that differs.</summary>
/// <param name="Key">The key, or the hash of chain and key where no member could read the key.</param>
/// <param name="Replicas">In the chain's order.</param>
public sealed record ObjectDifference(string Key, bool IsKeyKnown, ImmutableArray<ReplicaVersion> Replicas);

/// <param name="Version">Null: the member has no such object.</param>
public sealed record ReplicaVersion(NodeId Node, ObjectVersion? Version);
