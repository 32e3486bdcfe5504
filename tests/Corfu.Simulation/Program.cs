using System.Threading.Channels;
using Corfu.Simulation.Kernel;

for (ulong seed = 1; seed < 4; seed++)
{
    for (int k = 0; k < 2; k++)
    {
        var w = new World(seed) { SlowScheduling = 0.2 };
        int done = 0;
        for (int i = 0; i < 5; i++)
        {
            var p = new SimProcess(w, i + 1, $"n{i}");
            p.Start("t", async () =>
            {
                var sem = new SemaphoreSlim(1);
                var cts = new CancellationTokenSource(TimeSpan.FromSeconds(100), p.Time);
                var ch = Channel.CreateBounded<int>(4);
                async Task Prod() { for (int j = 0; j < 200; j++) { await ch.Writer.WriteAsync(j, cts.Token); if (j % 10 == 0) await Task.Delay(TimeSpan.FromMilliseconds(1), p.Time, cts.Token); } ch.Writer.Complete(); }
                Task prod = Prod();
                await foreach (int x in ch.Reader.ReadAllAsync(cts.Token))
                {
                    var a = new TaskCompletionSource(TaskCreationOptions.RunContinuationsAsynchronously);
                    var b = new TaskCompletionSource<int>(TaskCreationOptions.RunContinuationsAsynchronously);
                    Task all = Task.WhenAll(a.Task, b.Task.WaitAsync(cts.Token));
                    async Task Worker(Action act) { await sem.WaitAsync(cts.Token); await Task.Yield(); act(); sem.Release(); }
                    _ = Worker(() => a.SetResult()); _ = Worker(() => b.SetResult(3));
                    await all.WaitAsync(TimeSpan.FromSeconds(3), p.Time);
                    w.Note($"{p.Name} {x}");
                }
                await prod; done++;
            });
        }
        var sw = System.Diagnostics.Stopwatch.StartNew();
        var e = Pump.Run(w, () => done == 5, 10_000_000_000, 10_000_000);
        Console.WriteLine($"{seed} {e} {w.Steps} {w.Now} {w.Hash.Value:x} {sw.ElapsedMilliseconds}ms {string.Join("|", w.Failures)}");
    }
}
return 0;
