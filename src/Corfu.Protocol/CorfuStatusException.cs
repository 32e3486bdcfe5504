namespace Corfu.Protocol;

/// <summary>A node answered with a status that the operation cannot handle.</summary>
public sealed class CorfuStatusException(Status status, string message) : CorfuException(message)
{
    public Status Status { get; } = status;
}
