namespace Corfu.StateMachines;

/// <summary>Root of the exceptions of state machines.</summary>
public class MachineException(string message, Exception? inner = null) : CorfuException(message, inner);

/// <summary>The replica has stopped, for the reason in <see cref="Exception.InnerException"/>. Another replica, or a
/// new one, goes on from the log.</summary>
public sealed class MachineStoppedException(string message, Exception? inner = null)
    : MachineException(message, inner);

/// <summary>Another replica has computed other results from the same commands: the machine is not deterministic, or one
/// replica's memory is damaged. This replica has stopped.</summary>
public sealed class MachineDivergedException(LogPosition position, ulong own, ulong told)
    : MachineException($"Results below {position} differ: here {own:x16}, first told {told:x16}.")
{
    public LogPosition Position { get; } = position;

    public ulong OwnDigest { get; } = own;

    public ulong ToldDigest { get; } = told;
}

/// <summary>The stream belongs to another machine, or to another version of this one. At most a first record was
/// written, which came second and does not count.</summary>
public sealed class MachineMismatchException(string message) : MachineException(message);

/// <summary>As many commands wait as may. Nothing was sent.</summary>
public sealed class ReplicaBusyException(int waiting)
    : MachineException($"{waiting} commands wait to be sent, the most that may.");

/// <summary>A record or a snapshot of the machine's streams cannot be read.</summary>
public sealed class MachineFormatException(string message, Exception? inner = null) : MachineException(message, inner);

/// <summary>Thrown by <see cref="CommandOutcome.Require"/>.</summary>
public sealed class CommandOutcomeException(CommandOutcome outcome)
    : MachineException($"The command has no result here: {outcome.Status}.")
{
    public CommandOutcome Outcome { get; } = outcome;
}
