using System.Collections.Concurrent;
using Salus.Store.Files;

namespace Salus.Region.Scrub;

/// <summary>Keeps a store's checkpoint files whole: reads all of them, slowly and for ever, and takes damaged ones from
/// peers, as well as those that a reader has found damaged. Has no thread of its own.</summary>
public sealed class FileScrub : IAsyncDisposable
{
    private readonly IRegionFiles _files;
    private readonly FileMender _mender;
    private readonly Func<RegionFile, ValueTask> _mended;
    private readonly TimeProvider _time;
    private readonly LoopContext _loops;
    private readonly ScrubOptions _options;
    private readonly CancellationTokenSource _stop = new();

    // Damaged files that are to come from a peer; a file is there once, however often it is found.
    private readonly ConcurrentDictionary<RegionFile, bool> _damaged = new();
    private readonly SemaphoreSlim _signal = new(0);
    private Task _running = Task.CompletedTask;
    private long _found;
    private long _mendedFiles;

    /// <param name="self">The store of the files.</param>
    /// <param name="mended">A file is whole again: called before the next one is read.</param>
    public FileScrub(StoreId self, IRegionFiles files, IRegionMap map, ITransport transport,
        Func<RegionFile, ValueTask> mended, TimeProvider time, LoopContext loops, ScrubOptions options)
    {
        ScrubOptions.Rules.Check(options);
        (_files, _mended, _time, _loops, _options) = (files, mended, time, loops, options);
        _mender = new FileMender(self, files, map, transport, time, options.CallLimit);
    }

    /// <summary>Damaged files that were found.</summary>
    public long Found => Interlocked.Read(ref _found);

    /// <summary>Files that a peer has given.</summary>
    public long Mended => Interlocked.Read(ref _mendedFiles);

    /// <summary>Files that no peer has given yet.</summary>
    public IReadOnlyCollection<RegionFile> Damaged => [.. _damaged.Keys];

    public void Start() => _running = Task.WhenAll(
        _loops.RunAsync(() => RunAsync(SearchAsync)), _loops.RunAsync(() => RunAsync(MendAsync)));

    /// <summary>A reader has found the file damaged, or missing. Any thread; quick.</summary>
    public void Report(RegionFile file)
    {
        if (!_damaged.TryAdd(file, true)) return;
        Interlocked.Increment(ref _found);
        RegionTelemetry.DamagedFiles.Add(1);
        _signal.Release();
    }

    /// <summary>Reads all files of some regions at once, and reports those that are damaged.</summary>
    public async Task<ImmutableArray<RegionFile>> CheckAsync(
        Func<RegionKey, bool> regions, CancellationToken cancellationToken)
    {
        var damaged = ImmutableArray.CreateBuilder<RegionFile>();
        foreach (var file in _files.List())
        {
            cancellationToken.ThrowIfCancellationRequested();
            if (regions(file.Region) && await IsDamagedAsync(file)) damaged.Add(file);
        }

        return damaged.DrainToImmutable();
    }

    public async ValueTask DisposeAsync()
    {
        _stop.Cancel();
        await _running;
        _signal.Dispose();
        _stop.Dispose();
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
        foreach (var file in _files.List())
        {
            await IsDamagedAsync(file);
            var bytes = LengthOf(file);
            await Task.Delay(TimeSpan.FromSeconds((double)bytes / _options.BytesPerSecond), _time, _stop.Token);
        }

        await Task.Delay(_options.Pause, _time, _stop.Token);
    }

    private async Task MendAsync()
    {
        await _signal.WaitAsync(_stop.Token);
        foreach (var file in _damaged.Keys)
        {
            if (!_mender.IsWanted(file))
            {
                _damaged.TryRemove(file, out _);
            }
            else if (await _mender.TryMendAsync(file, _stop.Token))
            {
                Interlocked.Increment(ref _mendedFiles);
                RegionTelemetry.MendedFiles.Add(1);
                _damaged.TryRemove(file, out _);
                await _mended(file);
            }
        }

        if (_damaged.IsEmpty) return;
        await Task.Delay(_options.Pause, _time, _stop.Token);
        _signal.Release();
    }

    private async ValueTask<bool> IsDamagedAsync(RegionFile file)
    {
        try
        {
            var opened = await CheckpointFile.OpenAsync(_files, file);
            if ((await opened.FindDamageAsync()).Count == 0) return false;
        }
        catch (MalformedDataException)
        {
            // Reported below.
        }
        catch (Exception error) when (error is IOException or ObjectDisposedException)
        {
            // Released since it was listed, or a bad sector.
            if (!_files.List().Contains(file)) return false;
        }

        Report(file);
        return true;
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
