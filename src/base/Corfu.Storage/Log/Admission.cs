namespace Corfu.Storage;

/// <summary>Whether a record may be appended.</summary>
public enum Admission
{
    Granted,

    /// <summary>Never: no page of the log takes it.</summary>
    TooLarge,

    /// <summary>Not now: memory or allocated space is taken by records that are not durable yet.</summary>
    Overloaded,

    /// <summary>Not before there is room on the disk.</summary>
    NoSpace,
}
