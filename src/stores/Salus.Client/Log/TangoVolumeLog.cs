using Tango;
using Tango.Collections;

namespace Salus.Log;

/// <summary>A volume as an object of the log that this process plays.</summary>
internal sealed class TangoVolumeLog : IVolumeLog, IAsyncDisposable
{
    private static readonly TimeSpan s_retry = TimeSpan.FromMilliseconds(100);

    private readonly SalusVolume _volume;
    private readonly NodeBook _book;
    private readonly TangoLock _lock;
    private readonly TimeProvider _time;
    private readonly CancellationTokenSource _stop = new();
    private readonly Task _following;
    private volatile VolumeState _state;
    private volatile NodeBookView _nodes;

    private TangoVolumeLog(VolumeId id, SalusVolume volume, NodeBook book, TangoLock writer, VolumeState state,
        NodeBookView nodes, TimeProvider time, LoopContext loops)
    {
        (Volume, _volume, _book, _lock, _state, _nodes, _time) = (id, volume, book, writer, state, nodes, time);
        _following = Task.WhenAll(loops.RunAsync(FollowVolumeAsync), loops.RunAsync(FollowNodesAsync));
    }

    public VolumeId Volume { get; }

    public VolumeState State => _state;

    public NodeBookView Nodes => _nodes;

    public static async ValueTask<TangoVolumeLog> OpenAsync(
        TangoRuntime runtime, VolumeId id, TimeProvider time, LoopContext loops, CancellationToken cancellationToken)
    {
        var volume = await runtime.OpenAsync<SalusVolume>(SalusVolume.NameOf(id), OpenMode.Create, cancellationToken);
        var book = await runtime.OpenAsync<NodeBook>(NodeBook.DefaultName, OpenMode.Create, cancellationToken);
        var writer = await runtime.OpenAsync<TangoLock>(
            SalusVolume.LockOf(id), OpenMode.Create, cancellationToken);
        return new TangoVolumeLog(id, volume, book, writer, await volume.StateAsync(cancellationToken),
            await book.ViewAsync(cancellationToken), time, loops);
    }

    public ValueTask<VolumeState> RefreshAsync(CancellationToken cancellationToken) => CallAsync(async () =>
    {
        _nodes = Newer(_nodes, await _book.ViewAsync(cancellationToken));
        return _state = Newer(_state, await _volume.StateAsync(cancellationToken));
    });

    public ValueTask<VolumeState> WaitAsync(long after, CancellationToken cancellationToken) =>
        CallAsync(() => _volume.WaitForStateAsync(after, cancellationToken));

    public ValueTask<IWriterLease> AcquireAsync(
        TimeSpan timeToLive, string owner, CancellationToken cancellationToken) => CallAsync<IWriterLease>(
        async () => new WriterLease(await _lock.AcquireAsync(timeToLive, owner, cancellationToken)));

    public ValueTask<RunStart> BeginRunAsync(long token, Incarnation driver, CancellationToken cancellationToken) =>
        CallAsync(() => _volume.BeginRunAsync(token, driver, cancellationToken));

    public ValueTask<string?> OpenedAsync(
        long run, Hash128 root, ImmutableArray<long> generations, CancellationToken cancellationToken) =>
        CallAsync(() => _volume.OpenedAsync(run, root, generations, cancellationToken));

    public ValueTask<string?> LackAsync(long run, ImmutableArray<int> regions, ShownBatch prefix,
        ImmutableArray<long> generations, CancellationToken cancellationToken) =>
        CallAsync(() => _volume.LackAsync(run, regions, prefix, generations, cancellationToken));

    public ValueTask<string?> AdmitAsync(int region, long generation, long run, CancellationToken cancellationToken) =>
        CallAsync(() => _volume.AdmitAsync(region, generation, run, cancellationToken));

    public ValueTask<string?> ReplaceAsync(int region, long generation, ImmutableArray<RegionMember> members,
        CancellationToken cancellationToken) =>
        CallAsync(() => _volume.ReplaceAsync(region, generation, members, cancellationToken));

    public ValueTask<string?> NoteAsync(
        long run, CommitProof proof, Hash128 root, long stable, CancellationToken cancellationToken) =>
        CallAsync(() => _volume.NoteAsync(run, proof, root, stable, cancellationToken));

    public ValueTask<string?> RecordSnapshotAsync(long run, string name, BatchName marker, Hash128 root,
        CommitProof proof, CancellationToken cancellationToken) => CallAsync(
        () => _volume.RecordSnapshotAsync(run, name, marker, root, proof, cancellationToken));

    public ValueTask<string?> SuspectAsync(Suspicion suspicion, CancellationToken cancellationToken) =>
        CallAsync(() => _volume.SuspectAsync(suspicion, cancellationToken));

    public async ValueTask DisposeAsync()
    {
        _stop.Cancel();
        await _following;
    }

    private Task FollowVolumeAsync() => FollowAsync(async () =>
        _state = Newer(_state, await _volume.WaitForStateAsync(_state.Revision, _stop.Token)));

    private Task FollowNodesAsync() => FollowAsync(async () =>
        _nodes = Newer(_nodes, await _book.WaitForViewAsync(_nodes.Revision, _stop.Token)));

    // The log may be away for a while: what it tells afterwards is what the driver waits for.
    private async Task FollowAsync(Func<Task> next)
    {
        while (!_stop.IsCancellationRequested)
        {
            try
            {
                await next();
            }
            catch (Exception e) when (_stop.IsCancellationRequested
                || e is ObjectDisposedException or TangoObjectDeletedException)
            {
                // The runtime is closed, or the volume is deleted: calls say so.
                return;
            }
            catch (Exception e) when (e is CorfuException or TangoException)
            {
                await Task.Delay(s_retry, _time, CancellationToken.None);
            }
        }
    }

    // Callers know the log by one kind of exception.
    private static async ValueTask<T> CallAsync<T>(Func<ValueTask<T>> call)
    {
        try
        {
            return await call();
        }
        catch (TangoException e)
        {
            throw new CorfuException($"The log does not tell whether it has the change: {e.Message}", e);
        }
    }

    private static VolumeState Newer(VolumeState known, VolumeState read) =>
        read.Revision > known.Revision ? read : known;

    private static NodeBookView Newer(NodeBookView known, NodeBookView read) =>
        read.Revision > known.Revision ? read : known;

    private sealed class WriterLease(HeldLock held) : IWriterLease
    {
        public long Token => held.FencingToken;

        public bool IsHeld => held.IsHeld;

        public CancellationToken Lost => held.Lost;

        public ValueTask DisposeAsync() => held.DisposeAsync();
    }
}
