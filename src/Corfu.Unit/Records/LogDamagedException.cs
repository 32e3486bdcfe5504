using Corfu.Protocol;

namespace Corfu.Unit;

/// <summary>
/// The unit's log lacks something that was once acknowledged (R6). The unit does not start: serving would answer
/// "unwritten" for entries that exist. The cure is a rebuild from the other replicas onto a freshly formatted folder.
/// </summary>
public sealed class LogDamagedException(string message, long address) : CorfuException(message)
{
    /// <summary>Log address behind which something is damaged or missing.</summary>
    public long Address { get; } = address;
}
