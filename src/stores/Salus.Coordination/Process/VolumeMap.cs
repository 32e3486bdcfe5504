using Tango;

namespace Salus.Coordination;

/// <summary>The nodes and volumes of a log as a process sees them: it follows them all, and looking costs no request.
/// Thread-safe.</summary>
public sealed partial class VolumeMap : IAsyncDisposable
{
    private readonly TangoRuntime _runtime;
    private readonly TimeProvider _time;
    private readonly LoopContext _loops;
    private readonly Followed<NodeBookView> _nodes;
    private readonly Followed<DirectoryListing> _listing;
    private readonly CancellationTokenSource _stop = new();
    private readonly Lock _gate = new();
    private readonly Task _keeping;

    // Guarded by _gate: volumes of the directory whose objects are open.
    private readonly Dictionary<VolumeId, FollowedVolume> _volumes = [];

    // Written under _gate. Each part only gets newer.
    private MapView _view = MapView.Empty;

    // Guarded by _gate. Completes when _view changes.
    private TaskCompletionSource _changed = NewChange();

    private VolumeMap(TangoRuntime runtime, NodeBook book, VolumeDirectory directory, NodeBookView nodes,
        DirectoryListing listing, TimeProvider time, LoopContext loops)
    {
        (_runtime, Book, Directory, _time, _loops) = (runtime, book, directory, time, loops);
        Take(nodes);
        Take(listing);
        _nodes = new Followed<NodeBookView>(
            new FollowedObject<NodeBookView>(static view => view.Revision, book.WaitForViewAsync), nodes, Take, time,
            loops);
        _listing = new Followed<DirectoryListing>(
            new FollowedObject<DirectoryListing>(static listing => listing.Revision, NextListingAsync), listing, Take,
            time, loops);
        _keeping = loops.RunAsync(KeepVolumesAsync);
    }

    /// <summary>A volume has another state, or none; default: the nodes have changed. Raised on any thread, two at a
    /// time perhaps: handlers are short.</summary>
    public event Action<VolumeId>? Changed;

    public NodeBook Book { get; }

    public VolumeDirectory Directory { get; }

    /// <summary>The newest that this process has played. May be old.</summary>
    public MapView View => Volatile.Read(ref _view);

    /// <summary>Opens the objects, and creates them in a log that has none.</summary>
    /// <param name="runtime">The caller's, and of the same time and context.</param>
    public static async ValueTask<VolumeMap> OpenAsync(TangoRuntime runtime, TimeProvider time, LoopContext loops,
        CancellationToken cancellationToken = default)
    {
        ArgumentNullException.ThrowIfNull(runtime);
        ArgumentNullException.ThrowIfNull(time);
        ArgumentNullException.ThrowIfNull(loops);
        var book = await runtime.OpenAsync<NodeBook>(NodeBook.DefaultName, OpenMode.Create, cancellationToken);
        var directory = await VolumeDirectory.OpenAsync(runtime, cancellationToken);
        var nodes = await book.ViewAsync(cancellationToken);
        var entries = await directory.ListAsync(cancellationToken);
        return new VolumeMap(runtime, book, directory, nodes, DirectoryListing.Of(1, entries), time, loops);
    }

    /// <summary>Null: there is no such volume, as far as this process has played.</summary>
    public VolumeState? Find(VolumeId volume) => View.Volumes.GetValueOrDefault(volume);

    /// <summary>The volume's object, for its commands. Null: it is not open here.</summary>
    public SalusVolume? ObjectOf(VolumeId volume) => FollowedOf(volume)?.Object;

