using Corfu.Protocol;

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
