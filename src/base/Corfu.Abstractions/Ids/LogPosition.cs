using System.Buffers.Binary;
using System.Globalization;
using System.Security.Cryptography;
using System.Text;

namespace Corfu;

/// <summary>A place in the global log, printed <c>e5:1042</c>. Equality and order ignore the epoch: the projection
/// under which the position was learnt, or <see cref="Epoch.None"/>.</summary>
public readonly struct LogPosition : IEquatable<LogPosition>, IComparable<LogPosition>
{
    /// <summary>The first position of every log.</summary>
    public static readonly LogPosition Zero;

    public LogPosition(long offset, Epoch epoch = default)
    {
        ArgumentOutOfRangeException.ThrowIfNegative(offset);
        Offset = offset;
        Epoch = epoch;
    }

    public long Offset { get; }

    public Epoch Epoch { get; }

    public LogPosition Next => new(Offset + 1, Epoch);

    public static LogPosition operator +(LogPosition p, long count) => new(p.Offset + count, p.Epoch);

    public static long operator -(LogPosition a, LogPosition b) => a.Offset - b.Offset;

    public static bool operator ==(LogPosition a, LogPosition b) => a.Offset == b.Offset;
    public static bool operator !=(LogPosition a, LogPosition b) => a.Offset != b.Offset;
    public static bool operator <(LogPosition a, LogPosition b) => a.Offset < b.Offset;
    public static bool operator >(LogPosition a, LogPosition b) => a.Offset > b.Offset;
    public static bool operator <=(LogPosition a, LogPosition b) => a.Offset <= b.Offset;
    public static bool operator >=(LogPosition a, LogPosition b) => a.Offset >= b.Offset;

    public static LogPosition Max(LogPosition a, LogPosition b) => a >= b ? a : b;
    public static LogPosition Min(LogPosition a, LogPosition b) => a <= b ? a : b;

    public bool Equals(LogPosition other) => Offset == other.Offset;
    public override bool Equals(object? obj) => obj is LogPosition other && Equals(other);
    public override int GetHashCode() => Offset.GetHashCode();
    public int CompareTo(LogPosition other) => Offset.CompareTo(other.Offset);

    public override string ToString() =>
        Epoch == Epoch.None ? Offset.ToString(CultureInfo.InvariantCulture) : $"{Epoch}:{Offset}";

    /// <summary>Accepts <c>1042</c> and <c>e5:1042</c>.</summary>
    public static bool TryParse(string? text, out LogPosition position)
    {
        position = default;
        if (string.IsNullOrEmpty(text)) return false;
        var epoch = Epoch.None;
        var rest = text.AsSpan();
        if (rest[0] == 'e')
        {
            var colon = rest.IndexOf(':');
            if (colon < 2 || !TryParseNumber(rest[1..colon], out var e)) return false;
            epoch = new Epoch(e);
            rest = rest[(colon + 1)..];
        }

        if (!TryParseNumber(rest, out var offset)) return false;
        position = new LogPosition(offset, epoch);
        return true;
    }

    private static bool TryParseNumber(ReadOnlySpan<char> text, out long value) =>
        long.TryParse(text, NumberStyles.None, CultureInfo.InvariantCulture, out value);
}

/// <summary>Version of the projection; every request carries one. Epochs start at 1; 0 means "none yet".</summary>
public readonly record struct Epoch(long Value) : IComparable<Epoch>
{
    public static readonly Epoch None;
    public static readonly Epoch First = new(1);

    public Epoch Next => new(Value + 1);

    public int CompareTo(Epoch other) => Value.CompareTo(other.Value);

    public static bool operator <(Epoch a, Epoch b) => a.Value < b.Value;
    public static bool operator >(Epoch a, Epoch b) => a.Value > b.Value;
    public static bool operator <=(Epoch a, Epoch b) => a.Value <= b.Value;
    public static bool operator >=(Epoch a, Epoch b) => a.Value >= b.Value;

    public override string ToString() => $"e{Value}";
}

/// <summary>
/// Names a stream: a tagged sub-sequence of the log (Tango 4). Ids below <see cref="FirstObjectValue"/> are the
/// system's, those below <see cref="FirstRawValue"/> Tango's objects', their checkpoints' and those of data that an
/// object claims, all others raw streams of applications. The ranges are apart because an entry that Tango cannot read
/// stops every object of its streams.
/// </summary>
public readonly record struct StreamId(ulong Value) : IComparable<StreamId>
{
    public const ulong FirstObjectValue = 256;

    /// <summary>2^63.</summary>
    public const ulong FirstRawValue = 1UL << 63;

    /// <summary>Whether the stream is an application's, and not the system's or an object's.</summary>
    public bool IsRaw => Value >= FirstRawValue;

    /// <summary>The raw stream of this name: SHA-256 of the name in UTF-8, its first 8 bytes (little-endian), bit 63
    /// set.</summary>
    public static StreamId FromName(string name)
    {
        ArgumentException.ThrowIfNullOrEmpty(name);
        Span<byte> hash = stackalloc byte[SHA256.HashSizeInBytes];
        SHA256.HashData(Encoding.UTF8.GetBytes(name), hash);
        return new StreamId(BinaryPrimitives.ReadUInt64LittleEndian(hash) | FirstRawValue);
    }

    /// <summary>An entry names each of its streams once: named twice, a stream would get a backpointer to the entry
    /// itself.</summary>
    public static bool AreDistinct(ReadOnlySpan<StreamId> streams)
    {
        const int Few = 16;
        if (streams.Length > Few)
        {
            var seen = new HashSet<StreamId>(streams.Length);
            foreach (var stream in streams)
            {
                if (!seen.Add(stream)) return false;
            }

            return true;
        }

        for (var i = 1; i < streams.Length; i++)
        {
            if (streams[..i].Contains(streams[i])) return false;
        }

        return true;
    }

    public int CompareTo(StreamId other) => Value.CompareTo(other.Value);

    public override string ToString() => Value.ToString(CultureInfo.InvariantCulture);
}
