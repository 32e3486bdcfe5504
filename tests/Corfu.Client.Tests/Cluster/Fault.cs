namespace Corfu.Client.Tests.Cluster;

/// <summary>What the test's network does to one request.</summary>
internal enum Fault
{
    None,

    /// <summary>It never reaches the node, and the sender knows.</summary>
    Refused,

    /// <summary>It never reaches the node; the sender does not know.</summary>
    RequestLost,

    /// <summary>The node acts on it; its answer is lost.</summary>
    AnswerLost,
}
