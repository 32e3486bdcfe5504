namespace Corfu.Client.Tests.Cluster;

/// <summary>A fault of the test's network at a request.</summary>
internal enum Fault
{
    None,

    /// <summary>The request never reaches the node, and the sender knows.</summary>
    Refused,

    /// <summary>The request never reaches the node; the sender does not know.</summary>
    RequestLost,

    /// <summary>The node acts on it; its answer is lost.</summary>
    AnswerLost,
}
