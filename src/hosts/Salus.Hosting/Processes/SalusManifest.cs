using System.Text.Json.Serialization;

namespace Salus.Hosting;

/// <summary>The content of <c>salus.json</c>: the nodes of a folder.</summary>
/// <param name="Format">Version of this file.</param>
/// <param name="Log">The connection string of the log that coordinates the nodes.</param>
public sealed record SalusManifest(int Format, string Log, ImmutableArray<SalusManifestNode> Nodes)
{
    public const int CurrentFormat = 1;
}

/// <param name="Name">The folder of the node, whose <c>node.json</c> says the rest.</param>
/// <param name="Formed">False while the folder is being made: it may be made anew.</param>
public sealed record SalusManifestNode(string Name, string Host, int Port, bool Formed)
{
    [JsonIgnore] public NodeEndpoint Endpoint => new(Host, Port);
}
