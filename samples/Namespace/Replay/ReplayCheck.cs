using NamespaceSample.Model;
using NamespaceSample.Service;
using Tango.Collections;

namespace NamespaceSample.Replay;

/// <summary>Faults of a replayed namespace.</summary>
public sealed class ReplayCheck(NamespaceState state)
{
    /// <param name="model">The files that the history comes to.</param>
    /// <param name="expected">The paths that were given; null: none were.</param>
    public IReadOnlyList<string> Find(
        IReadOnlyDictionary<string, Entry> model, IReadOnlyList<string>? expected, int changes)
    {
        var found = new Dictionary<string, Entry>(StringComparer.Ordinal);
        List<string> wrong = [];
        foreach ((string path, Entry entry) in state.Entries)
        {
            if (!found.TryAdd(path, entry)) wrong.Add($"{path} is in both partitions");
        }

        string[] files = [.. found.Where(static pair => !pair.Value.IsDirectory).Select(static pair => pair.Key)];
        wrong.AddRange(files.Except(model.Keys).Select(static path => $"{path} should not be there"));
        wrong.AddRange(model.Keys.Except(files).Select(static path => $"{path} is missing"));
        // The revision tells whether each change was applied once.
        wrong.AddRange(model.Where(pair => found.TryGetValue(pair.Key, out Entry? entry) && entry != pair.Value)
            .Select(pair => $"{pair.Key} is {found[pair.Key]} and should be {pair.Value}"));
        wrong.AddRange(NamespaceCheck.Orphans(found));
        wrong.AddRange(found.Keys.Where(path => found[path].IsDirectory && !HasFile(path, files))
            .Select(static path => $"{path} is a directory without a file"));
        wrong.AddRange(state.Partitions.Where(partition => partition.Applied > changes)
            .Select(static partition => $"partition {partition.Index} is at change {partition.Applied}"));
        if (state.Partitions.Max(static partition => partition.Applied) != changes)
            wrong.Add($"change {changes} is not the last one");
        if (expected is not null)
        {
            wrong.AddRange(expected.Except(files).Select(static path => $"{path} is expected and missing"));
            wrong.AddRange(files.Except(expected).Select(static path => $"{path} is not expected"));
        }

        return wrong;
    }

    private static bool HasFile(string directory, string[] files) =>
        Array.Exists(files, file => file != directory && TreePath.IsWithin(file, directory));
}