    /// <summary>A state of the volume as new as the call: linearizable. Later calls of <see cref="Find"/> show at least
    /// as much. Null: there is no such volume.</summary>
    /// <exception cref="CorfuException">The log is not reached in time.</exception>
    public async ValueTask<VolumeState?> RefreshAsync(VolumeId volume, CancellationToken cancellationToken = default)
    {
        try
        {
            FollowedVolume? followed;
            while ((followed = FollowedOf(volume)) is null)
            {
                var view = View;
                var entries = await Directory.ListAsync(cancellationToken);
                if (entries.Values.All(entry => entry.Id != volume)) return null;
                // The object is being opened here.
                if (FollowedOf(volume) is null) await WaitAsync(view, cancellationToken);
            }

            return followed.States.Take(await followed.Object.StateAsync(cancellationToken));
        }
        catch (TangoObjectDeletedException)
        {
            return null;
        }
        catch (TangoException e)
        {
            throw new CorfuException($"Reading volume {volume} has failed: {e.Message}", e);
        }
    }

    /// <summary>Reads the nodes as new as the call: linearizable.</summary>
    public async ValueTask<NodeBookView> RefreshNodesAsync(CancellationToken cancellationToken = default) =>
        _nodes.Take(await Book.ViewAsync(cancellationToken));

    /// <summary>Waits for a view other than that one.</summary>
    public async ValueTask<MapView> WaitAsync(MapView after, CancellationToken cancellationToken = default)
    {
        while (true)
        {
            Task changed;
            lock (_gate)
            {
                if (!ReferenceEquals(_view, after)) return _view;
                ObjectDisposedException.ThrowIf(_stop.IsCancellationRequested, this);
                changed = _changed.Task;
            }

            await changed.WaitOrCancelAsync(cancellationToken);
            cancellationToken.ThrowIfCancellationRequested();
        }
    }

    public async ValueTask DisposeAsync()
    {
        _stop.Cancel();
        await _keeping;
        await _nodes.DisposeAsync();
        await _listing.DisposeAsync();
        FollowedVolume[] volumes;
        lock (_gate) volumes = [.. _volumes.Values];
        foreach (var volume in volumes) await volume.States.DisposeAsync();
        lock (_gate) _changed.TrySetResult();
    }

    private static TaskCompletionSource NewChange() => new(TaskCreationOptions.RunContinuationsAsynchronously);

    // A dictionary has no revision of its own: the number counts the listings that this process has seen.
    private async ValueTask<DirectoryListing> NextListingAsync(long after, CancellationToken cancellationToken) =>
        DirectoryListing.Of(after + 1, await Directory.WaitForListAsync(View.Entries, cancellationToken));

    private FollowedVolume? FollowedOf(VolumeId volume)
    {
        lock (_gate) return _volumes.GetValueOrDefault(volume);
    }

    private void Take(NodeBookView nodes)
    {
        Change(view => nodes.Revision > view.Nodes.Revision ? view with { Nodes = nodes } : view);
        Changed?.Invoke(default);
    }

    private void Take(DirectoryListing listing)
    {
        Change(view => view.With(listing.Entries));
        foreach (var entry in listing.Entries.Values) Changed?.Invoke(entry.Id);
    }

    private void Take(VolumeId volume, VolumeState state)
    {
        // An object without a geometry is one that another process is making.
        if (state.Head.Geometry is null) return;
        Change(view => view.Volumes.TryGetValue(volume, out var known) && known.Revision >= state.Revision
            ? view
            : view with { Volumes = view.Volumes.SetItem(volume, state) });
        Changed?.Invoke(volume);
    }

    private void Change(Func<MapView, MapView> change)
    {
        TaskCompletionSource changed;
        lock (_gate)
        {
            var next = change(_view);
            if (ReferenceEquals(next, _view)) return;
            Volatile.Write(ref _view, next);
            (changed, _changed) = (_changed, NewChange());
        }

        changed.SetResult();
    }

    private sealed record FollowedVolume(SalusVolume Object, Followed<VolumeState> States);

    /// <param name="Revision">Counts the listings that differ.</param>
    private sealed record DirectoryListing(long Revision, ImmutableSortedDictionary<string, VolumeEntry> Entries)
    {
        public static DirectoryListing Of(long revision, IReadOnlyDictionary<string, VolumeEntry> entries) =>
            new(revision, entries.ToImmutableSortedDictionary(StringComparer.Ordinal));
    }
}
