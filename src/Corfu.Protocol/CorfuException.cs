namespace Corfu.Protocol;

/// <summary>Root of everything that Corfu throws on its own account.</summary>
public class CorfuException : Exception
{
    public CorfuException(string message, Exception? inner = null)
        : base(message, inner)
    {
    }

    /// <summary>The one place where a status that no caller can handle as a value becomes an exception.</summary>
    public static CorfuException FromStatus(Status status, string what) => status switch
    {
        Status.Trimmed => new LogTrimmedException(what),
        Status.Corrupt => new PageCorruptException(what),
        Status.TooLarge => new EntryTooLargeException(what),
        _ => new CorfuStatusException(status, $"{what}: {status}."),
    };
}

/// <summary>A node answered with a status that the operation cannot handle.</summary>
public sealed class CorfuStatusException(Status status, string message) : CorfuException(message)
{
    public Status Status { get; } = status;
}

/// <summary>Bytes that are no valid frame, message, projection or entry.</summary>
public sealed class MalformedDataException(string message) : CorfuException(message);

/// <summary>The position was released by a trim.</summary>
public sealed class LogTrimmedException(string what) : CorfuException($"{what}: trimmed.");

/// <summary>The page is damaged at every replica that was asked.</summary>
public sealed class PageCorruptException(string what) : CorfuException($"{what}: the page is corrupt.");

/// <summary>The entry exceeds the cluster's entry size limit.</summary>
public sealed class EntryTooLargeException(string what) : CorfuException($"{what}: the entry is too large.");

/// <summary>
/// A request got no answer. <see cref="OutcomeUnknown"/> is <see langword="false"/> only where it is certain that the node never
/// saw the request; otherwise its outcome is unknown and must be resolved (R9).
/// </summary>
public sealed class TransportException(string message, bool outcomeUnknown, Exception? inner = null) : CorfuException(message, inner)
{
    public bool OutcomeUnknown { get; } = outcomeUnknown;
}
