using System.Globalization;
using NamenodeSample.Serving;
using NamenodeSample.Tree;

namespace NamenodeSample.Run;

/// <summary>Clients change the namespace while the active namenode is killed or stopped; the tree is compared with a
/// model after each fault, and at the end as a new namenode reads it.</summary>
internal sealed class NamenodeRun : IAsyncDisposable
{
    private const string Observer = "observer";

    // A namenode that comes back finds out by the next edit.
    private static readonly TimeSpan s_return = TimeSpan.FromSeconds(30);

    // Some leases, on a machine that is busy with something else.
    private static readonly TimeSpan s_takeOver = TimeSpan.FromSeconds(60);
    private static readonly TimeSpan s_poll = TimeSpan.FromMilliseconds(5);

    private readonly RunPlan _plan;
    private readonly Namenodes _namenodes;
    private readonly History _history = new();
    private readonly Judge _judge = new();
    private readonly Pace _pace = new();
    private readonly Client _observer;
    private int _fenced;

    public NamenodeRun(RunPlan plan, string connection)
    {
        (_plan, _namenodes) = (plan, new Namenodes(connection, plan.Lease));
        _observer = new Client(Observer, _namenodes, _history);
    }

    /// <returns>Whether all is as it must be.</returns>
    public async Task<bool> RunAsync(CancellationToken cancellationToken)
    {
        await _namenodes.StartAsync(RunPlan.Namenodes, cancellationToken);
        await TellAsync($"{RunPlan.Namenodes} namenodes, {_plan.Clients} clients: one namenode is elected and writes "
            + "edits to a ledger, the others follow it");
        using var stop = CancellationTokenSource.CreateLinkedTokenSource(cancellationToken);
        Task[] running =
        [
            .. Enumerable.Range(0, _plan.Clients).Select(client => new Client($"client-{client}", _namenodes, _history)
                .RunAsync(new Random((_plan.Seed * 1_000) + client), _pace, stop.Token)),
            DisturbAsync(stop.Token),
        ];
        try
        {
            // The first failure ends the rest.
            await foreach (Task ended in Task.WhenEach(running)) await ended;
        }
        finally
        {
            await stop.CancelAsync();
            await Task.WhenAll(running).ConfigureAwait(ConfigureAwaitOptions.SuppressThrowing);
        }

        if (_judge.IsMatch) await RebootAsync(cancellationToken);
        foreach (string fault in _judge.Faults) await TellAsync($"wrong: {fault}");
        bool isRight = _judge.IsMatch && _fenced == _plan.Stops && _pace.Ended == _plan.Operations;
        string match = isRight ? "yes" : "no";
        await TellAsync($"operations {_pace.Ended} lost={_judge.Lost} fenced={_fenced} match={match}");
        return isRight;
    }

    public ValueTask DisposeAsync() => _namenodes.DisposeAsync();

    private async Task DisturbAsync(CancellationToken cancellationToken)
    {
        await _observer.DoAsync(new Operation(Verb.Mkdir, "/observer"), cancellationToken);
        for (var fault = 0; fault < _plan.Faults && _judge.IsMatch; fault++)
        {
            _pace.LetOn(_plan.AnsweredBefore(fault + 1));
            await WaitAsync(_plan.AnsweredBefore(fault), cancellationToken);
            CallProcess? active;
            while ((active = _namenodes.Find(_history.By)) is null || active.Ended.IsCompleted)
            {
                await _namenodes.MendAsync(cancellationToken);
                await _observer.DoAsync(new Operation(Verb.Status, "/observer"), cancellationToken);
            }

            // Clients go on while the fault is dealt with, and have something left to do when the next one comes.
            _pace.LetOn((_plan.AnsweredBefore(fault) + _plan.AnsweredBefore(fault + 1)) / 2);
            if (_plan.IsStop(fault)) await StopAsync(active, fault, cancellationToken);
            else await KillAsync(active, fault, cancellationToken);
            await _namenodes.ReplaceAsync(active, cancellationToken);
            await CheckAsync(cancellationToken);
        }

        if (_judge.IsMatch)
        {
            _pace.LetOn(_plan.Operations);
            await WaitAsync(_plan.Operations, cancellationToken);
            await CheckAsync(cancellationToken);
        }

        _pace.End();
    }

    private async Task KillAsync(CallProcess active, int fault, CancellationToken cancellationToken)
    {
        int answered = _pace.Ended;
        await active.KillAsync();
        TimeSpan outage = await MeasureAsync(fault, cancellationToken);
        await TellAsync($"{active.Name} killed behind {answered} operations: no service for {Seconds(outage)}");
    }

