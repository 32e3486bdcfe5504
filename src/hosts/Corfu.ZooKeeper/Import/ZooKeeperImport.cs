using System.Runtime.CompilerServices;
using Corfu.ZooKeeper.Hosting;

namespace Corfu.ZooKeeper.Import;

/// <summary>
/// Copies the nodes of a running ZooKeeper into a tree of the log, over ZooKeeper's protocol. A copy may be repeated,
/// also after an interruption: it writes what differs. Nodes that others change meanwhile may differ afterwards;
/// <see cref="FindDifferencesAsync"/> says which.
/// </summary>
/// <remarks>Ephemeral nodes are left out. Zxids are the log's. Containers and nodes with a time to live become
/// persistent nodes: ZooKeeper does not tell its clients which they are.</remarks>
public sealed class ZooKeeperImport : IAsyncDisposable
{
    // Deletes under way at once.
    private const int Window = 64;

    private readonly SourceTree _source;
    private readonly ImportTarget _target;
    private readonly ImportOptions _options;

    private ZooKeeperImport(SourceTree source, ImportTarget target, ImportOptions options) =>
        (_source, _target, _options) = (source, target, options);

    /// <param name="runtime">Stays the caller's.</param>
    /// <exception cref="ArgumentException">The path is no node's.</exception>
    /// <exception cref="CorfuException">No ZooKeeper answers there, it refuses a credential, or the log does not
    /// answer.</exception>
    public static async Task<ZooKeeperImport> OpenAsync(
        TangoRuntime runtime, ImportOptions options, CancellationToken cancellationToken = default)
    {
        ArgumentNullException.ThrowIfNull(options);
        if (!NodePath.IsValid(options.Path))
            throw new ArgumentException($"'{options.Path}' is no path of a node", nameof(options));
        var source = await SourceTree.ConnectAsync(options, cancellationToken).ConfigureAwait(false);
        try
        {
            var target = await ImportTarget.OpenAsync(runtime, options.Service, cancellationToken)
                .ConfigureAwait(false);
            return new ZooKeeperImport(source, target, options);
        }
        catch
        {
            await source.DisposeAsync().ConfigureAwait(false);
            throw;
        }
    }

    /// <summary>Writes the nodes that differ. What was written before it fails or is cancelled stays.</summary>
    /// <exception cref="CorfuException">The connection has broken, or the log does not answer.</exception>
    /// <exception cref="TangoInDoubtException">The newest nodes may or may not be written: a repetition
    /// finds out.</exception>
    public async Task<ImportReport> CopyAsync(
        Action<ImportProgress>? progress = null, CancellationToken cancellationToken = default)
    {
        await MakeAncestorsAsync(cancellationToken).ConfigureAwait(false);
        var roots = await _target.ReadAsync(cancellationToken).ConfigureAwait(false);
        var batch = new ImportBatches(_target, roots);
        var faults = ImmutableArray.CreateBuilder<ImportFault>();
        var met = new HashSet<string>(StringComparer.Ordinal);
        var (read, ephemerals) = (0L, 0L);
        await foreach (var source in _source.WalkAsync(_options.Path, cancellationToken).ConfigureAwait(false))
        {
            read++;
            met.Add(source.Path);
            if (source.Fault is { } fault) faults.Add(new ImportFault(source.Path, fault));
            else if (source.Node is null) ephemerals++;
            else if (!ImportScope.IsOwn(source.Path) && ImportScope.IsNeeded(source.Node, roots.Find(source.Path)))
                await batch.AddAsync(source.Node, cancellationToken).ConfigureAwait(false);
            progress?.Invoke(new ImportProgress(read, batch.Written));
        }

        await batch.WriteAsync(cancellationToken).ConfigureAwait(false);
        progress?.Invoke(new ImportProgress(read, batch.Written));
        faults.AddRange(batch.Faults);
        var deleted = _options.Delete
            ? await DeleteAsync(roots, Extra(roots, met, faults), cancellationToken).ConfigureAwait(false)
            : 0;
        return new ImportReport(read, batch.Written, deleted, ephemerals, faults.ToImmutable());
    }

