namespace Corfu.Agent;

/// <summary>What one probe of a node showed.</summary>
internal enum ProbeOutcome
{
    /// <summary>Nothing about the node: the probe did not happen.</summary>
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

/// <param name="RoundTrip">Until the answer, or until it was no longer waited for.</param>
internal readonly record struct ProbeSample(ProbeOutcome Outcome, TimeSpan RoundTrip)
{
    public bool IsAnswer => Outcome is ProbeOutcome.Answered or ProbeOutcome.Full or ProbeOutcome.Failed;

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
            _ => ProbeOutcome.Nothing,
        },
        roundTrip);
}
