using Corfu.Protocol;

namespace Corfu.Client;

/// <summary>Thrown by <see cref="AppendResult.Require"/>.</summary>
public sealed class AppendUnknownException(AppendResult result)
    : CorfuException($"The outcome of the append at {result.Position} by {result.Origin} is unknown.")
{
    public AppendResult Result { get; } = result;
}
