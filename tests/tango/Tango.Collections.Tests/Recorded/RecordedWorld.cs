using System.Collections.Immutable;
using Corfu;
using Tango.Testing;

namespace Tango.Collections.Tests.Recorded;

/// <summary>
/// A log in memory, filled from a file or by running the calls. The file has the number of entries; for each, the
/// length of its payload, the payload, the number of its streams and their ids (little-endian, as BinaryWriter writes).
/// </summary>
internal sealed class RecordedWorld : IAsyncDisposable
{
    private const string FileName = "Recorded/values.log";
    private readonly List<TangoRuntime> _runtimes = [];
    private readonly InMemoryCorfuLog _log = new();

    public static async Task<RecordedWorld> FromFileAsync()
    {
        var world = new RecordedWorld();
        using var reader = new BinaryReader(File.OpenRead(Path.Combine(AppContext.BaseDirectory, FileName)));
        for (int left = reader.ReadInt32(); left > 0; left--)
        {
            byte[] payload = reader.ReadBytes(reader.ReadInt32());
            var streams = ImmutableArray.CreateBuilder<StreamId>();
            for (int count = reader.ReadInt32(); count > 0; count--) streams.Add(new StreamId(reader.ReadUInt64()));
            await world._log.AppendToObjectsAsync(payload, streams.ToImmutable());
        }
        return world;
    }

    public static async Task WriteValuesAsync(RecordedWorld world)
    {
        // The first entry has the level that the log began with.
        TangoRuntime runtime = world.NewRuntime(new TangoOptions { NewestLevel = FeatureLevel.First });
        foreach (RecordedCase values in RecordedCases.All) await values.WriteAsync(runtime);
    }

    public TangoRuntime NewRuntime(TangoOptions? options = null)
    {
        var runtime = new TangoRuntime(_log, _log.OpenCursor, TimeProvider.System, new FixedEntropy(), options);
        _runtimes.Add(runtime);
        return runtime;
    }

    /// <summary>Streams and payload of each entry.</summary>
    public async Task<List<string>> EntriesAsync() =>
        [.. (await ReadAsync()).Select(e => $"{string.Join(',', e.Streams)} {Convert.ToHexString(e.Payload.Span)}")];

    public async ValueTask DisposeAsync()
    {
        foreach (TangoRuntime runtime in _runtimes) await runtime.DisposeAsync();
    }

    private async Task<ImmutableArray<LogEntry>> ReadAsync()
    {
        LogPosition tail = (await _log.CheckAsync([])).Tail;
        var positions = ImmutableArray.CreateBuilder<LogPosition>();
        for (long i = 0; i < tail.Offset; i++) positions.Add(new LogPosition(i, tail.Epoch));
        return [.. (await _log.ReadManyAsync(positions.ToImmutable())).Select(r => r.Entry!)];
    }

    /// <summary>The same writer in every run, so that entries can be compared.</summary>
    private sealed class FixedEntropy : IEntropy
    {
        public Guid NewGuid() => Guid.Parse("11111111-2222-3333-4444-555555555555");

        public double NextDouble() => 0.5;
    }
}
