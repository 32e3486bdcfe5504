using System.Collections.Concurrent;

namespace Salus.Region.Scrub;

/// <summary>Keeps the records of a store's log whole: reads all that regions need, slowly and for ever, and takes
/// damaged ones from other members of their regions. Has no thread of its own.</summary>
public sealed class LogScrub : IScrubState, IAsyncDisposable
{
    private const int MaxBytes = 4 << 20;

    private readonly StoreId _self;
    private readonly StoreLog _log;
    private readonly Func<MapView?> _map;
    private readonly ITransport _transport;
    private readonly TimeProvider _time;
    private readonly ScrubOptions _options;
    private readonly CancellationTokenSource _stop = new();

    // Records that no peer has given yet; one is there once, however often it is found.
    private readonly ConcurrentDictionary<DamagedRecord, bool> _damaged = new();
    private readonly ConcurrentDictionary<RegionKey, long> _mended = new();
    private Task _running = Task.CompletedTask;

    /// <param name="self">The store of the log.</param>
    /// <param name="map">The map as far as it is played; null: the process does not follow the log now, and nothing is
    /// mended.</param>
    public LogScrub(StoreId self, StoreLog log, Func<MapView?> map, ITransport transport, TimeProvider time,
        LoopContext loops, ScrubOptions options)
    {
        ScrubOptions.Rules.Check(options);
        (_self, _log, _map, _transport, _time, Loops, _options) = (self, log, map, transport, time, loops, options);
    }

    private LoopContext Loops { get; }

    /// <summary>A record is damaged. Handlers are short.</summary>
    public event Action<DamagedRecord>? Broken;

    /// <summary>A peer has given a record. Handlers are short.</summary>
    public event Action<DamagedRecord>? Mended;

    /// <summary>Damaged records that no peer has given yet.</summary>
    public IReadOnlyCollection<DamagedRecord> Damaged => [.. _damaged.Keys];

    public void Start() => _running = Loops.RunAsync(RunAsync);

    public ScrubCount CountOf(RegionKey region) =>
        new(_damaged.Keys.Count(record => record.Region == region), _mended.GetValueOrDefault(region));

    public async ValueTask DisposeAsync()
    {
        _stop.Cancel();
        await _running;
        _stop.Dispose();
    }

    private async Task RunAsync()
    {
        try
        {
            // A log that lacks something takes no record any more.
            while (_log.State == StoreState.Serving)
            {
                if (_options.BytesPerSecond > 0) await SearchAsync();
                // Damage that a start or a reader has found counts too.
                foreach (var record in _log.Damaged) await MendAsync(record);
                // Below a checkpoint by now, of a region that has gone, or copied by a recovery.
                foreach (var record in _damaged.Keys)
                {
                    if (!_log.IsDamaged(record)) _damaged.TryRemove(record, out _);
                }

                await Task.Delay(_options.Pause, _time, _stop.Token);
            }
        }
        catch (OperationCanceledException) when (_stop.IsCancellationRequested)
        {
            // The store ends.
        }
        catch (StoreFailedException)
        {
            // The log has reported it, and takes no record any more.
        }
    }

    private async Task SearchAsync()
    {
        foreach (var region in _log.Regions)
        {
            for (long? next = 0; next is { } from;)
            {
                (var bytes, next) = await _log.CheckAsync(region.Region, from);
                await Task.Delay(TimeSpan.FromSeconds((double)bytes / _options.BytesPerSecond), _time, _stop.Token);
            }
        }
    }

    private async Task MendAsync(DamagedRecord record)
    {
        if (_damaged.TryAdd(record, true))
        {
            RegionTelemetry.DamagedRecords.Add(1);
            Broken?.Invoke(record);
        }

        if (_map() is not { } map || !await TryMendAsync(record, map)) return;
        RegionTelemetry.MendedRecords.Add(1);
        _mended.AddOrUpdate(record.Region, 1, static (_, before) => before + 1);
        _damaged.TryRemove(record, out _);
        Mended?.Invoke(record);
    }

    // False: no peer has given it, or there is no room at the moment.
    private async Task<bool> TryMendAsync(DamagedRecord record, MapView map)
    {
        if (map.Volumes.GetValueOrDefault(record.Region.Volume)?.Regions.GetValueOrDefault(record.Region.Region)
            is not { } region) return false;
        var stores = region.Past.Add(region.Current).Reverse().SelectMany(static generation => generation.Members)
            .Select(static member => member.Store).Distinct();
        foreach (var store in stores)
        {
            if (store == _self || map.Nodes.Find(store) is not { } node) continue;
            var request = new ReadRecordsRequest(region.Current.Number, record.Region, [record.Name], MaxBytes);
            if (await _transport.TryCallAsync(node.StoreAddress, request, _options.CallLimit, _time, _stop.Token)
                is not { Records: [var copy, ..] }) continue;
            var status = await _log.MendAsync(record, copy);
            if (status == Status.Ok) return true;
            if (status != Status.Corrupt) return false;
        }

        return false;
    }
}
