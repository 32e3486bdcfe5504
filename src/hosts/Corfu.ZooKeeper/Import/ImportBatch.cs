namespace Corfu.ZooKeeper.Import;

/// <summary>Nodes of one partition that are written together.</summary>
internal sealed class ImportBatch(ImportTarget target, string mount)
{
    // Clients of the tree wait behind a record: it is applied in some milliseconds.
    private const int MostNodes = 256;
    private const int MostBytes = 128 << 10;

    private readonly ImmutableArray<ImportedNode>.Builder _nodes = ImmutableArray.CreateBuilder<ImportedNode>();
    private readonly ImmutableArray<ImportFault>.Builder _faults = ImmutableArray.CreateBuilder<ImportFault>();
    private long _bytes;

    /// <summary>Nodes that are in the tree, durably.</summary>
    public long Written { get; private set; }

    public ImmutableArray<ImportFault> Faults => _faults.ToImmutable();

    public async ValueTask AddAsync(ImportedNode node, CancellationToken cancellationToken)
    {
        var isAlone = ImportScope.IsQuota(node.Path);
        var bytes = SizeOf(node);
        if (isAlone || _bytes + bytes > MostBytes) await WriteAsync(cancellationToken).ConfigureAwait(false);
        _nodes.Add(node);
        _bytes += bytes;
        if (isAlone || _nodes.Count == MostNodes) await WriteAsync(cancellationToken).ConfigureAwait(false);
    }

    public async ValueTask WriteAsync(CancellationToken cancellationToken)
    {
        if (_nodes.Count == 0) return;
        var record = new ImportRecord(_nodes.DrainToImmutable());
        _bytes = 0;
        ImmutableArray<RefusedNode> refused;
        try
        {
            var result = await target.UpdateAsync(mount, record, cancellationToken).ConfigureAwait(false);
            refused = ((ImportResult)result).Refused;
        }
        catch (TangoTooLargeException e) when (record.Nodes.Length == 1)
        {
            _faults.Add(new ImportFault(record.Nodes[0].Path, e.Message));
            return;
        }

        Written += record.Nodes.Length - refused.Length;
        foreach (var node in refused) _faults.Add(new ImportFault(node.Path, ReasonOf(node.Error)));
    }

    private static string ReasonOf(ZooKeeperError error) => error switch
    {
        ZooKeeperError.NodeExists => "the tree has an ephemeral node of this path",
        ZooKeeperError.NoChildrenForEphemerals => "the tree's node above is ephemeral",
        ZooKeeperError.NoNode => "the tree has no node above",
        ZooKeeperError.OperationTimeout => "the path was mounted meanwhile: a repetition copies it",
        _ => $"the tree answers {error} ({(int)error})",
    };

    private static long SizeOf(ImportedNode node) => 64 + 3L * node.Path.Length + (node.Data?.Length ?? 0)
        + node.Acl.Sum(static entry => 16L + 3 * (entry.Scheme!.Length + entry.Id!.Length));
}

/// <summary>A batch for each partition. The node above a mount is there with the mount, so that partitions need not
/// wait for each other.</summary>
internal sealed class ImportBatches(ImportTarget target, ImportRoots roots)
{
    private readonly Dictionary<string, ImportBatch> _byMount = [];

    public long Written => _byMount.Values.Sum(static batch => batch.Written);

    public IEnumerable<ImportFault> Faults => _byMount.Values.SelectMany(static batch => batch.Faults);

    public ValueTask AddAsync(ImportedNode node, CancellationToken cancellationToken)
    {
        var mount = roots.PartitionOf(node.Path);
        if (!_byMount.TryGetValue(mount, out var batch)) _byMount.Add(mount, batch = new ImportBatch(target, mount));
        return batch.AddAsync(node, cancellationToken);
    }

    public async ValueTask WriteAsync(CancellationToken cancellationToken)
    {
        foreach (var batch in _byMount.Values) await batch.WriteAsync(cancellationToken).ConfigureAwait(false);
    }
}
