using System.Buffers;

namespace Tango.ZooKeeper;

/// <summary>
/// A ZooKeeper service, or a partition of one: nodes, sessions and front ends. A mutator is a whole request, decided
/// where its record stands: the reply is what Apply computed. Written by hand, because each record changes one value,
/// the root.
/// </summary>
public sealed class ZooKeeperTree : TangoObject, ITangoObject<ZooKeeperTree>
{
    internal const string TypeName = "tango.zookeeper";

    private static readonly TangoObjectType s_type =
        new(TypeName, static () => new ZooKeeperTree(), static _ => { }, Mutators.All);

    private TreeRoot _root = TreeRoot.NotBegun;

    static TangoObjectType ITangoObject<ZooKeeperTree>.ObjectType => s_type;

    /// <summary>Decides a record on a state: a function of its arguments alone.</summary>
    /// <param name="place">The record's, in the log.</param>
    public static TreeEffect Decide(TreeRoot root, TreeRecord record, LogPlace place)
    {
        var zxid = Zxid.Of(place);
        if (zxid == Zxid.None)
            return new TreeEffect(zxid, record.Caller, TreeResult.Of(ZooKeeperError.SystemError), [], root);
        var tree = new WorkingTree(root, zxid, record.Caller);
        var ticket = (record as SharedRecord)?.Ticket ?? 0;
        var result = Refuse(tree, record) ?? record.Decide(tree);
        if (result.Error == ZooKeeperError.Ok)
            return new TreeEffect(zxid, record.Caller, result, tree.Changes, tree.ToRoot()) { Ticket = ticket };
        if (Planted.Is("failed-multi-counts") && result is MultiResult)
            return new TreeEffect(zxid, record.Caller, result, [], tree.ToRoot());
        // The changes so far are dropped, counters of sequences included (Z14).
        var before = new TreeRoot(root.Parts with { LastZxid = zxid });
        return new TreeEffect(zxid, record.Caller, result, [], before) { Ticket = ticket };
    }

    /// <summary>Appends a record; completes once it is applied. In a transaction it reads the whole tree.</summary>
    /// <exception cref="TangoInDoubtException">The record may or may not be in the log.</exception>
    /// <exception cref="ArgumentException">The record has a null, or a level above
    /// <see cref="TreeLevel.Newest"/>.</exception>
    public ValueTask<TreeResult> UpdateAsync(TreeRecord record, CancellationToken cancellationToken = default) =>
        UpdateHelperAsync<TreeResult>(
            Mutators.Of(record.Number), IsInTransaction ? ObjectKey.None : record.Keys, Encode(record),
            cancellationToken);

    /// <summary>Appends a record for which no task waits: the sink hears whether it is in the log, an observer what it
    /// came to.</summary>
    /// <exception cref="ArgumentException">The record has a null, or a level above
    /// <see cref="TreeLevel.Newest"/>.</exception>
    public TangoPost Post(TreeRecord record, IPostSink sink) =>
        PostHelper(Mutators.Of(record.Number), record.Keys, Encode(record), sink);

    /// <summary>The newest state. Linearizable.</summary>
    public ValueTask<TreeRoot> ReadAsync(CancellationToken cancellationToken = default) =>
        QueryHelperAsync<ZooKeeperTree, ValueTuple, TreeRoot>(
            ObjectKey.None, default, static (view, _) => view._root, cancellationToken);

    /// <summary>In a transaction: the state of its snapshot. The transaction reads those parts of it.</summary>
    internal ValueTask<TreeRoot> ReadForAsync(ObjectKey parts, CancellationToken cancellationToken) =>
        QueryHelperAsync<ZooKeeperTree, ValueTuple, TreeRoot>(
            parts, default, static (view, _) => view._root, cancellationToken);

    /// <summary>In a transaction: writes a record whose result it does not read.</summary>
    internal ValueTask WriteAsync(TreeRecord record, CancellationToken cancellationToken) =>
        UpdateHelperAsync(
            Mutators.InTransaction(record.Number), record.Keys, Encode(record), cancellationToken);

    /// <summary>The state from which the <see cref="TreeEffect"/>s of an observed tree go on.</summary>
    public static TreeRoot RootIn(ObservedView observed) =>
        observed.Read<ZooKeeperTree, TreeRoot>(static view => view._root);

    void ITangoView.Apply(
        int mutator, ReadOnlyMemory<byte> key, ReadOnlyMemory<byte> arguments, in ApplyContext context)
    {
        var effect = Decide(_root, RecordCodec.Read(mutator, arguments), PlaceOf(context));
        // The last step: code that throws leaves the state as it was.
        _root = effect.Root;
        context.Return(effect.Result);
        if (context.IsObserved) context.Emit(effect);
    }

    void ITangoView.SaveState(IBufferWriter<byte> writer) => TreeState.Save(writer, _root);

    void ITangoView.LoadState(ReadOnlyMemory<byte> state) => _root = TreeState.Load(state);

    private static TreeResult? Refuse(WorkingTree tree, TreeRecord record)
    {
        if (tree.Level == 0 && record is not (BeginRecord or AdoptRecord))
            return TreeResult.Of(ZooKeeperError.SystemError);
        // Z13: its writer did not know of the partitions, which would lack the record.
        return record.IsShared && record is not SharedRecord && tree.Mounts.Count > 0
            ? TreeResult.Of(ZooKeeperError.OperationTimeout)
            : null;
    }

    // In the log, a level that no code knows would end the tree for ever.
    private static ArgumentBuffer Encode(TreeRecord record) => record.NewLevel is > TreeLevel.Newest and var level
        ? throw new ArgumentOutOfRangeException(
            nameof(record), level, $"This code knows levels up to {TreeLevel.Newest}")
        : RecordCodec.Write(record);

    // A spilled call has the zxid of its transaction: the place of the spill is below records that came before it.
    private static LogPlace PlaceOf(in ApplyContext context) => context.Place.IsPending
        ? context.Place
        : new LogPlace(context.Version.Position, context.Version.Index, 0);
}
