using Corfu.Cli;

namespace Corfu.Integration.Tests.Tool;

/// <summary>Command lines of <c>corfu volume</c> and <c>corfu salus</c> that are wrong by themselves, and logs and
/// folders that are not there.</summary>
public sealed class VolumeUsageTests
{
    private const int Refused = 1;
    private const int Usage = 2;

    [Theory]
    [InlineData("multiple of the block size", "--size", "63")]
    [InlineData("more than 4,096 regions", "--size", "10000T")]
    [InlineData("is no number of bytes for --size", "--size", "-1G")]
    [InlineData("power of two from 4 KiB to 256 KiB", "--size", "64M", "--block", "3K")]
    [InlineData("is no multiple of the block", "--size", "64M", "--region", "4097")]
    [InlineData("--copies must be between 1 and 3", "--size", "64M", "--copies", "4")]
    [InlineData("'--size' is required")]
    public async Task Bad_geometry_is_refused_before_the_log_is_asked(string because, params string[] options) =>
        Assert.Contains(because, await RefuseAsync(
            Usage, ["volume", "create", "-c", "corfu://127.0.0.1:1", "w", .. options]), StringComparison.Ordinal);

    [Theory]
    [InlineData(Refused, "No layout acceptor answers", "volume", "list", "-c", "corfu://127.0.0.1:1")]
    [InlineData(Refused, "No layout acceptor answers", "volume", "serve", "-c", "corfu://127.0.0.1:1", "v")]
    [InlineData(Usage, "starts with corfu://", "volume", "status", "-c", "127.0.0.1:1", "v")]
    [InlineData(Usage, "no loopback address", "volume", "serve", "-c", "corfu://127.0.0.1:1", "v", "-l", "0.0.0.0:0")]
    [InlineData(Usage, "is no address and port", "volume", "serve", "-c", "corfu://127.0.0.1:1", "v", "-l", "10809")]
    [InlineData(Usage, "--ack", "volume", "serve", "-c", "corfu://127.0.0.1:1", "v", "--ack", "never")]
    [InlineData(Refused, "identity.pem", "volume", "serve", "-c", "corfu://127.0.0.1:1", "v", "--certs", "/nothing")]
    [InlineData(Usage, "--delete needs", "volume", "snapshot", "-c", "corfu://127.0.0.1:1", "v", "--delete")]
    [InlineData(Usage, "--servers must be between", "salus", "up", "--dir", "/nothing", "--servers", "0")]
    [InlineData(Refused, "salus.json is missing", "salus", "status", "--dir", "/nothing")]
    [InlineData(Refused, "salus.json is missing", "salus", "down", "--dir", "/nothing")]
    [InlineData(Usage, "starts with corfu://", "salus", "node", "forget", "ae6372f1", "-c", "nonsense")]
    public async Task Wrong_options_and_logs_that_are_away_are_told(
        int exitCode, string because, params string[] arguments) =>
        Assert.Contains(because, await RefuseAsync(exitCode, arguments), StringComparison.Ordinal);

    /// <summary>A run, within this process, that fails and prints nothing but the reason, which is returned.</summary>
    internal static async Task<string> RefuseAsync(int exitCode, params string[] arguments)
    {
        var (output, error) = (new StringWriter(), new StringWriter());
        var code = await CommandLine.RunAsync(arguments, output, error);
        Assert.Equal("", output.ToString());
        Assert.True(exitCode == code, $"{string.Join(' ', arguments)}: {code}: {error}");
        return error.ToString();
    }
}
