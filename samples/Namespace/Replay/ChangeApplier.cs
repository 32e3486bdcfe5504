using NamespaceSample.History;
using NamespaceSample.Model;
using NamespaceSample.Service;
using Tango;
using Tango.Collections;

namespace NamespaceSample.Replay;

/// <summary>
/// Applies changes of a history, each as one transaction that also says how far the replay is. It says so in the
/// partitions that the change touches: one that touches a single partition needs no decision record. A change is begun
/// only after all before it have committed, so the highest number of any partition is how far the replay is, and a
/// change whose partition has its number or a higher one has been applied.
/// </summary>
public sealed class ChangeApplier(NamespaceService service)
{
    private readonly NamespaceTree _tree = service.Tree;

    /// <summary>Attempts that lost to another transaction.</summary>
    public int Aborted { get; private set; }

    /// <summary>How many changes have been applied, by anyone.</summary>
    public async ValueTask<int> ReadProgressAsync(CancellationToken cancellationToken)
    {
        TxResult<int> result = await service.Runtime.RunTransactionAsync(async _ =>
        {
            int highest = 0;
            foreach (Partition partition in _tree.Partitions)
                highest = Math.Max(highest, await partition.Applied.ReadAsync(cancellationToken));
            return highest;
        }, cancellationToken: cancellationToken);
        return result.ThrowIfNotCommitted();
    }

    /// <summary>Applies the change, unless that was done. All before it have been.</summary>
    /// <exception cref="HistoryFormatException">The change needs a file that is not there.</exception>
    /// <exception cref="TangoInDoubtException">Whether the change was applied is not known;
    /// <see cref="ReadProgressAsync"/> tells.</exception>
    public async ValueTask ApplyAsync(string file, HistoryChange change, CancellationToken cancellationToken)
    {
        int attempts = 0;
        TxOutcome outcome = await service.Runtime.RunTransactionAsync(async _ =>
        {
            attempts++;
            Partition[] touched = [.. Touched(change).Distinct().Order().Select(index => _tree.Partitions[index])];
            if (touched.Length == 0) touched = [_tree.Partitions[0]];
            foreach (Partition partition in touched)
            {
                if (await partition.Applied.ReadAsync(cancellationToken) >= change.Number) return;
            }

            await ApplyAsync(await EffectAsync(file, change, cancellationToken), cancellationToken);
            foreach (Partition partition in touched)
                await partition.Applied.WriteAsync(change.Number, cancellationToken);
        }, cancellationToken: cancellationToken);
        Aborted += attempts - 1;
        outcome.ThrowIfNotCommitted();
    }

    private static IEnumerable<int> Touched(HistoryChange change) => change.Operations.SelectMany(static operation =>
        operation switch
        {
            HistoryOperation.Rename rename =>
                new[] { PartitionMap.IndexOf(rename.Path), PartitionMap.IndexOf(rename.To) },
            HistoryOperation.Copy copy => [PartitionMap.IndexOf(copy.Path), PartitionMap.IndexOf(copy.To)],
            _ => [PartitionMap.IndexOf(operation.Path)],
        });

    private async ValueTask<HistoryEffect> EffectAsync(
        string file, HistoryChange change, CancellationToken cancellationToken)
    {
        var sources = new Dictionary<string, Entry?>(StringComparer.Ordinal);
        foreach (string path in HistoryEffect.Sources(change))
            sources[path] = await _tree.FindAsync(path, cancellationToken);
        return HistoryEffect.Of(change, path => sources[path], path => throw new HistoryFormatException(
            file, change.Line, $"change {change.Id} needs {path}, which is not there"));
    }

    private async ValueTask ApplyAsync(HistoryEffect effect, CancellationToken cancellationToken)
    {
        foreach (string path in effect.Removed) await _tree.DeleteAsync(path, false, cancellationToken);
        // A path that was a directory may become a file.
        foreach (string path in effect.Removed) await PruneAsync(TreePath.ParentOf(path), cancellationToken);
        foreach ((string path, Entry entry) in effect.Written) await _tree.SetAsync(path, entry, cancellationToken);
        foreach ((string path, Entry entry) in effect.Added)
        {
            await EnsureDirectoryAsync(TreePath.ParentOf(path), effect.Change, cancellationToken);
            await _tree.AddAsync(path, entry, cancellationToken);
        }
    }

    private async ValueTask EnsureDirectoryAsync(
        string path, HistoryChange change, CancellationToken cancellationToken)
    {
        if (path == TreePath.Root || await _tree.FindAsync(path, cancellationToken) is { IsDirectory: true }) return;
        await EnsureDirectoryAsync(TreePath.ParentOf(path), change, cancellationToken);
        await _tree.AddAsync(
            path, Entry.Directory($"{change.Number}:{path}", change.Time, isImplied: true), cancellationToken);
    }

    // Implied directories go with the last of what is in them.
    private async ValueTask PruneAsync(string path, CancellationToken cancellationToken)
    {
        for (; path != TreePath.Root; path = TreePath.ParentOf(path))
        {
            if (await _tree.FindAsync(path, cancellationToken) is not { IsImplied: true }
                || !(await _tree.NamesAsync(path, cancellationToken)).IsEmpty)
                return;
            await _tree.DeleteAsync(path, false, cancellationToken);
        }
    }
}
