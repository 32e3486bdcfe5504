using Corfu.Protocol;

namespace Corfu.Agent;

/// <param name="RoundTrip">Until the answer, or until it was no longer waited for.</param>
public readonly record struct ProbeSample(ProbeOutcome Outcome, TimeSpan RoundTrip)
{
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
