using System.Text.Json.Serialization;

namespace Corfu.Hosting;

/// <summary>A process of a cluster. Its port is kept, so that connected clients go on after a restart.</summary>
/// <param name="Name">Also its folder below the cluster's.</param>
/// <param name="Spare">Runs, but is in no chain until a reconfiguration takes it in.</param>
public sealed record ManifestNode(string Name, string Host, int Port, bool Spare, ImmutableArray<NodeConfigRole> Roles)
{
    /// <summary>While its folders are being made, after the cluster's own: it has never run, so making them may be
    /// repeated.</summary>
    [JsonIgnore(Condition = JsonIgnoreCondition.WhenWritingDefault)]
    public bool Forming { get; init; }

    /// <summary>Front ends of the node; only <c>node.json</c> holds them.</summary>
    [JsonIgnore] public ImmutableArray<FrontEndAddress> FrontEnds { get; init; } = [];

    [JsonIgnore] public NodeEndpoint Endpoint => new(Host, Port);

    [JsonIgnore] public bool HasUnit => Roles.Any(role => role.Is(NodeRoles.Unit));
}
