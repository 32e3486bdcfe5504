using Corfu.StateMachines.Playback;
using Corfu.StateMachines.Proposals;
using Corfu.StateMachines.Records;
using Corfu.StateMachines.Snapshots;
using Corfu.StateMachines.State;

namespace Corfu.StateMachines.Replicas;

/// <summary>The parts of a replica, for a machine of any type.</summary>
internal sealed class ReplicaCore : IPlaybackListener
{
    private readonly StreamId _stream;
    private readonly ICorfuLog _log;
    private readonly ReplicaOptions _options;
    private readonly CancellationTokenSource _stopping = new();
    private readonly TaskCompletionSource<Exception> _stopped =
        new(TaskCreationOptions.RunContinuationsAsynchronously);
    private readonly SnapshotDuty _snapshots;
    private readonly Guid _id;
    private Task _running = Task.CompletedTask;

    public ReplicaCore(ICorfuLog log, string name, Func<IStateMachine> create, ReplicaOptions options)
    {
        options.Check();
        (_log, _options) = (log, options);
        _stream = StreamId.FromName($"machine/{name}");
        _id = options.Entropy.NewGuid();
        var store = new SnapshotStore(log, name, options);
        Loop = new PlaybackLoop(log, _stream, options, create, new SnapshotLoader(store, create)) { Listener = this };
        Proposals = new ProposalQueue(log, _stream, _id, options, () => Loop.Played, Loop.Wake);
        _snapshots = new SnapshotDuty(store, Proposals, options, _stopping.Token);
    }

    public PlaybackLoop Loop { get; }

    public ProposalQueue Proposals { get; }

    public ReplicaOptions Options => _options;

    public Task<Exception> Stopped => _stopped.Task;

    public Exception? SnapshotFailure => _snapshots.Failure;

    /// <summary>Loads, plays up to the tail, and makes sure that the stream has this machine.</summary>
    public async Task OpenAsync(CancellationToken cancellationToken)
    {
        await Loop.OpenAsync(cancellationToken);
        for (var attempt = 1; Loop.Configured is null; attempt++)
        {
            if (attempt > _options.Attempts)
                throw new LogUnavailableException("The machine's first record does not come into the log.");
            var configure = new ConfigureRecord(
                _options.Machine, _options.Version, _options.MaxSessions, _options.MaxResultBytes);

            // Whatever became of it: playback says which Configure is the first.
            await _log.AppendAsync(RecordCodec.Write(configure), [_stream], cancellationToken);
            await Loop.PlayToTailOrReloadAsync(cancellationToken);
        }

        var (machine, version) = (Loop.Configured.Machine, Loop.Configured.Version);
        if (machine != _options.Machine || version != _options.Version)
            throw new MachineMismatchException($"The stream is of '{machine}' version {version}, and not of "
                + $"'{_options.Machine}' version {_options.Version}.");
    }

    public void Start() => _running = _options.Loops.RunAsync(Loop.RunAsync);

    public async Task<LogPosition> SnapshotAsync(CancellationToken cancellationToken) =>
        await _snapshots.WriteAsync(await Loop.CaptureAsync(cancellationToken), cancellationToken);

    public async ValueTask<CommandOutcome> ResolveAsync(
        CommandOutcome inDoubt, CancellationToken cancellationToken)
    {
        if (inDoubt.Call is not CommandCall call) return inDoubt;
        if (call.Owner != Proposals)
            throw new ArgumentException("Another replica sent the command.", nameof(inDoubt));
        for (var isSecond = false; ; isSecond = true)
        {
            if (await Proposals.ResolveAsync(call, cancellationToken) is { } found) return found;
            if (isSecond) return inDoubt;
            await Loop.PlayToAsync(call.Proposal!.Append!.Value.Position, cancellationToken);
        }
    }

    public async ValueTask DisposeAsync()
    {
        Loop.Stop(new MachineStoppedException("The replica was disposed."));
        await _running;
    }

    void IPlaybackListener.OnPlayed(in PlayedEntry entry, MachineState state)
    {
        Proposals.OnPlayed(entry);
        if (!entry.IsCounted) return;
        _snapshots.OnIntent(entry.Place);
        if (entry.Key?.Replica != _id) return;
        try
        {
            _snapshots.Start(state.Capture(), entry.Place);
        }
        catch (Exception e)
        {
            _snapshots.Fail(e);
        }
    }

    void IPlaybackListener.OnPlayedUntil(LogPosition end) => Proposals.OnPlayedUntil(end);

    void IPlaybackListener.OnLoaded(MachineState state)
    {
        Proposals.OnPassedOver(state.Played.End);
        _snapshots.OnLoaded(state);
    }

    void IPlaybackListener.OnTurn(MachineState state) => _snapshots.OnTurn(state);

    void IPlaybackListener.OnStopped(Exception reason)
    {
        Proposals.Stop(reason);
        _stopping.Cancel();
        _stopped.TrySetResult(reason);
    }
}
