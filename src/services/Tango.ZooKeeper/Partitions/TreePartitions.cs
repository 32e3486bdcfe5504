namespace Tango.ZooKeeper;

/// <summary>
/// The partitions of one service, as a program uses them: the root partition is hosted, others are hosted once they are
/// asked for, and all can be written. Not for concurrent use, but for <see cref="Find"/> and what it returns.
/// </summary>
public sealed class TreePartitions
{
    private const int MaxAttempts = 100;
    private static readonly TimeSpan s_shortestPause = TimeSpan.FromMilliseconds(1);
    private static readonly TimeSpan s_longestPause = TimeSpan.FromMilliseconds(50);

    private readonly TangoRuntime _runtime;
    private readonly string _service;
    private readonly TimeProvider _time;

    private TreePartitions(TangoRuntime runtime, string service, ZooKeeperTree root, TimeProvider time)
    {
        (_runtime, _service, _time) = (runtime, service, time);
        Root = root;
        var none = ImmutableSortedDictionary.Create<string, ZooKeeperTree>(StringComparer.Ordinal);
        Known = new State(MountTable.None, none.Add(NodePath.Root, root), none);
    }

    /// <summary>The root partition.</summary>
    public ZooKeeperTree Root { get; }

    /// <summary>Mounts that the handles are of.</summary>
    public int MountCount => Known.Mounts.Count;

    /// <summary>Partitions that are played here, by mount; the root partition first.</summary>
    public IEnumerable<KeyValuePair<string, ZooKeeperTree>> Hosted =>
        Known.Hosted.Add(NodePath.Root, Root);

    private State Known
    {
        get => Volatile.Read(ref field);
        set => Volatile.Write(ref field, value);
    }

    /// <summary>Name of the root partition's object.</summary>
    public static string NameOf(string service) => $"zookeeper/{service}";

    /// <param name="root">The root partition, open in the runtime.</param>
    /// <param name="time">Null: the system's clock.</param>
    public static TreePartitions Of(
        TangoRuntime runtime, string service, ZooKeeperTree root, TimeProvider? time = null) =>
        new(runtime, service, root, time ?? TimeProvider.System);

    /// <summary>The partition of a path, by mount, and its tree; null where it is not hosted here.</summary>
    public ZooKeeperTree? Find(string mount) =>
        mount == NodePath.Root ? Root : Known.Hosted.GetValueOrDefault(mount);

    /// <summary>A tree to which records of a partition can be posted.</summary>
    public ZooKeeperTree ToWrite(string mount) => Find(mount) ?? Known.All[mount];

    /// <summary>Opens what was mounted since.</summary>
    /// <param name="root">A state of the root partition.</param>
    public async ValueTask RefreshAsync(TreeRoot root, CancellationToken cancellationToken = default)
    {
        ArgumentNullException.ThrowIfNull(root);
        var mounts = root.Parts.Mounts;
        if (mounts.Count <= MountCount) return;
        var all = Known.All;
        foreach (var mount in mounts.Mounts.Where(mount => !all.ContainsKey(mount.Path)))
        {
            all = all.Add(mount.Path, await _runtime.OpenWriteOnlyAsync<ZooKeeperTree>(
                mount.ObjectName, OpenMode.Existing, cancellationToken));
        }

        Known = Known with { Mounts = mounts, All = all };
    }

    /// <summary>Plays partitions from now on.</summary>
    /// <returns>Whether one of them was not hosted before.</returns>
    public async ValueTask<bool> HostAsync(
        IEnumerable<string> mounts, CancellationToken cancellationToken = default)
    {
        var hosted = Known.Hosted;
        foreach (var mount in Known.Mounts.Mounts.Where(known => mounts.Contains(known.Path)))
        {
            if (hosted.ContainsKey(mount.Path)) continue;
            hosted = hosted.Add(mount.Path, await _runtime.OpenAsync<ZooKeeperTree>(
                mount.ObjectName, OpenMode.Existing, cancellationToken));
        }

        if (hosted == Known.Hosted) return false;
        Known = Known with { Hosted = hosted };
        return true;
    }

