using Corfu.Protocol;

namespace Corfu.ModelCheck.Processes;

/// <summary>A request on its way.</summary>
public readonly record struct Call(NodeId To, Request Request)
{
    /// <summary>Whether its arrival, however late, changes anything for another process.</summary>
    public bool Changes =>
        Request is EntryRequest or PrepareRequest or AcceptRequest or DecidedRequest or TrimPrefixRequest;
}
