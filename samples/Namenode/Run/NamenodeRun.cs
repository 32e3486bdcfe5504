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

    // Some leases, on a machine that is busy with something else. A namenode tells its tree within the bound, also
    // where that lacks edits.
    private static readonly TimeSpan s_bound = TimeSpan.FromSeconds(90);

    private readonly RunPlan _plan;
    private readonly Namenodes _namenodes;
    private readonly Waits _waits;
    private readonly History _history = new();
    private readonly Judge _judge = new();
    private readonly Pace _pace = new();
    private readonly Client _observer;
    private int _attempts;
    private int _fenced;

    public NamenodeRun(RunPlan plan, string connection)
    {
        (_plan, _namenodes) = (plan, new Namenodes(connection, plan.Lease));
        _waits = new Waits(_namenodes, s_bound);
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
        await ObserveAsync(new Operation(Verb.Mkdir, "/observer"), "no namenode was elected", cancellationToken);
        for (var fault = 0; fault < _plan.Faults && _judge.IsMatch;)
        {
            _pace.LetOn(_plan.AnsweredBefore(fault + 1));
            await WaitAsync(_plan.AnsweredBefore(fault), cancellationToken);
            CallProcess active = await FindActiveAsync(cancellationToken);
            // Clients go on while the fault is dealt with, and have something left to do when the next one comes.
            _pace.LetOn((_plan.AnsweredBefore(fault) + _plan.AnsweredBefore(fault + 1)) / 2);
            if (!_plan.IsStop(fault)) await KillAsync(active, cancellationToken);
            else if (!await StopAsync(active, cancellationToken))
            {
                // Once more, with another active. MendAsync counts the namenode, so that the run ends.
                await _namenodes.MendAsync(fault: null, cancellationToken);
                continue;
            }

            await _namenodes.ReplaceAsync(active, cancellationToken);
            await CheckAsync(cancellationToken);
            fault++;
        }

        if (_judge.IsMatch)
        {
            _pace.LetOn(_plan.Operations);
            await WaitAsync(_plan.Operations, cancellationToken);
            await CheckAsync(cancellationToken);
        }

        _pace.End();
    }

    /// <summary>The namenode that gave the newest answer, which runs.</summary>
    private async Task<CallProcess> FindActiveAsync(CancellationToken cancellationToken)
    {
        while (true)
        {
            if (_namenodes.Find(_history.By) is { Ended.IsCompleted: false } active) return active;
            await ObserveAsync(new Operation(Verb.Status, "/observer"), "no namenode answers", cancellationToken);
        }
    }

    private async Task KillAsync(CallProcess active, CancellationToken cancellationToken)
    {
        int answered = _pace.Ended;
        await active.KillAsync();
        TimeSpan outage = await MeasureAsync(active, cancellationToken);
        await TellAsync($"{active.Name} killed behind {answered} operations: no service for {Seconds(outage)}");
    }

    /// <returns>False: the namenode was not the active any more when it was stopped, since it had lost its lease.
    /// </returns>
    private async Task<bool> StopAsync(CallProcess active, CancellationToken cancellationToken)
    {
        int answered = _pace.Ended;
        if (!await active.StopAsync(cancellationToken))
        {
            await active.Ended;
            return false;
        }

        TimeSpan outage = await MeasureAsync(active, cancellationToken);
        // Both wait in the pipe of the stopped namenode. The namenode must not read the tree as it was, nor do the
        // change. The read is first: behind the change it would fail with the change.
        Func<Task> look = AskStray(
            active, $"look-{_attempts}", new Operation(Verb.Status, "/observer"), cancellationToken);
        Func<Task> change = AskStray(
            active, $"stray-{_attempts}", new Operation(Verb.Mkdir, $"/stray-{_attempts}"), cancellationToken);
        await TellAsync($"{active.Name} stopped behind {answered} operations: no service for {Seconds(outage)}");
        await active.ContinueAsync();
        var wasActive = true;
        if (await Task.WhenAny(active.Ended, Task.Delay(s_return, cancellationToken)) == active.Ended)
        {
            string why = active.LastWords ?? "for an unknown reason";
            await TellAsync($"{active.Name} came back, and ended: {why}");
            if (why.StartsWith(NamenodeMode.Fenced, StringComparison.Ordinal)) _fenced++;
            wasActive = why != Namenode.LeaseLost;
        }
        else
        {
            await TellAsync($"{active.Name} came back, and goes on");
            await active.KillAsync();
        }

        await look();
        await change();
        return wasActive;
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
    private async Task<TimeSpan> MeasureAsync(CallProcess fault, CancellationToken cancellationToken)
    {
        long began = TimeProvider.System.GetTimestamp();
        await ObserveAsync(
            new Operation(Verb.Mkdir, $"/observer/{++_attempts}"), $"no namenode took over from {fault.Name}",
            cancellationToken, fault);
        return TimeProvider.System.GetElapsedTime(began);
    }

    private Task ObserveAsync(
        Operation operation, string goal, CancellationToken cancellationToken, CallProcess? fault = null) =>
        _waits.ForAsync(
            async token =>
            {
                await _observer.DoAsync(operation, token);
                return true;
            },
            goal, fault, cancellationToken);

    private async Task WaitAsync(int answered, CancellationToken cancellationToken)
    {
        for (int ended; (ended = _pace.Ended) < answered;)
        {
            await _waits.ForAsync(
                token => _pace.WaitPastAsync(ended, token), $"no operation was answered after {ended} of {answered}",
                cancellationToken);
        }
    }

    /// <summary>Compares all namenodes with the model, while clients wait.</summary>
    private async Task CheckAsync(CancellationToken cancellationToken)
    {
        await _waits.ForAsync(_pace.HoldAsync, "operations under way were not answered", cancellationToken);
        _judge.Play(_history.Take());
        var digests = new HashSet<string>();
        for (var number = 0; number < _namenodes.All.Count; number++)
            digests.Add(await CompareAsync(number, cancellationToken));
        await TellAsync($"  {_judge.Paths} paths at edit {_judge.LastId}, digest {string.Join(", ", digests)}; "
            + $"in doubt so far {_history.InDoubt}, of which {_history.InDoubtDone} were done");
    }

    /// <summary>The journal alone must give the tree.</summary>
    private async Task RebootAsync(CancellationToken cancellationToken)
    {
        await _namenodes.DisposeAsync();
        await _namenodes.StartAsync(1, cancellationToken);
        string digest = await CompareAsync(0, cancellationToken);
        await TellAsync($"all namenodes ended; {_namenodes[0].Name} has read image and edits, digest {digest}");
    }

    private async Task<string> CompareAsync(int number, CancellationToken cancellationToken)
    {
        string call = string.Create(CultureInfo.InvariantCulture, $"print {_judge.LastId}");
        while (true)
        {
            CallProcess namenode = _namenodes[number];
            string? printed = await _waits.ForAsync(
                token => namenode.AskAsync(call, token), $"{namenode.Name} did not tell its tree", fault: null,
                cancellationToken);
            if (printed is not null) return _judge.Compare(namenode.Name, Judge.Decode(printed));
            // Another namenode takes its place, and is asked.
            await namenode.Ended;
            await _namenodes.MendAsync(fault: null, cancellationToken);
        }
    }

    private static string Seconds(TimeSpan time) =>
        string.Create(CultureInfo.InvariantCulture, $"{time.TotalSeconds:0.0} s");

    private static Task TellAsync(string line) => Console.Out.WriteLineAsync(line);
}
