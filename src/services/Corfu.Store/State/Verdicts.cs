namespace Corfu.Store.State;

/// <summary>The decision of Apply about a record.</summary>
internal enum Verdict
{
    Done,

    /// <summary>Another record has made the store, or none has.</summary>
    NotConfigured,

    /// <summary>K2: a value stands too far below the record.</summary>
    ValuesTooOld,

    /// <summary>K8: what the writer has read is not so any more.</summary>
    Changed,

    LeaseNotFound,
    LeaseExists,
    KeyNotFound,
    Compacted,
    Ahead,
    Quota,
}

/// <summary>Outcome of a record, with what its caller evaluates further.</summary>
/// <param name="After">The state that the record made, before it dropped versions (K7): a version that the record
/// itself supersedes is in it.</param>
/// <param name="Number">The lease or the revision that is refused, or the number that was asked for.</param>
internal sealed record Outcome(Verdict Verdict, StoreState After, long Number = 0)
{
    public bool Succeeded { get; init; }

    /// <summary>Outcomes of the steps of the branch that was taken.</summary>
    public ImmutableArray<StepOutcome> Steps { get; init; } = [];
}

/// <param name="Before">The keys as the step met them.</param>
/// <param name="Nested">The outcome of a nested transaction.</param>
internal sealed record StepOutcome(KeyTable Before, BranchOutcome? Nested);

internal sealed record BranchOutcome(bool Succeeded, ImmutableArray<StepOutcome> Steps);
