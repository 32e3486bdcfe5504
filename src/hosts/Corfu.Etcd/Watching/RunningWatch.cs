using Corfu.Etcd.Translation;

namespace Corfu.Etcd.Watching;

/// <summary>A watch of a stream.</summary>
internal sealed class RunningWatch
{
    private readonly CancellationTokenSource _stop = new();
    private readonly System.Threading.Lock _gate = new();

    // Guarded by _gate.
    private readonly List<(long Revision, TaskCompletionSource Told)> _waiting = [];
    private long _told;

    /// <param name="from">The first revision to tell.</param>
    public RunningWatch(long id, WatchCreateRequest request, StoreRange range, long from)
    {
        (Id, Range, From, _told) = (id, range, from, from - 1);
        (WantsProgress, WantsPrevious, Fragments) = (request.ProgressNotify, request.PrevKv, request.Fragment);
        NoPuts = request.Filters.Contains(WatchCreateRequest.Types.FilterType.Noput);
        NoDeletions = request.Filters.Contains(WatchCreateRequest.Types.FilterType.Nodelete);
    }

    public long Id { get; }

    public StoreRange Range { get; }

    public long From { get; }

    public bool WantsProgress { get; }

    public bool WantsPrevious { get; }

    public bool Fragments { get; }

    private bool NoPuts { get; }

    private bool NoDeletions { get; }

    /// <summary>Cancelled when the watch is to end.</summary>
    public CancellationToken Stopping => _stop.Token;

    /// <summary>The task that tells the watch.</summary>
    public Task Pump { get; set; } = Task.CompletedTask;

    /// <summary>Requests to the watch in the store.</summary>
    public ProgressRequests Requests { get; } = new();

    /// <summary>The watch was told something since the newest notice of progress. Of its task and
    /// the timer.</summary>
    public bool ToldLately { get; set; }

    /// <summary>The client is to hear how far the watch has come. Of its task and the timer.</summary>
    public bool IsNoticeDue { get; set; }

    /// <summary>The changes of a revision as events, without those that the watch does not want.</summary>
    public IEnumerable<Event> EventsOf(StoreChanges changes)
    {
        foreach (var change in changes.Changes)
        {
            if (change.IsDeletion ? NoDeletions : NoPuts) continue;
            yield return new Event
            {
                Type = change.IsDeletion ? Event.Types.EventType.Delete : Event.Types.EventType.Put,
                Kv = change.IsDeletion
                    ? new KeyValue { Key = Ranges.ToBytes(change.Key), ModRevision = change.Entry.Revision }
                    : Ranges.ToKeyValue(change.Entry),
                PrevKv = change.Previous is { } before ? Ranges.ToKeyValue(before) : null,
            };
        }
    }

    public void HasTold(long revision)
    {
        List<TaskCompletionSource>? reached = null;
        lock (_gate)
        {
            if (revision <= _told) return;
            _told = revision;
            foreach (var (wanted, told) in _waiting)
            {
                if (wanted <= revision) (reached ??= []).Add(told);
            }

            if (reached is not null) _waiting.RemoveAll(one => one.Revision <= revision);
        }

        foreach (var told in reached ?? []) told.TrySetResult();
    }

    /// <summary>Completes when all changes up to a revision are in the stream's queue, or the watch has
    /// ended.</summary>
    public Task WaitForAsync(long revision)
    {
        lock (_gate)
        {
            if (revision <= _told) return Task.CompletedTask;
            var told = new TaskCompletionSource(TaskCreationOptions.RunContinuationsAsynchronously);
            _waiting.Add((revision, told));
            Requests.Ask(revision);
            return told.Task;
        }
    }

    public void Stop() => _stop.Cancel();

    /// <summary>Nothing waits for the watch any more.</summary>
    public void End() => HasTold(long.MaxValue);
}
