using Corfu.FaultRuns.Clients;
using Corfu.FaultRuns.Volumes.Judging;
using Salus;
using Salus.Hosting;

namespace Corfu.FaultRuns.Volumes.Clients;

/// <summary>
/// A process that mounts the volume, reads it whole, then writes and reads until it is told to end or the mount is
/// lost. Writes are called in the order of their numbers, with many under way; a read must return what the writes
/// called before it leave, or one that was called while it waited. It prints, twice a second, what it has done, and
/// when its last write and read began.
/// </summary>
internal sealed class VolumeWriter(IVolume volume, HistoryWriter history, long first, int seed)
{
    private const int Window = 24;
    private const int MostBlocks = 6;
    private const int FlushEvery = 64;

    private static readonly TimeSpan s_report = TimeSpan.FromMilliseconds(500);
    private static readonly TimeSpan s_pause = TimeSpan.FromMilliseconds(4);

    private readonly int _blocks = (int)(volume.Size / volume.BlockSize);
    private readonly Lock _gate = new();
    private readonly CancellationTokenSource _over = new();
    private readonly SemaphoreSlim _window = new(Window);

    // Guarded by _gate: the number of the write that each block is of, after all writes that were called.
    private readonly Dictionary<int, long> _model = [];
    private readonly List<VolumeWrite> _called = [];
    private long _next = first;
    private long _writes;
    private long _reads;
    private long _lastWrite;
    private long _lastRead;

    /// <param name="isAudit">Only mounts and reads the volume whole.</param>
    public static async Task<int> RunAsync(
        string connect, string name, long first, int seed, string file, bool isAudit)
    {
        using var history = new HistoryWriter(file);
        using var stop = new CancellationTokenSource();
        _ = Task.Run(async () =>
        {
            while (await Console.In.ReadLineAsync() is { } line && line != "stop")
            {
            }

            stop.Cancel();
        });
        await using var salus = await ConnectAsync(connect);
        await using var volume = await MountAsync(salus, name, stop.Token);
        var writer = new VolumeWriter(volume, history, first, seed);
        await writer.ReadWholeAsync();
        history.Line("mounted");
        if (!isAudit) await writer.WorkAsync(stop.Token);
        history.Line($"reads {writer._reads}");
        Console.WriteLine("ended True");
        return 0;
    }

    // As often as it takes: a writer may be started in the middle of a fault, and beside the lease of one that was
    // killed.
    private static async Task<SalusConnection> ConnectAsync(string connect)
    {
        for (var attempt = 0; ; attempt++)
        {
            try
            {
                return await SalusConnection.OpenAsync(connect);
            }
            catch (CorfuException) when (attempt < 120)
            {
                await Task.Delay(500);
            }
        }
    }

    private static async Task<IVolume> MountAsync(SalusConnection salus, string name, CancellationToken stop)
    {
        for (var attempt = 0; ; attempt++)
        {
            try
            {
                return await (await salus.FindVolumeAsync(name, stop)).MountAsync(stop);
            }
            catch (CorfuException e) when (attempt < 120)
            {
                Console.WriteLine($"mounting: {e.Message.ReplaceLineEndings(" ")}");
                await Task.Delay(500, stop);
            }
        }
    }

    private async Task ReadWholeAsync()
    {
        var bytes = new byte[_blocks * BlockText.Size];
        await volume.ReadAsync(0, bytes, null, CancellationToken.None);
        for (var block = 0; block < _blocks; block++)
        {
            var number = BlockText.Read(bytes.AsSpan(block * BlockText.Size, BlockText.Size), block);
            if (number is null) history.Line($"wrong block {block} holds no block that was written");
            if (number is not > 0) continue;
            _model[block] = number.Value;
            history.Line($"found {block} {number}");
        }
    }

    private async Task WorkAsync(CancellationToken stop)
    {
        using var ends = CancellationTokenSource.CreateLinkedTokenSource(stop, _over.Token);
        await Task.WhenAll(WriteAsync(new Random(seed), ends.Token), ReadAsync(new Random(seed + 1), ends.Token),
            ReadAsync(new Random(seed + 2), ends.Token), ReportAsync(ends.Token));
        for (var i = 0; i < Window; i++) await _window.WaitAsync(CancellationToken.None);
    }

    private async Task WriteAsync(Random random, CancellationToken stop)
    {
        while (!stop.IsCancellationRequested)
        {
            await _window.WaitAsync(CancellationToken.None);
            _ = PutAsync(random);
            if (random.Next(3) == 0) await Task.Delay(s_pause, CancellationToken.None);
        }
    }

