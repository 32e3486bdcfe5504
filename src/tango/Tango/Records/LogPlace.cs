using Corfu;
using Tango.Records;

namespace Tango;

/// <summary>
/// Place of a mutator call in the log: the same in every process, for ever. A view that keeps it instead of the
/// call's arguments is an index over the log (Tango 3.1): see <see cref="ITangoIndex"/>. It is an immutable value that
/// may be part of state and of stored types.
/// </summary>
public readonly struct LogPlace : IEquatable<LogPlace>, IComparable<LogPlace>
{
    // Above every position of a log.
    private const long PendingOffset = long.MaxValue;

    private readonly long _offset;

    /// <param name="position">Position of the entry.</param>
    /// <param name="record">Index of the record in the entry, from 0.</param>
    /// <param name="call">Index of the call in the record, from 0.</param>
    public LogPlace(LogPosition position, int record, int call)
    {
        ArgumentOutOfRangeException.ThrowIfNegative(record);
        ArgumentOutOfRangeException.ThrowIfNegative(call);
        (_offset, Record, Call) = (position.Offset, record, call);
    }

    private LogPlace(TxWrite? own) => (_offset, Call, Own) = (PendingOffset, own?.Index ?? 0, own);

    /// <summary>Position of the entry; for a call that is not in the log yet, above every position.</summary>
    public LogPosition Position => new(_offset);

    public int Record { get; }

    public int Call { get; }

    /// <summary>
    /// The call is one that a transaction has buffered, and is seen in that transaction only: it gets its place when
    /// the transaction ends. It can be read in that transaction, and neither be stored nor sent.
    /// </summary>
    public bool IsPending => _offset == PendingOffset;

    /// <summary>The buffered call of a pending place, if the transaction is known.</summary>
    internal TxWrite? Own { get; }

    internal static LogPlace Pending(TxWrite? own) => new(own);

    public int CompareTo(LogPlace other)
    {
        var byPosition = _offset.CompareTo(other._offset);
        if (byPosition != 0) return byPosition;
        var byRecord = Record.CompareTo(other.Record);
        return byRecord != 0 ? byRecord : Call.CompareTo(other.Call);
    }

    public bool Equals(LogPlace other) =>
        _offset == other._offset && Record == other.Record && Call == other.Call && ReferenceEquals(Own, other.Own);

    public override bool Equals(object? obj) => obj is LogPlace other && Equals(other);

    public override int GetHashCode() => HashCode.Combine(_offset, Record, Call);

    public override string ToString() => IsPending ? $"(pending {Call})" : $"{Position}.{Record}.{Call}";

    public static bool operator ==(LogPlace left, LogPlace right) => left.Equals(right);

    public static bool operator !=(LogPlace left, LogPlace right) => !left.Equals(right);

    public static bool operator <(LogPlace left, LogPlace right) => left.CompareTo(right) < 0;

    public static bool operator >(LogPlace left, LogPlace right) => left.CompareTo(right) > 0;

    public static bool operator <=(LogPlace left, LogPlace right) => left.CompareTo(right) <= 0;

    public static bool operator >=(LogPlace left, LogPlace right) => left.CompareTo(right) >= 0;
}
