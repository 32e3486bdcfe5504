using System.Globalization;
using Corfu.FaultRuns.Clients;
using Corfu.StateMachines;
using Corfu.Store;
using Tango;
using Tango.Ledgers;

namespace Corfu.FaultRuns.Services.Clients;

/// <summary>A workload process with a key-value store, a store of ledgers and a replica of a machine open, until it is
/// told to end. It prints, twice a second, since when each of its activities has made no progress.</summary>
internal sealed class ServicesClient(HistoryWriter history, int seed)
{
    public const string StoreName = "store";
    public const string LedgersName = "ledgers";
    public const string MachineName = "counts";

    private static readonly TimeSpan s_report = TimeSpan.FromMilliseconds(500);
    private static readonly TimeSpan s_pause = TimeSpan.FromMilliseconds(5);
    private static readonly TimeSpan s_pauseAfterTrouble = TimeSpan.FromMilliseconds(50);

    private readonly List<Func<Random, Task<bool>>> _activities = [];

    // When each activity began the last operation that succeeded.
    private long[] _progress = [];

    /// <summary>Small, so that clients that start again find checkpoints.</summary>
    public static TangoOptions Tango { get; } = new()
    {
        Checkpoints = new CheckpointPolicy { Updates = 500 },
        NewLogMaxSpan = 500,
    };

    public static ReplicaOptions Machine { get; } = new() { SnapshotCommands = 1_000, MaxSessions = 64 };

    public static async Task<int> RunAsync(string connect, string name, int seed, string file)
    {
        using var history = new HistoryWriter(file);
        using var stop = new CancellationTokenSource();
        await using var client = await WorkClient.ConnectAsync(connect);
        await using var runtime = new TangoRuntime(client, Tango);
        var worker = new ServicesClient(history, seed);
        var store = await PatientlyAsync(async () => await CorfuStore.OpenAsync(client, runtime, StoreName));
        var ledgers = await PatientlyAsync(async () => await LedgerStore.OpenAsync(client, runtime, LedgersName));
        var machine = new MachineWorker(client, history, name);
        await PatientlyAsync(async () => await machine.OpenAsync());
        worker.Add(new StoreWorker(store, history, name), new LedgerWorker(ledgers, history, name), machine);
        _ = Task.Run(async () =>
        {
            while (await Console.In.ReadLineAsync() is { } line && line != "stop")
            {
            }

            stop.Cancel();
        });
        await worker.WorkAsync(stop.Token);
        await machine.DisposeAsync();
        await ledgers.DisposeAsync();
        await store.DisposeAsync();
        return 0;
    }

    /// <summary>Whether a fault may cause the exception, which ends with the fault.</summary>
    public static bool IsExpected(Exception e) =>
        WorkClient.IsExpected(e) || e is TangoInDoubtException or TangoBusyException or StoreInDoubtException
            or StoreContendedException or ReplicaBusyException
            or LedgerException { Error: LedgerError.LedgerInDoubt or LedgerError.WriterBusy };

    /// <summary>As often as it takes: a process may start in the middle of a fault.</summary>
    public static async Task<T> PatientlyAsync<T>(Func<Task<T>> work)
    {
        while (true)
        {
            try
            {
                return await work();
            }
            catch (Exception e) when (IsExpected(e))
            {
                await Task.Delay(s_pauseAfterTrouble);
            }
        }
    }

    public static string Text(long number) => number.ToString(CultureInfo.InvariantCulture);

    private void Add(StoreWorker store, LedgerWorker ledgers, MachineWorker machine)
    {
        _activities.AddRange([
            store.WriteAsync, store.WriteAsync, store.ReadAsync,
            ledgers.WriteAsync, ledgers.LookAsync,
            machine.CommandAsync, machine.QueryAsync,
        ]);
        _progress = new long[_activities.Count];
    }

    private async Task WorkAsync(CancellationToken stop)
    {
        await Task.WhenAll([ReportAsync(stop), .. Enumerable.Range(0, _activities.Count).Select(
            activity => RepeatAsync(activity, stop))]);
        history.Line("end");
    }

    private async Task ReportAsync(CancellationToken stop)
    {
        while (!stop.IsCancellationRequested)
        {
            Console.WriteLine($"progress {string.Join(' ', _progress.Select(p => Text(Volatile.Read(ref p))))}");
            await Task.Delay(s_report, stop).ContinueWith(static _ => { }, TaskScheduler.Default);
        }
    }

    private async Task RepeatAsync(int activity, CancellationToken stop)
    {
        var random = new Random(seed + activity);
        while (!stop.IsCancellationRequested)
        {
            var began = HistoryWriter.Now;
            var pause = s_pause;
            try
            {
                if (await _activities[activity](random)) Volatile.Write(ref _progress[activity], began);
            }
            catch (Exception e) when (IsExpected(e))
            {
                pause = s_pauseAfterTrouble;
            }
            catch (Exception e)
            {
                history.Line($"unexpected\t{e.ToString().ReplaceLineEndings(" ")}");
                pause = s_pauseAfterTrouble;
            }

            await Task.Delay(pause * (0.5 + random.NextDouble()), CancellationToken.None);
        }
    }
}
