using NamespaceSample.Model;

namespace NamespaceSample.History;

/// <summary>Files that a history must come to: each change applied to a plain map of files.</summary>
public static class HistoryModel
{
    /// <summary>The files at the end, by path.</summary>
    /// <param name="file">For messages.</param>
    /// <exception cref="HistoryFormatException">A change does not fit what stands before it.</exception>
    public static SortedDictionary<string, Entry> Play(string file, IEnumerable<HistoryChange> changes)
    {
        var files = new SortedDictionary<string, Entry>(StringComparer.Ordinal);
        foreach (HistoryChange change in changes)
        {
            HistoryEffect effect = HistoryEffect.Of(change, files.GetValueOrDefault,
                path => throw new HistoryFormatException(file, change.Line,
                    $"change {change.Id} needs {path}, which is not there"));
            foreach (string path in effect.Removed) files.Remove(path);
            foreach ((string path, Entry entry) in effect.Written) files[path] = entry;
            foreach ((string path, Entry entry) in effect.Added)
            {
                if (!files.TryAdd(path, entry))
                    throw new HistoryFormatException(file, change.Line,
                        $"change {change.Id} adds {path}, which is there already");
            }
        }

        return files;
    }
}
