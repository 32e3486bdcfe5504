using System.Collections.Immutable;
using NamespaceSample.Model;
using Tango;
using Tango.Collections;

namespace NamespaceSample.Service;

/// <summary>Handles of a partition's objects, hosted here or elsewhere.</summary>
public sealed record Partition(
    int Index,
    TangoTree<Entry> Entries,
    TangoDictionary<string, ImmutableSortedDictionary<string, string>> Attributes,
    TangoRegister<int> Applied)
{
    public static string NameOf(int index) => $"namespace/{index}";

    public static string EntriesOf(int index) => $"{NameOf(index)}/{nameof(PartitionContext.Entries)}";

    /// <summary>Hosts the partition here, from now on; creates it if it is not there.</summary>
    public static async ValueTask<Partition> HostAsync(
        TangoRuntime runtime, int index, CancellationToken cancellationToken)
    {
        PartitionContext context = await PartitionContext.OpenAsync(runtime, NameOf(index), cancellationToken);
        return new Partition(index, context.Entries, context.Attributes, context.Applied);
    }

    /// <summary>For use from elsewhere: reads bring it here for a while, writes do not need that.</summary>
    public static async ValueTask<Partition> ReachAsync(
        TangoRuntime runtime, int index, CancellationToken cancellationToken) => new(
        index,
        await runtime.OpenRemoteAsync<TangoTree<Entry>>(EntriesOf(index), cancellationToken: cancellationToken),
        await runtime.OpenRemoteAsync<TangoDictionary<string, ImmutableSortedDictionary<string, string>>>(
            $"{NameOf(index)}/{nameof(PartitionContext.Attributes)}", cancellationToken: cancellationToken),
        await runtime.OpenRemoteAsync<TangoRegister<int>>(
            $"{NameOf(index)}/{nameof(PartitionContext.Applied)}", cancellationToken: cancellationToken));
}
