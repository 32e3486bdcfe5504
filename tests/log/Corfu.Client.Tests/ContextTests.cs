using Corfu.Client.Tests.Cluster;
using Corfu.Protocol;

namespace Corfu.Client.Tests;

/// <summary>Requests for positions and checks serve all callers, and depend on no one caller's context.</summary>
public class ContextTests
{
    // Only a caller that waits for ever meets it.
    private static readonly TimeSpan s_limit = TimeSpan.FromMinutes(1);

    [Theory]
    [InlineData(true)]
    [InlineData(false)]
    public async Task Message_loop_that_ends_leaves_no_other_caller_waiting(bool appends)
    {
        await using var cluster = await TestCluster.StartAsync(1, 1);
        var client = cluster.Client(TestCluster.Options with { ChecksInFlight = 1 });
        var gate = new TaskCompletionSource(TaskCreationOptions.RunContinuationsAsynchronously);
        cluster.Transport.Faults = async (_, request) =>
        {
            if (request is TokenRequest or TailRequest) await gate.Task;
            return Fault.None;
        };
        var loop = new HeldContext();
        // As many requests as are in flight at once for one set of streams.
        for (var i = 0; i < 2; i++) _ = loop.Call(CallAsync);
        var calls = Enumerable.Range(0, 4).Select(_ => CallAsync()).ToList();
        gate.SetResult();
        await Task.WhenAll(calls).WaitAsync(s_limit);

        async Task CallAsync()
        {
            if (appends) await client.AppendAsync(new byte[1], []);
            else await client.CheckAsync([]);
        }
    }
}
