namespace Corfu.Agent;

/// <summary>The roles that an agent watches.</summary>
internal sealed class WatchedRoles(params ReadOnlySpan<IWatchedRole> roles)
{
    private readonly ImmutableArray<IWatchedRole> _roles = [.. roles];

    /// <summary>Null: the role of a newer version, whose nodes are not watched.</summary>
    public IWatchedRole? Find(NodeRole role) => _roles.FirstOrDefault(known => known.Role == role);
}