    /// <summary>Appends a record that concerns all partitions, as one entry's record. Each decides it by its own
    /// stream.</summary>
    /// <param name="ticket">Number by which an observer knows the record.</param>
    /// <exception cref="TangoInDoubtException">The record may or may not be in the log.</exception>
    public async ValueTask AppendAsync(TreeRecord record, long ticket, CancellationToken cancellationToken = default)
    {
        var known = Known;
        var shared = new SharedRecord(known.Mounts.Count, ticket, record);
        await using var transaction = _runtime.BeginTx(new TransactionOptions { Explicit = true });
        // The root partition is last: what it tells of the record comes behind the events of the others.
        foreach (var (_, tree) in known.All.Reverse())
        {
            if (Planted.Is("session-in-one-stream") && tree != Root) continue;
            await transaction.Use(tree).WriteAsync(shared, cancellationToken);
        }

        (await transaction.EndTxAsync(cancellationToken)).ThrowIfNotCommitted();
    }

    /// <summary>Changes settings in all partitions at once.</summary>
    /// <exception cref="CorfuException">The tree has not begun, or a front end that is up does not know the
    /// level.</exception>
    public async ValueTask ConfigureAsync(ConfigureRecord record, CancellationToken cancellationToken = default)
    {
        ArgumentNullException.ThrowIfNull(record);
        while (true)
        {
            var root = await Root.ReadAsync(cancellationToken);
            await RefreshAsync(root, cancellationToken);
            if (MountCount == 0)
            {
                var error = (await Root.UpdateAsync(record, cancellationToken)).Error;
                if (error == ZooKeeperError.Ok) return;
                if (error != ZooKeeperError.OperationTimeout)
                    throw new CorfuException("The tree has not begun: no front end has served it yet.");
                continue;
            }

            await AppendAsync(record, ticket: 0, cancellationToken);
            // A path that was mounted meanwhile kept all partitions from taking it.
            root = await Root.ReadAsync(cancellationToken);
            if (root.MountCount == MountCount) return;
        }
    }

    /// <summary>The partitions that decide a request, by mount; none: all of them.</summary>
    public static ImmutableSortedSet<string> PartitionsOf(TreeRoot root, TreeOp op)
    {
        ArgumentNullException.ThrowIfNull(root);
        return op switch
        {
            MultiOp multi => CrossPartition.PartitionsOf(multi, root.Parts.Mounts),
            NodeOp node => [root.PartitionOf(node.Home)],
            _ => [],
        };
    }

    /// <summary>Decides a multi whose requests are of several partitions, all hosted here. It is tried again while
    /// others write what it reads, at most 100 times or for a time.</summary>
    public async ValueTask<CrossResult> DecideAsync(
        RequestHeader header, MultiOp multi, TimeSpan limit, CancellationToken cancellationToken = default)
    {
        var known = Known;
        var began = _time.GetTimestamp();
        var pause = s_shortestPause;
        for (var attempt = 1; ; attempt++)
        {
            var (outcome, failure) = await TryAsync(known, header, multi, cancellationToken);
            if (outcome is TxOutcome.InDoubt) return new CrossResult(null, IsInDoubt: true);
            if (outcome is not TxOutcome.Aborted) return new CrossResult(failure);
            if (attempt == MaxAttempts || _time.GetElapsedTime(began) + pause > limit)
                return new CrossResult(TreeResult.Of(ZooKeeperError.OperationTimeout));
            await Task.Delay(pause, _time, cancellationToken);
            pause = pause * 2 < s_longestPause ? pause * 2 : s_longestPause;
        }
    }

    /// <summary>Gives a path, with all that will be below it, to an object of its own.</summary>
    /// <param name="path">A path without a node, whose parent there is.</param>
    /// <param name="seed">Random: clients must not know it, else they choose paths of one hash.</param>
    /// <exception cref="ZooKeeperMountException">The path cannot be mounted.</exception>
    /// <exception cref="TangoInDoubtException">The path may be mounted or not.</exception>
    public async ValueTask MountAsync(string path, ulong seed, CancellationToken cancellationToken = default)
    {
        if (!MountTable.MayMount(path)) throw new ZooKeeperMountException($"'{path}' is no path");
        if (path == NodePath.Service || path.StartsWith(NodePath.Service + "/", StringComparison.Ordinal))
            throw new ZooKeeperMountException($"'{path}' is the service's own");
        // Without calls of several keys no multi across partitions commits beside other writes.
        var needed = RuntimeLog.KeyListLevel;
        if (await _runtime.Log.ReadLevelAsync(cancellationToken) < needed)
            throw new ZooKeeperMountException($"Partitions need feature level {needed} of the log: once every "
                + $"client of it knows the level, corfu tango level raise {needed}");
        var root = await Root.ReadAsync(cancellationToken);
        if (root.Level == 0)
            throw new ZooKeeperMountException("The tree has not begun: no front end has served it yet");
        await RefreshAsync(root, cancellationToken);
        var above = Known.Mounts.OwnerOf(NodePath.ParentOf(path)!);
        await HostAsync([above], cancellationToken);
        var mount = new TreeMount(path, NameOf(_service) + path);
        Check(root, Find(above)!, path, (await Find(above)!.ReadAsync(cancellationToken)));
        var partition = await _runtime.OpenAsync<ZooKeeperTree>(mount.ObjectName, OpenMode.Create, cancellationToken);
        var outcome = await _runtime.RunTransactionAsync(
            transaction => MountAsync(transaction, Find(above)!, partition, mount, seed, cancellationToken),
            new TransactionOptions { Explicit = true, StartFresh = true }, cancellationToken);
        outcome.ThrowIfNotCommitted();
    }

