namespace Corfu.Agent;

/// <summary>What one look at a node, or one real request to it, showed.</summary>
public enum ProbeOutcome
{
    /// <summary>Nothing about the node: the look did not happen.</summary>
    None,

    /// <summary>It answered; any status but the two below is an answer like any other.</summary>
    Answered,

    /// <summary>It answered that its disk has failed.</summary>
    Failed,

    /// <summary>It answered that its disk is full.</summary>
    Full,

    /// <summary>Its machine refused the connection.</summary>
    Refused,

    /// <summary>Another identity answered there.</summary>
    Replaced,

    /// <summary>A connection broke, or nothing came in time.</summary>
    Nothing,
}
