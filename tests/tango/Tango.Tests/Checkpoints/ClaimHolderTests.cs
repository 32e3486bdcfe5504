using Corfu;
using Tango.Formatting;
using Tango.Records;
using static Tango.Tests.RawRecords;

namespace Tango.Tests.Checkpoints;

/// <summary>R20: commit records of clients that are no more, which hold the history of what they read.</summary>
public class ClaimHolderTests
{
    [Fact]
    public void Records_that_hold_several_cohorts_are_all_decided() => SeededContext.Run(1, async time =>
    {
        await using var world = new World(time: time);
        var (runtime, a, b) = await OpenAsync(world);
        var first = await AppendOrphanAsync(world, 256, 259);
        var second = await AppendOrphanAsync(world, 257, 259);
        await runtime.Checkpoints.WriteAsync(a);
        // While the first one's time runs.
        await runtime.Checkpoints.WriteAsync(b);
        await Task.Delay(TimeSpan.FromSeconds(2), time);
        Assert.Equal([first, second], (await DecisionsAsync(world)).Order());
    });

    [Fact]
    public void Undecidable_record_does_not_delay_decisions_of_later_records() => SeededContext.Run(2, async time =>
    {
        await using var world = new World(time: time);
        var (runtime, a, _) = await OpenAsync(world);
        // There is no such object.
        await AppendOrphanAsync(world, 256, 300);
        var decided = await AppendOrphanAsync(world, 256, 259);
        await runtime.Checkpoints.WriteAsync(a);
        await Task.Delay(TimeSpan.FromSeconds(2), time);
        Assert.Equal([decided], await DecisionsAsync(world));
    });

    /// <summary>Objects 256 and 257 are open, 258 is what is written, 259 is read and open nowhere.</summary>
    private static async Task<(TangoRuntime Runtime, Accounts A, Accounts B)> OpenAsync(World world)
    {
        var runtime = world.NewRuntime();
        var (a, b) = (await runtime.OpenAsync<Accounts>("a", OpenMode.Create),
            await runtime.OpenAsync<Accounts>("b", OpenMode.Create));
        await runtime.OpenWriteOnlyAsync<Accounts>("written", OpenMode.Create);
        await runtime.OpenWriteOnlyAsync<Accounts>("read", OpenMode.Create);
        return (runtime, a, b);
    }

    private static async Task<List<RecordVersion>> DecisionsAsync(World world)
    {
        var decided = new List<RecordVersion>();
        var tail = await world.TailAsync();
        for (var position = LogPosition.Zero; position < tail; position = position.Next)
        {
            if ((await world.Log.ReadManyAsync([position]))[0].Entry is { } entry) AddDecisionsOf(entry, decided);
        }

        return decided;
    }

    private static void AddDecisionsOf(LogEntry entry, List<RecordVersion> decided)
    {
        var reader = new MessagePackReader(entry.Payload);
        for (var left = EntryFormat.ReadHeader(ref reader).Records; left > 0; left--)
        {
            var record = reader;
            reader.SkipValue();
            if (record.ReadCount() == RecordFormat.DecisionLength
                && record.ReadInt32() == (int)RecordKind.Decision) decided.Add(DecisionFormat.Read(ref record).Commit);
        }
    }

    private static async Task<RecordVersion> AppendOrphanAsync(World world, params int[] reads)
    {
        var snapshotEnd = (await world.TailAsync()).Offset;
        var result = await world.Log.AppendToObjectsAsync(
            Entry(1, writer =>
            {
                WriteOrphan(ref writer, snapshotEnd, reads, 258);
                writer.Flush();
            }), [.. reads.Append(258).Order().Select(static id => new StreamId((ulong)id))]);
        return new RecordVersion(result.Position, 0);
    }
}
