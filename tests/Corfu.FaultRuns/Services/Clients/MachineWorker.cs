using Corfu.FaultRuns.Clients;
using Corfu.StateMachines;

namespace Corfu.FaultRuns.Services.Clients;

/// <summary>A user of the machine, which sends its commands through a session until it has their results.</summary>
internal sealed class MachineWorker(ICorfuLog log, HistoryWriter history, string name) : IAsyncDisposable
{
    private Replica<CountMachine>? _replica;
    private MachineSession? _session;
    private long _number;
    private bool _isPending;

    public async Task<Replica<CountMachine>> OpenAsync() => _replica = await Replica<CountMachine>.OpenAsync(
        log, ServicesClient.MachineName, static () => new CountMachine(), ServicesClient.Machine);

    public ValueTask DisposeAsync() => _replica!.DisposeAsync();

    public async Task<bool> CommandAsync(Random random)
    {
        var replica = await ReplicaAsync();
        _session ??= await replica.OpenSessionAsync();
        if (!_isPending)
        {
            _number++;
            _isPending = true;
            history.Line($"command\t{name}\t{ServicesClient.Text(_number)}");
        }

        var outcome = await replica.Attach(_session.Id).ProposeAsync(
            _number, CountMachine.Encode(name, _number), answeredBelow: _number);
        if (outcome.HasResult)
        {
            var count = CountMachine.CountIn(outcome.Result);
            history.Line($"ran\t{name}\t{HistoryWriter.Now}\t{ServicesClient.Text(_number)}\t{count}");
            _isPending = false;
            return true;
        }

        // A session that is gone says nothing about the command, which is never sent again.
        if (outcome.Status != CommandStatus.SessionGone) return false;
        (_session, _isPending) = (null, false);
        return false;
    }

    public async Task<bool> QueryAsync(Random random)
    {
        var began = HistoryWriter.Now;
        var count = await (await ReplicaAsync()).QueryAsync(static machine => machine.Count);
        history.Line($"query\t{began}\t{HistoryWriter.Now}\t{ServicesClient.Text(count)}");
        return true;
    }

    private async Task<Replica<CountMachine>> ReplicaAsync()
    {
        if (!_replica!.Stopped.IsCompleted) return _replica;
        var reason = await _replica.Stopped;
        history.Line($"stopped\t{reason.GetType().Name}: {reason.Message.ReplaceLineEndings(" ")}");
        return await OpenAsync();
    }
}
