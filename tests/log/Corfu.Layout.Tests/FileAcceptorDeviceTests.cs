using Corfu.Protocol;

namespace Corfu.Layout.Tests;

public sealed class FileAcceptorDeviceTests : IDisposable
{
    private readonly string _folder = Path.Combine(Path.GetTempPath(), "corfu-layout-" + Guid.NewGuid().ToString("N"));

    public void Dispose()
    {
        if (Directory.Exists(_folder)) Directory.Delete(_folder, recursive: true);
    }

    [Fact]
    public async Task State_survives_closing()
    {
        await using (var device = FileAcceptorDevice.Open(_folder))
        {
            await AcceptorLog.FormatAsync(device, Setup.Cluster, Setup.Acceptor(0).Id);
            var log = await AcceptorLog.OpenAsync(device, new AcceptorCore());
            await log.AppendAsync([new DecidedRecord(Setup.Projection(1))]);
            var core = new AcceptorCore();
            await AcceptorLog.OpenAsync(device, core);
            await log.CompactAsync(core.Snapshot());
            await log.AppendAsync([new DecidedRecord(Setup.Projection(2))]);
        }

        await using var again = FileAcceptorDevice.Open(_folder);
        var recovered = new AcceptorCore();
        Assert.Equal(Setup.Acceptor(0).Id, (await AcceptorLog.OpenAsync(again, recovered)).Id);
        Assert.Equal(new Epoch(2), recovered.Latest!.Epoch);
    }

    [Fact]
    public async Task A_second_opener_is_refused_with_a_clear_message()
    {
        await using var device = FileAcceptorDevice.Open(_folder);
        var e = Assert.Throws<IOException>(() => FileAcceptorDevice.Open(_folder));
        Assert.Contains("in use by another process", e.Message);
    }
}
