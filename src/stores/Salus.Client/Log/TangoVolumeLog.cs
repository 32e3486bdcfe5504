using Tango;
using Tango.Collections;

namespace Salus.Log;

/// <summary>A volume as an object of the log that this process plays.</summary>
internal sealed class TangoVolumeLog : IVolumeLog, IAsyncDisposable
{
    private readonly SalusVolume _volume;
    private readonly NodeBook _book;
    private readonly TangoLock _lock;
    private readonly CancellationTokenSource _stop = new();
    private readonly Task _following;
    private volatile VolumeState _state;
    private volatile NodeBookView _nodes;

    private TangoVolumeLog(VolumeId id, SalusVolume volume, NodeBook book, TangoLock writer, VolumeState state,
        NodeBookView nodes, LoopContext loops)
    {
        (Volume, _volume, _book, _lock, _state, _nodes) = (id, volume, book, writer, state, nodes);
        _following = Task.WhenAll(loops.RunAsync(FollowVolumeAsync), loops.RunAsync(FollowNodesAsync));
    }

    public VolumeId Volume { get; }

    public VolumeState State => _state;

    public NodeBookView Nodes => _nodes;

    public static async ValueTask<TangoVolumeLog> OpenAsync(
        TangoRuntime runtime, VolumeId id, LoopContext loops, CancellationToken cancellationToken)
    {
        var volume = await runtime.OpenAsync<SalusVolume>(SalusVolume.NameOf(id), OpenMode.Create, cancellationToken);
        var book = await runtime.OpenAsync<NodeBook>(NodeBook.DefaultName, OpenMode.Create, cancellationToken);
        var writer = await runtime.OpenAsync<TangoLock>(
            SalusVolume.LockOf(id), OpenMode.Create, cancellationToken);
        return new TangoVolumeLog(id, volume, book, writer, await volume.StateAsync(cancellationToken),
            await book.ViewAsync(cancellationToken), loops);
    }

    public async ValueTask<VolumeState> RefreshAsync(CancellationToken cancellationToken)
    {
        _nodes = Newer(_nodes, await _book.ViewAsync(cancellationToken));
        return _state = Newer(_state, await _volume.StateAsync(cancellationToken));
    }

    public ValueTask<VolumeState> WaitAsync(long after, CancellationToken cancellationToken) =>
        _volume.WaitForStateAsync(after, cancellationToken);

    public async ValueTask<IWriterLease> AcquireAsync(
        TimeSpan timeToLive, string owner, CancellationToken cancellationToken) =>
        new WriterLease(await _lock.AcquireAsync(timeToLive, owner, cancellationToken));

    public ValueTask<RunStart> BeginRunAsync(long token, Incarnation driver, CancellationToken cancellationToken) =>
        _volume.BeginRunAsync(token, driver, cancellationToken);

    public ValueTask<string?> OpenedAsync(
        long run, Hash128 root, ImmutableArray<long> generations, CancellationToken cancellationToken) =>
        _volume.OpenedAsync(run, root, generations, cancellationToken);

    public ValueTask<string?> AdmitAsync(int region, long generation, long run, CancellationToken cancellationToken) =>
        _volume.AdmitAsync(region, generation, run, cancellationToken);

    public ValueTask<string?> ReplaceAsync(int region, long generation, ImmutableArray<RegionMember> members,
        CancellationToken cancellationToken) =>
        _volume.ReplaceAsync(region, generation, members, cancellationToken);

    public ValueTask<string?> NoteAsync(
        long run, CommitProof proof, Hash128 root, long stable, CancellationToken cancellationToken) =>
        _volume.NoteAsync(run, proof, root, stable, cancellationToken);

    public ValueTask<string?> RecordSnapshotAsync(long run, string name, BatchName marker, Hash128 root,
        CommitProof proof, CancellationToken cancellationToken) =>
        _volume.RecordSnapshotAsync(run, name, marker, root, proof, cancellationToken);

    public ValueTask<string?> SuspectAsync(Suspicion suspicion, CancellationToken cancellationToken) =>
        _volume.SuspectAsync(suspicion, cancellationToken);

    public async ValueTask DisposeAsync()
    {
        _stop.Cancel();
        await _following;
    }

    private async Task FollowVolumeAsync()
    {
        try
        {
            while (true) _state = Newer(_state, await _volume.WaitForStateAsync(_state.Revision, _stop.Token));
        }
        catch (Exception e) when (_stop.IsCancellationRequested || e is CorfuException or ObjectDisposedException)
        {
            // The runtime is closed: calls say so.
        }
    }

    private async Task FollowNodesAsync()
    {
        try
        {
            while (true) _nodes = Newer(_nodes, await _book.WaitForViewAsync(_nodes.Revision, _stop.Token));
        }
        catch (Exception e) when (_stop.IsCancellationRequested || e is CorfuException or ObjectDisposedException)
        {
            // As above.
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
