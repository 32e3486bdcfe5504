using System.Diagnostics;
using System.Globalization;
using Corfu.Hosting;

namespace Corfu.Integration.Tests.Hosting;

public sealed class NodeProcessTests
{
    [Fact]
    public async Task Process_that_the_parent_does_not_collect_has_ended()
    {
        Assert.SkipUnless(OperatingSystem.IsLinux(), "needs /proc");
        // The parent becomes a program that never waits for children.
        using var parent = Process.Start(
            new ProcessStartInfo("sh", ["-c", "sleep 600 & echo $!; exec tail -f /dev/null"])
            {
                RedirectStandardOutput = true,
            })!;
        try
        {
            var child = int.Parse((await parent.StandardOutput.ReadLineAsync())!, CultureInfo.InvariantCulture);
            using var patience = new CancellationTokenSource(TimeSpan.FromMinutes(2));
            Assert.False(
                await NodeProcess.StopAsync(child, TimeSpan.FromMinutes(1), TimeProvider.System, patience.Token));
        }
        finally
        {
            parent.Kill();
        }
    }
}
