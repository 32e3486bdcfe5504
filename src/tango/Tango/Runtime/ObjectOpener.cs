using System.Collections.Immutable;
using Tango.Transactions;

namespace Tango.Runtime;

/// <summary>Finds objects by their names, creates those that are missing, and makes handles of them.</summary>
internal sealed class ObjectOpener(
    DirectoryAccess access, RuntimeEnvironment given, PlaybackParts playback, TransactionRunner transactions)
{
    private readonly TangoOptions _options = given.Options;

    /// <summary>Opens the object for good, with its cohort.</summary>
    public async ValueTask OpenAsync<T>(T handle, string name, OpenMode mode, CancellationToken cancellationToken)
        where T : TangoObject, ITangoObject<T>
    {
        var (directory, entry) = await FindAsync<T>(name, mode, cancellationToken);
        await AttachAsync(
            [(handle, entry)], await DirectoryAccess.FindCohortAsync(directory, entry, cancellationToken),
            cancellationToken);
    }

    public async ValueTask OpenWriteOnlyAsync<T>(
        T handle, string name, OpenMode mode, CancellationToken cancellationToken)
        where T : TangoObject, ITangoObject<T>
    {
        var (_, entry) = await FindAsync<T>(name, mode, cancellationToken);
        handle.Attach(new ObjectHost(given, playback, transactions, entry, null));
    }

    public async ValueTask OpenRemoteAsync<T>(
        T handle, string name, OpenMode mode, CancellationToken cancellationToken)
        where T : TangoObject, ITangoObject<T>
    {
        var (directory, entry) = await FindAsync<T>(name, mode, cancellationToken);
        var members = await DirectoryAccess.FindCohortAsync(directory, entry, cancellationToken);
        handle.Attach(new ObjectHost(given, playback, transactions, entry, null, members));
    }

    /// <summary>Opens the cohort for good, and handles of some of its members.</summary>
    public async ValueTask AttachAsync(
        IEnumerable<(TangoObject Handle, DirectoryEntry Entry)> handles, IReadOnlyList<DirectoryEntry> members,
        CancellationToken cancellationToken)
    {
        var cohort = await playback.Cohorts.OpenAsync(members, cancellationToken);
        foreach (var (handle, entry) in handles)
        {
            var hosted = await playback.Cohorts.RequireViewAsync(cohort, entry, cancellationToken);
            handle.Attach(new ObjectHost(given, playback, transactions, entry, hosted));
        }
    }

    /// <param name="group">Null: one object on its own.</param>
    public async ValueTask<ImmutableArray<DirectoryEntry>> CreateAsync(
        TangoDirectory directory, string? group, ImmutableArray<TangoDirectory.NewObject> members,
        CancellationToken cancellationToken)
    {
        try
        {
            var begin = new TangoDirectory.LogBeginning(
                _options.NewestLevel, _options.NewLogMaxSpan, _options.NewLogVersionAge);
            return await directory.CreateAsync(begin, group, members, cancellationToken);
        }
        catch (TangoRejectedException e)
        {
            throw new TangoDirectoryException(e.Reason);
        }
    }

    private async ValueTask<(TangoDirectory Directory, DirectoryEntry Entry)> FindAsync<T>(
        string name, OpenMode mode, CancellationToken cancellationToken)
        where T : TangoObject, ITangoObject<T>
    {
        ObjectNames.Require(name);
        var type = T.ObjectType;
        type.VerifyFormatters();
        _options.Types.Add<T>();
        var directory = await access.OpenAsync(cancellationToken);
        var entry = await directory.FindAsync(name, cancellationToken);
        if (entry is null)
        {
            if (mode != OpenMode.Create)
            {
                throw new TangoObjectNotFoundException(
                    name, $"There is no object '{name}', and {nameof(OpenMode)}.{mode} does not create it");
            }

            var member = new TangoDirectory.NewObject(
                name, type.Recorded.ToString(), _options.NewObjectVersionCapacity);
            entry = (await CreateAsync(directory, null, [member], cancellationToken))[0];
        }

        type.RequireIs(entry);
        return (directory, entry);
    }
}
