using System.Buffers.Binary;
using Corfu.Conformance;
using Corfu.Protocol;

namespace Corfu.Unit.Tests;

/// <summary>
/// A unit at work on a recorded disk: writes in bursts, trims of both kinds, the cleaner at work. Any moment of it can be cut off and checked: nothing
/// acknowledged is missing, nothing is there that nobody wrote, nothing trimmed comes back, and the log is not taken for a damaged one.
/// </summary>
internal sealed class PowerCutRun
{
    private const int StateMark = 25;

    private readonly Dictionary<long, byte[]> _entries = [];
    private readonly List<(string Verb, long Position)> _operations = [];

    public PowerCutRun(bool withoutSync) => Files = new RecordingFiles { IgnoresSyncs = withoutSync };

    public RecordingFiles Files { get; }

    public async Task RecordAsync(int seed, int steps, string scratch)
    {
        var random = new Random(seed);
        var store = new FasterPageStore(Files, Stores.Unit, Stores.Small, scratch);
        var unit = await HandlerClient.OpenAsync(store);
        var end = 0L;
        var mark = 0L;
        for (var step = 0; step < steps; step++)
        {
            var burst = new List<Task>();
            for (var i = random.Next(1, 8); i > 0; i--)
            {
                switch (random.Next(20))
                {
                    case < 12:
                        var payload = new byte[random.Next(900)];
                        random.NextBytes(payload);
                        _entries[end] = Entries.Data(end, payload, 1, end, 300 + (ulong)(end % 9));
                        burst.Add(NoteAsync("write", end, unit.Send(new WriteRequest(Epoch.First, _entries[end])), r => r.Status));
                        end++;
                        break;
                    case < 19:
                        var position = Math.Max(mark, end - 1 - random.Next(120));
                        if (position >= 0 && position < end)
                            burst.Add(NoteAsync("trim", position, unit.Send(new TrimRequest(Epoch.First, new LogPosition(position), default)), r => r.Status));
                        break;
                    default:
                        mark = Math.Max(mark, end - 150);
                        burst.Add(NoteAsync("prefix", mark, unit.Send(new TrimPrefixRequest(Epoch.First, new LogPosition(mark))), r => r.Status));
                        break;
                }
            }

            unit.Handler.BatchEnd();
            await Task.WhenAll(burst);
            if (random.Next(10) == 0) unit.Handler.Clean();
        }

        await unit.Handler.DisposeAsync();
    }

    public async Task CheckAsync(int events, Func<DiskEvent.Write, IEnumerable<Range>> fate, string what)
    {
        var disk = Files.AfterCrash(new RecordingFiles(), events, fate);
        var pages = new Dictionary<long, byte[]>();
        var trimmed = new HashSet<long>();
        var mark = 0L;
        var id = RecordCodec.LogIdOf(Stores.Unit);
        try
        {
            await new LogScanner(new SegmentImage(disk, Stores.Small.SegmentSize), id).ScanAsync(new DurableMark(disk, id).Read(), Visit);
        }
        catch (LogDamagedException damage)
        {
            Assert.Fail($"{what}: refused after a plain power cut: {damage.Message}");
        }

        foreach (var note in Files.Events.Take(events).OfType<DiskEvent.Acknowledged>())
        {
            var (verb, position) = _operations[(int)note.Lsn];
            switch (verb)
            {
                case "write":
                    Assert.True(position < mark || trimmed.Contains(position) || pages.ContainsKey(position), $"{what}: the page at {position} was acknowledged and is lost");
                    break;
                case "trim":
                    Assert.True(position < mark || trimmed.Contains(position), $"{what}: the trim of {position} was acknowledged and is lost");
                    break;
                default:
                    Assert.True(mark >= position, $"{what}: the trim mark {position} was acknowledged and is lost");
                    break;
            }
        }

        foreach (var position in trimmed) Assert.True(_operations.Contains(("trim", position)), $"{what}: {position} was never trimmed");
        Assert.True(mark == 0 || _operations.Contains(("prefix", mark)), $"{what}: the mark {mark} was never set");

        void Visit(in LogRecord record, in RecordPlace place)
        {
            var position = record.Position.Offset;
            switch (record.Kind)
            {
                case RecordKind.Page or RecordKind.Moved:
                    Assert.True(place.PayloadIntact, $"{what}: a damaged page that nobody damaged");
                    Assert.True(_entries[position].AsSpan().SequenceEqual(record.Body.Span), $"{what}: the page at {position} is not the one that was written");
                    pages[position] = _entries[position];
                    break;
                case RecordKind.Trim:
                    trimmed.Add(position);
                    break;
                case RecordKind.TrimPrefix:
                    mark = Math.Max(mark, position);
                    break;
                case RecordKind.State:
                    mark = Math.Max(mark, BinaryPrimitives.ReadInt64LittleEndian(record.Body.Span[StateMark..]));
                    break;
            }
        }
    }

    private async Task NoteAsync<T>(string verb, long position, Task<T> answer, Func<T, Status> status)
    {
        int number;
        lock (_operations)
        {
            number = _operations.Count;
            _operations.Add((verb, position));
        }

        if (status(await answer) == Status.Ok) Files.Note(new DiskEvent.Acknowledged(number));
    }
}
