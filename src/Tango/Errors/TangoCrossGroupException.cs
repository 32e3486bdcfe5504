namespace Tango;

/// <summary>
/// A transaction that reads and writes spans objects that are not one co-hosted group: it would need a decision record (R20), which this
/// runtime does not write. Open the objects as one group.
/// </summary>
public sealed class TangoCrossGroupException(IReadOnlyList<string> objectNames)
    : TangoTransactionException($"The transaction reads and writes objects of different groups: {string.Join(", ", objectNames)}")
{
    public IReadOnlyList<string> ObjectNames { get; } = objectNames;
}
