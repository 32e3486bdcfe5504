using System.Diagnostics;
using Corfu.Conformance;

namespace Corfu.FaultRuns.PowerCuts.Recorded;

/// <summary>
/// Power cuts of a unit over its own device layer: every prefix of what it did to its disk, and at each some of what an
/// un-flushed write may have become. Each state is given to a unit that starts on it and is asked for everything.
/// </summary>
public sealed class RecordedCuts : IDisposable
{
    private const int StepsPerLife = 60;
    private const int LivesPerDisk = 3;
    private const int MaxViolations = 10;
    private const int MaxRecent = 12;

    private static readonly TimeSpan s_progress = TimeSpan.FromSeconds(10);

    private readonly int _seed;
    private readonly bool _withoutSync;
    private readonly TextWriter _output;
    private readonly HashSet<UInt128> _distinct = [];

    // For this life: the number of acknowledgements that each state was checked against last, and the contents that
    // units found on the newest disks.
    private readonly Dictionary<UInt128, int> _checked = [];
    private readonly Queue<(UInt128 Id, UnitContent Content)> _recent = new();
    private readonly SortedDictionary<string, int> _maps = new(StringComparer.Ordinal);
    private readonly string _folder;
    private long _told;

    /// <param name="withoutSync">Syncs return and do nothing: the run must fail.</param>
    public RecordedCuts(int seed, bool withoutSync, TextWriter output)
    {
        _seed = seed;
        _withoutSync = withoutSync;
        _output = output;
        // The copies of the address map's folder are the only files: in memory where there is such a place.
        const string Memory = "/dev/shm";
        _folder = Directory.Exists(Memory)
            ? Directory.CreateDirectory(Path.Combine(Memory, $"corfu-cuts-{Guid.NewGuid():N}")).FullName
            : Directory.CreateTempSubdirectory("corfu-cuts-").FullName;
    }

    public int Distinct => _distinct.Count;

    public int States { get; private set; }

    public int Violations { get; private set; }

    public int FromCheckpoints { get; private set; }

    public int Checkpoints { get; private set; }

    /// <param name="states">Distinct ones.</param>
    /// <param name="stride">Only every n-th prefix of a life is checked.</param>
    /// <returns>Whether everything held.</returns>
    public async Task<bool> RunAsync(int states, int stride, CancellationToken stop)
    {
        var clock = Stopwatch.StartNew();
        _told = Stopwatch.GetTimestamp();
        for (var disk = 0; Distinct < states && Violations < MaxViolations && !stop.IsCancellationRequested; disk++)
            await OneDiskAsync(disk, states, stride, stop);
        foreach (var (map, count) in _maps) _output.WriteLine($"  the address map's folder {map}: {count}");
        _output.WriteLine(
            $"power cuts {States} distinct states {Distinct} starts from a checkpoint {FromCheckpoints} of "
            + $"{Checkpoints} violations {Violations} seconds {clock.Elapsed.TotalSeconds:0}");
        return Violations == 0;
    }

    public void Dispose() => Directory.Delete(_folder, recursive: true);

    // Several lives of a unit, each beginning with what a power cut has left of the one before.
    private async Task OneDiskAsync(int disk, int states, int stride, CancellationToken stop)
    {
        var files = new RecordingFiles();
        var content = UnitContent.Empty;
        var left = "";
        for (var life = 0; life < LivesPerDisk && Distinct < states; life++)
        {
            var seed = (_seed * 1000) + (disk * 10) + life;
            var folder = Directory.CreateDirectory(Path.Combine(_folder, $"life.{seed}")).FullName;
            var map = new MapFolders(Path.Combine(folder, "map"), folder);
            if (left.Length > 0 && Directory.Exists(left)) Directory.Move(left, map.Live);
            var recorded = new RecordedLife(seed, content, files, map, _withoutSync);
            await recorded.RecordAsync(StepsPerLife);
            Checkpoints += map.Checkpoints;
            var random = new Random(seed);
            for (var events = 0;
                events <= recorded.Files.Events.Count && Distinct < states && Violations < MaxViolations
                && !stop.IsCancellationRequested; events += stride)
            {
                await CutAsync(recorded, events, _ => [], random,
                    $"seed {seed} after {events}: un-flushed writes lost");
                await CutAsync(recorded, events, _ => [Range.All], random,
                    $"seed {seed} after {events}: un-flushed writes kept");
                await CutAsync(recorded, events, w => CrashFate.Of(random, w), random,
                    $"seed {seed} after {events}: un-flushed writes torn");
                Progress(states);
            }

            if (Violations > 0) return;
            var moment = random.Next(recorded.Files.Events.Count / 2, recorded.Files.Events.Count + 1);
            files = recorded.After(moment, w => CrashFate.Of(random, w));
            left = Path.Combine(_folder, "left");
            var state = map.After(moment, random);
            state.Make(left);
            var copy = Path.Combine(_folder, "copy");
            state.Make(copy);
            content = await RecordedLife.StartAsync(files.Copy(), copy);
            recorded.Check(moment, content);
            _checked.Clear();
            _recent.Clear();
            Directory.Delete(folder, recursive: true);
        }
    }

    private async Task CutAsync(RecordedLife life, int events, Func<DiskEvent.Write, IEnumerable<Range>> fate,
        Random random, string what)
    {
        var disk = life.After(events, fate);
        var map = life.Map.After(events, random);
        States++;
        // The same disk with another map is another state: it may be read in another way.
        var id = BitConverter.ToUInt128(disk.Digest()) ^ (uint)map.What.GetHashCode(StringComparison.Ordinal);
        var acknowledged = life.Acknowledged(events);
        if (_checked.TryGetValue(id, out var before) && before == acknowledged) return;
        _checked[id] = acknowledged;
        if (_distinct.Add(id)) _maps[map.What] = _maps.GetValueOrDefault(map.What) + 1;
        try
        {
            life.Check(events, await FoundAsync(id, disk, map));
        }
        catch (LostException e)
        {
            Violations++;
            _output.WriteLine($"VIOLATION {what}, the address map's folder {map.What}: {e.Message}");
        }
    }

    // An acknowledgement changes no disk: what a unit finds there need not be asked again.
    private async Task<UnitContent> FoundAsync(UInt128 id, RecordingFiles disk, MapState map)
    {
        foreach (var (known, content) in _recent)
        {
            if (known == id) return content;
        }

        var mapFolder = Path.Combine(_folder, "cut");
        map.Make(mapFolder);
        var found = await RecordedLife.StartAsync(disk, mapFolder);
        if (found.StartedFromCheckpoint) FromCheckpoints++;
        _recent.Enqueue((id, found));
        if (_recent.Count > MaxRecent) _recent.Dequeue();
        return found;
    }

    private void Progress(int states)
    {
        if (Stopwatch.GetElapsedTime(_told) < s_progress) return;
        _told = Stopwatch.GetTimestamp();
        _output.WriteLine($"{Distinct} of {states} distinct states, {States} cuts, {Violations} violations");
    }
}
