using Corfu.Protocol;

namespace Corfu.Unit;

/// <summary>What a unit's folder holds, as read from its log without a running unit.</summary>
public sealed class UnitReport
{
    public required string Folder { get; init; }

    public required UnitIdentity Identity { get; init; }

    public long Segments { get; init; }

    public long BytesOnDisk { get; init; }

    /// <summary>Where the log was last known to be durable, from outside the log; 0 if nothing is known.</summary>
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
