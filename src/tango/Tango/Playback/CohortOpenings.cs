using Corfu;
using Microsoft.Extensions.Logging;
using Tango.Model;

namespace Tango.Playback;

/// <summary>
/// Opens cohorts, and rebuilds those that have stopped. Openings do not wait for each other; callers who open the same
/// cohort share one, which ends when all of them are cancelled. Each plays beside the player, and may ask the directory
/// for groups, which is opened here too.
/// </summary>
internal sealed class CohortOpenings
{
    // The first may be shared with one that began before the type was known.
    private const int MaxRebuilds = 3;

    private readonly HostedCohorts _hosted;
    private readonly Player _player;
    private readonly PlayedDirectory _directory;
    private readonly PlayedTypes _types;
    private readonly PlaybackContext _beside;
    private readonly CancellationToken _lifetime;

    /// <param name="context">The player's.</param>
    public CohortOpenings(HostedCohorts hosted, Player player, PlaybackContext context, PlayedDirectory directory,
        PlayedTypes types, CancellationToken lifetime)
    {
        (_hosted, _player, _directory, _types, _lifetime) = (hosted, player, directory, types, lifetime);
        _beside = context with { Directory = new DirectoryBeside(player, directory, this) };
    }

    /// <summary>A cohort is open. Raised before those who open it are answered.</summary>
    public event Action<Cohort>? Opened;

    /// <summary>For playback that runs beside the player.</summary>
    public PlaybackContext Beside => _beside;

    /// <summary>Opens the cohort for good.</summary>
    public async ValueTask<Cohort> OpenAsync(
        IReadOnlyList<DirectoryEntry> members, CancellationToken cancellationToken)
    {
        var cohort = await UseAsync(members, cancellationToken);
        _hosted.StayForGood(cohort);
        return cohort;
    }

    /// <summary>Opens the cohort if it is not open. It stays until <see cref="HostedCohorts.EndUse"/>, and a while
    /// longer.</summary>
    public ValueTask<Cohort> UseAsync(IReadOnlyList<DirectoryEntry> members, CancellationToken cancellationToken)
    {
        var opening = _hosted.Use(members[0].Id, () => Create(new Cohort(members, _types.Find)), out var cohort);
        return opening is null ? new ValueTask<Cohort>(cohort) : UseAsync(opening, cancellationToken);
    }

    /// <summary>The object with its cohort hosted, until the use is disposed.</summary>
    public async ValueTask<CohortUse> UseAsync(
        IReadOnlyList<DirectoryEntry> members, DirectoryEntry entry, CancellationToken cancellationToken)
    {
        await OpenDirectoryAsync(cancellationToken);
        var cohort = await UseAsync(members, cancellationToken);
        try
        {
            return new CohortUse(await RequireViewAsync(cohort, entry, cancellationToken), _hosted);
        }
        catch
        {
            _hosted.EndUse(cohort);
            throw;
        }
    }

    /// <summary>The member, for which the program has a type now.</summary>
    public async ValueTask<HostedObject> RequireViewAsync(
        Cohort cohort, DirectoryEntry entry, CancellationToken cancellationToken)
    {
        for (var attempt = 0; attempt < MaxRebuilds; attempt++)
        {
            if (cohort.Find(entry.Id) is { Type: not null } member) return member;
            // The cohort was played before the program knew the type, or it stopped below the member's birth (R22).
            await RebuildAsync(cohort, cancellationToken);
        }

        throw TangoDirectoryException.UnknownType(entry);
    }

    /// <summary>Opens the directory, or rebuilds it if it has stopped.</summary>
    public async ValueTask OpenDirectoryAsync(CancellationToken cancellationToken)
    {
        if (_directory.Cohort is { } known) await RebuildIfStoppedAsync(known, cancellationToken);
        else _directory.Open(await OpenAsync([TangoDirectory.OwnEntry], cancellationToken));
    }

