using Corfu.StateMachines.Records;
using Corfu.StateMachines.Replicas;

namespace Corfu.StateMachines;

/// <summary>
/// A session at one replica. The client numbers its commands. A number runs once: sent again, here or through
/// <see cref="Replica{TMachine}.Attach"/> at another replica, it gets the result of its run. Several commands may be
/// sent at once; they run in the order in which the log has them.
/// </summary>
public sealed class MachineSession
{
    private static readonly TimeSpan s_pause = TimeSpan.FromMilliseconds(20);
    private static readonly TimeSpan s_longestPause = TimeSpan.FromSeconds(1);

    private readonly ReplicaCore _core;

    internal MachineSession(ReplicaCore core, long id) => (_core, Id) = (core, id);

    /// <summary>Names the session at every replica.</summary>
    public long Id { get; }

    /// <summary>Sends a command, and sends it again while it is in doubt.</summary>
    /// <param name="number">The client's number of the command: at least 0, for one command alone.</param>
    /// <param name="answeredBelow">The client has the answers of all numbers below, and sends none of them any more:
    /// their results are forgotten. At most the number.</param>
    /// <returns>In doubt after <see cref="ReplicaOptions.Attempts"/>, or when the call is cancelled after the command
    /// was sent: the client sends it again, here or elsewhere. Once the log has acknowledged an attempt, the call waits
    /// for playback, however long it takes.</returns>
    /// <exception cref="CorfuException">No attempt of this call is in the log.</exception>
    public async ValueTask<CommandOutcome> ProposeAsync(long number, ReadOnlyMemory<byte> command, long answeredBelow,
        CancellationToken cancellationToken = default)
    {
        ArgumentOutOfRangeException.ThrowIfNegative(answeredBelow);
        ArgumentOutOfRangeException.ThrowIfLessThan(number, answeredBelow);
        CommandOutcome? doubt = null;
        for (var attempt = 1; ; attempt++)
        {
            try
            {
                var outcome = await _core.Proposals.ProposeAsync(
                    new Command(Id, number, answeredBelow, command), cancellationToken);
                if (outcome.Status == CommandStatus.InDoubt) doubt = outcome with { Call = null };
                else if (outcome.Status is not CommandStatus.NotApplied) return outcome;
                if (attempt == _core.Options.Attempts || cancellationToken.IsCancellationRequested)
                    return doubt ?? outcome;
                await Task.Delay(
                    BackOff.After(attempt, s_pause, s_longestPause, _core.Options.Entropy), _core.Options.Time,
                    cancellationToken);
            }
            catch (Exception e) when (doubt is not null && e is CorfuException or OperationCanceledException)
            {
                // This attempt is not in the log; one before it may be.
                return doubt!;
            }
        }
    }

    /// <summary>Ends the session. Commands that are sent afterwards get
    /// <see cref="CommandStatus.SessionGone"/>.</summary>
    /// <returns>Whether that is in the log for certain; a session that is not closed goes when it was not used for
    /// longest.</returns>
    public async ValueTask<bool> CloseAsync(CancellationToken cancellationToken = default)
    {
        var outcome = await _core.Proposals.ProposeAsync(key => new CloseRecord(key, Id), cancellationToken);
        return outcome.Status is CommandStatus.Applied or CommandStatus.ResultLost;
    }
}
