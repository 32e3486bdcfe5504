using Corfu.Conformance;
using Corfu.Storage;

namespace Corfu.Unit.Tests;

/// <summary>A recorded run of a FASTER store: the appends, the acknowledgements, and every disk operation in
/// between.</summary>
internal sealed class CrashRun
{
    private readonly RecordingFiles _before;

    private CrashRun(RecordingFiles before)
    {
        _before = before;
        Files = before.Copy();
    }

    public RecordingFiles Files { get; }

    /// <summary>All pages that the log should hold if everything survives: those found at the start, then those of this
    /// run.</summary>
    public List<byte[]> Pages { get; } = [];

    public List<long> Lsns { get; } = [];

    public int FoundPages { get; private set; }

    /// <summary>Appends pages in bursts of random length, four on the average, each awaited, then stops without a clean
    /// end.</summary>
    public static async Task<CrashRun> RecordAsync(RecordingFiles before, int seed, int pages, string scratch,
        int burst = 4)
    {
        var run = new CrashRun(before);
        var random = new Random(seed);
        var store = PageStore.OnFaster(run.Files, Stores.Unit, Stores.Small, scratch);
        var client = await StoreClient.OpenAsync(store);
        run.Pages.AddRange(client.Replayed.Select(p => p.Body));
        run.Lsns.AddRange(client.Replayed.Select(p => p.Place.Lsn));
        run.FoundPages = run.Pages.Count;
        for (var i = 0; i < pages; i++)
        {
            // A payload that says which page of which run it is: the same position may be written again after a loss.
            var payload = new byte[random.Next(600)];
            random.NextBytes(payload);
            var entry = Entries.Data(run.Pages.Count, payload, epoch: 1, sequence: (seed * 100_000L) + i);
            run.Lsns.Add(client.Append(entry).Lsn);
            run.Pages.Add(entry);
            if (random.Next(burst) != 0) continue;
            await client.CommitAsync();
            run.Files.Note(new DiskEvent.Acknowledged(run.Lsns[^1]));
        }

        await store.DisposeAsync();
        return run;
    }

    public int AcknowledgedPages(int events)
    {
        var acknowledged = Files.Events.Take(events).OfType<DiskEvent.Acknowledged>().Select(a => a.Lsn)
            .DefaultIfEmpty(0).Max();
        return Math.Max(FoundPages, Lsns.Count(l => l <= acknowledged));
    }

    public RecordingFiles Crash(int events, Func<DiskEvent.Write, IEnumerable<Range>> fate) =>
        Files.AfterCrash(_before, events, fate);

    /// <summary>Checks a recovery scan: it must find a prefix of the appends that holds every acknowledged
    /// one.</summary>
    public async Task<int> CheckAsync(RecordingFiles disk, int events, string what)
    {
        var found = new List<byte[]>();
        var mark = new DurableMark(disk, RecordCodec.LogIdOf(Stores.Unit)).Read();
        try
        {
            await new LogScanner(new SegmentImage(disk, Stores.Small.SegmentSize), RecordCodec.LogIdOf(Stores.Unit))
                .ScanAsync(
                mark,
                (in record, in place) =>
                {
                    Assert.True(place.PayloadIntact, $"{what}: a damaged page that nobody damaged");
                    if (record.Kind == RecordKind.Page) found.Add(record.Body.ToArray());
                });
        }
        catch (LogDamagedException damage)
        {
            Assert.Fail($"{what}: refused after a plain power cut: {damage.Message}");
        }

        Assert.True(found.Count >= AcknowledgedPages(events),
            $"{what}: {found.Count} pages, acknowledged were {AcknowledgedPages(events)}");
        Assert.True(found.Count <= Pages.Count, $"{what}: more pages than were ever written");
        for (var i = 0; i < found.Count; i++)
            Assert.True(found[i].AsSpan().SequenceEqual(Pages[i]), $"{what}: page {i} is not the one that was written");
        return found.Count;
    }
}
