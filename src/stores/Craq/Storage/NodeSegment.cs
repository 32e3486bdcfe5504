namespace Craq.Storage;

/// <summary>A segment of the log, from its first record on.</summary>
/// <param name="First">Address of its first record.</param>
/// <param name="Before">Address of the record before that.</param>
/// <param name="IndexAddress">The index holds the entries of this segment's records, and of later ones, from here
/// on.</param>
internal sealed record NodeSegment(int Index, long First, long Before, long IndexAddress)
{
    /// <summary>Address of its last record.</summary>
    public long Last { get; set; } = First;
}
