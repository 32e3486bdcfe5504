namespace Corfu.ZooKeeper.Import;

/// <summary>A node of the server, as its replies say it.</summary>
/// <param name="Node">Null: it is ephemeral, or could not be read.</param>
/// <param name="Fault">Why it could not be read.</param>
/// <param name="Children">Names.</param>
internal sealed record SourceNode(string Path, ImportedNode? Node, string? Fault, ImmutableArray<string> Children)
{
    public static SourceNode Ephemeral(string path) => new(path, null, null, []);

    public static SourceNode Unread(string path, string fault) => new(path, null, fault, []);
}
