using Tango.Formatting;
using Tango.Records;
using Tango.Testing;
using Tango;
using Tango.Collections;

namespace Corfu.Fuzz;

/// <summary>A runtime that plays what others have put into its objects' streams. Objects stop with a reason; then
/// another runtime begins.</summary>
internal sealed class TangoPlayer
{
    private const int EntriesPerLog = 200;

    private InMemoryCorfuLog _log = new();
    private TangoRuntime? _runtime;
    private TangoDictionary<string, long>? _object;
    private ImmutableArray<StreamId> _streams;
    private int _left;

    // Small enough that a transaction of a few KiB spills.
    private const int SmallPayload = 1024;

    /// <summary>Entries of two objects, as a runtime writes them: directory records, updates, transactions that commit,
    /// abort and spill, decisions.</summary>
    public static IReadOnlyList<byte[]> Samples() => SamplesAsync().GetAwaiter().GetResult();

    private static async Task<IReadOnlyList<byte[]>> SamplesAsync()
    {
        var log = new InMemoryCorfuLog(new InMemoryLogOptions { MaxPayload = SmallPayload });
        await using var runtime = new TangoRuntime(log, log.OpenCursor, TimeProvider.System, SystemEntropy.Instance);
        var first = await runtime.OpenAsync<TangoDictionary<string, long>>("object", OpenMode.Create);
        var second = await runtime.OpenAsync<TangoRegister<long>>("register", OpenMode.Create);
        await first.SetAsync("k", 1);
        await second.WriteAsync(5);
        await using (var tx = runtime.BeginTx())
        {
            await first.SetAsync("k", (await first.TryGetAsync("k")).Value + await second.ReadAsync());
            await second.WriteAsync(6);
            await tx.EndTxAsync();
        }

        await using (var tx = runtime.BeginTx())
        {
            _ = await second.ReadAsync();
            await first.SetAsync("j", 3);
            await tx.EndTxAsync();
        }

        await using (var tx = runtime.BeginTx())
        {
            for (var i = 0; i < 90; i++) await first.SetAsync($"a key of some length {i}", i);
            await tx.EndTxAsync();
        }

        var tail = (await log.CheckAsync([])).Tail;
        var pages = await log.ReadManyAsync([.. Enumerable.Range(0, (int)tail.Offset).Select(i => new LogPosition(i))]);
        return [.. pages.Where(p => p.IsData).Select(p => p.Entry!.Payload.ToArray()), CallOfSeveralKeys()];
    }

    private static byte[] CallOfSeveralKeys()
    {
        var buffer = new ArgumentBuffer();
        var writer = new MessagePackWriter(buffer);
        EntryFormat.WriteHeader(ref writer, 1, 1, 1);
        RecordFormat.WriteUpdate(
            ref writer, ObjectId.FirstUser, 1, ObjectKey.List(ObjectKey.Of("k"), ObjectKey.Of("j")), [0x91, 1]);
        writer.Flush();
        return buffer.WrittenSpan.ToArray();
    }

    public void Play(byte[] bytes) => PlayAsync(bytes).GetAwaiter().GetResult();

    private async Task PlayAsync(byte[] bytes)
    {
        if (_runtime is null || _left-- == 0) await RestartAsync();
        await _log.AppendToObjectsAsync(bytes, _streams);
        try
        {
            _ = await _object!.TryGetAsync("k");
        }
        catch (TangoException)
        {
            _left = 0;
            throw;
        }
    }

    private async Task RestartAsync()
    {
        if (_runtime is not null) await _runtime.DisposeAsync();
        _log = new InMemoryCorfuLog();
        _runtime = new TangoRuntime(_log, _log.OpenCursor, TimeProvider.System, SystemEntropy.Instance);
        _object = await _runtime.OpenAsync<TangoDictionary<string, long>>("object", OpenMode.Create);
        await _object.SetAsync("k", 1);
        var tail = (await _log.CheckAsync([])).Tail;
        _streams = [.. (await _log.ReadManyAsync([new LogPosition(tail.Offset - 1)]))[0].Entry!.Streams
            .Select(s => s.Stream)];
        _left = EntriesPerLog;
    }
}