    /// <summary>Compares all nodes, and tells those that differ. Ephemeral nodes of either side are not
    /// compared.</summary>
    /// <exception cref="CorfuException">The connection has broken, or the log does not answer.</exception>
    public async IAsyncEnumerable<ImportDifference> FindDifferencesAsync(
        [EnumeratorCancellation] CancellationToken cancellationToken = default)
    {
        var roots = await _target.ReadAsync(cancellationToken).ConfigureAwait(false);
        var unread = new List<ImportFault>();
        var met = new HashSet<string>(StringComparer.Ordinal);
        await foreach (var source in _source.WalkAsync(_options.Path, cancellationToken).ConfigureAwait(false))
        {
            met.Add(source.Path);
            if (source.Fault is { } fault)
            {
                unread.Add(new ImportFault(source.Path, fault));
                yield return new ImportDifference(source.Path, "node", fault, "not compared");
                continue;
            }

            if (source.Node is not { } there || ImportScope.IsOwn(source.Path)) continue;
            if (roots.Find(source.Path) is not { } here)
                yield return new ImportDifference(source.Path, "node", "there", "missing");
            else if (here.Stat.EphemeralOwner != 0)
                yield return new ImportDifference(source.Path, "node", "persistent", "ephemeral");
            else if (!ImportScope.IsKept(source.Path)
                && ImportScope.FindDifference(there, ImportedNode.Of(here)) is { } difference)
                yield return difference;
        }

        foreach (var extra in Extra(roots, met, unread))
            yield return new ImportDifference(extra.Path, "node", "missing", "there");
    }

    /// <summary>Closes the session at the server.</summary>
    public ValueTask DisposeAsync() => _source.DisposeAsync();

    // Nodes of the tree alone. What is below a node that the server did not show may be there.
    private IEnumerable<ZNode> Extra(ImportRoots roots, HashSet<string> met, IReadOnlyCollection<ImportFault> unread)
    {
        var hidden = unread.Select(static fault => fault.Path).ToHashSet(StringComparer.Ordinal);
        return roots.Subtree(_options.Path).Where(node => node.Stat.EphemeralOwner == 0 && !met.Contains(node.Path)
            && !ImportScope.IsOwn(node.Path) && !ImportScope.IsKept(node.Path) && !IsBelow(node.Path, hidden));
    }

    private static bool IsBelow(string path, HashSet<string> hidden)
    {
        if (hidden.Count == 0) return false;
        for (var above = path; above != NodePath.Root;)
        {
            above = NodePath.ParentOf(above)!;
            if (hidden.Contains(above)) return true;
        }

        return false;
    }

    // An ordinary create: the node above counts it. The copy gives it all that the server has.
    private async Task MakeAncestorsAsync(CancellationToken cancellationToken)
    {
        var roots = await _target.ReadAsync(cancellationToken).ConfigureAwait(false);
        var paths = new Stack<string>();
        for (var path = _options.Path; roots.Find(path) is null; path = NodePath.ParentOf(path)!) paths.Push(path);
        foreach (var path in paths)
        {
            var source = await _source.ReadAsync(path, cancellationToken).ConfigureAwait(false);
            if (source?.Node is not { } node)
            {
                var reason = source is null ? "the server has no such node"
                    : source.Fault ?? "the server's is ephemeral";
                throw new CorfuException($"'{path}' cannot be copied: {reason}.");
            }

            var create = new CreateOp(path, node.Data, AclList.Open.Entries, CreateFlags.Persistent);
            // No mount is at or below a path that is missing: the parent's partition has it.
            var mount = roots.PartitionOf(path);
            await _target.UpdateAsync(mount, Request(create), cancellationToken).ConfigureAwait(false);
            await _target.UpdateAsync(mount, new ImportRecord([node]), cancellationToken).ConfigureAwait(false);
        }
    }

    private async Task<long> DeleteAsync(
        ImportRoots roots, IEnumerable<ZNode> nodes, CancellationToken cancellationToken)
    {
        var deleted = 0L;
        // Children before their parents: those of one depth have none of them above another.
        foreach (var level in nodes.GroupBy(static node => node.Path.AsSpan().Count('/'))
            .OrderByDescending(static group => group.Key))
        {
            foreach (var chunk in level.Chunk(Window))
            {
                var results = await Task.WhenAll(chunk.Select(node => _target.UpdateAsync(
                    roots.PartitionOf(node.Path), Request(new DeleteOp(node.Path, node.Stat.Version)),
                    cancellationToken).AsTask()))
                    .ConfigureAwait(false);
                deleted += results.Count(static result => result.Error == ZooKeeperError.Ok);
            }
        }

        return deleted;
    }

    private static RequestRecord Request(TreeOp op) =>
        new(new RequestHeader(0, 0, 0, TimeProvider.System.GetUtcNow().ToUnixTimeMilliseconds(), s_operator), op);

    private static readonly ImmutableArray<AuthId> s_operator = [new AuthId("super", "")];
}
