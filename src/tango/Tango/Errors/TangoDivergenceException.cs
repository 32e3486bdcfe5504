namespace Tango;

/// <summary>
/// A decision record contradicts what this runtime decided about the same commit record. One of them is wrong, so
/// nothing is served any more: it can only come from damaged data or a bug.
/// </summary>
// A runtime that decides by itself compares with every decision record that it meets (R20).
public sealed class TangoDivergenceException(RecordVersion commit, bool committedHere, RecordVersion decision)
    : TangoException(
        $"Commit record {commit} {(committedHere ? "committed" : "aborted")} here, but decision record {decision} "
        + "says otherwise")
{
    /// <summary>The commit record.</summary>
    public RecordVersion Commit { get; } = commit;

    public bool CommittedHere { get; } = committedHere;

    /// <summary>The decision record.</summary>
    public RecordVersion Decision { get; } = decision;
}
