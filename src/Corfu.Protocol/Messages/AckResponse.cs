namespace Corfu.Protocol;

/// <summary>An answer that is a status and nothing else.</summary>
public sealed record AckResponse(Status Status, Epoch Epoch) : Response(Status, Epoch);
