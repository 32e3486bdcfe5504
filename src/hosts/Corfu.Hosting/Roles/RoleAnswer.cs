namespace Corfu.Hosting;

/// <summary>A role's answer to a status query.</summary>
/// <param name="Epoch">The epoch that it serves; none if it serves none, or does not answer.</param>
/// <param name="Detail">The role's own report, or the reason why it does not answer.</param>
public sealed record RoleAnswer(bool Answers, Epoch Epoch, string Detail)
{
    /// <summary>A unit that never held anything.</summary>
    public bool IsFresh { get; init; }

    /// <summary>Why it takes no entries although it answers, or null.</summary>
    public string? Refusal { get; init; }

    /// <summary>Why it will soon take none, or null.</summary>
    public string? Warning { get; init; }

    /// <summary>Below it a unit has released everything.</summary>
    public LogPosition TrimMark { get; init; }

    /// <summary>Bytes of a unit's pages.</summary>
    public long StoredBytes { get; init; }

    /// <summary>A sequencer's.</summary>
    public LogPosition? Tail { get; init; }

    public static RoleAnswer Silent(string why) => new(false, Epoch.None, why);
}
