using System.Collections.Immutable;
using Corfu;
using Microsoft.Extensions.Logging;
using Tango.Playback;
using Tango.Runtime;

namespace Tango;

public sealed partial class TangoRuntime
{
    private readonly CohortOpenings _openings;

    // The first may be shared with one that began before the type was known.
    private const int MaxRebuilds = 3;

    // Null until the directory is open.
    private volatile Cohort? _directoryCohort;

    /// <summary>
    /// Opens the object of that name and plays its history up to now. If it belongs to a group, all of the group is
    /// opened.
    /// </summary>
    /// <exception cref="TangoObjectNotFoundException">There is none, and <paramref name="mode"/> does not say to create
    /// it.</exception>
    /// <exception cref="TangoDirectoryException">The name belongs to an object of another type, or one whose values
    /// another serializer wrote.</exception>
    /// <exception cref="TangoFormatException">A type the object uses has no formatter.</exception>
    public async ValueTask<T> OpenAsync<T>(
        string name, OpenMode mode = OpenMode.Existing, CancellationToken cancellationToken = default)
        where T : TangoObject, ITangoObject<T>
    {
        var handle = (T)T.ObjectType.Create();
        await OpenIntoAsync(handle, name, mode, cancellationToken);
        return handle;
    }

    /// <summary>As <see cref="OpenAsync{T}"/>, for a handle that exists already.</summary>
    internal async ValueTask OpenIntoAsync<T>(
        T handle, string name, OpenMode mode, CancellationToken cancellationToken)
        where T : TangoObject, ITangoObject<T>
    {
        var entry = await FindAsync<T>(name, mode, cancellationToken);
        var cohort = await _openings.OpenAsync(await FindCohortAsync(entry, cancellationToken), cancellationToken);
        handle.Attach(new ObjectHost(this, entry, await RequireViewAsync(cohort, entry, cancellationToken)));
    }

    /// <summary>Opens the object for writing only: no view, no playback; updates and write-only transactions (Tango
    /// 4.1, A).</summary>
    /// <exception cref="TangoObjectNotFoundException">As <see cref="OpenAsync{T}"/>.</exception>
    public async ValueTask<T> OpenWriteOnlyAsync<T>(
        string name, OpenMode mode = OpenMode.Existing, CancellationToken cancellationToken = default)
        where T : TangoObject, ITangoObject<T> =>
        NewHandle<T>(await FindAsync<T>(name, mode, cancellationToken), null);

    /// <summary>
    /// Opens the object for being read now and then. It is hosted when it is first read, alone or in a transaction,
    /// from its newest checkpoint, and for <see cref="TangoOptions.RemoteStay"/> after the last use. Reads are as fresh
    /// and transactions as strict as with <see cref="OpenAsync{T}"/>; the first one takes as long as opening. Updates
    /// that return nothing do not need it hosted.
    /// </summary>
    /// <exception cref="TangoDirectoryException">As <see cref="OpenAsync{T}"/>.</exception>
    /// <exception cref="TangoObjectNotFoundException">As <see cref="OpenAsync{T}"/>.</exception>
    public async ValueTask<T> OpenRemoteAsync<T>(
        string name, OpenMode mode = OpenMode.Existing, CancellationToken cancellationToken = default)
        where T : TangoObject, ITangoObject<T>
    {
        var entry = await FindAsync<T>(name, mode, cancellationToken);
        var handle = T.ObjectType.Create();
        handle.Attach(new ObjectHost(this, entry, null, await FindCohortAsync(entry, cancellationToken)));
        return (T)handle;
    }

    /// <summary>All objects known to the directory, by name.</summary>
    public async ValueTask<ImmutableArray<DirectoryEntry>> ListObjectsAsync(
        CancellationToken cancellationToken = default)
    {
        await OpenDirectoryAsync(cancellationToken);
        return await _directory.ListAsync(cancellationToken);
    }

    /// <summary>Whether the cohort of that first member has views here.</summary>
    internal bool IsHosted(ObjectId first) => _openings.IsOpen(first);

    internal static void RequireName(string name)
    {
        ArgumentException.ThrowIfNullOrEmpty(name);
        ArgumentOutOfRangeException.ThrowIfGreaterThan(name.Length, TangoDirectory.MaxNameLength, nameof(name));
    }

    /// <summary>The object with its cohort hosted, until the use is disposed.</summary>
    internal async ValueTask<CohortUse> UseAsync(
        IReadOnlyList<DirectoryEntry> members, DirectoryEntry entry, CancellationToken cancellationToken)
    {
        // Opening runs outside the caller's transaction.
        LeaveTransaction();
        await AttachDirectoryAsync(cancellationToken);
        var cohort = await _openings.UseAsync(members, cancellationToken);
        try
        {
            return new CohortUse(await RequireViewAsync(cohort, entry, cancellationToken), _openings);
        }
        catch
        {
            _openings.EndUse(cohort);
            throw;
        }
    }

    /// <exception cref="TangoDirectoryException">The group was deleted meanwhile.</exception>
    private async ValueTask<ImmutableArray<DirectoryEntry>> FindCohortAsync(
        DirectoryEntry entry, CancellationToken cancellationToken)
    {
        if (entry.Group is null) return [entry];
        var members = await _directory.FindGroupAsync(entry.Group, cancellationToken);
        return members.Any(member => member.Id == entry.Id)
            ? members
            : throw new TangoDirectoryException($"'{entry.Name}' was deleted with its group '{entry.Group}'");
    }

