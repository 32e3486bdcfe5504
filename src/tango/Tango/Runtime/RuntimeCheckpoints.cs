using Corfu;
using Tango.Runtime;
using Tango.Transactions;
using Tango.Upkeep;

namespace Tango;

/// <summary>Checkpoints of objects, from which they open without the history below:
/// <see cref="TangoRuntime.Checkpoints"/>. A runtime makes them by itself too, as <see cref="CheckpointPolicy"/>
/// says.</summary>
public sealed class RuntimeCheckpoints
{
    private readonly DirectoryAccess _access;
    private readonly PlaybackParts _playback;
    private readonly TransactionFlow _flow;
    private readonly CheckpointMaker _maker;

    internal RuntimeCheckpoints(
        DirectoryAccess access, PlaybackParts playback, TransactionFlow flow, CheckpointMaker maker) =>
        (_access, _playback, _flow, _maker) = (access, playback, flow, maker);

    /// <summary>
    /// Writes a checkpoint of the object into the log, from which it can be opened without its history below: state and
    /// versions, as of everything acknowledged before the call. A checkpoint of a group's member has all of the group.
    /// Reads and updates go on meanwhile. The encoded state is held in memory until it is written.
    /// </summary>
    /// <remarks>A call that fails or is cancelled may be repeated; what it wrote has no effect. Several runtimes may
    /// write checkpoints of one object at once.</remarks>
    /// <param name="handle">From <see cref="TangoRuntime.OpenAsync{T}"/> or <see cref="TangoRuntime.OpenGroupAsync"/>
    /// of this runtime.</param>
    /// <returns>The checkpoint's end: it holds everything of the object below this log position. It is durable, and was
    /// read back from the log and loaded.</returns>
    /// <exception cref="TangoNotHostedException">The handle is write-only.</exception>
    /// <exception cref="TangoReadOnlyException">The handle is of a past state or a second view.</exception>
    /// <exception cref="TangoObjectStoppedException">The object, or one of its group, has stopped.</exception>
    /// <exception cref="TangoDirectoryException">The object was deleted meanwhile.</exception>
    /// <exception cref="CorfuException">The log is full, or cannot be reached. The checkpoint was not
    /// written.</exception>
    /// <exception cref="TangoException">The checkpoint cannot be read back.</exception>
    public async ValueTask<LogPosition> WriteAsync(TangoObject handle, CancellationToken cancellationToken = default)
    {
        ArgumentNullException.ThrowIfNull(handle);
        var host = handle.Host as ObjectHost ?? throw new TangoReadOnlyException(handle.ObjectName);
        host.RequireSame(_flow);
        _flow.RequireNone();
        using var use = await host.UseAsync(cancellationToken);
        await _access.OpenAsync(cancellationToken);
        await _playback.Cohorts.RebuildIfStoppedAsync(use.Hosted.Cohort, cancellationToken);
        return await _maker.MakeAsync(use.Hosted.Cohort, cancellationToken);
    }

    /// <summary>
    /// As the other overload, by name; the object need not be open. One that is not is loaded beside the others and
    /// played up to now, and its memory is released afterwards.
    /// </summary>
    /// <exception cref="TangoObjectNotFoundException">There is no such object.</exception>
    /// <exception cref="TangoDirectoryException">This program does not know its type or that of a member of its
    /// group: see <see cref="TangoOptions.Types"/>.</exception>
    /// <exception cref="TangoTrimmedException">The cohort's history is trimmed, and no checkpoint can be
    /// loaded.</exception>
    public async ValueTask<LogPosition> WriteAsync(string name, CancellationToken cancellationToken = default)
    {
        ObjectNames.Require(name);
        var directory = await _access.OpenAsync(cancellationToken);
        var entry = await DirectoryAccess.RequireAsync(directory, name, cancellationToken);
        var members = await DirectoryAccess.FindCohortAsync(directory, entry, cancellationToken);
        if (!_playback.Hosted.IsOpen(members[0].Id)) return await _maker.MakeUnhostedAsync(members, cancellationToken);
        var cohort = await _playback.Cohorts.UseAsync(members, cancellationToken);
        try
        {
            return await _maker.MakeAsync(cohort, cancellationToken);
        }
        finally
        {
            _playback.Hosted.EndUse(cohort);
        }
    }

    /// <summary>The directory is a cohort like others: a log whose prefix is trimmed opens from its
    /// checkpoint.</summary>
    internal async ValueTask<LogPosition> WriteDirectoryAsync(CancellationToken cancellationToken = default)
    {
        await _access.OpenAsync(cancellationToken);
        return await _maker.MakeAsync(_playback.Directory.Cohort!, cancellationToken);
    }
}
