using Corfu;

namespace Tango.Tests;

public class IdlePlaybackTests
{
    private static readonly TimeSpan s_period = TimeSpan.FromSeconds(1);
    private static readonly AsyncLocal<string?> s_flows = new();

    /// <summary>Idle playback lives as long as the runtime: the trace of one request would have all of its reads of the
    /// log.</summary>
    [Fact]
    public void Idle_playback_does_not_carry_ambient_values_of_the_first_call() => SeededContext.Run(9, async time =>
    {
        await using var world = new World(time: time) { IdlePlayback = s_period };
        var seen = new List<string?>();
        var runtime = world.NewRuntime(
            () => new CountingCursor(world.Log.OpenCursor(), () => seen.Add(s_flows.Value)), time);
        s_flows.Value = "the first call";
        await runtime.OpenAsync<Accounts>("accounts", OpenMode.Create);
        s_flows.Value = "later";
        seen.Clear();
        await Task.Delay(3 * s_period, time);
        Assert.NotEmpty(seen);
        Assert.All(seen, Assert.Null);
    });
}
