using NamespaceSample.Model;
using Tango.Collections;

namespace NamespaceSample.Replay;

/// <summary>Invariants of any namespace.</summary>
public static class NamespaceCheck
{
    /// <summary>Entries without a directory above them.</summary>
    public static IEnumerable<string> Orphans(IReadOnlyDictionary<string, Entry> entries) => entries.Keys
        .Where(path => TreePath.ParentOf(path) is var parent && parent != TreePath.Root
            && entries.GetValueOrDefault(parent) is not { IsDirectory: true })
        .Select(static path => $"{path} has no directory above it");
}
