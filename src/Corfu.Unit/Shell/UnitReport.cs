using Corfu.Protocol;

namespace Corfu.Unit;

/// <summary>What a unit's folder holds, as read from its log without a running unit.</summary>
public sealed record UnitReport
{
    public required string Folder { get; init; }

    public required UnitIdentity Identity { get; init; }

    public long Segments { get; init; }

    public long BytesOnDisk { get; init; }

    /// <summary>Where the log was last known to be durable, from outside the log; 0 if nothing is known.</summary>
    public long DurableMark { get; init; }

    /// <summary>End of the last good record, and how many there are.</summary>
    public long LogEnd { get; init; }

    public long Records { get; init; }

    /// <summary>How often the unit has been started.</summary>
    public uint Runs { get; init; }

    public long Pages { get; init; }

    public long Trimmed { get; init; }

    public LogPosition TrimMark { get; init; }

    public LogPosition End { get; init; }

    public Epoch SealedBelow { get; init; }

    public Epoch Installed { get; init; }

    /// <summary>Written but not part of the log: nobody was told about it, and the next start erases it.</summary>
    public bool TornTail { get; init; }

    /// <summary>Pages that the unit will serve as corrupt until they are repaired or trimmed, ascending.</summary>
    public IReadOnlyList<LogPosition> Corrupt { get; init; } = [];

    /// <summary>Why the unit will not start: something that was acknowledged is damaged or missing. Null if it
    /// will.</summary>
    public string? Lost { get; init; }

    /// <summary>Good records behind the place where the log is damaged.</summary>
    public long RecordsBehindDamage { get; init; }

    /// <summary>Nothing acknowledged is damaged. A torn tail is no damage.</summary>
    public bool IsClean => Lost is null && Corrupt.Count == 0;
}
