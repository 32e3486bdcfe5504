namespace Corfu.Protocol;

/// <summary>A node answered with a status that the operation cannot handle.</summary>
public sealed class CorfuStatusException(Status status, string message) : CorfuException(message)
{
    public Status Status { get; } = status;

    /// <summary>The one place where a status that no caller can handle as a value becomes an exception.</summary>
    public static CorfuException Create(Status status, string what) => status switch
    {
        Status.Trimmed => new LogTrimmedException(what),
        Status.Corrupt => new PageCorruptException(what),
        Status.TooLarge => new EntryTooLargeException(what),
        Status.Mirror => new LogIsMirrorException(what),
        Status.Denied => new CorfuDeniedException(what),
        _ => new CorfuStatusException(status, $"{what}: {status}."),
    };
}
