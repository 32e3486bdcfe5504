using Corfu.StateMachines.Records;
using Corfu.StateMachines.Replicas;

namespace Corfu.StateMachines;

/// <summary>A replica of a deterministic machine: it plays the commands of one stream of the log, proposes commands by
/// appending them, and keeps its state in memory. Any number of replicas may play a stream; none has to know the
/// others. Safe for concurrent use.</summary>
public sealed class Replica<TMachine> : IAsyncDisposable
    where TMachine : IStateMachine
{
    private readonly ReplicaCore _core;

    private Replica(ReplicaCore core) => _core = core;

    /// <summary>All entries below are played, or belong to other streams.</summary>
    public LogPosition Applied => _core.Loop.Applied;

    /// <summary>Completes when the replica has stopped, with the reason.</summary>
    public Task<Exception> Stopped => _core.Stopped;

    /// <summary>Why the newest snapshot that was due at this replica was not written; null: it was, or none was
    /// due.</summary>
    public Exception? SnapshotFailure => _core.SnapshotFailure;

    /// <summary>Loads the newest snapshot that can be read, and plays up to the log's tail.</summary>
    /// <param name="name">Names the machine in the log.</param>
    /// <param name="create">Makes an empty machine; called again when the replica goes on from a snapshot.</param>
    /// <exception cref="MachineMismatchException">The stream has another machine or version.</exception>
    /// <exception cref="MachineStoppedException">A command threw, or history is gone without a snapshot.</exception>
    /// <exception cref="CorfuException">The log cannot be reached.</exception>
    public static async ValueTask<Replica<TMachine>> OpenAsync(ICorfuLog log, string name, Func<TMachine> create,
        ReplicaOptions? options = null, CancellationToken cancellationToken = default)
    {
        ArgumentException.ThrowIfNullOrEmpty(name);
        var core = new ReplicaCore(log, name, () => create(), options ?? new ReplicaOptions());
        await core.OpenAsync(cancellationToken);
        core.Start();
        return new Replica<TMachine>(core);
    }

    /// <summary>Sends a command without a session. Concurrent commands are not ordered by call order. Once the log has
    /// acknowledged the command, the call waits for playback, however long it takes.</summary>
    /// <returns>The outcome. Cancelled after the command was sent, and after <see cref="ReplicaOptions.Attempts"/>, the
    /// command is in doubt: <see cref="ResolveAsync"/> says more, and to send it again may run it twice.</returns>
    /// <exception cref="ReplicaBusyException">Nothing was sent.</exception>
    /// <exception cref="MachineStoppedException">Nothing was sent.</exception>
    /// <exception cref="OperationCanceledException">Nothing was sent.</exception>
    /// <exception cref="CorfuException">The command is not in the log.</exception>
    public async ValueTask<CommandOutcome> ProposeAsync(
        ReadOnlyMemory<byte> command, CancellationToken cancellationToken = default) =>
        await _core.Proposals.ProposeAsync(
            new Command(Command.NoSession, 0, 0, command), cancellationToken);

    /// <summary>Looks for the fate of a command in doubt that this replica sent. Never sends it again.</summary>
    /// <returns>The outcome, which may still be in doubt. A session's always is: its command is sent again.</returns>
    /// <exception cref="MachineStoppedException">The replica stopped before it knew.</exception>
    public ValueTask<CommandOutcome> ResolveAsync(
        CommandOutcome inDoubt, CancellationToken cancellationToken = default) =>
        _core.ResolveAsync(inDoubt, cancellationToken);

    /// <summary>Opens a session, whose commands run once, however often and through whichever replica they are
    /// sent.</summary>
    /// <exception cref="LogUnavailableException">No session is known to be open after
    /// <see cref="ReplicaOptions.Attempts"/>. Some may be, and go as sessions that are not used.</exception>
    /// <exception cref="OperationCanceledException">A session may be open.</exception>
    public async ValueTask<MachineSession> OpenSessionAsync(CancellationToken cancellationToken = default)
    {
        for (var attempt = 1; attempt <= _core.Options.Attempts; attempt++)
        {
            // A session in doubt is left to be removed as one that is not used.
            var session = 0L;
            var outcome = await _core.Proposals.ProposeAsync(
                key =>
                {
                    var record = new OpenRecord(key);
                    session = record.Session;
                    return record;
                },
                cancellationToken);
            if (outcome.Place is not null) return new MachineSession(_core, session);
        }

        throw new LogUnavailableException("No session is known to be open; some may be.");
    }

    /// <summary>A session that was opened before, here or at another replica. Asks nothing: a session that is gone
    /// shows with its next command.</summary>
    public MachineSession Attach(long session)
    {
        ArgumentOutOfRangeException.ThrowIfNegative(session);
        return new MachineSession(_core, session);
    }

    /// <summary>Runs a query on the machine. It changes nothing and keeps nothing of the machine: commands run as soon
    /// as it has returned.</summary>
    /// <exception cref="MachineStoppedException">The replica has stopped.</exception>
    /// <exception cref="CorfuException">The log cannot be reached, or a page is damaged.</exception>
    public async ValueTask<T> QueryAsync<T>(Func<TMachine, T> query, QueryAs at = default,
        CancellationToken cancellationToken = default)
    {
        if (at.Position is { } position) await _core.Loop.PlayToAsync(position, cancellationToken);
        else if (!at.IsLocal) await _core.Loop.PlayToTailAsync(cancellationToken);
        return _core.Loop.Read(machine => query((TMachine)machine));
    }

    /// <summary>Writes a snapshot now, and reads it back.</summary>
    /// <returns>The snapshot has all entries below.</returns>
    public async ValueTask<LogPosition> SnapshotAsync(CancellationToken cancellationToken = default) =>
        await _core.SnapshotAsync(cancellationToken);

    /// <summary>Stops the replica. Commands that were sent are in doubt. A snapshot that is being written is given up,
    /// and may end after the call.</summary>
    public ValueTask DisposeAsync() => _core.DisposeAsync();
}
