namespace Corfu.Peers;

/// <summary>A system that is compared, with the settings it is compared in.</summary>
internal interface ITarget
{
    TargetInfo Info { get; }

    /// <summary>Whether it counts as a peer; otherwise it is this project in one of its shapes.</summary>
    bool IsPeer { get; }

    /// <summary>Why it cannot run on this machine; null if it can.</summary>
    string? Missing { get; }

    Task<string> VersionAsync();

    /// <summary>Starts servers that keep their data in the folder, and connects a client.</summary>
    Task<IRunningTarget> StartAsync(string folder, LoadShape load, CancellationToken cancellationToken);
}

/// <summary>Facts about a system that a reader must know before comparing its figures.</summary>
/// <param name="Replicas">Copies on disk when a write is acknowledged.</param>
/// <param name="Servers">Server processes.</param>
/// <param name="Settings">Settings that differ from the system's own defaults.</param>
/// <param name="Write">Meaning of an acknowledged write.</param>
/// <param name="Read">Meaning of a read.</param>
/// <param name="Client">The client library and its connections.</param>
internal sealed record TargetInfo(
    string Name, int Replicas, int Servers, string Settings, string Write, string Read, string Client);

/// <summary>Load that is put on every system alike.</summary>
/// <param name="Size">Bytes of a value.</param>
/// <param name="MaxCallers">Callers at once at most; each writes a key of its own.</param>
internal sealed record LoadShape(int Size, int MaxCallers);

/// <summary>Servers and a connected client; disposing ends both.</summary>
internal interface IRunningTarget : IAsyncDisposable
{
    IReadOnlyList<Operation> Operations { get; }

    IReadOnlyList<int> ProcessIds { get; }

    /// <summary>The end of what the servers printed, or empty.</summary>
    string Log { get; }
}

/// <param name="Call">Runs an operation of the caller with this number. Throws for any answer but the expected
/// one.</param>
internal sealed record Operation(string Name, bool Writes, Func<int, ValueTask> Call)
{
    public const string Append = "append";
    public const string Write = "write";
    public const string Read = "read";
}
