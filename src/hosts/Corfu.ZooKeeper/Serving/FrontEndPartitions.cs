using Tango;
using Tango.ZooKeeper;

namespace Corfu.ZooKeeper.Serving;

/// <summary>
/// Partitions of the service at this front end: those that it plays, and records that concern all of them. What was
/// mounted is opened here; until then the front end does not serve.
/// </summary>
/// <param name="trees">Changed by one caller at a time.</param>
/// <param name="hosted">Mounts that are played from the start; default: all. Others are once a client needs
/// them.</param>
internal sealed class FrontEndPartitions(
    TangoRuntime runtime, TreePartitions trees, IPlayedPartitions played, FrontEndIdentity identity,
    ImmutableArray<string> hosted) : IDisposable
{
    // A record that no partition took because of a mount is sent again: more mounts than this come one after the other.
    private const int MaxAttempts = 20;

    private readonly SemaphoreSlim _turn = new(1, 1);
    private IDisposable? _observation;

    // Guarded by the gate.
    private readonly Dictionary<long, TaskCompletionSource<TreeResult>> _awaited = [];
    private long _tickets;

    // Guarded by the gate: mounts of the observation.
    private ImmutableArray<string> _observed = [];

    public bool HasMounts => trees.MountCount > 0;

    /// <summary>All that is mounted is known here, and all that is to be played is. Called under the gate.</summary>
    public bool IsWhole => played.Root is { } root && root.MountCount == trees.MountCount
        && _observed.All(mount => played.RootOf(mount) is not null);

    /// <summary>The tree to which requests of a partition are posted.</summary>
    public ZooKeeperTree TreeOf(string mount) => trees.ToWrite(mount);

    public Task StartAsync(CancellationToken cancellationToken) => ObserveAsync(cancellationToken);

    public void Dispose()
    {
        _observation?.Dispose();
        _turn.Dispose();
    }

    /// <summary>Opens what was mounted since, and reads what has stopped: that may load it anew.</summary>
    public async Task PrepareAsync(CancellationToken cancellationToken)
    {
        TreeRoot? root;
        lock (played.Gate)
        {
            if (IsWhole) return;
            root = played.Root;
        }

        await _turn.WaitAsync(cancellationToken);
        try
        {
            root ??= await trees.Root.ReadAsync(cancellationToken);
            await trees.RefreshAsync(root, cancellationToken);
            var wanted = hosted.IsDefault ? root.Mounts.Select(static mount => mount.Path) : hosted;
            await HostWithinAsync(wanted, cancellationToken);
            foreach (var (_, tree) in trees.Hosted) await tree.ReadAsync(cancellationToken);
        }
        finally
        {
            _turn.Release();
        }

        lock (played.Gate) played.Resume();
    }

    /// <summary>Plays partitions from now on that a client has asked for.</summary>
    public async Task HostAsync(IReadOnlyCollection<string> mounts, CancellationToken cancellationToken)
    {
        if (mounts.Count == 0) return;
        await _turn.WaitAsync(cancellationToken);
        try
        {
            await HostWithinAsync(mounts, cancellationToken);
        }
        finally
        {
            _turn.Release();
        }
    }

    /// <summary>Appends a record that concerns all partitions; completes once it is applied (Z13).</summary>
    public async ValueTask<TreeResult> UpdateAsync(TreeRecord record, CancellationToken cancellationToken)
    {
        for (var attempt = 1; ; attempt++)
        {
            var result = HasMounts
                ? await AppendAsync(record, cancellationToken)
                : await trees.Root.UpdateAsync(record, cancellationToken);
            // Something was mounted meanwhile.
            if (result.Error != ZooKeeperError.OperationTimeout || attempt == MaxAttempts) return result;
            await PrepareAsync(cancellationToken);
        }
    }

    /// <summary>Decides a multi whose requests are of several partitions.</summary>
    public async Task<CrossResult> DecideAsync(RequestHeader header, MultiOp multi, TimeSpan limit,
        CancellationToken cancellationToken)
    {
        try
        {
            return await trees.DecideAsync(header, multi, limit, cancellationToken);
        }
        catch (Exception e) when (LogFaults.IsFault(e) || e is OperationCanceledException)
        {
            return new CrossResult(null, IsInDoubt: true);
        }
    }

    /// <summary>A record for all partitions is played. Called under the gate.</summary>
    public void OnPlayed(long ticket, TreeResult result)
    {
        if (_awaited.Remove(ticket, out var awaited)) awaited.TrySetResult(result);
    }

    private async ValueTask<TreeResult> AppendAsync(TreeRecord record, CancellationToken cancellationToken)
    {
        var result = new TaskCompletionSource<TreeResult>(TaskCreationOptions.RunContinuationsAsynchronously);
        long ticket;
        lock (played.Gate)
        {
            // Front ends draw their tickets: none has another's.
            ticket = _tickets = _tickets == 0 ? identity.Draw() : _tickets + 1;
            _awaited.Add(ticket, result);
        }

        try
        {
            await trees.AppendAsync(record, ticket, cancellationToken);
            // Plays the record. The front end hears of it before.
            await trees.Root.ReadAsync(cancellationToken);
            return result.Task.IsCompletedSuccessfully
                ? await result.Task
                : throw new TangoException("A record is in the log, and the front end has missed what it came to");
        }
        finally
        {
            lock (played.Gate) _awaited.Remove(ticket);
        }
    }

    // A partition whose observation failed, since the log was away, is observed by the next call.
    private async Task HostWithinAsync(IEnumerable<string> mounts, CancellationToken cancellationToken)
    {
        await trees.HostAsync(mounts, cancellationToken);
        bool isObserved;
        lock (played.Gate) isObserved = trees.Hosted.All(pair => _observed.Contains(pair.Key));
        if (!isObserved) await ObserveAsync(cancellationToken);
    }

    // A single observation: effects of several partitions come in the order of the log.
    private async Task ObserveAsync(CancellationToken cancellationToken)
    {
        var all = trees.Hosted.ToImmutableArray();
        var next = await runtime.ObserveAsync([.. all.Select(static pair => pair.Value)],
            played.NewObserver(), cancellationToken);
        lock (played.Gate) _observed = [.. all.Select(static pair => pair.Key)];
        Interlocked.Exchange(ref _observation, next)?.Dispose();
    }
}
