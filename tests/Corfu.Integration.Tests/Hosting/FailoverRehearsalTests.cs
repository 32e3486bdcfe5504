using Corfu.Hosting;
using Microsoft.Extensions.Logging.Abstractions;

namespace Corfu.Integration.Tests.Hosting;

public sealed class FailoverRehearsalTests
{
    [Fact]
    public async Task A_process_can_play_a_failover_of_a_unit_and_of_the_sequencer_through()
    {
        Assert.True(await FailoverRehearsal.RunAsync(NullLogger.Instance, TestContext.Current.CancellationToken));
    }

    [Fact]
    public async Task A_rehearsal_that_is_cancelled_just_ends()
    {
        using var stop = new CancellationTokenSource();
        var rehearsal = FailoverRehearsal.RunAsync(NullLogger.Instance, stop.Token);
        await stop.CancelAsync();
        Assert.False(await rehearsal);
    }

    [Fact]
    public async Task What_a_killed_process_has_left_behind_goes_away()
    {
        var left = Directory.CreateTempSubdirectory("corfu-rehearsal-");
        var recent = Directory.CreateTempSubdirectory("corfu-rehearsal-");
        try
        {
            await File.WriteAllTextAsync(Path.Combine(left.FullName, "log"), "left", TestContext.Current.CancellationToken);
            left.LastWriteTimeUtc = DateTime.UtcNow - TimeSpan.FromHours(1);
            await FailoverRehearsal.RunAsync(NullLogger.Instance, TestContext.Current.CancellationToken);
            Assert.False(Directory.Exists(left.FullName));
            Assert.True(Directory.Exists(recent.FullName));
        }
        finally
        {
            recent.Delete(recursive: true);
        }
    }
}
