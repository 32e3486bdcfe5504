using System.Runtime.CompilerServices;
using Craq.Connecting;
using Craq.Learning;

namespace Craq.Hosting;

/// <summary>Compares the replicas of chains while they are used. Reads only.</summary>
public static class CraqReplicas
{
    // Each asks all members of its chain, and a node answers eight requests of this kind at once.
    private const int ChainsAtOnce = 4;

    /// <summary>Compares the versions and the contents of all objects: each node reads all values of its disk, and
    /// tells digests of them.</summary>
    /// <param name="nodes">The connection string of the nodes, for its encryption: with TLS an administrator's
    /// certificate.</param>
    /// <param name="overview">The nodes as the directory has them.</param>
    /// <param name="chains">Chains of the overview; a few of them are compared at once.</param>
    /// <returns>Outcomes in the order of the chains.</returns>
    /// <exception cref="CertificateException">The certificates are missing or of no use.</exception>
    public static IAsyncEnumerable<ChainComparison> CompareAsync(CraqConnectionString nodes,
        CraqOverview overview, IEnumerable<ChainConfig> chains, CancellationToken cancellationToken = default) =>
        RunAsync(nodes, overview, chains, withContents: true, cancellationToken);

    /// <summary>Compares the versions of all objects, by digests: no value is read.</summary>
    /// <inheritdoc cref="CompareAsync"/>
    public static IAsyncEnumerable<ChainComparison> CompareVersionsAsync(CraqConnectionString nodes,
        CraqOverview overview, IEnumerable<ChainConfig> chains, CancellationToken cancellationToken = default) =>
        RunAsync(nodes, overview, chains, withContents: false, cancellationToken);

    private static async IAsyncEnumerable<ChainComparison> RunAsync(CraqConnectionString nodes,
        CraqOverview overview, IEnumerable<ChainConfig> chains, bool withContents,
        [EnumeratorCancellation] CancellationToken cancellationToken)
    {
        // A range of a large chain is one pass over the node's index.
        var tcp = CraqClientOptions.Default.Tcp with { RequestTimeout = TimeSpan.FromMinutes(1) };
        tcp = CraqTls.Apply(nodes, tcp, new TlsOptions(), out var tls, logger: null);
        using (tls)
        {
            var found = await FindAsync(nodes, tcp, cancellationToken);
            using var transport = new TcpTransport(tcp with { Cluster = found });
            using var stop = CancellationTokenSource.CreateLinkedTokenSource(cancellationToken);
            var running = new Queue<Task<ChainComparison>>();
            try
            {
                foreach (var chain in chains)
                {
                    running.Enqueue(RunAsync(chain, overview, transport, withContents, stop.Token));
                    if (running.Count == ChainsAtOnce) yield return await running.Dequeue();
                }

                while (running.Count > 0) yield return await running.Dequeue();
            }
            finally
            {
                await stop.CancelAsync();
                await ((Task)Task.WhenAll(running)).ConfigureAwait(ConfigureAwaitOptions.SuppressThrowing);
            }
        }
    }

    private static async Task<ClusterId> FindAsync(
        CraqConnectionString nodes, TcpTransportOptions tcp, CancellationToken cancellationToken)
    {
        using var discovery = new TcpTransport(tcp);
        return (await NodeFinder.FindAsync(nodes.Endpoints, discovery, TimeProvider.System, cancellationToken)).Cluster;
    }

    private static async Task<ChainComparison> RunAsync(ChainConfig chain, CraqOverview overview,
        ITransport transport, bool withContents, CancellationToken cancellationToken)
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
            }, TimeProvider.System, withContents);
            var (found, unsettled) = await comparison.RunAsync(cancellationToken);
            return new ChainComparison(chain)
            {
                Unsettled = unsettled,
                Differences = [.. found.Select(one => new ObjectDifference(
                    one.Key?.ToString() ?? $"{one.Hash.High:x16}{one.Hash.Low:x16}", one.Key is not null,
                    [.. chain.Members.Zip(one.Replicas, (member, own) => Told(member.Node, own, withContents))]))],
            };
        }
        catch (Exception e) when (e is CorfuException or MalformedDataException)
        {
            return new ChainComparison(chain) { Problem = e.Message };
        }
    }

    private static ReplicaVersion Told(NodeId node, ObjectContent own, bool withContents) => own.Version.IsNone
        ? new ReplicaVersion(node, null)
        : new ReplicaVersion(node, own.Version)
        {
            Content = withContents && !own.IsDamaged ? $"{own.Check:x16}" : null,
            IsDamaged = own.IsDamaged,
        };
}

/// <summary>The outcome for one chain.</summary>
public sealed record ChainComparison(ChainConfig Chain)
{
    /// <summary>Objects of which the members have different versions or contents, or one that it cannot read, the
    /// first 1,000.</summary>
    public ImmutableArray<ObjectDifference> Differences { get; init; } = [];

    /// <summary>Places of the index that were written again and again meanwhile, and are not compared.</summary>
    public int Unsettled { get; init; }

    /// <summary>Why the chain is not compared; null: it is.</summary>
    public string? Problem { get; init; }

    /// <summary>All members have the same objects.</summary>
    public bool IsEqual => Problem is null && Unsettled == 0 && Differences.IsEmpty;
}

/// <summary>An object that differs.</summary>
/// <param name="Key">The key, or the hash of chain and key where no member could read the key.</param>
/// <param name="Replicas">In the chain's order.</param>
public sealed record ObjectDifference(string Key, bool IsKeyKnown, ImmutableArray<ReplicaVersion> Replicas);

/// <param name="Version">Null: the member has no such object.</param>
public sealed record ReplicaVersion(NodeId Node, ObjectVersion? Version)
{
    /// <summary>A digest of key, flags, expiry and value; null: there is none, or it was not asked for.</summary>
    public string? Content { get; init; }

    /// <summary>The member has the object and cannot read it.</summary>
    public bool IsDamaged { get; init; }
}