    private async Task PutAsync(Random random)
    {
        var began = HistoryWriter.Now;
        Task put;
        long number;
        lock (_gate)
        {
            number = _next++;
            var count = random.Next(3) == 0 ? random.Next(1, MostBlocks) : 1;
            var start = random.Next(_blocks - count + 1);
            var isClear = random.Next(12) == 0;
            history.Line($"{(isClear ? "clear" : "write")} {number} {start} {count}");
            _called.Add(new VolumeWrite(number, start, count, isClear));
            var bytes = new byte[count * BlockText.Size];
            for (var i = 0; i < count; i++)
            {
                _model[start + i] = isClear ? 0 : number;
                BlockText.Write(bytes.AsSpan(i * BlockText.Size, BlockText.Size), number, start + i);
            }

            // The call takes its place here: the history has the order.
            put = isClear
                ? volume.ClearAsync(start, count, durable: true).AsTask()
                : volume.WriteAsync(start, bytes, durable: true).AsTask();
        }

        try
        {
            await put;
            history.Line($"done {number}");
            Interlocked.Increment(ref _writes);
            Advance(ref _lastWrite, began);
            if (number % FlushEvery == 0) await volume.FlushAsync();
        }
        catch (VolumeException e)
        {
            history.Line($"failed {number} {e.Fault} {e.Message}");
            if (e.Fault == VolumeFault.OutOfSpace) history.Line($"refused {number}");
            // A failed write leaves the model in doubt; another mount finds out.
            _over.Cancel();
        }
        catch (Exception e)
        {
            history.Line($"unexpected {e.ToString().ReplaceLineEndings(" ")}");
            _over.Cancel();
        }
        finally
        {
            _window.Release();
        }
    }

    private async Task ReadAsync(Random random, CancellationToken stop)
    {
        while (!stop.IsCancellationRequested)
        {
            var began = HistoryWriter.Now;
            var count = random.Next(1, MostBlocks);
            var start = random.Next(_blocks - count + 1);
            var bytes = new byte[count * BlockText.Size];
            var expected = new long[count];
            Task read;
            int called;
            lock (_gate)
            {
                called = _called.Count;
                for (var i = 0; i < count; i++) expected[i] = _model.GetValueOrDefault(start + i);
                read = volume.ReadAsync(start, bytes, null, CancellationToken.None).AsTask();
            }

            try
            {
                await read;
                for (var i = 0; i < count; i++)
                {
                    Compare(
                        bytes.AsSpan(i * BlockText.Size, BlockText.Size), start + i, expected[i], called);
                }

                Interlocked.Increment(ref _reads);
                Advance(ref _lastRead, began);
            }
            catch (VolumeException e)
            {
                history.Line($"unread {start} {count} {e.Fault} {e.Message}");
            }
            catch (Exception e)
            {
                history.Line($"unexpected {e.ToString().ReplaceLineEndings(" ")}");
            }

            await Task.Delay(s_pause * (0.5 + random.NextDouble()), CancellationToken.None);
        }
    }

    // A read that waits may return what a write leaves that was called meanwhile.
    private void Compare(ReadOnlySpan<byte> block, int place, long expected, int called)
    {
        var found = BlockText.Read(block, place);
        if (found == expected) return;
        lock (_gate)
        {
            for (var i = called; i < _called.Count; i++)
            {
                var write = _called[i];
                if (write.First <= place && place < write.First + write.Count
                    && found == (write.IsClear ? 0 : write.Number)) return;
            }
        }

        history.Line($"wrong block {place}: a read called behind write {expected} returns "
            + (found is { } number ? $"write {number}" : "no block that was written"));
    }

    private async Task ReportAsync(CancellationToken stop)
    {
        while (!stop.IsCancellationRequested)
        {
            Console.WriteLine($"counts {Volatile.Read(ref _writes)} {Volatile.Read(ref _reads)}");
            Console.WriteLine($"progress {Volatile.Read(ref _lastWrite)} {Volatile.Read(ref _lastRead)}");
            history.Line($"reads {Volatile.Read(ref _reads)}");
            await Task.Delay(s_report, stop).ConfigureAwait(ConfigureAwaitOptions.SuppressThrowing);
        }
    }

    private static void Advance(ref long last, long began)
    {
        var known = Volatile.Read(ref last);
        while (began > known && Interlocked.CompareExchange(ref last, began, known) != known)
            known = Volatile.Read(ref last);
    }
}
