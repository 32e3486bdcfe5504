using System.Diagnostics;
using Corfu.FaultRuns.Machine;

namespace Corfu.FaultRuns.Returns;

/// <summary>
/// Bits of one unit's log flip while the cluster is stopped. It starts, serves, reads right, and is whole within a
/// minute. Every other stop is a SIGKILL: an orderly one leaves a checkpoint, and the next start reads little of the
/// log.
/// </summary>
public sealed class BitFlipRun(int flips, int batch, int seed, TextWriter output)
{
    private const int EntriesPerRound = 300;
    private const int Callers = 32;
    private const int Block = 64;

    // The log's newest mark is a few hundred bytes beside tens of megabytes.
    private const int FlipsPerMark = 10;

    private static readonly TimeSpan HealLimit = TimeSpan.FromSeconds(60);

    private readonly Random _random = new(seed);

    /// <summary>Starts at which the unit refused its log, and came back under another identity.</summary>
    public int Refused { get; private set; }

    public async Task<int> RunAsync(CancellationToken stop)
    {
        var undo = UndoList.New();
        try
        {
            var cluster = new LocalCluster(undo);
            await cluster.CreateAsync(stop);
            // Always the same unit: damage on two units may hit both copies of an entry.
            var name = $"unit-{_random.Next(3)}";
            var unit = await cluster.UnitOfAsync(name, stop);
            var (done, lost, twice, slowest) = (0, 0, 0, TimeSpan.Zero);
            for (var round = 0; done < flips && lost + twice == 0 && !stop.IsCancellationRequested; round++)
            {
                await cluster.AppendAsync(EntriesPerRound, Callers, stop);
                if (round % 2 == 0) await cluster.KillAllAsync(stop);
                else await cluster.DownAsync(stop);
                var before = unit;
                var count = Math.Min(batch, flips - done);
                Flip(Path.Combine(cluster.Folder, name, "unit", "data", "log"), count);
                done += count;
                var clock = Stopwatch.StartNew();
                await cluster.UpAsync(stop);
                (_, lost, twice) = await cluster.CheckAsync(stop);
                await cluster.WaitAsync("whole", LocalCluster.IsWhole, HealLimit, stop);
                if (clock.Elapsed > slowest) slowest = clock.Elapsed;
                unit = await cluster.UnitOfAsync(name, stop);
                if (unit.Id != before.Id) Refused++;
                output.WriteLine(
                    $"flips {done}: {(unit.Id == before.Id ? "served" : "refused")}, {unit.Detail}, lost {lost}, "
                    + $"whole after {clock.Elapsed.TotalSeconds:0.0} s");
            }

            await cluster.Client.DisposeAsync();
            await cluster.DownAsync(CancellationToken.None);
            output.WriteLine(
                $"bit-flips flips={done} refused_starts={Refused} lost={lost} twice={twice} "
                + $"whole_within={slowest.TotalSeconds:0.0} s");
            return done == flips && lost + twice == 0 ? 0 : 1;
        }
        finally
        {
            undo.Run();
        }
    }

    // Half of them where something is written; most of a segment is zeros.
    private void Flip(string log, int count)
    {
        var segments = Directory.GetFiles(log, "log.*").Order(StringComparer.Ordinal).ToArray();
        var marks = Directory.GetFiles(log).Except(segments).Order(StringComparer.Ordinal).ToArray();
        var written = segments.SelectMany(WrittenBlocks).ToArray();
        for (var i = 0; i < count; i++)
        {
            if (marks.Length > 0 && _random.Next(FlipsPerMark) == 0)
            {
                var mark = marks[_random.Next(marks.Length)];
                FlipBit(mark, _random.NextInt64(new FileInfo(mark).Length));
            }
            else if (_random.Next(2) == 0)
            {
                var segment = segments[_random.Next(segments.Length)];
                FlipBit(segment, _random.NextInt64(new FileInfo(segment).Length));
            }
            else
            {
                var (segment, first) = written[_random.Next(written.Length)];
                FlipBit(segment, first + _random.Next(Block));
            }
        }
    }

    private void FlipBit(string path, long at)
    {
        using var file = new FileStream(path, FileMode.Open, FileAccess.ReadWrite);
        file.Position = at;
        var value = file.ReadByte() ^ (1 << _random.Next(8));
        file.Position = at;
        file.WriteByte((byte)value);
    }

    private static IEnumerable<(string Segment, long First)> WrittenBlocks(string segment)
    {
        var bytes = File.ReadAllBytes(segment);
        for (var first = 0; first + Block <= bytes.Length; first += Block)
        {
            if (bytes.AsSpan(first, Block).ContainsAnyExcept((byte)0)) yield return (segment, first);
        }
    }
}
