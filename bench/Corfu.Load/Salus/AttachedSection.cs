using System.Globalization;
using System.Net.Sockets;

namespace Corfu.Load;

/// <summary>Volumes as their users have them, over NBD: three copies, one copy (the same code), and nbdkit's file
/// plugin on the same disk, each job in turns (Fig. 8, Fig. 9).</summary>
internal static class AttachedSection
{
    private const string Flushed = "nbdkit, flushed";
    private const string Cached = "nbdkit, cached";

    public static async Task<FigureSection> RunAsync(
        SalusPlan plan, SalusNodes nodes, string folder, CancellationToken cancellationToken)
    {
        var section = new FigureSection(SalusPlan.Attached, "Volumes over NBD (Figs. 8, 9)");
        if (!NbdFio.IsInstalled)
        {
            section.Problem("fio is not installed on this machine");
            return section;
        }

        var serving = ChildProcess.Start(SalusNodeCommands.Serve, nodes.Log, SalusNodes.Three, SalusNodes.One);
        try
        {
            var port = await serving.StandardOutput.ReadLineAsync(cancellationToken)
                ?? throw new IOException("The server of the volumes has died.");
            await using var peer = await StartNbdkitAsync(folder, cancellationToken);
            List<(string Name, string Uri, bool Flushes)> targets =
            [
                (SalusNodes.Three, $"nbd://127.0.0.1:{port}/{SalusNodes.Three}", false),
                (SalusNodes.One, $"nbd://127.0.0.1:{port}/{SalusNodes.One}", false),
            ];
            if (peer is { } started)
            {
                targets.Add((Flushed, started.Uri, true));
                targets.Add((Cached, started.Uri, false));
            }
            else
            {
                section.Note("nbdkit is not installed on this machine.");
            }

            await MeasureAsync(plan, section, targets, folder, cancellationToken);
            return section;
        }
        finally
        {
            ChildProcess.Stop(serving);
        }
    }

    private static async Task MeasureAsync(SalusPlan plan, FigureSection section,
        List<(string Name, string Uri, bool Flushes)> targets, string folder, CancellationToken cancellationToken)
    {
        var rounds = targets.SelectMany(target => NbdJob.All.Select(job => (target.Name, job.Name)))
            .ToDictionary(key => key, _ => new List<RoundResult>());
        var disks = new List<RoundResult>();
        // Every block has been written once before it is measured: an empty one costs nothing to read. The processes
        // of the nodes have compiled their code by then.
        foreach (var target in targets)
        {
            await NbdFio.RunAsync(target.Uri, NbdJob.All[1] with { Depth = 4 }, plan.Seconds * 2, flushes: false);
            if (target.Name is not (SalusNodes.Three or SalusNodes.One)) continue;
            foreach (var job in NbdJob.All)
                await NbdFio.RunAsync(target.Uri, job, SalusPlan.WarmUpSeconds, flushes: false);
        }

        for (var round = 0; round < plan.Rounds; round++)
        {
            disks.Add(BareDisk.Run(folder, 4096, TimeSpan.FromSeconds(1)));
            foreach (var job in NbdJob.All)
            {
                foreach (var target in round % 2 == 0 ? targets : targets.AsEnumerable().Reverse())
                {
                    cancellationToken.ThrowIfCancellationRequested();
                    var result = await NbdFio.RunAsync(target.Uri, job, plan.Seconds, target.Flushes);
                    rounds[(target.Name, job.Name)].Add(result);
                    Console.WriteLine(string.Create(CultureInfo.InvariantCulture,
                        $"round {round + 1}/{plan.Rounds}: {target.Name}: {job.Name} {result.PerSecond:0}/s, p50 "
                        + $"{result.P50:0} us, p99 {result.P99:0} us"));
                }
            }
        }

        Tell(section, targets, rounds, RoundResult.Median(disks));
    }

    private static void Tell(FigureSection section, List<(string Name, string Uri, bool Flushes)> targets,
        Dictionary<(string Target, string Job), List<RoundResult>> rounds, RoundResult disk)
    {
        section.Note("fio's NBD client, one connection. \"three\" and \"one\": volumes of three copies and of one, "
            + "whose replies promise that a write is durable at all members. nbdkit's file plugin on the same disk: "
            + "with a flush behind each write, and without any, which promises nothing. Three copies share one disk "
            + "here, and nodes, driver and client two cores.");
        section.Note($"Of the same rounds: bare write and fdatasync of 4 KiB, p50 {Cell.Time(disk.P50)} us, "
            + $"{Cell.Count(disk.PerSecond)}/s by one caller.");
        section.Columns("job", "server", "per second", "MB/s", "p50 us", "p99 us", "of one copy");
        foreach (var job in NbdJob.All)
        {
            foreach (var (name, _, _) in targets)
            {
                var samples = rounds[(name, job.Name)];
                var median = RoundResult.Median(samples);
                var ratio = RoundResult.Middle(samples.Zip(rounds[(SalusNodes.One, job.Name)],
                    static (own, one) => own.PerSecond / one.PerSecond));
                section.Row($"{job.Pattern} {job.BlockSize >> 10} KiB, {job.Depth} in flight", name,
                    Cell.Count(median.PerSecond), Cell.Ratio(median.PerSecond * job.BlockSize / 1e6),
                    Cell.Time(median.P50), Cell.Time(median.P99), Cell.Ratio(ratio));
                if (name == SalusNodes.Three)
                {
                    section.Sum(job.Name, median.PerSecond);
                    section.Sum($"{job.Name}_of_one", ratio, "0.00");
                }

                if (samples.Any(sample => sample.Operations == 0 || sample.Failures > 0))
                    section.Problem($"{name}: {job.Name}: a round without an operation, or with errors");
            }
        }

        section.Sum("write_alone_p50_us", RoundResult.Median(rounds[(SalusNodes.Three, "write_alone")]).P50);
        section.Sum("fdatasync_us", disk.P50);
    }

    private static async Task<Nbdkit?> StartNbdkitAsync(string folder, CancellationToken cancellationToken)
    {
        if (Programs.Find("nbdkit") is not { } program) return null;
        var file = Path.Combine(folder, "nbdkit.img");
        await using (var stream = File.Create(file))
        {
            var zeros = new byte[1 << 20];
            for (var at = 0L; at < SalusNodes.Size; at += zeros.Length)
                await stream.WriteAsync(zeros, cancellationToken);
        }

        var port = FreePort.Take(1)[0];
        // nbdkit asks for SIGTERM when its parent ends, and Linux means the thread that started it. One of this
        // program's pool ends when it is idle, so the parent is a shell.
        var server = ServerProcess.Start("nbdkit", folder,
        [
            "/bin/sh", "-c", "\"$@\" & wait", "sh", program, "-f", "-i", "127.0.0.1",
            "-p", port.ToString(CultureInfo.InvariantCulture), "file", file,
        ]);
        await server.ConnectAsync(async token =>
        {
            using var client = new TcpClient();
            await client.ConnectAsync("127.0.0.1", port, token);
            return true;
        }, cancellationToken);
        return new Nbdkit(server, $"nbd://127.0.0.1:{port}");
    }

    private sealed record Nbdkit(ServerProcess Server, string Uri) : IAsyncDisposable
    {
        public ValueTask DisposeAsync() => Server.DisposeAsync();
    }
}
