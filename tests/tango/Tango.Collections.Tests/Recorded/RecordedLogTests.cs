namespace Tango.Collections.Tests.Recorded;

/// <summary>
/// Logs outlive code: the values in <c>values.log</c> were written before MessagePack-CSharp wrote them, and play to
/// the same states. Its entries have the format of the first release. It is never made anew; a new built-in type gets a
/// file of its own.
/// </summary>
public sealed class RecordedLogTests
{
    [Fact]
    public async Task A_recorded_log_plays_to_the_states_that_were_written()
    {
        await using var world = await RecordedWorld.FromFileAsync();
        var runtime = world.NewRuntime();
        foreach (RecordedCase values in RecordedCases.All) await values.CheckAsync(runtime);
        await RecordedTransactions.CheckAsync(runtime);
    }

    [Fact]
    public async Task The_same_calls_write_the_same_bytes()
    {
        await using var recorded = await RecordedWorld.FromFileAsync();
        await using var now = new RecordedWorld();
        await RecordedWorld.WriteValuesAsync(now);
        var written = await now.EntriesAsync();
        // The transactions behind them depend on timing.
        Assert.Equal((await recorded.EntriesAsync()).Take(written.Count), written);
    }
}
