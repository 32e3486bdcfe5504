namespace Corfu.FaultRuns.Transactions;

/// <summary>What a client was told of a transaction.</summary>
public enum TxFate
{
    /// <summary>Also where the client died before it heard.</summary>
    InDoubt,
    Committed,

    /// <summary>By a conflict, or refused with an exception that promises that nothing took effect.</summary>
    Aborted,
}

/// <summary>One step of a transaction: a read of a whole list, or the append of one value.</summary>
public sealed record TxStep(bool IsAppend, string List, IReadOnlyList<long> Values);

/// <summary>One transaction as its client wrote it down.</summary>
/// <param name="Began">Before its first step, of the clock that all processes of a machine share.</param>
/// <param name="Ended">When the client heard what became of it; the highest value if it never did.</param>
public sealed record TxRecord(string Name, long Began, long Ended, TxFate Fate, IReadOnlyList<TxStep> Steps)
{
    public override string ToString() => $"{Name} ({Fate})";
}
