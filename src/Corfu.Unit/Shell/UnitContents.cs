using System.Buffers.Binary;
using Corfu.Protocol;

namespace Corfu.Unit;

/// <summary>Sums up a log's records for a report.</summary>
internal sealed class UnitContents
{
    private const int StateMark = 25;
    private const int StateEnd = 33;

    private readonly SortedSet<long> _corrupt = [];
    private readonly HashSet<long> _trimmed = [];
    private long _pages;
    private long _records;
    private long _runs;
    private long _logEnd;
    private long _mark;
    private long _end;
    private Epoch _sealedBelow;
    private Epoch _installed;

    public void Visit(in LogRecord record, in RecordPlace place)
    {
        _records++;
        _logEnd = place.Lsn;
        var position = record.Position.Offset;
        switch (record.Kind)
        {
            case RecordKind.Open:
                _runs++;
                break;
            case RecordKind.Page or RecordKind.Junk or RecordKind.Moved:
                if (record.Kind != RecordKind.Moved) _pages++;
                if (place.PayloadIntact) _corrupt.Remove(position);
                else if (record.Kind != RecordKind.Moved || !_trimmed.Contains(position)) _corrupt.Add(position);
                _end = Math.Max(_end, position + 1);
                break;
            case RecordKind.Trim:
                _corrupt.Remove(position);
                _trimmed.Add(position);
                _end = Math.Max(_end, position + 1);
                break;
            case RecordKind.TrimPrefix:
                RaiseMark(position);
                break;
            case RecordKind.Seal:
                _sealedBelow = Max(_sealedBelow, record.Position.Epoch);
                break;
            case RecordKind.Install:
                Installed(record.Position.Epoch);
                break;
            case RecordKind.State:
                _sealedBelow = Max(_sealedBelow, new Epoch(Read(record, 1)));
                Installed(new Epoch(Read(record, 1 + 8)));
                RaiseMark(Read(record, StateMark));
                _end = Math.Max(_end, Read(record, StateEnd));
                break;
        }
    }

    public UnitReport Complete(UnitReport report) => report with
    {
        LogEnd = _logEnd,
        Records = _records,
        Runs = (uint)_runs,
        Pages = _pages,
        Trimmed = _trimmed.Count,
        TrimMark = new LogPosition(_mark),
        End = new LogPosition(_end),
        SealedBelow = _sealedBelow,
        Installed = _installed,
        Corrupt = [.. _corrupt.Select(p => new LogPosition(p))],
    };

    private static long Read(in LogRecord record, int offset) =>
        BinaryPrimitives.ReadInt64LittleEndian(record.Body.Span[offset..]);

    private void Installed(Epoch epoch)
    {
        _installed = Max(_installed, epoch);
        _sealedBelow = Max(_sealedBelow, epoch);
    }

    private void RaiseMark(long mark)
    {
        if (mark <= _mark) return;
        _mark = mark;
        _end = Math.Max(_end, mark);
        _corrupt.RemoveWhere(p => p < mark);
        _trimmed.RemoveWhere(p => p < mark);
    }

    private static Epoch Max(Epoch a, Epoch b) => a > b ? a : b;
}
