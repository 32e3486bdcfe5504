namespace Corfu.Unit;

/// <summary>Sums up a log's records in a report.</summary>
internal sealed class UnitContents(UnitReport report)
{
    private readonly SortedSet<LogPosition> _corrupt = [];
    private readonly HashSet<LogPosition> _trimmed = [];

    public void Visit(in LogRecord record, in RecordPlace place)
    {
        report.Records++;
        report.LogEnd = place.Lsn;
        var position = record.Position;
        switch (record.Kind)
        {
            case RecordKind.Open:
                report.Runs++;
                break;
            case RecordKind.Page or RecordKind.Junk or RecordKind.Moved:
                if (record.Kind != RecordKind.Moved) report.Pages++;
                if (place.PayloadIntact) _corrupt.Remove(position);
                else if (record.Kind != RecordKind.Moved || !_trimmed.Contains(position)) _corrupt.Add(position);
                RaiseEnd(position.Next);
                break;
            case RecordKind.Trim:
                _corrupt.Remove(position);
                _trimmed.Add(position);
                RaiseEnd(position.Next);
                break;
            case RecordKind.TrimPrefix:
                RaiseMark(position);
                break;
            case RecordKind.Seal:
                Seal(position.Epoch);
                break;
            case RecordKind.Install:
                Install(position.Epoch);
                break;
            case RecordKind.State:
                var state = UnitState.Read(record.Body);
                Seal(state.SealedBelow);
                Install(state.Installed);
                RaiseMark(state.Mark);
                RaiseEnd(state.End);
                break;
        }
    }

    public bool IsTrimmed(LogPosition position) => position < report.TrimMark || _trimmed.Contains(position);

    public UnitReport Complete()
    {
        report.Trimmed = _trimmed.Count;
        report.Corrupt = [.. _corrupt];
        return report;
    }

    private void Seal(Epoch epoch)
    {
        if (epoch > report.SealedBelow) report.SealedBelow = epoch;
    }

    private void Install(Epoch epoch)
    {
        if (epoch > report.Installed) report.Installed = epoch;
        Seal(epoch);
    }

    private void RaiseEnd(LogPosition end) => report.End = new LogPosition(Math.Max(report.End.Offset, end.Offset));

    private void RaiseMark(LogPosition mark)
    {
        if (mark <= report.TrimMark) return;
        report.TrimMark = new LogPosition(mark.Offset);
        RaiseEnd(mark);
        _corrupt.RemoveWhere(p => p < mark);
        _trimmed.RemoveWhere(p => p < mark);
    }
}

/// <summary>The contents of a unit's folder, as read from its log without a running unit.</summary>
public sealed class UnitReport
{
    public required string Folder { get; init; }

    public required UnitIdentity Identity { get; init; }

    public long Segments { get; init; }

    public long BytesOnDisk { get; init; }

    /// <summary>The address below which the log was last known to be durable, from outside the log; 0 if not
    /// known.</summary>
    public long DurableMark { get; init; }

    /// <summary>End of the last good record.</summary>
    public long LogEnd { get; internal set; }

    public long Records { get; internal set; }

    /// <summary>How often the unit has been started.</summary>
    public uint Runs { get; internal set; }

    public long Pages { get; internal set; }

    public long Trimmed { get; internal set; }

    public LogPosition TrimMark { get; internal set; }

    public LogPosition End { get; internal set; }

    public Epoch SealedBelow { get; internal set; }

    public Epoch Installed { get; internal set; }

    /// <summary>Written but never acknowledged; the next start erases it.</summary>
    public bool TornTail { get; internal set; }

    /// <summary>Pages that the unit will serve as corrupt until they are repaired or trimmed, ascending.</summary>
    public IReadOnlyList<LogPosition> Corrupt { get; internal set; } = [];

    /// <summary>Why the unit will not start: something that was acknowledged is damaged or missing. Null if it
    /// will.</summary>
    public string? Lost { get; internal set; }

    /// <summary>Good records behind the place where the log is damaged.</summary>
    public long RecordsBehindDamage { get; internal set; }

    /// <summary>Nothing acknowledged is damaged. A torn tail is no damage.</summary>
    public bool IsClean => Lost is null && Corrupt.Count == 0;
}
