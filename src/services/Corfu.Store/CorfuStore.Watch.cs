using System.Runtime.CompilerServices;
using Corfu.Store.State;
using Corfu.Store.Values;
using Corfu.Store.Watching;

namespace Corfu.Store;

public sealed partial class CorfuStore
{
    // Changes whose values are read at once; more only where one revision has more.
    private const int ChangesAtOnce = 256;

    /// <summary>The changes of a range, each once and in the order of revisions, all of a revision together. Ends by
    /// cancellation alone, or an exception.</summary>
    /// <param name="from">The first revision; 0: the one after the newest, as the enumeration begins.</param>
    /// <exception cref="StoreCompactedException">The revision is compacted as the enumeration begins; or later the next
    /// one to be told is, and too far behind the newest.</exception>
    /// <exception cref="ObjectDisposedException">The store was disposed.</exception>
    // K10: from view to view by the table of revisions, and a process that is behind catches up first. Else a client
    // that moves to it misses changes.
    public async IAsyncEnumerable<StoreChanges> WatchAsync(StoreRange range, long from = 0,
        WatchOptions? options = null, [EnumeratorCancellation] CancellationToken cancellationToken = default)
    {
        options ??= WatchOptions.Default;
        using var stop = CancellationTokenSource.CreateLinkedTokenSource(cancellationToken, _disposed.Token);
        var state = await UnlessDisposedAsync(StateAsync(default, stop.Token), cancellationToken);
        var next = from == 0 || Planted.Is("watch-starts-at-the-view") ? state.Revision + 1 : from;
        if (next < state.Oldest) throw new StoreCompactedException(next, state.Oldest);
        for (var told = 0L; ;)
        {
            // A compaction that follows changes at once is no reason not to tell them.
            if (next < Math.Min(state.Oldest, state.FirstTold)) throw new StoreCompactedException(next, state.Oldest);
            next = Math.Max(next, state.FirstTold);
            while (next <= state.Revision)
            {
                var (end, rows) = Gather(state, range, next);
                Dictionary<ValuePlace, ReadOnlyMemory<byte>> values;
                try
                {
                    values = await UnlessDisposedAsync(
                        ValuesAsync(Wanted(rows, options), stop.Token), cancellationToken);
                }
                catch (ValueTrimmedException)
                {
                    var newer = await UnlessDisposedAsync(StateAsync(default, stop.Token), cancellationToken);
                    if (next < newer.Oldest) throw new StoreCompactedException(next, newer.Oldest);
                    // Moved meanwhile, if the newer state has other places; else it is lost (K14).
                    if (Gather(newer, range, next).Rows.Take(rows.Count).SequenceEqual(rows))
                        throw await LostAsync(Wanted(rows, options), stop.Token);
                    state = newer;
                    continue;
                }

                // Rows of a revision follow each other.
                foreach (var group in rows.GroupBy(static row => row.Version.Revision))
                {
                    told = group.Key;
                    StoreChanges changes = new(told, [.. group.Select(row => row.ToChange(options, values))]);
                    StoreTelemetry.Changes.Add(changes.Changes.Length);
                    yield return changes;
                }

                next = end;
            }

            var isAsked = options.Requests?.Take(state.Revision) == true;
            if (isAsked || (options.Progress && told < state.Revision))
            {
                told = state.Revision;
                yield return new StoreChanges(told, []);
            }

            var seen = state.Revision;
            // A watch that waits for long would keep all that is dropped meanwhile.
            state = null!;
            (var wake, next) = await UnlessDisposedAsync(
                _waiting.WaitAsync(range, seen, next, options, stop.Token), cancellationToken);
            state = await UnlessDisposedAsync(StateAsync(wake, options, stop.Token), cancellationToken);
        }
    }

    /// <summary>The state for which a watch wakes.</summary>
    private ValueTask<StoreState> StateAsync(
        WatchWake wake, WatchOptions options, CancellationToken cancellationToken) => wake switch
        {
            WatchWake.Failed => StateAsync(default, cancellationToken),
            WatchWake.Asked => _index.WaitAsync(view => view.Revision >= options.Requests!.Asked, cancellationToken),
            _ => StateAsync(ReadAs.Local, cancellationToken),
        };

    /// <param name="callers">The token whose cancellation stays one.</param>
    private async ValueTask<T> UnlessDisposedAsync<T>(ValueTask<T> task, CancellationToken callers)
    {
        try
        {
            return await task;
        }
        catch (OperationCanceledException) when (!callers.IsCancellationRequested)
        {
            ObjectDisposedException.ThrowIf(_disposed.IsCancellationRequested, this);
            throw;
        }
    }

    /// <returns>The changes of some revisions from the first one on, and the revision behind them.</returns>
    private static (long End, List<Changed> Rows) Gather(StoreState state, StoreRange range, long from)
    {
        var rows = new List<Changed>();
        var revision = from;
        for (var looked = 0; revision <= state.Revision && looked < ChangesAtOnce; revision++)
        {
            if (revision < state.First)
            {
                var dropped = state.Dropped[(int)(revision - state.FirstTold)].Changes;
                looked += Math.Max(dropped.Length, 1);
                foreach (var (key, version, previous) in dropped)
                {
                    if (range.Contains(key)) rows.Add(new Changed(key, version, previous));
                }

                continue;
            }

            var keys = state.Of(revision).Keys;
            looked += Math.Max(keys.Length, 1);
            foreach (var key in keys)
            {
                if (!range.Contains(key) || state.Table.Find(key) is not { } row) continue;
                if (row.Of(revision) is { } version) rows.Add(new Changed(key, version, row.At(revision - 1)));
            }
        }

        return (revision, rows);
    }

    private static List<(StoreKey Key, StoreVersion Version)> Wanted(List<Changed> rows, WatchOptions options)
    {
        var wanted = new List<(StoreKey Key, StoreVersion Version)>();
        foreach (var row in rows)
        {
            if (!row.Version.IsDeleted) wanted.Add((row.Key, row.Version));
            if (options.Previous && row.Previous is { } previous) wanted.Add((row.Key, previous));
        }

        return wanted;
    }

    private sealed record Changed(StoreKey Key, StoreVersion Version, StoreVersion? Previous)
    {
        public StoreChange ToChange(
            WatchOptions options, Dictionary<ValuePlace, ReadOnlyMemory<byte>> values) => new(
            Version.ToEntry(Key, Version.IsDeleted ? default : values[Version.Place]), Version.IsDeleted,
            options.Previous && Previous is { } before ? before.ToEntry(Key, values[before.Place]) : null);
    }
}
