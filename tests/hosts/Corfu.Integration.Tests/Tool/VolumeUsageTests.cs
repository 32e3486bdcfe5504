using Corfu.Integration.Tests.Support;

namespace Corfu.Integration.Tests.Tool;

/// <summary>Options of <c>corfu volume</c> that are refused: nothing is connected for that.</summary>
public sealed class VolumeUsageTests
{
    [Theory]
    [InlineData("4 KiB to 256 KiB", "create", "v", "--size", "64M", "--block", "512")]
    [InlineData("multiple of the block size", "create", "v", "--size", "5000")]
    [InlineData("no number of bytes for --size", "create", "v", "--size", "64Q")]
    [InlineData("no multiple of the block", "create", "v", "--size", "64M", "--region", "1000000")]
    [InlineData("between 1 and 3", "create", "v", "--size", "64M", "--copies", "4")]
    [InlineData("'@' separates", "create", "v@1", "--size", "64M")]
    [InlineData("--accept-loss", "recover", "v")]
    [InlineData("needs the snapshot's name", "snapshot", "v", "--delete")]
    [InlineData("no loopback address", "serve", "v", "--listen", "0.0.0.0:10809")]
    [InlineData("named twice", "serve", "v", "v")]
    [InlineData("no address and port", "serve", "v", "--listen", "nowhere")]
    public async Task Wrong_option_is_refused_before_anything_is_done(string why, params string[] arguments)
    {
        var refused = await CorfuTool.RunAsync(
            ["volume", arguments[0], "-c", "corfu://127.0.0.1:1", .. arguments[1..]]);
        Assert.Equal(2, refused.ExitCode);
        Assert.Contains(why, refused.Error, StringComparison.Ordinal);
    }
}
