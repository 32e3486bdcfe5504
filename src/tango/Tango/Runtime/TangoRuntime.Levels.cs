using Microsoft.Extensions.Logging;

namespace Tango;

public sealed partial class TangoRuntime
{
    /// <summary>The directory as it was played last. Only after it was attached.</summary>
    internal TangoDirectory DirectoryView =>
        (TangoDirectory)Player.Published.Of(_directoryCohort!.Objects[0]).Require(_directoryCohort.Objects[0]);

    /// <summary>R19. The log's first objects fixed it, so that a directory that has stopped tells it too. Only after
    /// the directory was attached.</summary>
    internal long MaxSpan => LastDirectoryView.MaxSpan;

    // As far as it was played, stopped or not.
    internal TangoDirectory LastDirectoryView =>
        (TangoDirectory)Player.Published.Of(_directoryCohort!.Objects[0]).View!;

    /// <summary>The newest feature level that this code knows.</summary>
    public static int NewestLevel => FeatureLevel.Newest;

    /// <summary>The log's feature level: what its clients may write into it.</summary>
    /// <exception cref="TangoLevelException">The level is higher than <see cref="NewestLevel"/>.</exception>
    public async ValueTask<int> ReadLevelAsync(CancellationToken cancellationToken = default)
    {
        await OpenDirectoryAsync(cancellationToken);
        return await _directory.ReadLevelAsync(cancellationToken);
    }

    /// <summary>
    /// Raises the log's feature level for good. Call it once every client of the log runs code that knows the level:
    /// older code stops at this record.
    /// </summary>
    /// <returns>The log's level, which may have been higher.</returns>
    /// <exception cref="ArgumentOutOfRangeException">This code does not know the level. Nothing was
    /// written.</exception>
    public async ValueTask<int> RaiseLevelAsync(int level, CancellationToken cancellationToken = default)
    {
        ArgumentOutOfRangeException.ThrowIfLessThan(level, FeatureLevel.First);
        ArgumentOutOfRangeException.ThrowIfGreaterThan(level, _options.NewestLevel);
        var known = await ReadLevelAsync(cancellationToken);
        if (known >= level) return known;
        var raised = await _directory.RaiseLevelAsync(level, cancellationToken);
        _logger.LogInformation("The log's feature level was raised from {Known} to {Level}", known, raised);
        return raised;
    }

    /// <summary>R23: stands before everything that code of a lower level cannot read: nothing yet, since all formats
    /// are of the first level. Levels only rise, so that what was played decides; a lower one is looked up
    /// anew.</summary>
    /// <param name="what">Name of what is to be written, as in "A checkpoint".</param>
    /// <exception cref="TangoLevelException">The log's level is lower. Nothing was written.</exception>
    internal async ValueTask RequireLevelAsync(int level, string what, CancellationToken cancellationToken)
    {
        await OpenDirectoryAsync(cancellationToken);
        if (DirectoryView.Level >= level) return;
        var known = await _directory.ReadLevelAsync(cancellationToken);
        if (known < level) throw TangoLevelException.TooLow(what, known, level, _options.NewestLevel);
    }

    /// <summary>Before a call of the directory.</summary>
    /// <exception cref="TangoTransactionException">A transaction flows with the caller.</exception>
    private ValueTask OpenDirectoryAsync(CancellationToken cancellationToken)
    {
        RequireNoTransaction();
        return AttachDirectoryAsync(cancellationToken);
    }
}
