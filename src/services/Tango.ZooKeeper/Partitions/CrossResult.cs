namespace Tango.ZooKeeper;

/// <summary>Outcome of a multi across partitions.</summary>
/// <param name="Failure">The result of a multi that was refused or given up, and has changed nothing. Null: it is in
/// the log, and its <see cref="PartResult"/>s are its result; or it is in doubt.</param>
/// <param name="IsInDoubt">Whether it took effect is not known.</param>
public sealed record CrossResult(TreeResult? Failure, bool IsInDoubt = false);
