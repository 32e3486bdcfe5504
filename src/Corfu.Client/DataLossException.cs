using Corfu.Protocol;

namespace Corfu.Client;

/// <summary>A committed position (an append returned it, or a chain's tail had it) is unwritten at every replica.</summary>
public sealed class DataLossException(LogPosition position)
    : CorfuException($"{position} was committed and is unwritten at every replica of its chain.")
{
    public LogPosition Position { get; } = position;
}
