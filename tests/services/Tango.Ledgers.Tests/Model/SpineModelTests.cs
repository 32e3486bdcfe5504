using CsCheck;
using Tango.Ledgers.Records;

namespace Tango.Ledgers.Tests.Model;

/// <summary>A spine against a list of batches.</summary>
public sealed class SpineModelTests
{
    [Fact]
    public void Spine_leads_to_every_entry_and_names_no_other()
    {
        // A spine is written when it is full, and is in the log some batches later.
        var gen = Gen.Select(Gen.Int[1, 70_000], Gen.Int[1, 5], Gen.Int[0, 40]);
        gen.Sample((batches, largest, late) => Check(batches, largest, late), iter: 20);
        Check(66_500, 1, 0);
    }

    private static void Check(int batches, int largest, int late)
    {
        var edge = new SpineEdge();
        var places = new List<LogPosition>();
        var written = new Dictionary<LogPosition, Spine>();
        (Spine Spine, int Due)? writing = null;
        var position = 0L;
        var length = 0L;
        for (var i = 0; i < batches; i++)
        {
            var count = 1 + (i % largest);
            edge.Add(count, new LogPosition(++position), count);
            length += count;
            places.AddRange(Enumerable.Repeat(new LogPosition(position), count));
            if (writing is null && edge.IsFull) writing = (edge.ToSpine(default), i + late);
            if (writing is not { } one || i < one.Due) continue;
            written.Add(new LogPosition(++position), RoundTrip(one.Spine));
            edge.Follow(one.Spine, new LogPosition(position));
            writing = null;
        }

        var root = RoundTrip(edge.ToSpine(new LogPosition(7)));
        Assert.Equal((places.Count - 1, length, 7), (root.Through, root.Length, root.Floor.Offset));
        foreach (var id in Enumerable.Range(0, 200).Select(i => (long)i * (places.Count - 1) / 199))
            Assert.Equal(places[(int)id], Find(root, id, written));
        Assert.Equal(-1, root.Find(places.Count, Spine.LevelCount, out _));
    }

    private static LogPosition Find(Spine spine, long id, Dictionary<LogPosition, Spine> written)
    {
        var levels = Spine.LevelCount;
        while (true)
        {
            levels = spine.Find(id, levels, out var range);
            Assert.True(levels >= 0 && range.Has(id), $"The spine does not lead to {id}.");
            if (levels == 0) return range.Position;
            spine = written[range.Position];
        }
    }

    private static Spine RoundTrip(Spine spine)
    {
        var record = new SpineRecord(new LogPlace(new LogPosition(1), 0, 0), spine);
        return ((SpineRecord)LedgerRecord.Decode(record.Encode())).Spine;
    }
}
