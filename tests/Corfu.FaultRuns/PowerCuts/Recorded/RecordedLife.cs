using System.Collections.Immutable;
using Corfu.Conformance;
using Corfu.Protocol;
using Corfu.Storage;
using Corfu.Unit;

namespace Corfu.FaultRuns.PowerCuts.Recorded;

/// <summary>
/// A run of a unit on a recorded disk, which begins with the disk that a power cut has left of the run before: bursts
/// of writes, fills and trims of both kinds, seals and installs, the cleaner and checkpoints of the map. Everything is
/// acknowledged by the unit itself and noted among the disk's events.
/// </summary>
internal sealed class RecordedLife
{
    public static readonly PageStoreOptions Options = Stores.Small with { CheckpointRecords = 120 };

    public static readonly ImmutableArray<StreamId> Streams =
        [.. Enumerable.Range(300, 9).Select(s => new StreamId((ulong)s))];

    private readonly RecordingFiles _before;
    private readonly Random _random;

    // Guards itself and the history's entries: refusals come on other threads.
    private readonly List<(string Verb, long Value)> _operations = [];
    private HandlerClient _unit = null!;
    private Epoch _epoch;
    private long _end;
    private long _mark;

    public RecordedLife(int seed, UnitContent baseline, RecordingFiles before, MapFolders map, bool withoutSync)
    {
        _random = new Random(seed);
        _before = before;
        Map = map;
        Files = before.Copy(withoutSync);
        History = new UnitHistory(baseline);
        _epoch = baseline.SealedBelow;
        _end = baseline.End;
        _mark = baseline.Mark;
    }

    public RecordingFiles Files { get; }

    public MapFolders Map { get; }

    public UnitHistory History { get; }

    public RecordingFiles After(int events, Func<DiskEvent.Write, IEnumerable<Range>> fate) =>
        Files.AfterCrash(_before, events, fate);

    public async Task RecordAsync(int steps)
    {
        var store = PageStore.OnFaster(Files, Stores.Unit, Options, Map.Live);
        _unit = await HandlerClient.OpenAsync(store, install: false);
        Map.Look(Files, anyway: true);
        await NextEpochAsync();
        for (var step = 0; step < steps; step++)
        {
            var burst = new List<Task>();
            for (var i = _random.Next(1, 8); i > 0; i--) burst.Add(One());
            // A seal between requests that are not durable yet covers them (R4); what comes behind it is refused.
            var seals = _random.Next(12) == 0;
            if (seals) burst.Add(SealAsync());
            // Some of the cleaning, and of the checkpoints, while nothing of the burst is durable.
            if (_random.Next(9) == 0) await _unit.Handler.CleanAsync();
            _unit.Handler.BatchEnd();
            await Task.WhenAll(burst);
            if (seals) await NextEpochAsync();
            if (_random.Next(9) == 0) await _unit.Handler.CleanAsync();
            Map.Look(Files, anyway: step % 20 == 19);
        }

        await _unit.Handler.DisposeAsync();
        await store.DisposeAsync();
        Map.Look(Files, anyway: true);
    }

    /// <summary>How many operations were acknowledged by then: the same disk with more of them promises more.</summary>
    public int Acknowledged(int events) => Files.Events.Take(events).Count(e => e is DiskEvent.Acknowledged);

    /// <exception cref="LostException">The unit's content lacks something acknowledged, or holds a value that no
    /// request brought.</exception>
    public void Check(int events, UnitContent found) =>
        History.Check(found, Files.Events.Take(events).OfType<DiskEvent.Acknowledged>()
            .Select(note => _operations[(int)note.Lsn]));

    /// <exception cref="LostException">The unit takes the disk for a damaged one.</exception>
    public static async Task<UnitContent> StartAsync(RecordingFiles disk, string mapFolder)
    {
        try
        {
            return await UnitContent.ReadAsync(disk, mapFolder, Streams);
        }
        catch (LogDamagedException damage)
        {
            throw new LostException($"refused after a plain power cut: {damage.Message}");
        }
    }

    private Task One()
    {
        switch (_random.Next(20))
        {
            case < 11:
                var payload = new byte[_random.Next(900)];
                _random.NextBytes(payload);
                return WriteAsync(Entries.Data(_end, payload, _epoch.Value, _random.Next(), [.. SomeStreams()]),
                    e => new WriteRequest(_epoch, e));
            case 11:
                return WriteAsync(Entries.Junk(_end, _epoch.Value), e => new FillRequest(_epoch, e));
            case < 19:
                var position = Math.Max(_mark, _end - 1 - _random.Next(120));
                if (position < 0 || position >= _end) return Task.CompletedTask;
                History.Trims.Add(position);
                return NoteAsync("trim", position,
                    _unit.Send(new TrimRequest(_epoch, new LogPosition(position), default)), r => r.Status);
            default:
                _mark = Math.Max(_mark, _end - 100 - _random.Next(60));
                History.Marks.Add(_mark);
                return NoteAsync("mark", _mark, _unit.Send(new TrimPrefixRequest(_epoch, new LogPosition(_mark))),
                    r => r.Status);
        }
    }

    private IEnumerable<ulong> SomeStreams()
    {
        var first = _random.Next(Streams.Length);
        for (var i = _random.Next(3); i >= 0; i--) yield return Streams[(first + (2 * i)) % Streams.Length].Value;
    }

    private Task WriteAsync<T>(byte[] entry, Func<byte[], Request<T>> request)
        where T : Response
    {
        var position = _end++;
        lock (_operations) History.Entries[position] = entry;
        return NoteAsync("page", position, _unit.Send(request(entry)), r => r.Status);
    }

    private Task SealAsync()
    {
        var next = new Epoch(_epoch.Value + 1);
        History.Seals.Add(next.Value);
        return NoteAsync("seal", next.Value, _unit.Send(new SealRequest(next)), r => r.Status);
    }

    private async Task NextEpochAsync()
    {
        var next = new Epoch(_epoch.Value + 1);
        History.Installs.Add(next.Value);
        var answer = NoteAsync("install", next.Value,
            _unit.Send(new InstallRequest(Entries.Projection(next.Value, _end))), r => r.Status);
        _unit.Handler.BatchEnd();
        await answer;
        _epoch = next;
    }

    private async Task NoteAsync<T>(string verb, long value, Task<T> answer, Func<T, Status> status)
    {
        int number;
        lock (_operations)
        {
            number = _operations.Count;
            _operations.Add((verb, value));
        }

        var got = status(await answer);
        if (got == Status.Ok) Files.Note(new DiskEvent.Acknowledged(number));
        // The unit says that it did nothing (Overloaded, Sealed): then nothing of it may ever be there.
        else if (verb == "page") lock (_operations) History.Entries.Remove(value);
        else if (verb == "trim") throw new LostException($"the trim of {value} was refused: {got}");
    }
}
