using Corfu.Protocol;

namespace Corfu.ModelCheck.Processes;

/// <summary>A request on its way.</summary>
public readonly record struct Call(NodeId To, Request Request)
{
    /// <summary>Whether it matters to anybody else that it arrives, late as may be.</summary>
    public bool Changes =>
        Request is EntryRequest or PrepareRequest or AcceptRequest or DecidedRequest or TrimPrefixRequest;
}
