using Corfu.Store.Index;
using Corfu.Store.State;

namespace Corfu.Store.Watching;

/// <summary>
/// Watches that have told all there is. One of them waits for the next state, and wakes those whose range it changes: a
/// write costs what its own watches cost, however many others wait.
/// </summary>
internal sealed class WaitingWatches(StoreIndex index)
{
    private readonly Lock _gate = new();

    // Guarded by _gate: watches of a single key, by it, and all others. A watch with something to tell is in neither.
    private readonly Dictionary<StoreKey, HashSet<WaitingWatch>> _byKey = [];
    private readonly HashSet<WaitingWatch> _others = [];

    // Guarded by _gate. Invariant: no watch in the tables has a change to tell up to this state. Null: none waits.
    private StoreState? _seen;

    // Guarded by _gate: waits for the next state, for all.
    private WaitingWatch? _looking;

    /// <summary>Completes when there is a state with something to tell.</summary>
    /// <param name="told">Up to it everything is told.</param>
    /// <param name="next">The first revision to tell, above that state.</param>
    public async ValueTask<WatchTurn> WaitAsync(StoreRange range, StoreState told, long next, WatchOptions options,
        CancellationToken cancellationToken)
    {
        var watch = new WaitingWatch(range, next, options.Progress);
        lock (_gate)
        {
            if (_seen is { } newer && newer.Revision > told.Revision) return new WatchTurn(newer, next);
            Add(watch);
            if (_looking is null) (_looking, _seen) = (watch, told);
        }

        options.Requests?.WakeBy(() => Ask(watch));
        try
        {
            while (true)
            {
                StoreState? seen;
                lock (_gate)
                {
                    if (watch.Found is { } found) return found;
                    seen = _looking == watch ? _seen : null;
                }

                if (seen is null) await watch.Signal.Task.WaitAsync(cancellationToken);
                else await LookAsync(watch, seen, cancellationToken);
            }
        }
        finally
        {
            options.Requests?.WakeBy(null);
            Leave(watch);
        }
    }

    private async ValueTask LookAsync(WaitingWatch watch, StoreState seen, CancellationToken cancellationToken)
    {
        // Without an end of its own: a request may come behind the wait.
        var asked = new CancellationTokenSource();
        using var end = cancellationToken.UnsafeRegister(static own => ((CancellationTokenSource)own!).Cancel(), asked);
        lock (_gate)
        {
            if (watch.Found is not null) return;
            watch.Looking = asked;
        }

        try
        {
            Tell(await index.WaitAsync(state => state.Revision > seen.Revision, asked.Token));
        }
        catch (OperationCanceledException) when (!cancellationToken.IsCancellationRequested)
        {
            // The progress of this watch is asked for.
        }
        finally
        {
            lock (_gate) watch.Looking = null;
        }
    }

    private void Tell(StoreState state)
    {
        lock (_gate)
        {
            if (_seen is not { } seen || state.Revision <= seen.Revision) return;
            var next = seen.Revision + 1;
            // Changes that cannot be told any more concern all of them.
            if (next < state.FirstTold) Find(_byKey.Values.SelectMany(static own => own).Concat(_others), state, next);
            for (; next <= state.Revision; next++)
            {
                foreach (var key in KeysOf(state, next))
                {
                    if (_byKey.TryGetValue(key, out var own)) Find(own.Where(watch => watch.Next <= next), state, next);
                    if (_others.Count > 0)
                        Find(_others.Where(watch => watch.Next <= next && watch.Range.Contains(key)), state, next);
                }
            }

            Find(_others.Where(static watch => watch.WantsProgress), state, next);
            _seen = state;
        }
    }

    private static IEnumerable<StoreKey> KeysOf(StoreState state, long revision) => revision >= state.First
        ? state.Of(revision).Keys
        : revision >= state.FirstTold
            ? state.Dropped[(int)(revision - state.FirstTold)].Changes.Select(static change => change.Key)
            : [];

    private void Find(IEnumerable<WaitingWatch> watches, StoreState state, long next)
    {
        foreach (var watch in watches.ToArray()) Find(watch, state, next);
    }

    private void Find(WaitingWatch watch, StoreState? state, long next)
    {
        Remove(watch);
        watch.Found = new WatchTurn(state, Math.Max(watch.Next, next));
        watch.Signal.TrySetResult();
    }

    private void Ask(WaitingWatch watch)
    {
        CancellationTokenSource? looking;
        lock (_gate)
        {
            if (watch.Found is not null || _seen is not { } seen) return;
            Find(watch, null, seen.Revision + 1);
            looking = watch.Looking;
        }

        // Behind the gate: what is woken may run at once.
        looking?.Cancel();
    }

    private void Leave(WaitingWatch watch)
    {
        lock (_gate)
        {
            Remove(watch);
            if (_looking != watch) return;
            _looking = _others.FirstOrDefault() ?? _byKey.Values.FirstOrDefault()?.First();
            if (_looking is null) _seen = null;
            else _looking.Signal.TrySetResult();
        }
    }

    private void Add(WaitingWatch watch)
    {
        if (!watch.IsOfOneKey) _others.Add(watch);
        else if (_byKey.TryGetValue(watch.Range.From, out var own)) own.Add(watch);
        else _byKey.Add(watch.Range.From, [watch]);
    }

    private void Remove(WaitingWatch watch)
    {
        if (!watch.IsOfOneKey) _others.Remove(watch);
        else if (_byKey.TryGetValue(watch.Range.From, out var own) && own.Remove(watch) && own.Count == 0)
            _byKey.Remove(watch.Range.From);
    }

    /// <param name="next">The first revision that it has not told.</param>
    private sealed class WaitingWatch(StoreRange range, long next, bool wantsProgress)
    {
        public StoreRange Range => range;

        public long Next => next;

        /// <summary>Each state wakes the watch.</summary>
        public bool WantsProgress => wantsProgress;

        public bool IsOfOneKey { get; } = !wantsProgress && range.IsOfOneKey;

        /// <summary>Completes when <see cref="Found"/> is set, or when it is the watch's turn to look.</summary>
        public TaskCompletionSource Signal { get; } = new(TaskCreationOptions.RunContinuationsAsynchronously);

        // Guarded by the gate.
        public WatchTurn? Found { get; set; }

        // Guarded by the gate: ends its wait for the next state.
        public CancellationTokenSource? Looking { get; set; }
    }
}

/// <summary>Why a watch wakes.</summary>
/// <param name="State">Null: its progress is asked for.</param>
/// <param name="Next">The first revision that may have changed its range.</param>
internal sealed record WatchTurn(StoreState? State, long Next);
