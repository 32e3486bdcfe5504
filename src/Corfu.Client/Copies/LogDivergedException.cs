using Corfu.Protocol;

namespace Corfu.Client;

/// <summary>A position of a mirror holds something else than its source: somebody wrote there. Nothing mends that; the mirror has to be made anew.</summary>
public sealed class LogDivergedException(LogPosition position, string what)
    : CorfuException($"The mirror differs from its source at {position.Offset}: {what}.")
{
    public LogPosition Position { get; } = position;
}
