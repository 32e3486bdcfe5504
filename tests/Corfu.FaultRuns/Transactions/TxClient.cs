using System.Diagnostics;
using Corfu.FaultRuns.Clients;
using Tango;

namespace Corfu.FaultRuns.Transactions;

/// <summary>
/// A workload process: sessions that run transactions, plain updates and plain reads over the shared lists until it is
/// told to end. It prints, twice a second, how many have committed, and since when its sessions have made no progress.
/// </summary>
internal sealed class TxClient(
    TangoRuntime runtime, TxObjects objects, HistoryWriter history, string name, int seed, PlantedClient planted,
    TxCounters counters)
{
    private const int Sessions = 12;
    private const int Slots = 8;
    private const int MaxSteps = 4;

    // Then the slot goes on with another list, so that reads stay small.
    private const int FullList = 40;

    private static readonly TimeSpan s_report = TimeSpan.FromMilliseconds(500);
    private static readonly TimeSpan s_pauseAfterTrouble = TimeSpan.FromMilliseconds(50);

    private readonly int[] _generations = new int[Slots];
    private readonly long[] _progress = new long[Sessions];
    private TimeSpan _opening;
    private long _values;
    private long _committed;

    public static async Task<int> RunAsync(
        string connect, string name, int seed, string file, int place, string prefix, PlantedClient planted,
        TransactionDecisions decisions)
    {
        using var history = new HistoryWriter(file);
        using var stop = new CancellationTokenSource();
        using var counters = new TxCounters();
        await using var client = await WorkClient.ConnectAsync(connect);
        await using var runtime = new TangoRuntime(client, TransactionRun.Options with { Decisions = decisions });
        var began = Stopwatch.GetTimestamp();
        var objects = await OpenAsync(runtime, prefix, place);
        var worker = new TxClient(runtime, objects, history, name, seed, planted, counters)
        {
            _opening = Stopwatch.GetElapsedTime(began),
        };
        await worker.LearnGenerationsAsync();
        _ = Task.Run(async () =>
        {
            while (await Console.In.ReadLineAsync() is { } line && line != "stop")
            {
            }

            stop.Cancel();
        });
        await worker.WorkAsync(stop.Token);
        return 0;
    }

    /// <summary>As often as it takes: a client may be started in the middle of a fault.</summary>
    private static async Task<TxObjects> OpenAsync(TangoRuntime runtime, string prefix, int place)
    {
        while (true)
        {
            try
            {
                return await TxObjects.OpenAsync(runtime, prefix, place, default);
            }
            catch (Exception e) when (IsExpected(e))
            {
                await Task.Delay(s_pauseAfterTrouble);
            }
        }
    }

    // Reads the generations that earlier clients have reached; if that fails now, later reads show them.
    private async Task LearnGenerationsAsync()
    {
        try
        {
            foreach (var (handle, _) in objects.Handles.Zip(objects.Hosted).Where(o => o.Second))
            {
                foreach (var list in (await handle.SnapshotAsync()).Keys) LearnGeneration(list);
            }
        }
        catch (Exception e) when (IsExpected(e))
        {
            // The generations start at the beginning.
        }
    }

    private void LearnGeneration(string list, int beyond = 0)
    {
        var parts = list.Split('.').Select(int.Parse).ToArray();
        lock (_generations) _generations[parts[0]] = Math.Max(_generations[parts[0]], parts[1] + beyond);
    }

    private async Task WorkAsync(CancellationToken stop)
    {
        List<Task> tasks = [ReportAsync(stop)];
        for (var i = 0; i < Sessions; i++) tasks.Add(RepeatAsync(i, stop));
        await Task.WhenAll(tasks);
        Tell();
    }

    private async Task ReportAsync(CancellationToken stop)
    {
        while (!stop.IsCancellationRequested)
        {
            Tell();
            await Task.Delay(s_report, stop).ContinueWith(_ => { }, TaskScheduler.Default);
        }
    }

    private void Tell()
    {
        Console.WriteLine($"committed {Volatile.Read(ref _committed)} opening {_opening.TotalSeconds:0.0}");
        Console.WriteLine($"asked {counters.Asked} disagreements {counters.Disagreements}");
        Console.WriteLine($"progress {string.Join(' ', _progress.Select(p => Volatile.Read(ref p)))}");
    }

    private async Task RepeatAsync(int session, CancellationToken stop)
    {
        var random = new Random(seed + session);
        while (!stop.IsCancellationRequested)
        {
            var began = HistoryWriter.Now;
            try
            {
                var draft = new Draft($"{name}-{session}-{Interlocked.Increment(ref _values)}", began);
                var fate = random.Next(6) switch
                {
                    0 => await UpdateAsync(draft, random),
                    1 => await ReadAsync(draft, random),
                    _ => await TransactAsync(draft, random),
                };
                if (fate == TxFate.Committed)
                {
                    Volatile.Write(ref _progress[session], began);
                    Interlocked.Increment(ref _committed);
                }
                else if (fate != TxFate.Aborted)
                {
                    await Task.Delay(s_pauseAfterTrouble, CancellationToken.None);
                }
            }
            catch (Exception e)
            {
                history.Line(TxHistoryFile.Unexpected(e));
                await Task.Delay(s_pauseAfterTrouble, CancellationToken.None);
            }
        }
    }

    private async Task<TxFate?> UpdateAsync(Draft draft, Random random)
    {
        var (handle, list) = Writable(random);
        var value = draft.Append(list, NextValue());
        return await EndAsync(draft, async () =>
        {
            await handle.AppendAsync(ListOf(list), value);
            return TxFate.Committed;
        });
    }

    private async Task<TxFate?> ReadAsync(Draft draft, Random random)
    {
        try
        {
            await ReadOneAsync(draft, random);
        }
        catch (Exception e) when (IsExpected(e))
        {
            return null;
        }

        return await EndAsync(draft, () => Task.FromResult(TxFate.Committed));
    }

    // Null: nothing was sent, and nothing is to be told.
    private async Task<TxFate?> TransactAsync(Draft draft, Random random)
    {
        if (planted == PlantedClient.DropsReads) return await TransactInTwoAsync(draft, random);
        await using var transaction = runtime.BeginTx(new TransactionOptions { StartFresh = random.Next(4) == 0 });
        try
        {
            await TakeStepsAsync(draft, random, reads: true, writes: true);
        }
        catch (Exception e) when (IsExpected(e))
        {
            return null;
        }

        return await EndAsync(draft, async () => await FateOfAsync(transaction, draft));
    }

    private async Task<TxFate?> TransactInTwoAsync(Draft draft, Random random)
    {
        try
        {
            await using var before = runtime.BeginTx(new TransactionOptions { StartFresh = true });
            await TakeStepsAsync(draft, random, reads: true, writes: false);
        }
        catch (Exception e) when (IsExpected(e))
        {
            return null;
        }

        await using var transaction = runtime.BeginTx();
        await TakeStepsAsync(draft, random, reads: false, writes: true);
        return await EndAsync(draft, async () => await FateOfAsync(transaction, draft));
    }

    private async Task<TxFate> FateOfAsync(TangoTransaction transaction, Draft draft)
    {
        var outcome = await transaction.EndTxAsync();
        if (planted == PlantedClient.WritesTwice && outcome.IsCommitted
            && draft.Steps.FirstOrDefault(s => s.IsAppend) is { } again)
            await HandleOf(again.List).AppendAsync(ListOf(again.List), again.Values[0]);
        return outcome switch
        {
            TxOutcome.Committed => TxFate.Committed,
            TxOutcome.InDoubt => TxFate.InDoubt,
            _ when planted == PlantedClient.IgnoresAborts => TxFate.Committed,
            _ => TxFate.Aborted,
        };
    }

    private async Task TakeStepsAsync(Draft draft, Random random, bool reads, bool writes)
    {
        for (var i = random.Next(1, MaxSteps + 1); i > 0; i--)
        {
            if (writes && (!reads || random.Next(2) == 0))
            {
                var (handle, list) = Writable(random);
                var value = draft.Append(list, NextValue());
                await handle.AppendAsync(ListOf(list), value);
            }
            else if (planted == PlantedClient.ReadsWithoutSnapshot)
            {
                // Not of the transaction: this method's own flow ends with it.
                await ReadOutsideAsync(draft, random);
            }
            else
            {
                await ReadOneAsync(draft, random);
            }
        }
    }

    private async Task ReadOutsideAsync(Draft draft, Random random)
    {
        runtime.LeaveTransaction();
        var (handle, list) = Readable(random);
        // The transaction's own appends are not visible yet.
        if (!draft.Steps.Any(s => s.IsAppend && s.List == list))
            draft.Read(list, await handle.ReadAsync(ListOf(list)));
    }

    private async Task ReadOneAsync(Draft draft, Random random)
    {
        var (handle, list) = Readable(random);
        var values = await handle.ReadAsync(ListOf(list));
        draft.Read(list, values);
        if (values.Count >= FullList) LearnGeneration(ListOf(list), beyond: 1);
    }

    private async Task<TxFate> EndAsync(Draft draft, Func<Task<TxFate>> end)
    {
        // Before anything is sent, so that a kill leaves it in doubt.
        history.Line(TxHistoryFile.Begin(draft.Name, draft.Began, draft.Steps));
        TxFate fate;
        try
        {
            fate = await end();
        }
        catch (TangoInDoubtException)
        {
            fate = TxFate.InDoubt;
        }
        catch (Exception e) when (IsExpected(e))
        {
            // Nothing of it took effect: that is what any other exception promises.
            fate = TxFate.Aborted;
        }

        history.Line(TxHistoryFile.End(draft.Name, HistoryWriter.Now, fate));
        return fate;
    }

    private (AppendLists Handle, string List) Writable(Random random) => Pick(random, random.Next(4));

    private (AppendLists Handle, string List) Readable(Random random)
    {
        var index = random.Next(4);
        while (!objects.Hosted[index]) index = (index + 1) % 4;
        return Pick(random, index);
    }

    private (AppendLists, string) Pick(Random random, int index)
    {
        var slot = random.Next(Slots);
        return (objects.Handles[index], $"{index}/{slot}.{Volatile.Read(ref _generations[slot])}");
    }

    private AppendLists HandleOf(string list) => objects.Handles[int.Parse(list.Split('/')[0])];

    private static string ListOf(string list) => list.Split('/')[1];

    private long NextValue() => (long.Parse(name[1..]) * 1_000_000_000) + Interlocked.Increment(ref _values);

    private static bool IsExpected(Exception e) =>
        e is TangoInDoubtException or TangoBusyException || WorkClient.IsExpected(e);

    private sealed class Draft(string name, long began)
    {
        private readonly List<TxStep> _steps = [];

        public string Name => name;

        public long Began => began;

        public IReadOnlyList<TxStep> Steps => _steps;

        public long Append(string list, long value)
        {
            _steps.Add(new TxStep(true, list, [value]));
            return value;
        }

        public void Read(string list, IReadOnlyList<long> values) => _steps.Add(new TxStep(false, list, [.. values]));
    }
}
