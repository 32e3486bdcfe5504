namespace Corfu.Detection;

/// <summary>The outcome of a probe of a node.</summary>
public enum ProbeOutcome
{
    /// <summary>Nothing about the node: the probe did not happen.</summary>
    None,

    /// <summary>The node answered, with any status but the two below.</summary>
    Answered,

    /// <summary>The node answered that its disk has failed.</summary>
    Failed,

    /// <summary>The node answered that its disk is full.</summary>
    Full,

    /// <summary>The node's machine refused the connection.</summary>
    Refused,

    /// <summary>Another identity answered there.</summary>
    Replaced,

    /// <summary>The process answered that it has no place for the connection.</summary>
    Overloaded,

    /// <summary>A connection broke, or nothing came in time.</summary>
    Nothing,
}

/// <param name="RoundTrip">Until the answer, or until it was no longer waited for.</param>
public readonly record struct ProbeSample(ProbeOutcome Outcome, TimeSpan RoundTrip)
{
    public bool IsAnswer => Outcome is ProbeOutcome.Answered or ProbeOutcome.Full or ProbeOutcome.Failed;

    /// <summary>The process lives: the role answered, or the process said that it has no place.</summary>
    public bool IsSignOfLife => IsAnswer || Outcome == ProbeOutcome.Overloaded;

    public static ProbeSample Of(Status status, TimeSpan roundTrip) => new(
        status switch
        {
            Status.Failed => ProbeOutcome.Failed,
            Status.NoSpace => ProbeOutcome.Full,
            Status.WrongNode => ProbeOutcome.Replaced,
            _ => ProbeOutcome.Answered,
        },
        roundTrip);

    public static ProbeSample Of(TransportFault fault, TimeSpan roundTrip) => new(
        fault switch
        {
            TransportFault.BackOff => ProbeOutcome.None,
            TransportFault.Refused => ProbeOutcome.Refused,
            TransportFault.WrongIdentity => ProbeOutcome.Replaced,
            TransportFault.Overloaded => ProbeOutcome.Overloaded,
            _ => ProbeOutcome.Nothing,
        },
        roundTrip);
}
