using System.Runtime.CompilerServices;
using System.Threading.Channels;
using NamespaceSample.Model;
using NamespaceSample.Service;
using Tango;
using Tango.Collections;

namespace NamespaceSample.Watch;

/// <summary>Changes of both partitions as they come: in order within each.</summary>
public static class NamespaceWatch
{
    // A reader that is slower than the changes delays the feeds, and nothing else.
    private const int MaxAhead = 256;

    /// <param name="directory">Only what is within it.</param>
    /// <param name="after">Place of the last event that was dealt with; <see cref="WatchPlace.Now"/>: everything that
    /// comes from now on.</param>
    public static async IAsyncEnumerable<NamespaceEvent> ReadAsync(
        NamespaceService service, string directory, WatchPlace after,
        [EnumeratorCancellation] CancellationToken cancellationToken = default)
    {
        // Each event's id says where to go on in both partitions, also in one that has told nothing yet.
        if (Array.Exists(after.Places, static place => place is null))
            after = after.From(await service.ReadEndAsync(cancellationToken));
        using var stop = CancellationTokenSource.CreateLinkedTokenSource(cancellationToken);
        var found = Channel.CreateBounded<(int Partition, TangoChange<TangoTree<Entry>> Change)>(MaxAhead);
        Task[] feeds = [.. Enumerable.Range(0, PartitionMap.Count)
            .Where(i => PartitionMap.Holds(i, directory))
            .Select(i => FeedAsync(service.Runtime, i, after.Places[i], found.Writer, stop.Token))];
        try
        {
            await foreach (var (partition, change) in found.Reader.ReadAllAsync(cancellationToken))
            {
                after = after.With(partition, change.Place);
                if (!TangoTree<Entry>.ReadChange(change).TryGet(out TreeChange<Entry> node)) continue;
                if (TreePath.IsWithin(node.Path, directory))
                    yield return new NamespaceEvent(node.Path, node.Value.Value, after);
            }
        }
        finally
        {
            await stop.CancelAsync();
            await Task.WhenAll(feeds);
        }
    }

    private static async Task FeedAsync(
        TangoRuntime runtime, int partition, ChangePlace? after,
        ChannelWriter<(int, TangoChange<TangoTree<Entry>>)> found, CancellationToken cancellationToken)
    {
        try
        {
            await foreach (TangoChange<TangoTree<Entry>> change in runtime.History.ChangesAsync<TangoTree<Entry>>(
                Partition.EntriesOf(partition), after, cancellationToken: cancellationToken))
                await found.WriteAsync((partition, change), cancellationToken);
        }
        catch (OperationCanceledException) when (cancellationToken.IsCancellationRequested)
        {
            // The reader has ended.
        }
        catch (Exception e)
        {
            found.TryComplete(e);
        }
    }
}
