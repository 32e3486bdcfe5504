using Craq.Chains;
using Craq.Coordination;
using Craq.Storage;

namespace Craq;

/// <summary>The work that a node does on its own: it recovers its chains, follows the directory, and repeats what got
/// no answer.</summary>
internal sealed partial class CraqHandler : INodeChains
{
    private Task _loops = Task.CompletedTask;

    /// <summary>Reads the chains back from the store.</summary>
    internal async ValueTask RecoverAsync()
    {
        await _store.RecoverAsync(record =>
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

    internal void Start() => _loops = Task.WhenAll(FollowAsync(), TickAsync());

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
                if (AdoptAll(view)) view = await _directory.WaitAsync(view, _stop.Token);
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

    // False: a config was not taken.
    private bool AdoptAll(DirectoryView view)
    {
        var isWhole = true;
        foreach (var config in view.Chains.Values)
        {
            bool isNewer, isOpened;
            lock (_gate)
            {
                var core = Find(config.Id);
                isNewer = core is null ? config.IndexOf(Id) >= 0 : config.Epoch > core.Epoch;
                // A head that has been started anew may have opened the epoch and not said it.
                isOpened = core is { IsHead: true, IsOpen: true } && config.Epoch == core.Epoch
                    && !config.IsRecordedOpen;
            }

            if (isNewer) isWhole &= Adopt(WithEndpoints(config));
            if (isOpened) _ = RecordOpenedAsync(config.Id);
        }

        return isWhole;
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
                    foreach (var appended in effects.Appended) _undurable.Enqueue(appended);
                    _mustCommit |= effects.Appended.Count > 0;
                    effects.Appended.Clear();
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
