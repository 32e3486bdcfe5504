using System.Collections.Immutable;
using System.Text.Json.Serialization;
using Corfu.Protocol;

namespace Corfu.Hosting;

/// <summary>One process of a cluster. Its port is kept, so that connected clients go on after a restart.</summary>
/// <param name="Name">Also its folder below the cluster's.</param>
/// <param name="Spare">Runs, but is in no chain until a reconfiguration takes it in.</param>
public sealed record ManifestNode(string Name, string Host, int Port, bool Spare, ImmutableArray<ManifestRole> Roles)
{
    [JsonIgnore]
    public NodeEndpoint Endpoint => new(Host, Port);
}

/// <param name="Id">Empty for a sequencer.</param>
/// <param name="Folder">Below the node's folder; null for a sequencer, which stores nothing.</param>
public sealed record ManifestRole(NodeRole Role, Guid Id, string? Folder);
