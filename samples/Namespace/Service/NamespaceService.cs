using System.Collections.Immutable;
using Corfu;
using NamespaceSample.Model;
using Tango;
using Tango.Collections;

namespace NamespaceSample.Service;

/// <summary>Result of a look at a path.</summary>
public sealed record EntryStatus(string Path, Entry Entry, ImmutableSortedDictionary<string, string> Attributes);

/// <summary>The namespace, as one process uses it: a change is one transaction over one or both partitions.</summary>
public sealed class NamespaceService
{
    private readonly TangoRuntime _runtime;

    private NamespaceService(TangoRuntime runtime, ImmutableArray<Partition> partitions)
    {
        _runtime = runtime;
        Tree = new NamespaceTree(partitions);
    }

    public NamespaceTree Tree { get; }

    public TangoRuntime Runtime => _runtime;

    /// <summary>For a runtime that uses partitions which others host: it must know their objects.</summary>
    public static TangoOptions Options { get; } = new()
    {
        // A change of thousands of entries is written ahead in pieces; the log keeps so much below a checkpoint.
        NewLogMaxSpan = 512,
        Types = new TangoTypeRegistry()
            .Add<TangoTree<Entry>>()
            .Add<TangoDictionary<string, ImmutableSortedDictionary<string, string>>>()
            .Add<TangoRegister<int>>(),
    };

    /// <param name="hosted">The partitions that this process hosts, and creates if they are not there.</param>
    public static async ValueTask<NamespaceService> OpenAsync(
        TangoRuntime runtime, IReadOnlyCollection<int> hosted, CancellationToken cancellationToken)
    {
        var partitions = ImmutableArray.CreateBuilder<Partition>(PartitionMap.Count);
        for (int i = 0; i < PartitionMap.Count; i++)
        {
            partitions.Add(await (hosted.Contains(i)
                ? Partition.HostAsync(runtime, i, cancellationToken)
                : Partition.ReachAsync(runtime, i, cancellationToken)));
        }

        return new NamespaceService(runtime, partitions.MoveToImmutable());
    }

    /// <summary>Makes one change.</summary>
    /// <returns>Place of the change among all changes.</returns>
    /// <exception cref="NamespaceException">The change is refused.</exception>
    /// <exception cref="TangoInDoubtException">Whether the change took effect is not known.</exception>
    public async ValueTask<RecordVersion> ChangeAsync(
        NamespaceChange change, CancellationToken cancellationToken = default)
    {
        NamespaceException.Require(change);
        TxOutcome outcome = await _runtime.RunTransactionAsync(
            _ => DoAsync(change, cancellationToken), cancellationToken: cancellationToken);
        outcome.ThrowIfNotCommitted();
        return ((TxOutcome.Committed)outcome).Version;
    }

    /// <exception cref="NamespaceException">There is none.</exception>
    public async ValueTask<EntryStatus> StatAsync(string path, CancellationToken cancellationToken = default)
    {
        NamespaceException.RequireEntry(path);
        return (await _runtime.RunTransactionAsync(
            _ => ReadAsync(path, cancellationToken), cancellationToken: cancellationToken)).ThrowIfNotCommitted();
    }

    /// <summary>Lists the entries of a directory, in the order of the names.</summary>
    /// <exception cref="NamespaceException">There is none, or it is a file.</exception>
    public async ValueTask<ImmutableArray<EntryStatus>> ListAsync(
        string path, CancellationToken cancellationToken = default)
    {
        if (!TreePath.IsValid(path)) throw new NamespaceException(NamespaceError.BadPath, path);
        return (await _runtime.RunTransactionAsync(async _ =>
        {
            if (path != TreePath.Root && !(await Tree.GetAsync(path, cancellationToken)).IsDirectory)
                throw new NamespaceException(NamespaceError.NotADirectory, path);
            var found = ImmutableArray.CreateBuilder<EntryStatus>();
            foreach (string name in await Tree.NamesAsync(path, cancellationToken))
                found.Add(await ReadAsync(TreePath.Combine(path, name), cancellationToken));
            return found.ToImmutable();
        }, cancellationToken: cancellationToken)).ThrowIfNotCommitted();
    }

    /// <summary>Everything that is acknowledged is below it.</summary>
    public async ValueTask<LogPosition> ReadEndAsync(CancellationToken cancellationToken = default)
    {
        TxOutcome outcome = await _runtime.RunTransactionAsync(
            async _ => { await Tree.Partitions[0].Applied.ReadAsync(cancellationToken); },
            cancellationToken: cancellationToken);
        outcome.ThrowIfNotCommitted();
        return ((TxOutcome.Committed)outcome).Version.Position;
    }

    /// <summary>Everything, at one moment.</summary>
    public async ValueTask<NamespaceState> ReadAllAsync(CancellationToken cancellationToken = default) =>
        (await _runtime.RunTransactionAsync(async _ =>
        {
            var partitions = ImmutableArray.CreateBuilder<PartitionState>();
            foreach (Partition partition in Tree.Partitions)
            {
                partitions.Add(new PartitionState(
                    partition.Index, await partition.Entries.SnapshotAsync(cancellationToken),
                    await partition.Attributes.SnapshotAsync(cancellationToken),
                    await partition.Applied.ReadAsync(cancellationToken)));
            }

            return new NamespaceState(partitions.ToImmutable());
        }, cancellationToken: cancellationToken)).ThrowIfNotCommitted();

    private async ValueTask<EntryStatus> ReadAsync(string path, CancellationToken cancellationToken)
    {
        Entry entry = await Tree.GetAsync(path, cancellationToken);
        return new EntryStatus(path, entry, await Tree.AttributesAsync(path, entry.Id, cancellationToken));
    }

    private async ValueTask DoAsync(NamespaceChange change, CancellationToken cancellationToken)
    {
        switch (change)
        {
            case NamespaceChange.MakeDirectory make:
                await Tree.AddAsync(make.Path, Entry.Directory(make.Id, make.Time), cancellationToken);
                break;
            case NamespaceChange.CreateFile create:
                await Tree.AddAsync(create.Path, Entry.File(create.Id, create.Size, create.Time), cancellationToken);
                break;
            case NamespaceChange.Write write:
                Entry file = await Tree.GetAsync(write.Path, cancellationToken);
                if (file.IsDirectory) throw new NamespaceException(NamespaceError.NotAFile, write.Path);
                await Tree.SetAsync(write.Path, file.Written(write.Size, write.Time), cancellationToken);
                break;
            case NamespaceChange.SetAttribute set:
                await Tree.SetAttributeAsync(set.Path, set.Name, set.Value, cancellationToken);
                break;
            case NamespaceChange.Rename rename:
                await Tree.RenameAsync(rename.Path, rename.To, cancellationToken);
                break;
            case NamespaceChange.Delete delete:
                await Tree.DeleteAsync(delete.Path, delete.WithAll, cancellationToken);
                break;
            default:
                throw new ArgumentException($"{change.GetType()} is not known", nameof(change));
        }
    }
}
