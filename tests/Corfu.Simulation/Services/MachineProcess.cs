using Corfu.Simulation.Cluster;
using Corfu.Simulation.Kernel;
using Corfu.Simulation.Workload;
using Corfu.StateMachines;

namespace Corfu.Simulation.Services;

/// <summary>A process with a replica, which sends for users.</summary>
internal sealed class MachineProcess(
    SimClientNode node, MachineUser[] users, MachineMonitor monitor, ReplicaOptions options) : IServiceProcess
{
    private const double ShareOfSnapshots = 0.01;
    private const double ShareOfQueries = 0.25;
    private const double ShareOfSessionless = 0.1;
    private const double ShareOfClosing = 0.02;

    // A user that gives up waiting while its process still sends.
    private const double ShareOfTwoSenders = 0.1;

    private readonly string _name = $"{node.Name} {node.Process!.Id}";
    private Replica<SimMachine> _replica = null!;
    private long _loose;

    public async Task OpenAsync() => _replica = await PatientlyAsync(
        async () => await Replica<SimMachine>.OpenAsync(
            node.Log!, "simulated", () => new SimMachine(monitor, _name), options));

    public async Task StepAsync(SimRandom random)
    {
        if (_replica.Stopped.IsCompleted)
        {
            monitor.Stopped(_name, await _replica.Stopped);
            await _replica.DisposeAsync();
            await OpenAsync();
        }

        try
        {
            if (random.Chance(ShareOfSnapshots)) await SnapshotAsync();
            else if (random.Chance(ShareOfQueries)) await QueryAsync();
            else if (random.Chance(ShareOfSessionless)) await ProposeLooseAsync();
            else await ProposeAsync(random);
        }
        catch (Exception e) when (LogRefusal.Is(e) || e is MachineStoppedException)
        {
            // The next step looks why the replica has stopped.
            monitor.Mark("operation given up");
        }
    }

    public async Task AuditAsync()
    {
        MachineState last = await PatientlyAsync(
            async () => await _replica.QueryAsync(static machine => machine.State));
        monitor.Audit(last);
    }

    public ValueTask DisposeAsync() => _replica.DisposeAsync();

    private async Task QueryAsync()
    {
        long floor = monitor.Answered;
        monitor.Queried(_name, await _replica.QueryAsync(static machine => machine.Count), floor);
    }

    private async Task SnapshotAsync()
    {
        try
        {
            await _replica.SnapshotAsync();
            monitor.Mark("machine snapshot asked for");
        }
        catch (Exception e) when (e is LogTrimmedException or MachineFormatException)
        {
            // Others have written newer ones meanwhile.
            monitor.Mark("machine snapshot trimmed");
        }
        catch (AppendUnknownException)
        {
            monitor.Mark("machine snapshot in doubt");
        }
    }

    // A command without a session is never sent again.
    private async Task ProposeLooseAsync()
    {
        var command = new MachineCommand(-1 - node.Process!.Id, ++_loose);
        CommandOutcome outcome;
        try
        {
            outcome = await _replica.ProposeAsync(SimMachine.Encode(command));
            if (outcome.Status == CommandStatus.InDoubt) outcome = await _replica.ResolveAsync(outcome);
        }
        catch (Exception e) when (LogRefusal.Is(e))
        {
            monitor.Voided(command);
            throw;
        }

        if (outcome.HasResult) monitor.Ended(command, outcome);
        else if (outcome.Status == CommandStatus.NotApplied) monitor.Voided(command);
    }

    private async Task ProposeAsync(SimRandom random)
    {
        MachineUser user = random.Pick(users);
        if (!user.IsFree)
        {
            if (!user.IsPending || !random.Chance(ShareOfTwoSenders)) return;
            monitor.Mark("machine command sent by two");
        }

        user.Sender = node.Process;
        try
        {
            await ProposeAsync(user, random);
        }
        finally
        {
            if (user.Sender == node.Process) user.Sender = null;
        }
    }

    private async Task ProposeAsync(MachineUser user, SimRandom random)
    {
        if (user.Session is null)
        {
            MachineSession opened = await _replica.OpenSessionAsync();
            // Another process may have opened one meanwhile.
            if (user.Session is not null) return;
            user.Session = opened.Id;
        }

        if (user.Last is not null && user.Last != node.Process) monitor.Mark("machine session moved");
        user.Last = node.Process;
        var (id, command) = (user.Session.Value, user.Next());
        var outcome = await SendAsync(user, id, command);
        if (outcome.HasResult)
        {
            monitor.Ended(command, outcome);
            user.End(command.Number);
        }
        else if (outcome.Status == CommandStatus.NotApplied && user.Number == command.Number && user.Calls == 1)
        {
            monitor.Voided(command);
            user.End(command.Number);
        }
        else if (outcome.Status == CommandStatus.SessionGone)
        {
            monitor.Mark("machine session gone");
            if (user.Session == id) user.Session = null;
            // Whether an earlier attempt ran is not known.
            user.End(command.Number);
        }
        else if (outcome.Status == CommandStatus.InDoubt) monitor.Mark("machine command in doubt");

        if (user.IsPending || user.Session != id || !random.Chance(ShareOfClosing)) return;
        user.Session = null;
        await _replica.Attach(id).CloseAsync();
    }

    // Numbers below have their answers, or will never be asked for.
    private async Task<CommandOutcome> SendAsync(MachineUser user, long session, MachineCommand command)
    {
        try
        {
            return await _replica.Attach(session)
                .ProposeAsync(command.Number, SimMachine.Encode(command), answeredBelow: command.Number);
        }
        catch (Exception e) when (LogRefusal.Is(e))
        {
            return new CommandOutcome(CommandStatus.NotApplied);
        }
    }

    private async Task<T> PatientlyAsync<T>(Func<Task<T>> work)
    {
        while (true)
        {
            try
            {
                return await work();
            }
            catch (Exception e) when (LogRefusal.Is(e))
            {
                // Faults end, or the process does.
            }
            catch (MachineException e)
            {
                monitor.Stopped(_name, e);
                throw;
            }
        }
    }
}
