namespace Corfu.Hosting;

/// <summary>The changes of a re-format. Each is durable on return, and atomic.</summary>
internal interface IReformatFiles
{
    /// <summary>The identity that a folder was formatted with, or null.</summary>
    Guid? IdentityOf(string folder);

    /// <summary>Whether data of an earlier identity is kept beside the folder.</summary>
    bool HasKept(string folder);

    void Rename(string from, string to);

    /// <summary>Gives a folder an identity. Leftovers of an interrupted formatting are overwritten.</summary>
    void Format(string folder, Guid id);

    /// <summary>Replaces the identity in the node's configuration.</summary>
    void Configure(Guid old, Guid id);
}

/// <summary>A unit or an acceptor whose identity was removed for good takes another one (R2, R12). Steps: (1) its
/// folder is renamed, (2) a new folder gets a new identity, (3) the node's configuration names it. The renamed folder
/// says after a crash that the change was decided on, so a start finishes it.</summary>
internal sealed class RoleReformat(IReformatFiles files, string folder, Func<Guid> newId)
{
    private const string KeptInfix = ".kept-";

    /// <summary>The folder that keeps the data of an earlier identity.</summary>
    public static string KeptPath(string folder, Guid id) => $"{folder}{KeptInfix}{id:N}";

    /// <summary>The pattern that finds all of them in the folder's parent.</summary>
    public static string KeptPattern(string folder) => Path.GetFileName(folder) + KeptInfix + "*";

    /// <summary>Only for an identity that <see cref="Agent.Removal.IsFinal"/> says is removed.</summary>
    /// <inheritdoc cref="Resume"/>
    public Guid Run(Guid removed, Guid configured)
    {
        if (files.IdentityOf(folder) == removed) files.Rename(folder, KeptPath(folder, removed));
        return Resume(configured);
    }

    /// <summary>Finishes what a crash has interrupted.</summary>
    /// <param name="configured">Empty where the configuration accepts the identity that the folder has.</param>
    /// <returns>The identity that is configured now.</returns>
    public Guid Resume(Guid configured)
    {
        var id = files.IdentityOf(folder);
        var isInterrupted = configured == Guid.Empty
            ? id is null && files.HasKept(folder)
            : id != configured && files.IdentityOf(KeptPath(folder, configured)) == configured;
        if (!isInterrupted) return configured;
        if (id is null) files.Format(folder, (id = newId()).Value);
        if (configured != Guid.Empty) files.Configure(configured, id.Value);
        return configured == Guid.Empty ? configured : id.Value;
    }
}
