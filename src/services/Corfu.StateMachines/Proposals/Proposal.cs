using Corfu.StateMachines.Records;
using Corfu.StateMachines.State;

namespace Corfu.StateMachines.Proposals;

/// <summary>A record of this replica on its way through the log, with the calls that wait for its fate.</summary>
internal sealed class Proposal(
    long sequence, ImmutableArray<CommandCall> calls, Func<ProposalKey, PlayedMark, MachineRecord> record)
{
    public long Sequence => sequence;

    public ImmutableArray<CommandCall> Calls => calls;

    /// <summary>Null while the append runs.</summary>
    public AppendResult? Append { get; set; }

    public MachineRecord Record(Guid replica, PlayedMark mark) => record(new ProposalKey(replica, sequence), mark);

    /// <summary>Each call's own outcome.</summary>
    public void Decide(ImmutableArray<CommandOutcome> outcomes)
    {
        for (var i = 0; i < calls.Length; i++) calls[i].Decide(outcomes[i]);
    }

    public void Decide(CommandOutcome outcome)
    {
        foreach (var call in calls) call.Decide(outcome);
    }

    /// <summary>The entry is in the log, and this replica does not play it.</summary>
    public void Lose(LogPosition place)
    {
        foreach (var call in calls) call.Lose(place);
    }

    /// <summary>The calls stop waiting; their fate may be found later.</summary>
    public void Doubt()
    {
        foreach (var call in calls) call.Doubt();
    }

    /// <summary>Nothing is in the log.</summary>
    public void Fail(Exception reason)
    {
        foreach (var call in calls) call.Fail(reason);
    }
}

/// <summary>A caller of a proposal.</summary>
/// <param name="owner">The queue that knows its fate.</param>
internal sealed class CommandCall(ProposalQueue owner, Command command)
{
    private readonly TaskCompletionSource<CommandOutcome> _answer =
        new(TaskCreationOptions.RunContinuationsAsynchronously);

    public ProposalQueue Owner => owner;

    public Command Command => command;

    public Task<CommandOutcome> Answer => _answer.Task;

    /// <summary>Null: not sent.</summary>
    public Proposal? Proposal { get; set; }

    /// <summary>The fate, once it is known for good; it never changes. The caller may have been told before that it was
    /// in doubt.</summary>
    public CommandOutcome? Decided { get; private set; }

    public void Decide(CommandOutcome outcome)
    {
        Decided ??= outcome;
        _answer.TrySetResult(Decided);
    }

    // A session's command has had no effect if its session was gone, full or had the number: playback alone knows (M8).
    public void Lose(LogPosition place) =>
        Decide(Command.HasSession ? CommandOutcome.InDoubt(this) : CommandOutcome.Lost(place));

    public void Doubt() => _answer.TrySetResult(CommandOutcome.InDoubt(this));

    public void Fail(Exception reason) => _answer.TrySetException(reason);

    public void Cancel(CancellationToken cancellationToken) => _answer.TrySetCanceled(cancellationToken);
}
