namespace Corfu.Detection;

/// <summary>The roles that an agent watches.</summary>
internal sealed class WatchedRoles
{
    private readonly List<IWatchedRole> _roles = [];

    public void Add(IWatchedRole role) => _roles.Add(role);

    /// <summary>Null: the role of a newer version, whose nodes are not watched.</summary>
    public IWatchedRole? Find(NodeRole role) => _roles.Find(known => known.Role == role);
}
