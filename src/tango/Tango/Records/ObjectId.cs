using System.Globalization;
using Corfu;

namespace Tango;

/// <summary>Names an object for ever; given by the directory. An object's history is the stream of the same number
/// (Tango 4).</summary>
public readonly record struct ObjectId(ulong Value) : IComparable<ObjectId>
{
    /// <summary>The directory itself (Tango 3.2, Naming: the directory is an object with a hard-coded id).</summary>
    public static readonly ObjectId Directory = new(1);

    /// <summary>The first id the directory hands out.</summary>
    public static readonly ObjectId FirstUser = new(StreamId.FirstObjectValue);

    /// <summary>The first value that is no object's id: the range above has the streams of checkpoints.</summary>
    internal const ulong EndOfUser = 1UL << 62;

    public StreamId Stream => new(Value);

    public int CompareTo(ObjectId other) => Value.CompareTo(other.Value);

    public override string ToString() => "#" + Value.ToString(CultureInfo.InvariantCulture);
}
