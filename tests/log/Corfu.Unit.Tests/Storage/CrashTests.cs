using Corfu.Conformance;

namespace Corfu.Unit.Tests;

/// <summary>
/// Power cuts on a recorded disk: whatever was not synced is lost, kept or torn, at every moment of a run. Nothing
/// acknowledged may be missing, nothing may appear that was not written, and no such disk may be taken for a damaged
/// one (R3, R6).
/// </summary>
public sealed class CrashTests : IDisposable
{
    private const int SubsetSeeds = 6;

    private readonly TempFolder _folder = new();

    private string Scratch => Path.Combine(_folder.Path, "map");

    public void Dispose() => _folder.Dispose();

    [Fact]
    public async Task Every_prefix_of_the_disk_operations_with_the_unsynced_rest_lost_or_kept()
    {
        var run = await CrashRun.RecordAsync(new RecordingFiles(), seed: 1, pages: 400, Scratch);
        for (var events = 0; events <= run.Files.Events.Count; events++)
        {
            await run.CheckAsync(run.Crash(events, _ => []), events, $"lost after {events}");
            await run.CheckAsync(run.Crash(events, _ => [Range.All]), events, $"kept after {events}");
        }

        Assert.True(run.Files.List().Count > 2, "the run never crossed a segment");
    }

    [Fact]
    public async Task Random_subsets_of_the_unsynced_writes_torn_at_bytes_and_sectors()
    {
        var run = await CrashRun.RecordAsync(new RecordingFiles(), seed: 2, pages: 400, Scratch);
        var lost = 0;
        for (var seed = 0; seed < SubsetSeeds; seed++)
        {
            var random = new Random(seed);
            for (var events = random.Next(3); events <= run.Files.Events.Count; events += 1 + random.Next(3))
            {
                var disk = run.Crash(events, w => CrashFate.Of(random, w));
                var found = await run.CheckAsync(disk, events, $"seed {seed} after {events}");
                if (found < run.Pages.Count) lost++;
            }
        }

        Assert.True(lost > 0, "no crash ever lost anything: the test cannot fail");
    }

    [Fact]
    public async Task A_reopened_store_goes_on_and_survives_the_next_crash_and_the_next()
    {
        for (var seed = 0; seed < 6; seed++)
        {
            var random = new Random(seed);
            var disk = new RecordingFiles();
            for (var crash = 0; crash < 4; crash++)
            {
                var run = await CrashRun.RecordAsync(disk, (seed * 10) + crash, 60, Scratch);
                var events = random.Next(run.Files.Events.Count / 2, run.Files.Events.Count + 1);
                disk = run.Crash(events, w => CrashFate.Of(random, w));
                await run.CheckAsync(disk, events, $"seed {seed} crash {crash} after {events}");
                for (var again = 0; again < 3; again++)
                {
                    // The same run, cut at another moment and otherwise torn: the bytes that earlier crashes left must
                    // never count.
                    events = random.Next(run.Files.Events.Count + 1);
                    await run.CheckAsync(run.Crash(events, w => CrashFate.Of(random, w)), events,
                        $"seed {seed} crash {crash} also after {events}");
                }
            }
        }
    }

    /// <summary>kill -9 leaves everything to the page cache: what the next process finds there, answers and builds on
    /// must be durable by then (R4).</summary>
    [Fact]
    public async Task Record_left_unsynced_by_a_killed_process_survives_a_power_cut_once_the_successor_serves()
    {
        // Bursts longer than a log page: some lie in two segments, of which the successor's own writes touch one.
        var run = await CrashRun.RecordAsync(new RecordingFiles(), seed: 4, pages: 1000, Scratch, burst: 60);
        var saved = 0;
        for (var events = 0; events <= run.Files.Events.Count; events++)
        {
            if (events == 0 || run.Files.Events[events - 1] is not DiskEvent.Write) continue;
            var killed = run.Files.AfterKill(new RecordingFiles(), events);
            await using var store = PageStore.OnFaster(killed, Stores.Unit, Stores.Small, Scratch);
            var served = (await StoreClient.OpenAsync(store)).Replayed.Count;
            var disk = killed.AfterCrash(new RecordingFiles(), killed.EventCount, _ => []);
            Assert.Equal(served, await run.CheckAsync(disk, events, $"killed after {events}"));
            if (await run.CheckAsync(run.Crash(events, _ => []), events, $"lost after {events}") < served) saved++;
        }

        Assert.True(saved > 0, "no kill ever left anything unsynced: the test cannot fail");
    }

    [Fact]
    public async Task Check_without_sync_fails()
    {
        // The harness itself: take the syncs for granted without their effect, and acknowledged pages must be missed.
        var run = await CrashRun.RecordAsync(new RecordingFiles(), seed: 3, pages: 50, Scratch);
        var liar = new RecordingFiles();
        foreach (var create in run.Files.Events.OfType<DiskEvent.Create>()) liar.Create(create.Segment);
        await Assert.ThrowsAnyAsync<Xunit.Sdk.XunitException>(
            () => run.CheckAsync(liar, run.Files.Events.Count, "no sync"));
    }
}
