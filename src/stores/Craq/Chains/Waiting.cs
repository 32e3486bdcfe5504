namespace Craq.Chains;

/// <summary>An answer that waits until the mark, or the durable end, has reached a version.</summary>
/// <param name="Since">The stamp of the request's arrival, or <see cref="Unbounded"/>: it waits for no longer than
/// <see cref="CraqNodeOptions.WriteLimit"/> from then.</param>
internal abstract record WaitingAnswer(ReplyTo To, long Since)
{
    /// <summary>The answer waits without a limit: its caller has one.</summary>
    public const long Unbounded = long.MaxValue;

    /// <summary>A mutation whose record is in the log.</summary>
    internal sealed record Written(ReplyTo To, ObjectVersion Version, MutateResult Result, long Since)
        : WaitingAnswer(To, Since);

    /// <summary>A vote on a part of a transaction, or the part's end: a record that is in the log.</summary>
    internal sealed record Part(ReplyTo To, ObjectVersion Version, PartOutcome Outcome, long Since)
        : WaitingAnswer(To, Since);

    /// <summary>Records of a predecessor.</summary>
    internal sealed record Taken(ReplyTo To, Epoch Epoch) : WaitingAnswer(To, Unbounded);

    /// <summary>The outcome of a mutation that writes nothing, and what it depends on has no commit yet (C3).</summary>
    internal sealed record Refused(RoundWaiter.Refusal Waiter) : WaitingAnswer(Waiter.To, Waiter.Arrived);

    /// <summary>A config whose record is not durable yet (C12).</summary>
    internal sealed record Installed(ReplyTo To, Epoch Epoch) : WaitingAnswer(To, Unbounded);
}

/// <summary>A request that waits for a round of confirmations.</summary>
/// <param name="arrived">The stamp of its arrival, t0.</param>
internal abstract class RoundWaiter(ReplyTo to, long arrived) : Reads.IRoundWaiter
{
    public ReplyTo To => to;

    public long Arrived => arrived;

    public bool IsConfirmed { get; set; }

    public bool HasMark { get; set; }

    /// <summary>The request has its answer, and leaves the rounds.</summary>
    public bool IsEnded { get; set; }

    /// <param name="last">The newest record at the arrival: nothing above it was committed then.</param>
    internal sealed class Read(ReadObjectsRequest request, ReplyTo to, long arrived, ObjectVersion last)
        : RoundWaiter(to, arrived)
    {
        public ObjectVersion Last => last;

        /// <summary>Owns its keys once it waits.</summary>
        public ReadObjectsRequest Request { get; set; } = request;

        public bool IsWaiting { get; set; }
    }

    /// <summary>A mutation that writes nothing: a mismatch, or reads alone. Linearizable as strong reads are.</summary>
    internal sealed class Refusal : RoundWaiter
    {
        public Refusal(MutateResponse response, ReplyTo to, long arrived)
            : base(to, arrived) => (Response, HasMark) = (response, true);

        public MutateResponse Response { get; }
    }
}
