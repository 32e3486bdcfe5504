using System.Diagnostics;
using Corfu.FaultRuns.Machine;

namespace Corfu.FaultRuns.Returns;

/// <summary>Bits of one unit's log flip while the cluster is stopped. It starts, serves, reads right, and is whole
/// within a minute.</summary>
internal sealed class BitFlipRun(int flips, int batch, int seed, TextWriter output)
{
    private const int EntriesPerRound = 300;

    private static readonly TimeSpan HealLimit = TimeSpan.FromSeconds(60);

    private readonly Random _random = new(seed);

    public async Task<int> RunAsync(CancellationToken stop)
    {
        var undo = UndoList.New();
        try
        {
            var cluster = new LocalCluster(undo);
            await cluster.CreateAsync(stop);
            // Always the same unit: damage on two units may hit both copies of an entry.
            var name = $"unit-{_random.Next(3)}";
            var (done, lost, twice, slowest) = (0, 0, 0, TimeSpan.Zero);
            while (done < flips && lost + twice == 0 && !stop.IsCancellationRequested)
            {
                await cluster.AppendAsync(EntriesPerRound, stop);
                await cluster.DownAsync(stop);
                var count = Math.Min(batch, flips - done);
                Flip(Path.Combine(cluster.Folder, name, "unit", "data", "log"), count);
                done += count;
                await cluster.UpAsync(stop);
                var clock = Stopwatch.StartNew();
                (_, lost, twice) = await cluster.CheckAsync(stop);
                await cluster.WaitAsync("whole", LocalCluster.IsWhole, HealLimit, stop);
                if (clock.Elapsed > slowest) slowest = clock.Elapsed;
                output.WriteLine($"flips {done}: {name}, lost {lost}, whole after {clock.Elapsed.TotalSeconds:0.0} s");
            }

            await cluster.Client.DisposeAsync();
            await cluster.DownAsync(CancellationToken.None);
            output.WriteLine(
                $"bit-flips flips={done} lost={lost} twice={twice} whole_within={slowest.TotalSeconds:0.0} s");
            return done == flips && lost + twice == 0 ? 0 : 1;
        }
        finally
        {
            undo.Run();
        }
    }

    // Half of them where something is written; the rest of a segment is zeros.
    private void Flip(string log, int count)
    {
        var files = Directory.GetFiles(log).Order(StringComparer.Ordinal).ToArray();
        for (var i = 0; i < count; i++)
        {
            using var file = new FileStream(files[_random.Next(files.Length)], FileMode.Open, FileAccess.ReadWrite);
            if (file.Length == 0) continue;
            var written = _random.Next(2) == 0 ? Math.Max(1, WrittenOf(file)) : file.Length;
            var at = _random.NextInt64(written);
            file.Position = at;
            var value = file.ReadByte() ^ (1 << _random.Next(8));
            file.Position = at;
            file.WriteByte((byte)value);
        }
    }

    private static long WrittenOf(FileStream file)
    {
        var bytes = new byte[1 << 20];
        for (var end = file.Length; end > 0; end -= bytes.Length)
        {
            var first = Math.Max(0, end - bytes.Length);
            file.Position = first;
            var read = file.ReadAtLeast(bytes, (int)(end - first), throwOnEndOfStream: false);
            var last = bytes.AsSpan(0, read).LastIndexOfAnyExcept((byte)0);
            if (last >= 0) return first + last + 1;
        }

        return 0;
    }
}
