using Corfu.Simulation.Cluster;
using Corfu.StateMachines;

namespace Corfu.Simulation.Services;

/// <summary>All commands that replicas have run, and all answers that clients got. Looks at each as it comes.</summary>
internal sealed class MachineMonitor(ClusterMonitor monitor)
{
    // The command and its result at each place of the log, as the first replica ran it; and the place of each command.
    private readonly Dictionary<(long Offset, int Index), (MachineCommand Command, MachineState State)> _runs = [];
    private readonly Dictionary<MachineCommand, (long Offset, int Index)> _places = [];
    private readonly HashSet<MachineState> _states = [default];
    private readonly Dictionary<(long Offset, int Index), DateTimeOffset> _times = [];

    // Commands that never take effect, as their sender was told.
    private readonly HashSet<MachineCommand> _void = [];

    /// <summary>Commands that had run when the newest answer was given: the floor of every later query (M7).</summary>
    public long Answered { get; private set; }

    public void Mark(string situation) => monitor.Mark(situation);

    /// <summary>A replica has run a command.</summary>
    public void Ran(string replica, in CommandContext context, MachineCommand command, MachineState state)
    {
        var place = (context.Position.Offset, context.Index);
        // M1 to M3: every command once, wherever replicas began.
        if (!_places.TryAdd(command, place) && _places[command] != place)
            Once($"{replica}: {command} runs at {place}, and at {_places[command]}");
        if (_void.Contains(command)) Once($"{replica}: {command} runs at {place}, and was told as not applied");
        // M4, M5, M9: one sequence of states.
        if (!_runs.TryAdd(place, (command, state)) && _runs[place] != (command, state))
            Equal($"{replica}: {command} at {place} leads to {state}, and {_runs[place].Command} to "
                + $"{_runs[place].State} at another replica");
        if (!_times.TryAdd(place, context.Time) && _times[place] != context.Time)
            Equal($"{replica}: {command} at {place} runs at {context.Time:O}, and at {_times[place]:O} at another "
                + "replica");
        _states.Add(state);
    }

    /// <summary>A replica has run a command at an earlier time than the one before.</summary>
    public void RanBack(string replica, in CommandContext context, DateTimeOffset before) =>
        Equal($"{replica}: {context.Position} runs at {context.Time:O}, behind {before:O}");

    /// <summary>A replica goes on from a snapshot.</summary>
    public void Restored(string replica, MachineState state)
    {
        monitor.Mark("machine replica restored");
        if (!_states.Contains(state)) Equal($"{replica}: a snapshot holds {state}, which no replica had");
    }

    /// <summary>A client is told that its command ran.</summary>
    public void Ended(MachineCommand command, CommandOutcome outcome)
    {
        MachineState told = SimMachine.DecodeState(outcome.Result);
        if (outcome.Status == CommandStatus.AppliedBefore) monitor.Mark("machine duplicate suppressed");
        if (!_places.TryGetValue(command, out var place)) Once($"{command} was answered, and ran nowhere");
        else if (_runs[place].State != told) Once($"{command} was answered {told}, and its run gave {_runs[place]}");
        Answered = Math.Max(Answered, told.Count);
    }

    /// <summary>A client is told that the only attempt of its command never takes effect.</summary>
    public void Voided(MachineCommand command)
    {
        monitor.Mark("machine command void");
        _void.Add(command);
        if (_places.TryGetValue(command, out var place))
            Once($"{command} ran at {place}, and is told as not applied");
    }

    /// <param name="floor"><see cref="Answered"/> before the query began.</param>
    public void Queried(string replica, long count, long floor)
    {
        if (count < floor)
            monitor.Found(CheckerNames.MachineQuery, $"{replica}: a query shows {count} commands, and {floor} were "
                + "answered before");
    }

    public void Stopped(string replica, Exception reason) => Equal($"{replica} has stopped: {reason}");

    /// <summary>The last state, when nothing moves.</summary>
    public void Audit(MachineState last)
    {
        long count = _runs.Count;
        MachineState newest = _runs.Count == 0 ? default : _runs.MaxBy(static run => run.Key).Value.State;
        if (last != newest || last.Count != count)
            Equal($"the last state is {last} behind {count} commands, and was {newest} at another replica");
    }

    private void Once(string what) => monitor.Found(CheckerNames.MachineOnce, what);

    private void Equal(string what) => monitor.Found(CheckerNames.MachineEqual, what);
}
