using System.Buffers.Binary;
using Corfu.Protocol;

namespace Corfu.Unit;

/// <summary>
/// Parts in the middle of a log that are gone on purpose: for each the address of the last record before it and of the
/// last one in it. They excuse exactly the breaks that deleting those parts leaves in the chain of records, and no
/// other. Body of a Freed record: count (4), then pairs of addresses (8 + 8).
/// </summary>
internal sealed class LogGaps
{
    private readonly SortedDictionary<long, long> _lastByBefore = [];

    public int Count => _lastByBefore.Count;

    public void Add(long before, long last) => _lastByBefore[before] = last;

    public void Clear() => _lastByBefore.Clear();

    /// <summary>What lies before the log's beginning needs no excuse any more.</summary>
    public void ForgetBelow(long address)
    {
        foreach (var before in _lastByBefore.Keys.TakeWhile(b => b < address).ToList()) _lastByBefore.Remove(before);
    }

    public bool Excuse(long before, long last)
    {
        while (before != last)
        {
            if (!_lastByBefore.TryGetValue(before, out var next) || next <= before) return false;
            before = next;
        }

        return true;
    }

    public LogRecord ToRecord()
    {
        var body = new byte[4 + (_lastByBefore.Count * 16)];
        BinaryPrimitives.WriteInt32LittleEndian(body, _lastByBefore.Count);
        var at = 4;
        foreach (var (before, last) in _lastByBefore)
        {
            BinaryPrimitives.WriteInt64LittleEndian(body.AsSpan(at), before);
            BinaryPrimitives.WriteInt64LittleEndian(body.AsSpan(at + 8), last);
            at += 16;
        }

        return new LogRecord(RecordKind.Freed, LogPosition.Zero, body);
    }

    public void Read(ReadOnlySpan<byte> body)
    {
        if (body.Length < 4 || body.Length - 4 != 16L * BinaryPrimitives.ReadInt32LittleEndian(body))
            throw new MalformedDataException("The list of freed parts has another length than it says.");
        for (var at = 4; at < body.Length; at += 16)
            Add(BinaryPrimitives.ReadInt64LittleEndian(body[at..]),
                BinaryPrimitives.ReadInt64LittleEndian(body[(at + 8)..]));
    }
}
