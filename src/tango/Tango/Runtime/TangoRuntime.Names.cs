namespace Tango;

public sealed partial class TangoRuntime
{
    /// <summary>Whether the log has an object of that name, whatever its type.</summary>
    public async ValueTask<bool> ExistsAsync(string name, CancellationToken cancellationToken = default)
    {
        RequireName(name);
        await OpenDirectoryAsync(cancellationToken);
        return await _directory.FindAsync(name, cancellationToken) is not null;
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
        RequireName(name);
        RequireName(newName);
        await OpenDirectoryAsync(cancellationToken);
        var entry = await RequireObjectAsync(name, cancellationToken);
        try
        {
            await _directory.RenameAsync(entry.Id, name, newName, cancellationToken);
        }
        catch (TangoRejectedException e)
        {
            throw new TangoDirectoryException(e.Reason);
        }
    }

    private async ValueTask<DirectoryEntry> RequireObjectAsync(string name, CancellationToken cancellationToken) =>
        await _directory.FindAsync(name, cancellationToken)
        ?? throw new TangoObjectNotFoundException(name, $"There is no object '{name}'");
}
