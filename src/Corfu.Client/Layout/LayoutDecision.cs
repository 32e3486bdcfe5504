using Corfu.Protocol;

namespace Corfu.Client.Layout;

/// <summary>A register's value, durable at a majority.</summary>
/// <param name="Published">Completes when the acceptors have been told, as far as they answer.</param>
public sealed record LayoutDecision(Projection Value, Task Published);
