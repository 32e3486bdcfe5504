using Corfu.Extensions;
using Corfu.Orleans.Hosting;
using Microsoft.Extensions.DependencyInjection;
using Orleans;
using Tango;
using Tango.Collections;

namespace Corfu.Orleans.Tests.Clusters;

/// <summary>Grains that use objects themselves, beside the providers of their silo.</summary>
public sealed class GrainTurnTests(SiloCluster cluster) : IClassFixture<SiloCluster>
{
    private static readonly TimeSpan s_limit = TimeSpan.FromSeconds(60);

    [Fact]
    public async Task Grain_that_blocks_in_a_turn_after_a_call_of_an_object_holds_up_no_other_caller()
    {
        var turn = LongTurn.Current = new LongTurn();
        var grain = cluster.Silos.Client.GetGrain<ILongTurnGrain>("one");
        var running = grain.CountAndBlockAsync();
        try
        {
            var runtime = await turn.Started.Task.WaitAsync(s_limit);
            var map = await runtime.OpenAsync<TangoDictionary<string, int>>("turns", OpenMode.Create);
            for (var i = 0; i < 20; i++)
            {
                await map.SetAsync("key", i).AsTask().WaitAsync(s_limit);
                Assert.Equal(i, (await map.TryGetAsync("key").AsTask().WaitAsync(s_limit)).Value);
            }
        }
        finally
        {
            turn.MayEnd.Set();
        }

        await running.WaitAsync(s_limit);
    }
}

/// <summary>Signals between the test and the grain, which share a process.</summary>
internal sealed class LongTurn
{
    public static LongTurn Current { get; set; } = new();

    public TaskCompletionSource<TangoRuntime> Started { get; } =
        new(TaskCreationOptions.RunContinuationsAsynchronously);

    public ManualResetEventSlim MayEnd { get; } = new();
}

[Alias("test.long-turn")]
internal interface ILongTurnGrain : IGrainWithStringKey
{
    [Alias("count-and-block")]
    Task CountAndBlockAsync();
}

internal sealed class LongTurnGrain(
    [FromKeyedServices(CorfuOrleansServices.OwnKey)] ITangoHost tango) : Grain, ILongTurnGrain
{
    public async Task CountAndBlockAsync()
    {
        var runtime = await tango.GetRuntimeAsync(CancellationToken.None);
        var map = await runtime.OpenAsync<TangoDictionary<string, int>>("turns", OpenMode.Create);
        // The first to call starts what plays and sends for all callers.
        var (setting, counting) = (map.SetAsync("grain", 1).AsTask(), map.CountAsync().AsTask());
        LongTurn.Current.Started.SetResult(runtime);
        LongTurn.Current.MayEnd.Wait();
        await setting;
        await counting;
    }
}