    /// <summary>An object whose Apply failed, or under which history was trimmed, starts anew for the first call that
    /// meets it stopped (R22, R23).</summary>
    public ValueTask RebuildIfStoppedAsync(HostedObject used, CancellationToken cancellationToken) =>
        _player.Published.Of(used).Stopped is { MayRebuild: true }
            ? RebuildIfStoppedAsync(used.Cohort, cancellationToken)
            : ValueTask.CompletedTask;

    /// <inheritdoc cref="RebuildIfStoppedAsync(HostedObject, CancellationToken)"/>
    public ValueTask RebuildIfStoppedAsync(Cohort cohort, CancellationToken cancellationToken)
    {
        foreach (var member in cohort.Objects)
        {
            if (_player.Published.Of(member).Stopped is { MayRebuild: true })
                return TryRebuildAsync(cohort, cancellationToken);
        }

        return ValueTask.CompletedTask;
    }

    private async ValueTask TryRebuildAsync(Cohort cohort, CancellationToken cancellationToken)
    {
        try
        {
            // Playback looks up groups in the directory.
            if (cohort != _directory.Cohort) await OpenDirectoryAsync(cancellationToken);
            await RebuildAsync(cohort, cancellationToken);
        }
        catch (TangoTrimmedException e)
        {
            // R22: it stays as it is.
            _beside.Logger.LogWarning(e, "{Name} cannot be played anew", cohort.Objects[0].Name);
        }
    }

    /// <summary>Plays an open cohort anew from its checkpoint, or from the beginning. The result replaces what has
    /// stopped (R23).</summary>
    private async ValueTask RebuildAsync(Cohort cohort, CancellationToken cancellationToken) =>
        await WaitAsync(_hosted.Reopen(cohort.Objects[0].Id, () => Create(cohort)), cancellationToken);

    private CohortOpening Create(Cohort cohort) => new(cohort, _beside, _lifetime);

    private async ValueTask<Cohort> UseAsync(CohortOpening opening, CancellationToken cancellationToken)
    {
        try
        {
            return await WaitAsync(opening, cancellationToken);
        }
        catch
        {
            _hosted.EndUse(opening.Cohort);
            throw;
        }
    }

    private async ValueTask<Cohort> WaitAsync(CohortOpening opening, CancellationToken cancellationToken)
    {
        if (opening.TryStart()) _beside.Loops.Start(() => RunAsync(opening));
        try
        {
            await opening.Done.WaitAsync(cancellationToken);
            return opening.Cohort;
        }
        finally
        {
            _hosted.StopWaiting(opening);
        }
    }

    private async Task RunAsync(CohortOpening opening)
    {
        Exception? reason = null;
        try
        {
            await opening.RunAsync(_player);
        }
        catch (Exception e)
        {
            reason = e;
        }

        _hosted.End(opening, isOpen: reason is null);
        try
        {
            if (reason is null) Opened?.Invoke(opening.Cohort);
        }
        finally
        {
            opening.End(reason);
        }
    }

    /// <summary>Playback beside the player may be ahead of it, and of the directory.</summary>
    private sealed class DirectoryBeside(Player player, PlayedDirectory directory, CohortOpenings openings)
        : IPlaybackDirectory
    {
        public long MaxSpan => directory.MaxSpan;

        public long VersionAge => directory.VersionAge;

        public async ValueTask<IReadOnlyList<DirectoryEntry>> FindGroupAsync(
            ObjectId id, CancellationToken cancellationToken)
        {
            await player.SyncAsync(cancellationToken);
            // R22: the player may have met a trim.
            await openings.OpenDirectoryAsync(cancellationToken);
            return directory.Published.GroupOf(id);
        }

        public bool IsDeletedBefore(ObjectId id, LogPosition position) =>
            directory.IsKnownDeletedBefore(id, position);
    }
}

/// <summary>A hosted object that stays so until this is disposed, once.</summary>
/// <param name="cohorts">Null: the object is open for good.</param>
internal readonly struct CohortUse(HostedObject hosted, HostedCohorts? cohorts) : IDisposable
{
    public HostedObject Hosted => hosted;

    public void Dispose() => cohorts?.EndUse(hosted.Cohort);
}
