namespace Corfu.Cli;

/// <summary>A cluster's state as JSON.</summary>
/// <param name="Writable">Whether appends succeed.</param>
internal sealed record ClusterJson(string Cluster, string ConnectionString, bool Writable, string Verdict,
    ProjectionJson? Projection, IReadOnlyList<RoleJson> Roles, IReadOnlyList<string> Problems)
{
    /// <summary>The addresses that serve gRPC; absent where none does.</summary>
    public IReadOnlyList<string>? Grpc { get; init; }

    /// <summary>The addresses that serve ZooKeeper's protocol, as its clients take them; absent where none
    /// does.</summary>
    public string? ZooKeeper { get; init; }

    /// <summary>The addresses that serve etcd v3, as its clients take them; absent where none does.</summary>
    public string? Etcd { get; init; }

    /// <summary>For commands that change the cluster; absent where connections are not encrypted.</summary>
    public string? AdminConnectionString { get; init; }

    public static ClusterJson Of(ClusterState state) => new(
        state.Cluster.ToString(), state.ConnectionString, state.Verdict.AppendsSucceed, state.Verdict.ToString(),
        state.Projection is { } projection ? ProjectionJson.Of(projection) : null, [.. state.Nodes.Select(RoleJson.Of)],
        state.Problems)
    {
        Grpc = GrpcNodeFrontEnd.AddressesIn(state) is { Count: > 0 } grpc ? grpc : null,
        ZooKeeper = ZooKeeperNodeFrontEnd.AddressesIn(state),
        Etcd = EtcdNodeFrontEnd.AddressesIn(state),
        AdminConnectionString = state.AdminConnectionString,
    };
}

internal sealed record ProjectionJson(long Epoch, long Start, string Sequencer,
    IReadOnlyList<IReadOnlyList<string>> Chains, string Reason)
{
    public static ProjectionJson Of(Projection projection) => new(
        projection.Epoch.Value,
        projection.Start.Offset,
        projection.Sequencer.Id.ToString(),
        [.. projection.Active.Chains.Select(
            chain => chain.Replicas.Select(replica => replica.Unit.ToString()).ToArray())],
        projection.Reason);
}

internal sealed record RoleJson(string Node, string Role, string? Id, string Endpoint, int? ProcessId, string? Folder,
    string Duty, bool Serving, string Detail)
{
    public static RoleJson Of(NodeState state) => new(
        state.Node, state.Role.ToString().ToLowerInvariant(), state.Id.IsNone ? null : state.Id.ToString(),
        state.Endpoint.ToString(), state.ProcessId, state.Folder, state.Duty, state.Serving, state.Detail);
}
