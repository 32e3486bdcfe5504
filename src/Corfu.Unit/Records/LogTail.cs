namespace Corfu.Unit;

/// <summary>Where a recovery scan ended, and what the next run of the unit needs to go on from there.</summary>
/// <param name="End">End of the last valid record; anything behind is a torn tail that nobody was told about.</param>
/// <param name="LastRecord">Address of the last record, 0 in an empty log.</param>
/// <param name="Incarnation">Of the last record, 0 in an empty log.</param>
/// <param name="Records">How many records were accepted.</param>
/// <param name="TornBytes">Whether something was written behind the end that did not become part of the log.</param>
internal readonly record struct LogTail(long End, long LastRecord, uint Incarnation, long Records, bool TornBytes)
{
    /// <summary>Where parts of the middle are missing on purpose: the last record before, and the last one in
    /// it.</summary>
    public IReadOnlyList<(long Before, long Last)> Breaks { get; init; } = [];
}
