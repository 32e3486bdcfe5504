using System.Collections.Concurrent;
using Salus.Region.Body;
using Salus.Store.Files;

namespace Salus.Region.Scrub;

/// <summary>Keeps a store's checkpoint files whole: reads all of them, slowly and for ever, and takes damaged ones from
/// peers, as well as those that a reader has found damaged. Has no thread of its own.</summary>
public sealed class FileScrub : IScrubState, IAsyncDisposable
{
    private static readonly TimeSpan s_firstPause = TimeSpan.FromSeconds(1);

    private readonly IRegionFiles _files;
    private readonly RegionBodies _bodies;
    private readonly FileMender _mender;
    private readonly Func<MapView?> _map;
    private readonly TimeProvider _time;
    private readonly LoopContext _loops;
    private readonly ScrubOptions _options;
    private readonly CancellationTokenSource _stop = new();

    // Damaged and missing files that are to come from a peer; a file is there once, however often it is found.
    private readonly ConcurrentDictionary<RegionFile, bool> _damaged = new();
    private readonly ConcurrentDictionary<RegionKey, long> _mended = new();
    private readonly SemaphoreSlim _signal = new(0);
    private readonly Lock _gate = new();
    private Task _running = Task.CompletedTask;
    private bool _isOver;

    // Grows while no peer gives what is asked for.
    private TimeSpan _pause = s_firstPause;
    private long _found;

    private volatile string? _listFault;

    /// <param name="self">The store of the files.</param>
    /// <param name="bodies">The regions of the files, which are told when one is whole again.</param>
    /// <param name="map">The map as far as it is played; null: the process does not follow the log now, and nothing is
    /// mended.</param>
    public FileScrub(StoreId self, IRegionFiles files, RegionBodies bodies, Func<MapView?> map, ITransport transport,
        TimeProvider time, LoopContext loops, ScrubOptions options)
    {
        ScrubOptions.Rules.Check(options);
        (_files, _bodies, _map, _time, _loops, _options) = (files, bodies, map, time, loops, options);
        _mender = new FileMender(self, files, transport, time, options.CallLimit);
    }

    /// <summary>A file is damaged or missing. Any thread; handlers are short.</summary>
    public event Action<RegionFile>? Broken;

    /// <summary>A peer has given a file. As of <see cref="Broken"/>.</summary>
    public event Action<RegionFile>? Mended;

    /// <summary>Damaged files that were found.</summary>
    public long Found => Interlocked.Read(ref _found);

    /// <summary>Files, damaged or missing, that no peer has given yet.</summary>
    public IReadOnlyCollection<RegionFile> Damaged => [.. _damaged.Keys];

    /// <summary>Why the folder of the files could not be listed at the last attempt; null: it was. While it cannot,
    /// no damage is searched for.</summary>
    public string? ListFault => _listFault;

    public void Start() => _running = Task.WhenAll(
        _options.BytesPerSecond > 0 ? _loops.RunAsync(() => RunAsync(SearchAsync)) : Task.CompletedTask,
        _loops.RunAsync(() => RunAsync(MendAsync)));

    /// <summary>A reader has found the file damaged, or missing. Any thread; quick.</summary>
    public void Report(RegionFile file)
    {
        if (!_damaged.TryAdd(file, true)) return;
        Interlocked.Increment(ref _found);
        RegionTelemetry.DamagedFiles.Add(1);
        Broken?.Invoke(file);
        Signal();
    }

    /// <summary>A region needs the file, and the store has not got it yet: no damage. Any thread; quick.</summary>
    public void Want(RegionFile file)
    {
        if (_damaged.TryAdd(file, true)) Signal();
    }

    public ScrubCount CountOf(RegionKey region) =>
        new(_damaged.Keys.Count(file => file.Region == region), _mended.GetValueOrDefault(region));

    public async ValueTask DisposeAsync()
    {
        _stop.Cancel();
        await _running;
        lock (_gate)
        {
            _isOver = true;
            _signal.Dispose();
        }

        _stop.Dispose();
    }

    // Regions that are being closed report to the end.
    private void Signal()
    {
        lock (_gate)
        {
            if (!_isOver) _signal.Release();
        }
    }

    private async Task RunAsync(Func<Task> loop)
    {
        try
        {
            while (true) await loop();
        }
        catch (OperationCanceledException) when (_stop.IsCancellationRequested)
        {
            // The store ends.
        }
    }

    private async Task SearchAsync()
    {
        foreach (var file in List())
        {
            await CheckAsync(file);
            var bytes = LengthOf(file);
            await Task.Delay(TimeSpan.FromSeconds((double)bytes / _options.BytesPerSecond), _time, _stop.Token);
        }

        await Task.Delay(_options.Pause, _time, _stop.Token);
    }

    private async Task MendAsync()
    {
        await _signal.WaitAsync(_stop.Token);
        var mended = 0;
        foreach (var file in _damaged.Keys)
        {
            if (_map() is not { } map) break;
            // A file that was released meanwhile is nowhere any more.
            if (!_mender.IsWanted(file, map) || !_bodies.Needs(file))
            {
                _damaged.TryRemove(file, out _);
            }
            else if (await _mender.TryMendAsync(file, map, _stop.Token))
            {
                RegionTelemetry.MendedFiles.Add(1);
                _mended.AddOrUpdate(file.Region, 1, static (_, before) => before + 1);
                _damaged.TryRemove(file, out _);
                await _bodies.MendedAsync(file);
                Mended?.Invoke(file);
                mended++;
            }
        }

        if (_damaged.IsEmpty || mended > 0) _pause = s_firstPause;
        if (_damaged.IsEmpty) return;
        if (_pause > _options.Pause) _pause = _options.Pause;
        await Task.Delay(_pause, _time, _stop.Token);
        _pause *= 2;
        Signal();
    }

    private async ValueTask CheckAsync(RegionFile file)
    {
        try
        {
            var opened = await CheckpointFile.OpenAsync(_files, file);
            if ((await opened.FindDamageAsync()).Count == 0) return;
        }
        catch (MalformedDataException)
        {
            // Reported below.
        }
        catch (Exception error) when (error is IOException or ObjectDisposedException)
        {
            // Released since it was listed, or a bad sector.
            if (!List().Contains(file)) return;
        }

        Report(file);
    }

    // Empty where the folder cannot be read: the next round tries again.
    private IReadOnlyList<RegionFile> List()
    {
        try
        {
            var files = _files.List();
            _listFault = null;
            return files;
        }
        catch (Exception error) when (error is IOException or UnauthorizedAccessException)
        {
            _listFault = error.Message;
            return [];
        }
    }

    private long LengthOf(RegionFile file)
    {
        try
        {
            return _files.Length(file);
        }
        catch (IOException)
        {
            return 0;
        }
    }
}
