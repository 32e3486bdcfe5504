namespace Tango.ZooKeeper;

/// <summary>Who may do what, and which lists a client may set.</summary>
public static class AclRules
{
    /// <param name="ids">Everything that the caller's connection has proved.</param>
    public static bool IsPermitted(AclList acl, Permissions permission, ImmutableArray<AuthId> ids)
    {
        if ((acl.ForWorld & permission) != 0) return true;
        foreach (var id in ids)
        {
            if (id.Scheme == "super") return true;
            foreach (var entry in acl.Entries)
            {
                if ((entry.Permissions & permission) != 0 && entry.Scheme == id.Scheme && Matches(id, entry.Id!))
                    return true;
            }
        }

        return false;
    }

    /// <summary>
    /// The list that a node gets when a client asks for this one: duplicates are dropped, and <c>auth</c> stands for
    /// what the caller's connection has proved.
    /// </summary>
    /// <returns>Null: no node may have the list.</returns>
    public static AclList? Resolve(ImmutableArray<AclEntry> asked, ImmutableArray<AuthId> ids)
    {
        if (asked.IsDefaultOrEmpty) return null;
        // The list of most nodes.
        if (asked.Length == 1 && asked[0] == AclList.Open.Entries[0]) return AclList.Open;
        var resolved = ImmutableArray.CreateBuilder<AclEntry>(asked.Length);
        // A list may be as long as a request.
        var seen = new HashSet<AclEntry>();
        foreach (var entry in asked)
        {
            if (!seen.Add(entry)) continue;
            if (entry.Scheme == "auth")
            {
                if (!AddProved(resolved, entry.Permissions, ids)) return null;
            }
            else if (IsValid(entry))
            {
                resolved.Add(entry);
            }
            else
            {
                return null;
            }
        }

        return new AclList(resolved.ToImmutable());
    }

    // An address proves nothing about who calls.
    private static bool AddProved(
        ImmutableArray<AclEntry>.Builder resolved, Permissions permissions, ImmutableArray<AuthId> ids)
    {
        var before = resolved.Count;
        foreach (var id in ids)
        {
            if (id.Scheme is "digest" or "x509") resolved.Add(new AclEntry(permissions, id.Scheme, id.Id));
        }

        return resolved.Count > before;
    }

    private static bool IsValid(AclEntry entry) => entry switch
    {
        { Id: null } => false,
        { Scheme: "world" } => entry.IsWorld,
        { Scheme: "ip" } => AddressPrefix.TryParse(entry.Id, out _),
        { Scheme: "digest" } => entry.Id.AsSpan().Count(':') == 1 && entry.Id[^1] != ':',
        { Scheme: "x509" } => entry.Id.Length > 0,
        _ => false,
    };

    private static bool Matches(AuthId caller, string permitted) => caller.Scheme == "ip"
        ? AddressPrefix.TryParse(permitted, out var prefix) && prefix.Contains(caller.Id)
        : caller.Id == permitted;
}
