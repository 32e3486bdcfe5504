namespace Salus.Coordination;

/// <summary>The identity of a store: of a folder with what it holds. Survives restarts, not the loss of data.</summary>
public readonly record struct StoreId(Guid Value)
{
    public override string ToString() => Value.ToString("N")[..8];
}

/// <summary>A process that serves a store and the regions beside it.</summary>
/// <param name="Incarnation">This life of the process; the last one, where the node is gone.</param>
/// <param name="Domain">Machines that fail together have the same; empty: each is alone.</param>
/// <param name="Free">Bytes that the store takes, as last told.</param>
/// <param name="Version">Another one after each registration of the store.</param>
public sealed record BookedNode(StoreId Store, Incarnation Incarnation, NodeEndpoint Endpoint, string Domain, long Free,
    BookedState State, long Version)
{
    /// <summary>The store, as a role of its process.</summary>
    public NodeAddress StoreAddress => new(new NodeId(Store.Value), Endpoint);

    /// <summary>The region servers beside the store, as a role of their process. A later incarnation has another
    /// address: a message to this one never reaches it.</summary>
    // The role's identity is the incarnation (S7).
    public NodeAddress RegionAddress => new(new NodeId(Incarnation.Value), Endpoint);

    internal void Write(ref WireWriter w)
    {
        w.Guid(Store.Value);
        w.Guid(Incarnation.Value);
        w.Endpoint(Endpoint);
        w.Text(Domain);
        w.Int64(Free);
        w.Byte((byte)State);
        w.Int64(Version);
    }

    internal static BookedNode Read(ref WireReader r)
    {
        var node = new BookedNode(new StoreId(r.Guid()), new Incarnation(r.Guid()), r.Endpoint(),
            r.Text(CoordinationLimits.MaxName), r.Number(), (BookedState)r.Byte(), r.Number());
        return node.State <= BookedState.Gone
            ? node
            : throw new MalformedDataException("The state of a node is unknown: update this node.");
    }
}

/// <summary>Numbers are part of the format.</summary>
public enum BookedState : byte
{
    Live = 0,

    /// <summary>Renews no more: gone when its lease has ended.</summary>
    Expelled = 1,

    /// <summary>The lease has ended at its holder too. This incarnation never returns.</summary>
    Gone = 2,
}

/// <summary>A state of the <see cref="NodeBook"/>.</summary>
/// <param name="Revision">Rises with every change but renewals.</param>
public sealed record NodeBookView(long Revision, ImmutableSortedDictionary<Guid, BookedNode> Stores)
{
    public static NodeBookView Empty { get; } = new(0, ImmutableSortedDictionary<Guid, BookedNode>.Empty);

    /// <summary>Null: the book has no such store.</summary>
    public BookedNode? Find(StoreId store) => Stores.GetValueOrDefault(store.Value);

    /// <summary>Whether the member's process has its lease, and may renew it.</summary>
    public bool IsLive(RegionMember member) =>
        Find(member.Store) is { State: BookedState.Live } node && node.Incarnation == member.Incarnation;

    /// <summary>Whether the incarnation may still sign or serve: its lease has not ended, as far as the book
    /// knows.</summary>
    // False is final: no incarnation registers twice (S8).
    public bool MayLive(StoreId store, Incarnation incarnation) =>
        Find(store) is { } node && node.Incarnation == incarnation && node.State != BookedState.Gone;
}
