namespace Corfu;

/// <summary>How far all streams of a cursor are known that learn by scans.</summary>
internal sealed class ScannedUntil
{
    public LogPosition End { get; set; }
}