    private static void Check(TreeRoot root, ZooKeeperTree above, string path, TreeRoot state)
    {
        if (state.Find(path) is not null || root.Parts.Mounts.Has(path))
            throw new ZooKeeperMountException($"'{path}' exists: a path is mounted before it has nodes");
        if (state.Find(NodePath.ParentOf(path)!) is not { } parent)
            throw new ZooKeeperMountException($"'{path}' has no parent in '{above.ObjectName}'");
        if (NodeOwner.IsSession(parent.Owner))
            throw new ZooKeeperMountException($"The parent of '{path}' is ephemeral");
        if (root.AllFrontEnds.FirstOrDefault(
            static row => !row.IsDown && row.CodeLevel < TreeLevel.Partitions) is { } old)
            throw new ZooKeeperMountException($"The front end at {old.Address} does not know partitions");
    }

    private async ValueTask MountAsync(TangoTransaction transaction, ZooKeeperTree above, ZooKeeperTree partition,
        TreeMount mount, ulong seed, CancellationToken cancellationToken)
    {
        var parent = NodePath.ParentOf(mount.Path)!;
        var place = TreeKeys.All([TreeKeys.Children(parent), TreeKeys.Node(parent)]);
        var root = await transaction.Use(Root).ReadForAsync(TreeKeys.Sessions, cancellationToken);
        var state = await transaction.Use(above).ReadForAsync(place, cancellationToken);
        // The front ends of the table are read with the sessions.
        if (root.Parts.Mounts.Count != MountCount)
            throw new ZooKeeperMountException("Another path was mounted meanwhile: try again");
        Check(root, above, mount.Path, state);
        var begun = await transaction.Use(partition).ReadForAsync(TreeKeys.Sessions, cancellationToken);
        if (begun.Level != 0) throw new ZooKeeperMountException($"The object '{mount.ObjectName}' is in use");
        await transaction.Use(partition).WriteAsync(
            AdoptRecord.Of(root, mount, seed, _time.GetUtcNow().ToUnixTimeMilliseconds()), cancellationToken);
        foreach (var (_, tree) in Known.All.Reverse())
        {
            await transaction.Use(tree).WriteAsync(new MountRecord(mount.Path, mount.ObjectName), cancellationToken);
        }
    }

    private async ValueTask<(TxOutcome? Outcome, TreeResult? Failure)> TryAsync(
        State known, RequestHeader header, MultiOp multi, CancellationToken cancellationToken)
    {
        // Callers take what it came to from playback, also where the sequencer decides.
        await using var transaction = _runtime.BeginTx(
            new TransactionOptions { Explicit = true, StartFresh = true, AwaitApplied = true });
        var trees = new SortedDictionary<string, ZooKeeperTree>(StringComparer.Ordinal);
        foreach (var mount in CrossPartition.PartitionsOf(multi, known.Mounts))
            trees.Add(mount, transaction.Use(Find(mount) ?? throw new ArgumentException($"'{mount}' is not hosted")));
        try
        {
            var failure = await new CrossPartition(header, multi, known.Mounts).RunAsync(trees, cancellationToken);
            // A failure is that of the snapshot, which has all that was answered before the request came.
            return failure is not null
                ? (null, failure)
                : (await transaction.EndTxAsync(cancellationToken), null);
        }
        catch (TangoConflictException e)
        {
            return (e.Conflict, null);
        }
    }

    /// <param name="All">Handles to write, by mount; the root partition's too.</param>
    /// <param name="Hosted">Handles of partitions that are played here, by mount; without the root partition.</param>
    private sealed record State(MountTable Mounts, ImmutableSortedDictionary<string, ZooKeeperTree> All,
        ImmutableSortedDictionary<string, ZooKeeperTree> Hosted);
}
