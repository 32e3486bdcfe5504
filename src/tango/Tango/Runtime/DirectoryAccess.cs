using System.Collections.Immutable;
using Tango.Playback;
using Tango.Transactions;

namespace Tango.Runtime;

/// <summary>The handle of the directory, which is opened with its first use.</summary>
internal sealed class DirectoryAccess(TangoDirectory handle, CohortOpenings cohorts, TransactionFlow flow)
{
    /// <summary>For a call of the directory.</summary>
    /// <exception cref="TangoTransactionException">A transaction flows with the caller.</exception>
    public ValueTask<TangoDirectory> OpenAsync(CancellationToken cancellationToken)
    {
        flow.RequireNone();
        return AttachAsync(cancellationToken);
    }

    /// <summary>As <see cref="OpenAsync"/>, whatever transaction flows: its caller reads no object.</summary>
    public async ValueTask<TangoDirectory> AttachAsync(CancellationToken cancellationToken)
    {
        await cohorts.OpenDirectoryAsync(cancellationToken);
        return handle;
    }

    /// <exception cref="TangoObjectNotFoundException">There is no such object.</exception>
    public static async ValueTask<DirectoryEntry> RequireAsync(
        TangoDirectory directory, string name, CancellationToken cancellationToken) =>
        await directory.FindAsync(name, cancellationToken)
        ?? throw new TangoObjectNotFoundException(name, $"There is no object '{name}'");

    /// <exception cref="TangoObjectNotFoundException">There is no such object.</exception>
    /// <exception cref="TangoDirectoryException">The object is of another type.</exception>
    public static async ValueTask<DirectoryEntry> RequireAsync(
        TangoDirectory directory, string name, TangoObjectType type, CancellationToken cancellationToken)
    {
        var entry = await RequireAsync(directory, name, cancellationToken);
        type.RequireIs(entry);
        return entry;
    }

    /// <summary>The members of the object's cohort.</summary>
    /// <exception cref="TangoDirectoryException">The group was deleted meanwhile.</exception>
    public static async ValueTask<ImmutableArray<DirectoryEntry>> FindCohortAsync(
        TangoDirectory directory, DirectoryEntry entry, CancellationToken cancellationToken)
    {
        if (entry.Group is null) return [entry];
        var members = await directory.FindGroupAsync(entry.Group, cancellationToken);
        return members.Any(member => member.Id == entry.Id)
            ? members
            : throw new TangoDirectoryException($"'{entry.Name}' was deleted with its group '{entry.Group}'");
    }
}
