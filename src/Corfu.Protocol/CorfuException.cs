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
        Status.Mirror => new LogIsMirrorException(what),
        _ => new CorfuStatusException(status, $"{what}: {status}."),
    };
}
