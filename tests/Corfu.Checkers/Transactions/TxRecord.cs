namespace Corfu.Checkers;

/// <summary>The outcome of a transaction as its client knows it.</summary>
public enum TxFate
{
    /// <summary>Also where the client died before it heard.</summary>
    InDoubt,
    Committed,

    /// <summary>By a conflict, or refused with an exception that promises that nothing took effect.</summary>
    Aborted,
}

/// <summary>A step of a transaction: a read of a whole list, or the append of one value.</summary>
public sealed record TxStep(bool IsAppend, string List, IReadOnlyList<long> Values);

/// <summary>A transaction as its client recorded it.</summary>
/// <param name="Began">Before its first step, of the clock that all processes of a machine share.</param>
/// <param name="Ended">The time when the client learnt the outcome; the highest value if it never did.</param>
public sealed record TxRecord(string Name, long Began, long Ended, TxFate Fate, IReadOnlyList<TxStep> Steps)
{
    public override string ToString() => $"{Name} ({Fate})";
}
