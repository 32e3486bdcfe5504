using System.Net.Security;

namespace Corfu.ZooKeeper.Import;

/// <summary>A running ZooKeeper, and the tree that becomes like it.</summary>
/// <param name="Host">Any of the service's servers.</param>
public sealed record ImportOptions(string Host, int Port)
{
    /// <summary>Name of the tree, which is begun if need be. Default <c>main</c>.</summary>
    public string Service { get; init; } = "main";

    /// <summary>The node that is copied, with all below. Default: the root.</summary>
    public string Path { get; init; } = NodePath.Root;

    /// <summary>Who the server takes this program for: pairs of a scheme and a credential, as <c>digest</c> and
    /// <c>user:password</c>. Only an administrator of a node sees the digests in its list.</summary>
    public ImmutableArray<KeyValuePair<string, string>> Auth { get; init; } = [];

    /// <summary>TLS of the server's port, with its name as target host. Null: the connection is plain.</summary>
    public SslClientAuthenticationOptions? Tls { get; init; }

    /// <summary>Delete nodes that the server does not have. Ephemeral ones stay.</summary>
    public bool Delete { get; init; }
}

/// <summary>How far a copy is.</summary>
/// <param name="Read">Nodes of the server.</param>
/// <param name="Written">Nodes that differed.</param>
public readonly record struct ImportProgress(long Read, long Written);

/// <summary>Outcome of a copy.</summary>
/// <param name="Read">Nodes of the server that were read, ephemeral ones included.</param>
/// <param name="Written">Nodes that differed, and were written.</param>
/// <param name="Deleted">Nodes that the server does not have.</param>
/// <param name="Ephemerals">Nodes that were left out: their sessions are the server's.</param>
/// <param name="Left">Nodes that could not be copied.</param>
public sealed record ImportReport(
    long Read, long Written, long Deleted, long Ephemerals, ImmutableArray<ImportFault> Left);

/// <summary>A node that could not be copied, and why.</summary>
public readonly record struct ImportFault(string Path, string Reason);

/// <summary>A node that differs.</summary>
/// <param name="Field">The first field that does, as <c>version</c>; <c>node</c>: only one of the two is there.</param>
/// <param name="There">Value at the server.</param>
/// <param name="Here">Value in the tree.</param>
public readonly record struct ImportDifference(string Path, string Field, string There, string Here);
