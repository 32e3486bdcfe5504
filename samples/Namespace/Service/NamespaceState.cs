using System.Collections.Immutable;
using NamespaceSample.Model;
using Tango.Collections;

namespace NamespaceSample.Service;

/// <summary>All that a partition holds.</summary>
public sealed record PartitionState(
    int Index,
    ImmutableDictionary<string, TreeNode<Entry>> Entries,
    ImmutableDictionary<string, ImmutableSortedDictionary<string, string>> Attributes,
    int Applied);

/// <summary>All that the namespace holds, at one moment.</summary>
public sealed record NamespaceState(ImmutableArray<PartitionState> Partitions)
{
    /// <summary>By path; a path that both partitions have is there twice.</summary>
    public IEnumerable<KeyValuePair<string, Entry>> Entries => Partitions
        .SelectMany(static partition => partition.Entries)
        .Select(static pair => KeyValuePair.Create(pair.Key, pair.Value.Value));

    public IEnumerable<KeyValuePair<string, ImmutableSortedDictionary<string, string>>> Attributes =>
        Partitions.SelectMany(static partition => partition.Attributes);
}
