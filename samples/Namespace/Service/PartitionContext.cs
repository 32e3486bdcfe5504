using System.Collections.Immutable;
using NamespaceSample.Model;
using Tango;
using Tango.Collections;

namespace NamespaceSample.Service;

/// <summary>The objects of one partition: a group, which its host has open.</summary>
[TangoContext("namespace")]
public sealed partial class PartitionContext : TangoContext
{
    public partial TangoTree<Entry> Entries { get; }

    /// <summary>By the ids of the entries, so that a rename within the partition leaves them alone.</summary>
    public partial TangoDictionary<string, ImmutableSortedDictionary<string, string>> Attributes { get; }

    /// <summary>The last change of a replayed history that touched this partition.</summary>
    public partial TangoRegister<int> Applied { get; }
}
