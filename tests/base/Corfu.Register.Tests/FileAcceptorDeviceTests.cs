using Corfu.Protocol;

namespace Corfu.Register.Tests;

public sealed class FileAcceptorDeviceTests : IDisposable
{
    private readonly string _folder =
        Path.Combine(Path.GetTempPath(), "corfu-register-" + Guid.NewGuid().ToString("N"));

    public void Dispose()
    {
        if (Directory.Exists(_folder)) Directory.Delete(_folder, recursive: true);
    }

    [Fact]
    public async Task State_survives_closing()
    {
        await using (var device = FileAcceptorDevice.Open(_folder))
        {
            await AcceptorLog.FormatAsync(device, Registers.Cluster, Registers.Id);
            var log = await AcceptorLog.OpenAsync(device, new AcceptorCore(), new Registers.Owner());
            await log.AppendAsync([new DecidedRecord(Registers.Value(1))]);
            var core = new AcceptorCore();
            await AcceptorLog.OpenAsync(device, core, new Registers.Owner());
            await log.CompactAsync(core.Snapshot());
            await log.AppendAsync([new DecidedRecord(Registers.Value(2))]);
        }

        await using var again = FileAcceptorDevice.Open(_folder);
        var recovered = new AcceptorCore();
        Assert.Equal(Registers.Id, (await AcceptorLog.OpenAsync(again, recovered, new Registers.Owner())).Id);
        Assert.Equal(new Epoch(2), recovered.Newest!.Slot);
    }

    [Fact]
    public async Task A_second_opener_is_refused_with_a_clear_message()
    {
        await using var device = FileAcceptorDevice.Open(_folder);
        var e = Assert.Throws<IOException>(() => FileAcceptorDevice.Open(_folder));
        Assert.Contains("in use by another process", e.Message);
    }
}
