namespace Tango;

/// <summary>The log's feature level is too low for what was asked, or higher than this code knows. Nothing was
/// written.</summary>
public sealed class TangoLevelException : TangoException
{
    private TangoLevelException(string message, int logLevel, int neededLevel)
        : base(message) => (LogLevel, NeededLevel) = (logLevel, neededLevel);

    /// <summary>The log's level.</summary>
    public int LogLevel { get; }

    /// <summary>The level that the log, or this code, would need.</summary>
    public int NeededLevel { get; }

    /// <summary>The newest level that this code knows.</summary>
    public int CodeLevel { get; } = FeatureLevel.Newest;

    /// <param name="what">What needs the level, as in "A checkpoint".</param>
    internal static TangoLevelException TooLow(string what, int logLevel, int needed) => new(
        $"{what} needs feature level {needed}, and this log has level {logLevel}. Once every client of the log runs "
        + $"code that knows level {needed}: corfu tango level raise {needed}", logLevel, needed);

    internal static TangoLevelException TooNew(int logLevel) => new(
        $"The log has feature level {logLevel}, and this code knows levels up to {FeatureLevel.Newest}: run a newer "
        + "version of it", logLevel, logLevel);
}