    private async Task StopAsync(CallProcess active, int fault, CancellationToken cancellationToken)
    {
        int answered = _pace.Ended;
        await active.StopAsync(cancellationToken);
        TimeSpan outage = await MeasureAsync(fault, cancellationToken);
        // Both wait in the pipe of the stopped namenode. It must not read the tree as it was, nor do the change. The
        // read is first: behind the change it would fail with the change.
        Func<Task> look = AskStray(active, $"look-{fault}", new Operation(Verb.Status, "/observer"), cancellationToken);
        Func<Task> change = AskStray(
            active, $"stray-{fault}", new Operation(Verb.Mkdir, $"/stray-{fault}"), cancellationToken);
        await TellAsync($"{active.Name} stopped behind {answered} operations: no service for {Seconds(outage)}");
        active.Continue();
        if (await Task.WhenAny(active.Ended, Task.Delay(s_return, cancellationToken)) == active.Ended)
        {
            string why = active.LastWords ?? "it does not say why";
            await TellAsync($"{active.Name} came back, and ended: {why}");
            if (why.StartsWith(NamenodeMode.Fenced, StringComparison.Ordinal)) _fenced++;
        }
        else
        {
            await TellAsync($"{active.Name} came back, and goes on");
            await active.KillAsync();
        }

        await look();
        await change();
    }

    /// <summary>Asks a stopped namenode.</summary>
    /// <returns>Takes the answer, if there is one: it counts as any other.</returns>
    private Func<Task> AskStray(
        CallProcess stopped, string client, Operation operation, CancellationToken cancellationToken)
    {
        long known = _history.Highest;
        Task<string?> answer = stopped.AskAsync($"do {client} 1 {operation}", cancellationToken);
        return async () =>
        {
            if (await answer is { } text && text != Answers.Standby)
                _history.Add(Client.Parse(text, client, 1, operation, known, stopped.Name), wasInDoubt: false);
        };
    }

    /// <summary>The time until another namenode has done an operation.</summary>
    private async Task<TimeSpan> MeasureAsync(int fault, CancellationToken cancellationToken)
    {
        long began = TimeProvider.System.GetTimestamp();
        using var late = CancellationTokenSource.CreateLinkedTokenSource(cancellationToken);
        late.CancelAfter(s_takeOver);
        try
        {
            await _observer.DoAsync(new Operation(Verb.Mkdir, $"/observer/{fault}"), late.Token);
            return TimeProvider.System.GetElapsedTime(began);
        }
        catch (OperationCanceledException) when (!cancellationToken.IsCancellationRequested)
        {
            throw new RunException($"No namenode has taken over within {s_takeOver.TotalSeconds:0} s: "
                + string.Join("; ", _namenodes.All.Select(static one => $"{one.Name} {one.LastWords ?? "runs"}")));
        }
    }

    private async Task WaitAsync(int answered, CancellationToken cancellationToken)
    {
        while (_pace.Ended < answered)
        {
            await Task.Delay(s_poll, cancellationToken);
            await _namenodes.MendAsync(cancellationToken);
        }
    }

    /// <summary>Compares all namenodes with the model, while clients wait.</summary>
    private async Task CheckAsync(CancellationToken cancellationToken)
    {
        await _pace.HoldAsync(cancellationToken);
        await _namenodes.MendAsync(cancellationToken);
        _judge.Play(_history.Take());
        var digests = new HashSet<string>();
        foreach (CallProcess namenode in _namenodes.All)
            digests.Add(await CompareAsync(namenode, cancellationToken));
        await TellAsync($"  {_judge.Paths} paths at edit {_judge.LastId}, digest {string.Join(", ", digests)}; "
            + $"in doubt so far {_history.InDoubt}, of which {_history.InDoubtDone} were done");
    }

    /// <summary>The journal alone must give the tree.</summary>
    private async Task RebootAsync(CancellationToken cancellationToken)
    {
        await _namenodes.DisposeAsync();
        await _namenodes.StartAsync(1, cancellationToken);
        string digest = await CompareAsync(_namenodes[0], cancellationToken);
        await TellAsync($"all namenodes ended; {_namenodes[0].Name} has read image and edits, digest {digest}");
    }

    private async Task<string> CompareAsync(CallProcess namenode, CancellationToken cancellationToken)
    {
        string? printed = await namenode.AskAsync(
            string.Create(CultureInfo.InvariantCulture, $"print {_judge.LastId}"), cancellationToken);
        return printed is null
            ? throw new RunException($"{namenode.Name} has ended: {namenode.LastWords}")
            : _judge.Compare(namenode.Name, Judge.Decode(printed));
    }

    private static string Seconds(TimeSpan time) =>
        string.Create(CultureInfo.InvariantCulture, $"{time.TotalSeconds:0.0} s");

    private static Task TellAsync(string line) => Console.Out.WriteLineAsync(line);
}
