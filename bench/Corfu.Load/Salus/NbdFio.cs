using System.Diagnostics;
using System.Globalization;
using System.Text.Json;

namespace Corfu.Load;

/// <summary>A job of fio against an export.</summary>
/// <param name="Pattern">fio's name: write, randwrite, read, randread.</param>
/// <param name="Depth">Commands at once.</param>
internal sealed record NbdJob(string Name, string Pattern, int BlockSize, int Depth)
{
    public static IReadOnlyList<NbdJob> All { get; } =
    [
        new("write_random", "randwrite", 4096, 16),
        new("write_sequential", "write", 128 << 10, 8),
        new("write_alone", "randwrite", 4096, 1),
        new("read_random", "randread", 4096, 16),
        new("read_sequential", "read", 128 << 10, 8),
    ];

    public bool IsWrite => Pattern.EndsWith("write", StringComparison.Ordinal);
}

/// <summary>fio's own NBD client, so that every server is measured by the same program.</summary>
internal static class NbdFio
{
    public static bool IsInstalled => Programs.Find("fio") is not null;

    /// <param name="flushes">Each write is followed by a flush: for servers whose replies promise no
    /// durability.</param>
    /// <exception cref="PeerException">fio has failed.</exception>
    public static async Task<RoundResult> RunAsync(string uri, NbdJob job, int seconds, bool flushes)
    {
        List<string> arguments =
        [
            "--name=corfu", "--ioengine=nbd", $"--uri={uri}", $"--rw={job.Pattern}", $"--bs={job.BlockSize}",
            $"--iodepth={job.Depth}", $"--size={SalusNodes.Size}", "--time_based",
            string.Create(CultureInfo.InvariantCulture, $"--runtime={seconds}"), "--output-format=json",
        ];
        if (flushes && job.IsWrite) arguments.Add("--fsync=1");
        using var process = Process.Start(new ProcessStartInfo("fio", arguments)
        {
            RedirectStandardOutput = true,
            RedirectStandardError = true,
        })!;
        var errors = process.StandardError.ReadToEndAsync();
        var text = await process.StandardOutput.ReadToEndAsync();
        await process.WaitForExitAsync();
        return process.ExitCode == 0 && text.Contains('{', StringComparison.Ordinal)
            ? Parse(text, job)
            : throw new PeerException($"fio on {uri} ended with {process.ExitCode}: {await errors}");
    }

    private static RoundResult Parse(string text, NbdJob job)
    {
        using var json = JsonDocument.Parse(text[text.IndexOf('{')..]);
        var root = json.RootElement.GetProperty("jobs")[0];
        var side = root.GetProperty(job.IsWrite ? "write" : "read");
        double Quantile(string name) => side.GetProperty("clat_ns").TryGetProperty("percentile", out var all)
            ? all.GetProperty(name).GetDouble() / 1000
            : 0;
        return new RoundResult(side.GetProperty("total_ios").GetInt64(),
            Math.Max(1, side.GetProperty("runtime").GetDouble()) / 1000, Quantile("50.000000"),
            Quantile("99.000000"), Quantile("99.900000"), root.GetProperty("error").GetInt64());
    }
}
