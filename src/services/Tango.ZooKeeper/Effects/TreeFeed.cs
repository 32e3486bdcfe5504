using System.Runtime.CompilerServices;

namespace Tango.ZooKeeper;

/// <summary>
/// Changes of a tree in the order of the log, for programs: what each request of any client came to, and the state
/// behind it. A feed plays the tree beside the runtime's own, as fast as its reader takes the elements.
/// </summary>
public static class TreeFeed
{
    private const int IndexBits = 16;

    /// <summary>
    /// Reads the changes of a service's tree. The first element is the state from which they go on. To go on after a
    /// failure, call it again with the zxid of the last element that was dealt with.
    /// </summary>
    /// <param name="service">Name of the service: its tree is the object <c>zookeeper/SERVICE</c>.</param>
    /// <param name="after">Zxid of the last element before the first one that is wanted. Null: from now on.</param>
    /// <exception cref="TangoObjectNotFoundException">There is no such tree, or was none then.</exception>
    /// <exception cref="TangoTrimmedException">History behind the zxid is trimmed, and no checkpoint below can be
    /// loaded.</exception>
    /// <exception cref="TangoObjectStoppedException">A record cannot be read here.</exception>
    public static async IAsyncEnumerable<TreeFeedElement> ReadTreeAsync(this RuntimeHistory history, string service,
        long? after = null, [EnumeratorCancellation] CancellationToken cancellationToken = default)
    {
        ArgumentNullException.ThrowIfNull(history);
        var name = $"zookeeper/{service}";
        var opened = after is { } zxid
            ? await history.OpenAsync(new LogPosition(zxid >> IndexBits), cancellationToken)
            : await history.OpenAsync(DateTimeOffset.MaxValue, cancellationToken);
        var tree = await opened.OpenAsync<ZooKeeperTree>(name, cancellationToken);
        var root = await tree.ReadAsync(cancellationToken);
        // An entry holds many records: those up to the zxid are played before the first element.
        var isTold = after is null;
        if (isTold) yield return new TreeFeedElement(root, null);
        var changes = history.ChangesAsync<ZooKeeperTree>(
            name, opened.Position, cancellationToken: cancellationToken);
        await foreach (var change in changes)
        {
            if (!isTold && (change.Kind != TangoChangeKind.Update || Zxid.Of(PlaceOf(change)) > after))
            {
                isTold = true;
                yield return new TreeFeedElement(root, null);
            }

            switch (change.Kind)
            {
                case TangoChangeKind.Update:
                    var record = RecordCodec.Read(change.Mutator!.Number, change.Arguments);
                    var effect = ZooKeeperTree.Decide(root, record, PlaceOf(change));
                    root = effect.Root;
                    if (isTold) yield return new TreeFeedElement(root, effect);
                    break;
                case TangoChangeKind.Reset:
                    root = await change.State!.ReadAsync(cancellationToken);
                    yield return new TreeFeedElement(root, null);
                    break;
            }
        }
    }

    private static LogPlace PlaceOf(TangoChange<ZooKeeperTree> change) => change.Transaction is { } commit
        ? new LogPlace(commit.Position, commit.Index, 0)
        : new LogPlace(change.Place.Position, change.Place.Index, 0);
}

/// <summary>An element of <see cref="TreeFeed"/>.</summary>
/// <param name="Root">The state behind it. It never changes: a reader may keep it.</param>
/// <param name="Effect">Result and changes of a record. Null: the reader begins with the state, or history was trimmed
/// before it was read, and the state has more changes.</param>
public sealed record TreeFeedElement(TreeRoot Root, TreeEffect? Effect)
{
    /// <summary>Number from which a later feed goes on.</summary>
    public long Zxid => Effect?.Zxid ?? Root.LastZxid;
}
