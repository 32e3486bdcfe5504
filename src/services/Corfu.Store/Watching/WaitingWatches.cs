using Corfu.Store.Index;
using Corfu.Store.State;

namespace Corfu.Store.Watching;

/// <summary>
/// Watches that have told all there is. While there are any, one loop waits for the next state, and wakes those whose
/// range it changes: a write costs what its own watches cost, however many wait for other keys. A watch that waits
/// keeps no state.
/// </summary>
/// <param name="saw">Told of each revision that is looked at.</param>
internal sealed class WaitingWatches(
    StoreIndex index, LoopContext loops, Action<long> saw, CancellationToken disposed)
{
    private readonly Lock _gate = new();

    // Guarded by _gate: watches of a single key, by it; those that each state wakes; and all others. A watch that is
    // woken is in none.
    private readonly Dictionary<StoreKey, HashSet<WaitingWatch>> _byKey = [];
    private readonly HashSet<WaitingWatch> _eager = [];
    private readonly HashSet<WaitingWatch> _others = [];
    private int _count;

    // Guarded by _gate. Invariant, while the loop runs: no watch in the tables has a change to tell up to this
    // revision.
    private long _revision;

    // Guarded by _gate: ends the loop when no watch is left; null: none runs.
    private CancellationTokenSource? _looking;

    /// <summary>Completes when there may be something to tell.</summary>
    /// <param name="told">Up to it everything is told.</param>
    /// <param name="next">The first revision to tell, above that.</param>
    public async ValueTask<WatchTurn> WaitAsync(
        StoreRange range, long told, long next, WatchOptions options, CancellationToken cancellationToken)
    {
        var watch = new WaitingWatch(range, next, options.Progress);
        CancellationTokenSource? looking = null;
        lock (_gate)
        {
            if (_looking is not null && _revision > told) return new WatchTurn(WatchWake.Changed, next);
            Add(watch);
            if (_looking is null)
            {
                looking = _looking = new CancellationTokenSource();
                _revision = told;
            }
        }

        if (looking is not null) loops.Start(() => LookAsync(looking));
        options.Requests?.WakeBy(() => Ask(watch));
        try
        {
            return await watch.Woken.Task.WaitOrCancelAsync(cancellationToken);
        }
        finally
        {
            options.Requests?.WakeBy(null);
            Leave(watch);
        }
    }

    private void Leave(WaitingWatch watch)
    {
        CancellationTokenSource? unused = null;
        lock (_gate)
        {
            Remove(watch);
            // A loop that none needs would ask the log for ever.
            if (_count == 0) (unused, _looking) = (_looking, null);
        }

        // Behind the gate: the loop may run at once.
        unused?.Cancel();
    }

    private async Task LookAsync(CancellationTokenSource looking)
    {
        using var end = disposed.UnsafeRegister(
            static own => ((CancellationTokenSource)own!).Cancel(), looking);
        try
        {
            while (SeenBy(looking) is { } seen)
                Tell(looking, await index.WaitAsync(state => state.Revision > seen, looking.Token));
        }
        catch (Exception)
        {
            // Each watch asks the log itself, and hears what is wrong.
            lock (_gate)
            {
                if (_looking != looking) return;
                _looking = null;
                Wake([.. All()], WatchWake.Failed, _revision + 1);
            }
        }
    }

    /// <summary>Null: another loop is the one that looks, or none is needed.</summary>
    private long? SeenBy(CancellationTokenSource looking)
    {
        lock (_gate)
        {
            if (_looking != looking) return null;
            if (_count > 0) return _revision;
            _looking = null;
            return null;
        }
    }

    private void Tell(CancellationTokenSource looking, StoreState state)
    {
        saw(state.Revision);
        lock (_gate)
        {
            if (_looking != looking || state.Revision <= _revision) return;
            var next = _revision + 1;
            // Changes that cannot be told any more concern all of them.
            if (next < state.FirstTold) Wake([.. All()], WatchWake.Changed, next);
            for (next = Math.Max(next, state.FirstTold); next <= state.Revision; next++)
            {
                foreach (var key in KeysOf(state, next))
                {
                    if (_byKey.TryGetValue(key, out var own))
                        Wake([.. own.Where(watch => watch.Next <= next)], WatchWake.Changed, next);
                    if (_others.Count > 0)
                        Wake([.. _others.Where(watch => watch.Next <= next && watch.Range.Contains(key))],
                            WatchWake.Changed, next);
                }
            }

            Wake([.. _eager], WatchWake.Changed, _revision + 1);
            _revision = state.Revision;
        }
    }

    private static IEnumerable<StoreKey> KeysOf(StoreState state, long revision) => revision >= state.First
        ? state.Of(revision).Keys
        : state.Dropped[(int)(revision - state.FirstTold)].Changes.Select(static change => change.Key);

    private IEnumerable<WaitingWatch> All() =>
        _byKey.Values.SelectMany(static own => own).Concat(_eager).Concat(_others);

    private void Wake(ReadOnlySpan<WaitingWatch> watches, WatchWake wake, long next)
    {
        foreach (var watch in watches)
        {
            Remove(watch);
            watch.Woken.TrySetResult(new WatchTurn(wake, Math.Max(watch.Next, next)));
        }
    }

    private void Ask(WaitingWatch watch)
    {
        lock (_gate)
        {
            // Woken, it is in no table, and may be behind the revision that was looked at.
            if (!watch.Woken.Task.IsCompleted)
                Wake([watch], WatchWake.Asked, _looking is null ? watch.Next : _revision + 1);
        }
    }

    private HashSet<WaitingWatch>? TableOf(WaitingWatch watch) =>
        watch.IsEager ? _eager : watch.Range.IsOfOneKey ? _byKey.GetValueOrDefault(watch.Range.From) : _others;

    private void Add(WaitingWatch watch)
    {
        _count++;
        if (TableOf(watch) is { } table) table.Add(watch);
        else _byKey.Add(watch.Range.From, [watch]);
    }

    private void Remove(WaitingWatch watch)
    {
        if (TableOf(watch) is not { } table || !table.Remove(watch)) return;
        _count--;
        if (table.Count == 0 && table != _eager && table != _others) _byKey.Remove(watch.Range.From);
    }

    /// <param name="next">The first revision that it has not told.</param>
    /// <param name="isEager">Each state wakes it.</param>
    private sealed class WaitingWatch(StoreRange range, long next, bool isEager)
    {
        public StoreRange Range => range;

        public long Next => next;

        public bool IsEager => isEager;

        public TaskCompletionSource<WatchTurn> Woken { get; } =
            new(TaskCreationOptions.RunContinuationsAsynchronously);
    }
}

/// <summary>Reason for which a watch wakes.</summary>
/// <param name="Next">The first revision that may have changed its range.</param>
internal readonly record struct WatchTurn(WatchWake Wake, long Next);

/// <summary>Why a watch wakes.</summary>
internal enum WatchWake
{
    /// <summary>The state here has something to tell.</summary>
    Changed,

    /// <summary>Progress is asked for.</summary>
    Asked,

    /// <summary>The log could not be asked for changes.</summary>
    Failed,
}
