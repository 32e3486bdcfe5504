using NamespaceSample.Model;

namespace NamespaceSample.History;

/// <summary>
/// Effect of a change on the files that were there before it. Its operations are simultaneous: all sources are
/// read first, then paths are left, then taken, so that renames may swap.
/// </summary>
public sealed class HistoryEffect
{
    private HistoryEffect(HistoryChange change) => Change = change;

    public HistoryChange Change { get; }

    /// <summary>Paths that are free afterwards, or are taken by others.</summary>
    public SortedSet<string> Removed { get; } = new(StringComparer.Ordinal);

    /// <summary>Files that stay where they are and are new.</summary>
    public SortedDictionary<string, Entry> Written { get; } = new(StringComparer.Ordinal);

    /// <summary>Files at paths that were free, or are left by this change.</summary>
    public SortedDictionary<string, Entry> Added { get; } = new(StringComparer.Ordinal);

    /// <summary>The paths that are read.</summary>
    public static IEnumerable<string> Sources(HistoryChange change) => change.Operations
        .Where(static operation => operation is not HistoryOperation.Add)
        .Select(static operation => operation.Path);

    /// <param name="find">The file at a path before the change; null if there is none.</param>
    /// <param name="missing">Throws what the caller wants where a source is not there.</param>
    public static HistoryEffect Of(HistoryChange change, Func<string, Entry?> find, Action<string> missing)
    {
        var effect = new HistoryEffect(change);
        for (int i = 0; i < change.Operations.Count; i++)
        {
            HistoryOperation operation = change.Operations[i];
            Entry created = Entry.File($"{change.Number}.{i}", 0, change.Time);
            if (operation is HistoryOperation.Add)
            {
                effect.Added[operation.Path] = created;
                continue;
            }

            Entry? source = find(operation.Path);
            if (source is not { IsDirectory: false })
            {
                missing(operation.Path);
                continue;
            }

            switch (operation)
            {
                case HistoryOperation.Modify:
                    effect.Written[operation.Path] = source.Written(0, change.Time);
                    break;
                case HistoryOperation.Delete:
                    effect.Removed.Add(operation.Path);
                    break;
                case HistoryOperation.Rename rename:
                    effect.Removed.Add(rename.Path);
                    effect.Added[rename.To] = source.Written(source.Size, change.Time);
                    break;
                case HistoryOperation.Copy copy:
                    effect.Added[copy.To] = created;
                    break;
            }
        }

        return effect;
    }
}
