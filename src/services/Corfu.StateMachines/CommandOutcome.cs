namespace Corfu.StateMachines;

/// <summary>The fate of a command.</summary>
public enum CommandStatus
{
    /// <summary>The command took effect; its result is here.</summary>
    Applied,

    /// <summary>The session's number had run before. The result is that of the run; this time nothing ran.</summary>
    AppliedBefore,

    /// <summary>The command, which has no session, took effect, and this replica did not compute its result: it went on
    /// from a snapshot. A command of a session is in doubt then.</summary>
    ResultLost,

    /// <summary>This attempt never takes effect. An attempt of the session's number before it may have.</summary>
    NotApplied,

    /// <summary>Not resolved: the command may have taken effect, or may yet.</summary>
    InDoubt,

    /// <summary>The session has answered for this number already. Nothing ran.</summary>
    Outdated,

    /// <summary>The session was closed, or removed as the one that was least recently used. Nothing ran; an attempt
    /// before this one may have.</summary>
    SessionGone,

    /// <summary>The session keeps as many results as it may: answer for some. Nothing ran.</summary>
    SessionFull,
}

/// <summary>The outcome of a command.</summary>
/// <param name="Result">Empty unless the command was applied, now or before.</param>
/// <param name="Place">The entry in which the command ran, where that is known.</param>
public sealed record CommandOutcome(CommandStatus Status, ReadOnlyMemory<byte> Result = default,
    LogPosition? Place = null)
{
    internal static readonly CommandOutcome NotApplied = new(CommandStatus.NotApplied);

    /// <summary>Whether the result is here.</summary>
    public bool HasResult => Status is CommandStatus.Applied or CommandStatus.AppliedBefore;

    /// <summary>The call that is in doubt, for the queue that made it; null of other outcomes.</summary>
    // Invariant: null of a session's. The session has sent several calls, and the fate of one is not the number's
    // (M1).
    internal object? Call { get; init; }

    /// <summary>The result, for callers that treat every other fate as an error.</summary>
    /// <exception cref="CommandOutcomeException">The command has no result here.</exception>
    public ReadOnlyMemory<byte> Require() => HasResult ? Result : throw new CommandOutcomeException(this);

    internal static CommandOutcome InDoubt(object call) => new(CommandStatus.InDoubt) { Call = call };

    internal static CommandOutcome Lost(LogPosition place) => new(CommandStatus.ResultLost, default, place);
}
