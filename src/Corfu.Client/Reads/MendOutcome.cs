namespace Corfu.Client;

internal enum MendOutcome
{
    /// <summary>All full replicas hold the same good page, or the trim.</summary>
    Sound,

    /// <summary>They do now.</summary>
    Mended,

    /// <summary>No replica holds a value.</summary>
    Undecided,

    /// <summary>Damaged where it is held at all.</summary>
    Unrecoverable,

    /// <summary>Good pages that differ: a broken invariant, touched by nobody.</summary>
    Diverged,
}
