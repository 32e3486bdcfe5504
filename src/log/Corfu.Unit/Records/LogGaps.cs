using System.Buffers;

namespace Corfu.Unit;

/// <summary>Deleted parts in the middle of a log: for each the address of the last record before it and of the last one
/// in it. They excuse exactly the breaks that the deletions leave in the chain of records. Body of a Freed record:
/// count (4), then pairs of addresses (8 + 8).</summary>
internal sealed class LogGaps
{
    private readonly SortedDictionary<long, long> _lastByBefore = [];

    public int Count => _lastByBefore.Count;

    public void Add(long before, long last) => _lastByBefore[before] = last;

    public void Clear() => _lastByBefore.Clear();

    /// <summary>Breaks before the log's beginning need no excuse any more.</summary>
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
        var body = new ArrayBufferWriter<byte>(4 + (_lastByBefore.Count * 16));
        var w = new WireWriter(body);
        w.Int32(_lastByBefore.Count);
        foreach (var (before, last) in _lastByBefore)
        {
            w.Int64(before);
            w.Int64(last);
        }

        w.Flush();
        return new LogRecord(RecordKind.Freed, LogPosition.Zero, body.WrittenMemory);
    }

    public void Read(ReadOnlyMemory<byte> body)
    {
        var r = new WireReader(body);
        for (var parts = r.Count(16); parts > 0; parts--) Add(r.Int64(), r.Int64());
        r.End();
    }
}
