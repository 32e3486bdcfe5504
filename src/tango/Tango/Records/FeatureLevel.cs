namespace Tango;

/// <summary>
/// Formats that may be written into a log (R23). A level is raised by an operator, once every client runs code that
/// knows it; older code that meets a higher level stops. Each later format takes the next number.
/// </summary>
internal static class FeatureLevel
{
    /// <summary>The formats of the first release.</summary>
    public const int First = 1;

    /// <summary>A call may have several keys.</summary>
    public const int KeyLists = 2;

    /// <summary>The sequencer may have decided a commit record.</summary>
    public const int Decisions = 3;

    /// <summary>The highest that this code reads and writes.</summary>
    public const int Newest = Decisions;
}
