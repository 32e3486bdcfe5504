using Salus.Coordination.Rules;
using Salus.Log;
using Salus.Region.Tests.Support;

namespace Salus.Region.Tests.Mounted;

/// <summary>The log of a test, as a driver sees it.</summary>
internal sealed class MapVolumeLog(TestMap map) : IVolumeLog
{
    private static long s_tokens;

    public VolumeId Volume => map.State.Head.Id;

    public VolumeState State => map.State;

    public NodeBookView Nodes => map.Nodes;

    public async ValueTask<VolumeState> RefreshAsync(CancellationToken cancellationToken)
    {
        await Task.Yield();
        return map.State;
    }

    public async ValueTask<VolumeState> WaitAsync(long after, CancellationToken cancellationToken)
    {
        while (map.State.Revision <= after) await Task.Delay(2, cancellationToken);
        return map.State;
    }

    public ValueTask<IWriterLease> AcquireAsync(
        TimeSpan timeToLive, string owner, CancellationToken cancellationToken) =>
        ValueTask.FromResult<IWriterLease>(new TestLease(Interlocked.Increment(ref s_tokens)));

    public ValueTask<RunStart> BeginRunAsync(long token, Incarnation driver, CancellationToken cancellationToken)
    {
        var refusal = map.Change(state => VolumeRules.BeginRun(state, token, driver));
        return ValueTask.FromResult(new RunStart(map.State.Head.Run, refusal));
    }

    public ValueTask<string?> OpenedAsync(
        long run, Hash128 root, ImmutableArray<long> generations, CancellationToken cancellationToken) =>
        Change(state => VolumeRules.Opened(state, run, root, generations));

    public ValueTask<string?> LackAsync(long run, ImmutableArray<int> regions, ShownBatch prefix,
        ImmutableArray<long> generations, CancellationToken cancellationToken) =>
        Change(state => VolumeRules.Lack(state, run, regions, prefix, generations));

    public ValueTask<string?> AdmitAsync(
        int region, long generation, long run, CancellationToken cancellationToken) =>
        Change(state => RegionRules.Admit(state, region, new Epoch(generation), run));

    public ValueTask<string?> ReplaceAsync(int region, long generation, ImmutableArray<RegionMember> members,
        CancellationToken cancellationToken) =>
        Change(state => RegionRules.Replace(state, region, new Epoch(generation), members));

    public ValueTask<string?> NoteAsync(
        long run, CommitProof proof, Hash128 root, long stable, CancellationToken cancellationToken) =>
        Change(state => VolumeRules.Note(state, run, proof, root, stable));

    public ValueTask<string?> RecordSnapshotAsync(long run, string name, BatchName marker, Hash128 root,
        CommitProof proof, CancellationToken cancellationToken) =>
        Change(state => SnapshotRules.Record(state, run, name, marker, root, proof));

    public ValueTask<string?> SuspectAsync(Suspicion suspicion, CancellationToken cancellationToken) =>
        Change(state => VolumeRules.Suspect(state, suspicion));

    private ValueTask<string?> Change(Func<VolumeState, VolumeRuling> rule) => ValueTask.FromResult(map.Change(rule));

    private sealed class TestLease(long token) : IWriterLease
    {
        private readonly CancellationTokenSource _lost = new();

        public long Token => token;

        public bool IsHeld => !_lost.IsCancellationRequested;

        public CancellationToken Lost => _lost.Token;

        public ValueTask DisposeAsync()
        {
            _lost.Cancel();
            return ValueTask.CompletedTask;
        }
    }
}
