using Corfu.Conformance;
using Salus.Store.Log;

namespace Salus.Store.Tests;

/// <summary>R6: a power cut at any moment leaves every record that was acknowledged, while files are freed and records
/// carried forward (S3, S19).</summary>
public sealed class PowerCutTests
{
    private static readonly OpenRecordLog s_open =
        static (files, space, sizes) => new PlainRecordLog(files, space, sizes);

    // A start goes on in another file, whose syncs do nothing for the one with the torn record.
    private static readonly StoreOptions s_shortFiles = StoreLogConformance.Small with
    {
        SegmentSize = StoreLogConformance.Small.LogPageSize,
    };

    [Theory]
    [InlineData(1)]
    [InlineData(2)]
    [InlineData(3)]
    public async Task Disk_after_a_cut_holds_all_that_was_acknowledged(int seed)
    {
        var random = new Random(seed);
        var before = new RecordingFiles();
        var files = before.Copy();
        var log = await OpenAsync(files);
        var history = new History();
        await history.RunAsync(log, files, random);
        await log.DisposeAsync();
        for (var cut = 0; cut < 25; cut++)
        {
            var count = random.Next(files.EventCount + 1);
            var disk = files.AfterCrash(before, count, write => CrashFate.Of(random, write));
            var after = await OpenAsync(disk);
            Assert.True(after.State == StoreState.Serving, $"cut {count}: {after.Damage}");
            await history.CheckAsync(after, count);
            await after.FreeAsync();
            await after.DisposeAsync();
        }
    }

    /// <summary>A start that is killed while it erases a torn record leaves zeros in the page cache alone, and the next
    /// one finds nothing to erase.</summary>
    [Fact]
    public async Task Power_cut_behind_a_killed_start_brings_no_torn_record_back()
    {
        var random = new Random(1);
        var before = new RecordingFiles();
        var files = before.Copy();
        var log = await OpenAsync(files, s_shortFiles);
        var region = new TestRegion(0);
        for (var i = 0; i < 20; i++)
        {
            // A head of several sectors: a torn one is damage where a later record proves that it was durable.
            var record = region.Put(blocks: 1, others: 100);
            long lsn;
            while (log.TryAppend(record, out lsn) == Status.Overloaded) await Task.Delay(1);
            await log.WaitDurableAsync(lsn);
        }

        await log.DisposeAsync();
        for (var cut = 0; cut < 40; cut++)
        {
            var torn = files.AfterCrash(
                before, random.Next(files.EventCount + 1), write => CrashFate.Of(random, write));
            var starting = torn.Copy();
            await (await OpenAsync(starting, s_shortFiles)).DisposeAsync();
            for (var events = 1; events <= starting.EventCount; events++)
            {
                if (starting.Events[events - 1] is not DiskEvent.Write) continue;
                var killed = starting.AfterKill(torn, events);
                await SealAsync(killed);
                var after = await OpenAsync(
                    killed.AfterCrash(torn, killed.EventCount, _ => []), s_shortFiles);
                Assert.True(after.State == StoreState.Serving, $"cut {cut}, event {events}: {after.Damage}");
                await after.DisposeAsync();
            }
        }
    }

    // Later records prove that all below them is durable.
    private static async Task SealAsync(RecordingFiles files)
    {
        var log = await OpenAsync(files, s_shortFiles);
        for (var generation = 1000; generation < 1003; generation++)
        {
            Assert.Equal(Status.Ok, log.TrySeal(new TestRegion(0).Key, new Epoch(generation), out var lsn));
            await log.WaitDurableAsync(lsn);
        }

        await log.DisposeAsync();
    }

    private static async Task<StoreLog> OpenAsync(RecordingFiles files, StoreOptions? options = null)
    {
        var log = new StoreLog(files, s_open, ThreadWorkers.Instance, TestRegion.Store,
            options ?? StoreLogConformance.Small);
        await log.RecoverAsync();
        return log;
    }

    private sealed class History
    {
        private readonly TestRegion[] _regions = [new(0), new(1), new(2)];

        // Each list: what had been acknowledged, or asked for, before an event of the disk.
        private readonly List<(int Events, TestRegion Region, RegionRecord Record)> _records = [];
        private readonly List<(int Events, TestRegion Region, long Floor)> _floors = [];
        private readonly List<(int Events, TestRegion Region, Epoch Generation)> _seals = [];

        public async Task RunAsync(StoreLog log, RecordingFiles files, Random random)
        {
            for (var i = 0; i < 400; i++)
            {
                // The first region is slow: its records are carried forward.
                var region = _regions[random.Next(20) == 0 ? 0 : random.Next(1, 3)];
                long lsn;
                if (random.Next(30) == 0)
                {
                    region.Generation = region.Generation.Next;
                    if (log.TrySeal(region.Key, region.Generation, out lsn) != Status.Ok) continue;
                    await log.WaitDurableAsync(lsn);
                    _seals.Add((files.EventCount, region, region.Generation));
                }

                var record = region.Put(random.Next(1, 4));
                while (log.TryAppend(record, out lsn) != Status.Ok) await Task.Delay(1);
                if (random.Next(3) > 0) await log.WaitDurableAsync(lsn);
                if (log.DurableUntil >= lsn) _records.Add((files.EventCount, region, record));
                if (random.Next(10) > 0 || region == _regions[0]) continue;
                var floor = Math.Max(0, region.LastIndex - random.Next(1, 5));
                _floors.Add((files.EventCount, region, floor));
                log.TryRaiseFloor(region.Key, floor, out _);
            }

            await log.FreeAsync();
            Assert.DoesNotContain(0, files.List());
        }

        public async Task CheckAsync(StoreLog log, int events)
        {
            foreach (var (_, region, record) in _records.Where(r => r.Events <= events))
            {
                var floor = _floors.Where(f => f.Events <= events && f.Region == region)
                    .Select(f => f.Floor).DefaultIfEmpty().Max();
                if (record.Head.Index <= floor) continue;
                var found = await log.ReadAsync(region.Key, TestRegion.NameOf(record));
                Assert.True(found is not null, $"{region.Key} lacks {record.Head.Index}");
                Assert.Equal(record.Head, found.Head);
            }

            foreach (var (_, region, generation) in _seals.Where(s => s.Events <= events))
                Assert.True(log.Find(region.Key)!.Sealed >= generation);
        }
    }
}
