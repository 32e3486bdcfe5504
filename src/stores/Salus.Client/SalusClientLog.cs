using Microsoft.Extensions.Logging;

namespace Salus;

internal static partial class SalusClientLog
{
    [LoggerMessage(1, LogLevel.Information, "Volume {Volume}: run {Run} begins behind batch {Batch}")]
    public static partial void RunBegins(ILogger logger, VolumeId volume, long run, long batch);

    [LoggerMessage(2, LogLevel.Warning, "Volume {Volume}: {Member} answered wrongly for region {Region}")]
    public static partial void WrongAnswer(ILogger logger, VolumeId volume, Incarnation member, int region);

    [LoggerMessage(3, LogLevel.Warning, "Volume {Volume}: batch {Batch} waits for region {Region}")]
    public static partial void Stall(ILogger logger, VolumeId volume, long batch, int region);

    [LoggerMessage(4, LogLevel.Information, "Volume {Volume}: region {Region} goes on in generation {Generation}")]
    public static partial void Resumed(ILogger logger, VolumeId volume, int region, long generation);

    [LoggerMessage(5, LogLevel.Warning,
        "Volume {Volume}: generation {Generation} of region {Region} lacks batch {Batch}; it is recovered again")]
    public static partial void Lacking(ILogger logger, VolumeId volume, int region, long generation, long batch);

    [LoggerMessage(6, LogLevel.Warning,
        "Volume {Volume}: a store refused batch {Batch} of run {Run}; a new run begins")]
    public static partial void Refused(ILogger logger, VolumeId volume, long batch, long run);

    [LoggerMessage(7, LogLevel.Warning, "Volume {Volume} is lost here: {Reason}")]
    public static partial void Lost(ILogger logger, VolumeId volume, string reason);

    [LoggerMessage(8, LogLevel.Warning,
        "Volume {Volume}: the roots of the regions do not make the root of batch {Batch}")]
    public static partial void RootsDiffer(ILogger logger, VolumeId volume, long batch);

    [LoggerMessage(9, LogLevel.Debug, "Volume {Volume}: the log took no note: {Reason}")]
    public static partial void NoNote(ILogger logger, VolumeId volume, string reason);

    [LoggerMessage(10, LogLevel.Information, "Volume {Volume}: snapshot {Name} was not taken: {Reason}")]
    public static partial void NotTaken(ILogger logger, VolumeId volume, string name, string reason);

    [LoggerMessage(11, LogLevel.Error,
        "Volume {Volume}: batch {Batch} is committed, and the regions show the batches up to {Shown}; it waits")]
    public static partial void Short(ILogger logger, VolumeId volume, long batch, long shown);
}
