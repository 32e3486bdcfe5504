namespace Tango.Model;

/// <summary>How long a cohort stays hosted. Guarded by the lock of <see cref="Playback.HostedCohorts"/>.</summary>
internal sealed class CohortStay
{
    /// <summary>Whether the cohort was opened for as long as the runtime lives.</summary>
    public bool IsForGood { get; set; }

    /// <summary>Calls and transactions that rely on it now.</summary>
    public int Users { get; set; }

    /// <summary>Timestamp of the TimeProvider at the end of the last use.</summary>
    public long UnusedSince { get; set; }

    /// <summary>Not null: it was deleted, and leaves when the calls that were made by then are answered.</summary>
    public long? LastCall { get; set; }

    /// <summary>Not null while the cohort is hosted and may leave.</summary>
    public LinkedListNode<Cohort>? Unused { get; set; }
}
