using Salus.Coordination.Rules;
using Salus.Log;

namespace Salus.Client.Tests.Support;

/// <summary>A volume on a log that plays by the real rules. All processes see each change at once.</summary>
internal sealed class FakeVolumeLog
{
    private readonly List<(long After, TaskCompletionSource<VolumeState> Waiter)> _waiters = [];
    private readonly VirtualTime _time;
    private FakeLease? _holder;
    private long _token;

    public FakeVolumeLog(VirtualTime time, VolumeGeometry geometry, VolumeId id,
        ImmutableArray<ImmutableArray<RegionMember>> members)
    {
        _time = time;
        Take(RegionRules.Create(State, id, geometry));
        Take(RegionRules.Place(State, 0, members));
    }

    public VolumeState State { get; private set; } = VolumeState.Empty;

    public NodeBookView Nodes { get; set; } = NodeBookView.Empty;

    /// <summary>No process reaches the log to ask for what is new.</summary>
    public bool IsUnreachable { get; set; }

    /// <summary>The volume has changed: regions act.</summary>
    public event Action<VolumeState>? Changed;

    public string? Take(VolumeRuling ruling)
    {
        if (ruling.Refusal is { } refusal) return refusal;
        if (ReferenceEquals(State, ruling.State)) return null;
        State = ruling.State;
        for (var i = _waiters.Count - 1; i >= 0; i--)
        {
            if (_waiters[i].After >= State.Revision) continue;
            _waiters[i].Waiter.TrySetResult(State);
            _waiters.RemoveAt(i);
        }

        Changed?.Invoke(State);
        return null;
    }

    /// <summary>The view of one process; its calls end with the process.</summary>
    public IVolumeLog For(CancellationToken dead) => new View(this, dead);

    /// <summary>The holder's lease has ended, without a word from its process.</summary>
    public void EndLease()
    {
        _holder?.End();
        _holder = null;
    }

    private Task<VolumeState> WaitAsync(long after, CancellationToken cancellationToken)
    {
        if (State.Revision > after) return Task.FromResult(State);
        var waiter = new TaskCompletionSource<VolumeState>(TaskCreationOptions.RunContinuationsAsynchronously);
        _waiters.Add((after, waiter));
        return waiter.Task.WaitOrCancelAsync(cancellationToken);
    }

    private async Task<IWriterLease> AcquireAsync(CancellationToken cancellationToken)
    {
        while (_holder is not null) await Task.Delay(TimeSpan.FromMilliseconds(100), _time, cancellationToken);
        return _holder = new FakeLease(this, ++_token);
    }

    private sealed class FakeLease(FakeVolumeLog log, long token) : IWriterLease
    {
        private readonly CancellationTokenSource _lost = new();

        public long Token => token;

        public bool IsHeld => !_lost.IsCancellationRequested;

        public CancellationToken Lost => _lost.Token;

        public void End() => _lost.Cancel();

        public ValueTask DisposeAsync()
        {
            End();
            if (log._holder == this) log._holder = null;
            return ValueTask.CompletedTask;
        }
    }

    private sealed class View(FakeVolumeLog log, CancellationToken dead) : IVolumeLog
    {
        public VolumeId Volume => log.State.Head.Id;

        public VolumeState State => log.State;

        public NodeBookView Nodes => log.Nodes;

        public async ValueTask<VolumeState> RefreshAsync(CancellationToken cancellationToken)
        {
            await StepAsync(cancellationToken);
            return log.IsUnreachable ? throw new LogUnavailableException("No way to the log.") : log.State;
        }

        public async ValueTask<VolumeState> WaitAsync(long after, CancellationToken cancellationToken)
        {
            using var either = CancellationTokenSource.CreateLinkedTokenSource(cancellationToken, dead);
            return await log.WaitAsync(after, either.Token);
        }

        public async ValueTask<IWriterLease> AcquireAsync(
            TimeSpan timeToLive, string owner, CancellationToken cancellationToken)
        {
            await StepAsync(cancellationToken);
            return await log.AcquireAsync(cancellationToken);
        }

        public async ValueTask<RunStart> BeginRunAsync(
            long token, Incarnation driver, CancellationToken cancellationToken)
        {
            await StepAsync(cancellationToken);
            var refusal = log.Take(VolumeRules.BeginRun(log.State, token, driver));
            return new RunStart(log.State.Head.Run, refusal);
        }

        public ValueTask<string?> OpenedAsync(
            long run, Hash128 root, ImmutableArray<long> generations, CancellationToken cancellationToken) =>
            DoAsync(state => VolumeRules.Opened(state, run, root, generations), cancellationToken);

        public ValueTask<string?> LackAsync(long run, ImmutableArray<int> regions, ShownBatch prefix,
            ImmutableArray<long> generations, CancellationToken cancellationToken) =>
            DoAsync(state => VolumeRules.Lack(state, run, regions, prefix, generations), cancellationToken);

        public ValueTask<string?> AdmitAsync(
            int region, long generation, long run, CancellationToken cancellationToken) =>
            DoAsync(state => RegionRules.Admit(state, region, new Epoch(generation), run), cancellationToken);

        public ValueTask<string?> ReplaceAsync(int region, long generation, ImmutableArray<RegionMember> members,
            CancellationToken cancellationToken) =>
            DoAsync(state => RegionRules.Replace(state, region, new Epoch(generation), members), cancellationToken);

        public ValueTask<string?> NoteAsync(
            long run, CommitProof proof, Hash128 root, long stable, CancellationToken cancellationToken) =>
            DoAsync(state => VolumeRules.Note(state, run, proof, root, stable), cancellationToken);

        public ValueTask<string?> RecordSnapshotAsync(long run, string name, BatchName marker, Hash128 root,
            CommitProof proof, CancellationToken cancellationToken) =>
            DoAsync(state => SnapshotRules.Record(state, run, name, marker, root, proof), cancellationToken);

        public ValueTask<string?> SuspectAsync(Suspicion suspicion, CancellationToken cancellationToken) =>
            DoAsync(state => VolumeRules.Suspect(state, suspicion), cancellationToken);

        private async ValueTask<string?> DoAsync(
            Func<VolumeState, VolumeRuling> rule, CancellationToken cancellationToken)
        {
            await StepAsync(cancellationToken);
            return log.Take(rule(log.State));
        }

        // A process that has died says nothing more.
        private async ValueTask StepAsync(CancellationToken cancellationToken)
        {
            using var either = CancellationTokenSource.CreateLinkedTokenSource(cancellationToken, dead);
            await Task.Delay(TimeSpan.FromMilliseconds(1), log._time, either.Token);
        }
    }
}
