namespace Tango;

/// <summary>The log's feature level is too low for what was asked, or higher than this code knows; or the log is from
/// before the first release. Nothing was written.</summary>
public sealed class TangoLevelException : TangoException
{
    private TangoLevelException(string message, int logLevel, int neededLevel, int codeLevel)
        : base(message) => (LogLevel, NeededLevel, CodeLevel) = (logLevel, neededLevel, codeLevel);

    /// <summary>The log's level; 0: it is from before the first release.</summary>
    public int LogLevel { get; }

    /// <summary>The level that the log, or this code, would need.</summary>
    public int NeededLevel { get; }

    /// <summary>The newest level that this code knows.</summary>
    public int CodeLevel { get; }

    /// <param name="what">Name of what needs the level, as in "A checkpoint".</param>
    internal static TangoLevelException TooLow(string what, int logLevel, int needed, int known) => new(
        $"{what} needs feature level {needed}, and this log has level {logLevel}. Once every client of the log runs "
        + $"code that knows level {needed}: corfu tango level raise {needed}", logLevel, needed, known);

    internal static TangoLevelException TooNew(int logLevel, int known) => new(
        $"The log has feature level {logLevel}, and this code knows levels up to {known}: run a newer version of it",
        logLevel, logLevel, known);

    /// <summary>An entry has the format that was written before the first release.</summary>
    internal static TangoLevelException TooOld() => new(
        "The log's objects were written by a version from before the first release, whose formats are not read any "
        + "more. Read them with the version that wrote them, and write them into a new log", 0, FeatureLevel.First,
        FeatureLevel.Newest);
}
