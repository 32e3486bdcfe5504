using Craq.Chains;
using Craq.Coordination;
using Craq.Storage;

namespace Craq;

/// <summary>The work that a node does on its own: it recovers its chains, follows the directory, and repeats what got
/// no answer.</summary>
internal sealed partial class CraqHandler : INodeChains
{
    private Task _loops = Task.CompletedTask;

    // The directory's chains in the last view whose configs were all taken. Only FollowAsync's loop uses the field.
    private ImmutableSortedDictionary<ChainId, ChainConfig> _followed = DirectoryView.Empty.Chains;

    // The dropped chains of the last view of which none is held any more. Only FollowAsync's loop uses the field.
    private ImmutableSortedSet<ChainId> _forgotten = DirectoryView.Empty.Dropped;

    // The node's log had records when it started: it may have held chains that it has forgotten.
    private bool _hasPast;

    /// <summary>Reads the chains back from the store.</summary>
    internal async ValueTask RecoverAsync()
    {
        _hasPast = await _store.RecoverAsync(record =>
        {
            var core = Find(record.Chain) ?? Add(record.Chain);
            if (record.Kind != StoreRecordKind.Forget)
            {
                core.Replay(record);
                return;
            }

            _chains.Remove(record.Chain);
            _store.Forget(record.Chain);
        });
        _store.Observer = this;
        ChainEffects effects;
        lock (_gate)
        {
            effects = Effects();
            foreach (var core in _chains.Values)
            {
                core.EndReplay(effects);
                End(core, effects);
            }
        }

        await _store.AttachAsync(this);
        Carry(effects);
    }

    internal void Start() => _loops = Task.WhenAll(WatchAsync(FollowAsync()), WatchAsync(TickAsync()));

    // Without one of its loops a node would answer, and neither repeat requests nor follow the directory.
    private async Task WatchAsync(Task loop)
    {
        try
        {
            await loop;
        }
        catch (Exception failure)
        {
            OnFailed(failure);
        }
    }

    T INodeChains.Locked<T>(Func<T> step)
    {
        lock (_gate) return step();
    }

    IReadOnlyCollection<ChainId> INodeChains.Held => [.. _chains.Keys];

    bool INodeChains.Needs(ChainId chain, ObjectVersion version) => Find(chain)?.Needs(version) ?? false;

    void INodeChains.Moved(ChainId chain, ObjectVersion version, StorePlace place) =>
        Find(chain)?.Moved(version, place);

    bool INodeChains.TryLogMark(ChainId chain) => Find(chain)?.TryKeepMark() ?? true;

    ChainSnapshot? INodeChains.Snapshot(ChainId chain) => Find(chain)?.Snapshot();

    private async Task FollowAsync()
    {
        var view = _directory.View;
        while (!_stop.IsCancellationRequested)
        {
            try
            {
                // The log may have no room at the moment, and nothing else brings the config again.
                if (ForgetDropped(view.Dropped) & AdoptAll(view)) view = await _directory.WaitAsync(view, _stop.Token);
                else if (await PauseAsync()) view = _directory.View;
            }
            catch (OperationCanceledException) when (_stop.IsCancellationRequested)
            {
                return;
            }
            catch (Exception error) when (error is CorfuException or OperationCanceledException)
            {
                if (!await PauseAsync()) return;
            }
        }
    }

    // C12: a node that has forgotten a chain has forgotten its epoch too. So it takes no dropped chain again; and after
    // a restart no chain that it does not hold, until the directory says which ones are dropped.
    private bool MayHold(ChainId chain)
    {
        var view = _directory.View;
        return !view.Dropped.Contains(chain) && (!_hasPast || view.Revision > 0);
    }

    // False: a chain is still held, for the log has no room at the moment.
    private bool ForgetDropped(ImmutableSortedSet<ChainId> dropped)
    {
        if (ReferenceEquals(dropped, _forgotten)) return true;
        ChainId[] held;
        lock (_gate) held = [.. _chains.Keys.Where(dropped.Contains)];
        var isWhole = true;
        foreach (var chain in held) isWhole &= TryForget(chain);
        if (isWhole) _forgotten = dropped;
        return isWhole;
    }

    private bool TryForget(ChainId chain)
    {
        ChainEffects effects;
        lock (_gate)
        {
            if (_failed || Find(chain) is not { } core) return true;
            effects = Effects();
            if (!core.TryForget(effects)) return false;
            _chains.Remove(chain);
            _active.Remove(chain);
            _starting.Remove(core);
            Enqueue(effects);
            Settle(effects);
            CommitNow();
        }

        Carry(effects);
        return true;
    }

    // Takes the configs that have changed since the last view that was taken whole. False: a config was not taken.
    private bool AdoptAll(DirectoryView view)
    {
        if (ReferenceEquals(view.Chains, _followed)) return true;
        var isWhole = true;
        // Both dictionaries are in the order of ids.
        using IEnumerator<KeyValuePair<ChainId, ChainConfig>> before = _followed.AsEnumerable().GetEnumerator();
        var hasBefore = before.MoveNext();
        foreach (var (id, config) in view.Chains)
        {
            while (hasBefore && before.Current.Key.CompareTo(id) < 0) hasBefore = before.MoveNext();
            if (!hasBefore || !ReferenceEquals(before.Current.Value, config)) isWhole &= AdoptRecorded(config);
        }

        if (isWhole) _followed = view.Chains;
        return isWhole;
    }

    private bool AdoptRecorded(ChainConfig config)
    {
        bool isNewer, isOpened;
        lock (_gate)
        {
            var core = Find(config.Id);
            isNewer = core is null ? config.IndexOf(Id) >= 0 : config.Epoch > core.Epoch;
            // A head that has been started anew may have opened the epoch and not said it.
            isOpened = core is { IsHead: true, IsOpen: true } && config.Epoch == core.Epoch && !config.IsRecordedOpen;
        }

        if (isOpened) _ = RecordOpenedAsync(config.Id);
        return !isNewer || Adopt(WithEndpoints(config));
    }

    private async Task TickAsync()
    {
        try
        {
            while (true)
            {
                await Task.Delay(_options.Tick, _time, _stop.Token);
                Tick();
            }
        }
        catch (OperationCanceledException)
        {
            // The node ends.
        }
    }

    private void Tick()
    {
        ChainEffects effects;
        try
        {
            lock (_gate)
            {
                if (_failed || _active.Count == 0) return;
                effects = Effects();
                foreach (var chain in _active.ToArray())
                {
                    if (Find(chain) is not { } core || !core.Tick(effects)) _active.Remove(chain);
                    Enqueue(effects);
                }

                Settle(effects);
                CommitNow();
            }
        }
        catch (Exception failure) when (failure is IOException or ObjectDisposedException or StoreFailedException)
        {
            OnFailed(failure);
            return;
        }

        Carry(effects);
    }
}
