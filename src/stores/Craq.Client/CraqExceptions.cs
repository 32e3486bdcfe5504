namespace Craq;

/// <summary>The endpoints lead to no CRAQ node; the message says why, for each.</summary>
public sealed class CraqNotFoundException(string message, Exception? inner = null) : CorfuException(message, inner);

/// <summary>No node knows a chain or a keyspace of that name.</summary>
public sealed class ChainNotFoundException(string message) : CorfuException(message);

/// <summary>An operation was given up after its time-out; the message says why. Reads may be repeated. A write throws
/// this only when it was certainly not applied and never will be.</summary>
public sealed class CraqUnavailableException(string message, Status status, Exception? inner = null)
    : CorfuException(message, inner)
{
    /// <summary>The last answer of a node, or <see cref="Status.Ok"/>: no node answered.</summary>
    public Status Status { get; } = status;
}