    private async ValueTask<DirectoryEntry> FindAsync<T>(
        string name, OpenMode mode, CancellationToken cancellationToken)
        where T : TangoObject, ITangoObject<T>
    {
        RequireName(name);
        RequireNoTransaction();
        var type = T.ObjectType;
        type.VerifyFormatters();
        _options.Types.Add<T>();
        await AttachDirectoryAsync(cancellationToken);
        var entry = await _directory.FindAsync(name, cancellationToken);
        if (entry is null)
        {
            if (mode != OpenMode.Create)
            {
                throw new TangoObjectNotFoundException(
                    name, $"There is no object '{name}', and {nameof(OpenMode)}.{mode} does not create it");
            }

            var member = new TangoDirectory.NewObject(
                name, type.Recorded.ToString(), _options.NewObjectVersionCapacity);
            entry = (await CreateAsync(null, [member], cancellationToken))[0];
        }

        type.RequireIs(entry);
        return entry;
    }

    private async ValueTask<ImmutableArray<DirectoryEntry>> CreateAsync(
        string? group, ImmutableArray<TangoDirectory.NewObject> members, CancellationToken cancellationToken)
    {
        try
        {
            var begin = new TangoDirectory.LogBeginning(
                _options.NewestLevel, _options.NewLogMaxSpan, _options.NewLogVersionAge);
            return await _directory.CreateAsync(begin, group, members, cancellationToken);
        }
        catch (TangoRejectedException e)
        {
            throw new TangoDirectoryException(e.Reason);
        }
    }

    /// <summary>R22, R23: an object whose Apply failed, or under which history was trimmed, starts anew for the first
    /// call that meets it stopped.</summary>
    internal ValueTask RebuildIfStoppedAsync(Cohort cohort, CancellationToken cancellationToken)
    {
        foreach (var member in cohort.Objects)
        {
            if (Player.Published.Of(member).Stopped is { MayRebuild: true })
                return RebuildAsync(cohort, cancellationToken);
        }

        return ValueTask.CompletedTask;
    }

    private async ValueTask RebuildAsync(Cohort cohort, CancellationToken cancellationToken)
    {
        try
        {
            // Playback of the others may ask it for groups.
            if (cohort != _directoryCohort) await AttachDirectoryAsync(cancellationToken);
            await _openings.RebuildAsync(cohort, cancellationToken);
        }
        catch (TangoTrimmedException e)
        {
            // R22: it stays as it is.
            _logger.LogWarning(e, "{Name} cannot be played anew", cohort.Objects[0].Name);
        }
    }

    /// <summary>Type as which the object is played. Null: this program does not know its type, so that it has versions
    /// and no view.</summary>
    private TangoObjectType? TypeOf(DirectoryEntry entry)
    {
        if (entry.Id == ObjectId.Directory) return _directoryType;
        return _options.Types.TryGet(entry.TypeName, out var type) && type.HasFormatters ? type : null;
    }

    /// <summary>The member, for which the program has a type now.</summary>
    private async ValueTask<HostedObject> RequireViewAsync(
        Cohort cohort, DirectoryEntry entry, CancellationToken cancellationToken)
    {
        for (var attempt = 0; attempt < MaxRebuilds; attempt++)
        {
            if (cohort.Find(entry.Id) is { Type: not null } member) return member;
            // The cohort was played before the program knew the type, or it stopped below the member's birth (R22).
            await _openings.RebuildAsync(cohort, cancellationToken);
        }

        throw TangoDirectoryException.UnknownType(entry);
    }

    private T NewHandle<T>(DirectoryEntry entry, HostedObject? hosted)
        where T : TangoObject, ITangoObject<T>
    {
        var handle = T.ObjectType.Create();
        handle.Attach(new ObjectHost(this, entry, hosted));
        return (T)handle;
    }

    private async ValueTask AttachDirectoryAsync(CancellationToken cancellationToken)
    {
        if (_directoryCohort is { } known)
        {
            await RebuildIfStoppedAsync(known, cancellationToken);
            return;
        }

        var cohort = await _openings.OpenAsync([TangoDirectory.OwnEntry], cancellationToken);
        _directory.Attach(new ObjectHost(this, TangoDirectory.OwnEntry, cohort.Objects[0]));
        _directoryCohort = cohort;
    }

    // Playback within the player's cycle has applied the directory as far as everything else.
    private ValueTask<IReadOnlyList<DirectoryEntry>> FindGroupInCycle(ObjectId id, CancellationToken _) =>
        new(((TangoDirectory)_directoryCohort!.Objects[0].CurrentView!).GroupOf(id));

    private bool IsDeletedInCycle(ObjectId id, LogPosition position) =>
        _directoryCohort is { } cohort
        && ((TangoDirectory)cohort.Objects[0].CurrentView!).IsDeletedBefore(id, position);

    // The log's first objects fixed it, so that any view of the directory that knows an object has it. Before the
    // directory is open no object is, and commit records have no effect here.
    private long FindMaxSpan() => _directoryCohort is { } cohort
        ? ((TangoDirectory)cohort.Objects[0].CurrentView!).MaxSpan
        : TangoDirectory.DefaultMaxSpan;

    private long FindVersionAge() => _directoryCohort is { } cohort
        ? ((TangoDirectory)cohort.Objects[0].CurrentView!).VersionAge
        : TangoDirectory.DefaultVersionAge;

    // Playback beside the player may be ahead of it.
    private async ValueTask<IReadOnlyList<DirectoryEntry>> FindGroupAsync(
        ObjectId id, CancellationToken cancellationToken)
    {
        await Player.SyncAsync(cancellationToken);
        // R22: that may have met a trim.
        await AttachDirectoryAsync(cancellationToken);
        return DirectoryView.GroupOf(id);
    }

    private void RequireNoTransaction()
    {
        if (Current is { IsActive: true })
            throw new TangoTransactionException("Only objects that are open can be used inside a transaction");
    }
}
