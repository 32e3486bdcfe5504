using System.Collections.Immutable;
using Tango.Model;
using Tango.Playback;
using Tango.Runtime;

namespace Tango;

/// <summary>The names of a log's objects: <see cref="TangoRuntime.Directory"/>.</summary>
public sealed class RuntimeDirectory
{
    private readonly DirectoryAccess _access;
    private readonly ObjectDeleter _deleter;
    private readonly HostedCohorts _hosted;
    private readonly ViewPublisher _views;

    internal RuntimeDirectory(
        DirectoryAccess access, ObjectDeleter deleter, HostedCohorts hosted, ViewPublisher views) =>
        (_access, _deleter, _hosted, _views) = (access, deleter, hosted, views);

    /// <summary>All objects known to the directory, by name.</summary>
    public async ValueTask<ImmutableArray<DirectoryEntry>> ListAsync(CancellationToken cancellationToken = default)
    {
        var directory = await _access.OpenAsync(cancellationToken);
        return await directory.ListAsync(cancellationToken);
    }

    /// <summary>Whether the log has an object of that name, whatever its type.</summary>
    public async ValueTask<bool> ExistsAsync(string name, CancellationToken cancellationToken = default)
    {
        ObjectNames.Require(name);
        var directory = await _access.OpenAsync(cancellationToken);
        return await directory.FindAsync(name, cancellationToken) is not null;
    }

    /// <summary>
    /// Gives an object another name. It keeps its id, its state, its group and its history; handles that are open
    /// anywhere go on, under the name by which they were opened. Past states have the name of their time.
    /// </summary>
    /// <remarks>Rename a member of a context before the programs that use its new name are started: an unknown name
    /// is a new member to them.</remarks>
    /// <exception cref="TangoObjectNotFoundException">There is no such object.</exception>
    /// <exception cref="TangoDirectoryException">The new name is taken, or the object was deleted or
    /// renamed meanwhile.</exception>
    public async ValueTask RenameAsync(string name, string newName, CancellationToken cancellationToken = default)
    {
        ObjectNames.Require(name);
        ObjectNames.Require(newName);
        var directory = await _access.OpenAsync(cancellationToken);
        var entry = await DirectoryAccess.RequireAsync(directory, name, cancellationToken);
        try
        {
            await directory.RenameAsync(entry.Id, name, newName, cancellationToken);
        }
        catch (TangoRejectedException e)
        {
            throw new TangoDirectoryException(e.Reason);
        }
    }

    /// <summary>
    /// Deletes an object for good. Its name can be used again; handles that are open anywhere fail with
    /// <see cref="TangoObjectDeletedException"/> once their runtimes have played the deletion. An update that another
    /// runtime sends before that may be acknowledged and have no effect. A member of a group leaves it, and the group
    /// goes on: its checkpoints need no program any more that knows the member's type.
    /// </summary>
    /// <remarks>The place of a member among the 256 of its group is not free again. A program that opens the group and
    /// names the member adds it again, empty.</remarks>
    /// <exception cref="TangoObjectNotFoundException">There is no such object.</exception>
    /// <exception cref="TangoDirectoryException">The object is the first member of a group, which is deleted as a
    /// whole; or another call deleted it meanwhile.</exception>
    public async ValueTask DeleteAsync(string name, CancellationToken cancellationToken = default)
    {
        ObjectNames.Require(name);
        await _deleter.DeleteAsync(name, cancellationToken);
    }

    /// <summary>Deletes a group with all its members, as <see cref="DeleteAsync"/>.</summary>
    /// <exception cref="TangoObjectNotFoundException">There is no such group.</exception>
    public async ValueTask DeleteGroupAsync(string group, CancellationToken cancellationToken = default)
    {
        ObjectNames.Require(group);
        await _deleter.DeleteGroupAsync(group, cancellationToken);
    }

    /// <summary>Figures of the objects that are hosted now, for monitoring. Costs no request.</summary>
    public ImmutableArray<ObjectFigures> ReadFigures()
    {
        var published = _views.Published;
        var figures = ImmutableArray.CreateBuilder<ObjectFigures>();
        var open = _hosted.ListOpen();
        var claims = open.SelectMany(static cohort => cohort.Objects)
            .Select(hosted => published.Of(hosted).View).OfType<TangoDirectory>().FirstOrDefault()?.Claims.Cohorts;
        foreach (var cohort in open)
        {
            var claim = cohort.Objects.Select(hosted => claims?.GetValueOrDefault(hosted.Id).Forget)
                .FirstOrDefault(static forget => forget is { Offset: > 0 });
            foreach (var hosted in cohort.Objects)
            {
                // A deleted object leaves soon, and is no failure.
                if (hosted.Stopped is { IsDeletion: true }) continue;
                figures.Add(new ObjectFigures(
                    hosted.Name, hosted.Entry.TypeName, hosted.Updates, cohort.Traffic.CheckpointSize,
                    published.Of(hosted).Stopped is not null)
                {
                    TrimClaim = claim,
                });
            }
        }

        return figures.DrainToImmutable();
    }
}
