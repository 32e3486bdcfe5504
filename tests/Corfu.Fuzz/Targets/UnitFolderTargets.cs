using System.Buffers.Binary;
using System.Text;
using Corfu.Conformance;
using Corfu.Storage;
using Corfu.Unit;

namespace Corfu.Fuzz;

/// <summary>A unit's folder as it starts, or as `corfu unit check` looks at it: identity, mark, checkpoints of the
/// address map, segments.</summary>
public static class UnitFolderTargets
{
    private const int Pages = 60;

    private static readonly PageStoreOptions Options = Stores.Small with { CheckpointRecords = 20 };

    public static IEnumerable<Target> All(string folder)
    {
        yield return new Target("unit identity", 2, [Identity()], b => Describe(folder, b),
            typeof(UnitFolderException));
        yield return new Target("unit mark", 40, [Mark()], ReadMark) { Repair = RepairMark };
        var started = new StartedUnit(folder);
        // FASTER's log and map are allocated anew for each.
        yield return new Target("map checkpoint", 1, [started.Checkpoint], started.Start,
            typeof(LogDamagedException))
        { Repair = RepairCheckpoint, Allowance = 48 << 20 };
        yield return new Target("unit check", 1, [started.Segment], b => Check(folder, b),
            typeof(UnitFolderException))
        { Repair = DiskTargets.RepairRecords, Allowance = 64 << 20 };
    }

    private static byte[] Identity() => Encoding.UTF8.GetBytes(
        "format=corfu-unit-1\nunit=aaaaaaaa-0000-0000-0000-000000000001\ncluster=cccccccc-0000-0000-0000-000000000001\n"
            + "log-page-size=16384\nsegment-size=65536\n");

    private static string FolderOf(string folder, byte[] identity)
    {
        var path = Path.Combine(folder, "inspected");
        Directory.CreateDirectory(Path.Combine(path, "log"));
        File.WriteAllBytes(Path.Combine(path, "identity"), identity);
        return path;
    }

    private static void Describe(string folder, byte[] identity) => UnitInspector.Describe(FolderOf(folder, identity));

    private static void Check(string folder, byte[] segment)
    {
        var path = FolderOf(folder, Identity());
        File.WriteAllBytes(Path.Combine(path, "log", "log.0"), segment);
        UnitInspector.CheckAsync(path).AsTask().GetAwaiter().GetResult();
    }

    private static byte[] Mark()
    {
        var files = new RecordingFiles();
        var mark = new DurableMark(files, 77);
        mark.WriteAsync(12345).AsTask().Wait();
        mark.WriteAsync(23456).AsTask().Wait();
        return files.ReadMark();
    }

    private static void ReadMark(byte[] bytes)
    {
        var files = new RecordingFiles();
        files.WriteMarkAsync(0, bytes).AsTask().Wait();
        new DurableMark(files, 77).Read();
    }

    private static void RepairMark(byte[] bytes)
    {
        for (var at = 0; at + 32 <= bytes.Length; at += 512)
            BinaryPrimitives.WriteUInt32LittleEndian(bytes.AsSpan(at + 28), Crc32C.Compute(bytes.AsSpan(at, 28)));
    }

    private static void RepairCheckpoint(byte[] bytes)
    {
        if (bytes.Length > 4)
            BinaryPrimitives.WriteUInt32LittleEndian(bytes.AsSpan(bytes.Length - 4),
                Crc32C.Compute(bytes.AsSpan(0, bytes.Length - 4)));
    }

    /// <summary>A unit that has run for a while, and starts again and again with another checkpoint.</summary>
    private sealed class StartedUnit
    {
        private readonly string _map;
        private readonly string _begun;
        private readonly string _name;
        private readonly RecordingFiles _disk;

        public StartedUnit(string folder)
        {
            _map = Path.Combine(folder, "map");
            _begun = Path.Combine(folder, "begun");
            var files = new RecordingFiles();
            FillAsync(files).GetAwaiter().GetResult();
            _disk = files.Copy();
            var newest = Directory.GetFiles(_map, "checkpoint.*").Order(StringComparer.Ordinal).Last();
            Checkpoint = File.ReadAllBytes(newest);
            _name = Path.GetFileName(newest);
            Segment = new byte[_disk.Length(0)];
            _disk.Read(0, 0, Segment);
        }

        public byte[] Checkpoint { get; }

        public byte[] Segment { get; }

        public void Start(byte[] checkpoint)
        {
            if (Directory.Exists(_begun)) Directory.Delete(_begun, recursive: true);
            foreach (var path in Directory.GetFiles(_map, "*", SearchOption.AllDirectories))
            {
                var target = Path.Combine(_begun, Path.GetRelativePath(_map, path));
                Directory.CreateDirectory(Path.GetDirectoryName(target)!);
                if (!Path.GetFileName(path).StartsWith("checkpoint.", StringComparison.Ordinal))
                    File.Copy(path, target);
            }

            File.WriteAllBytes(Path.Combine(_begun, _name), checkpoint);
            StartAsync().GetAwaiter().GetResult();
        }

        private async Task StartAsync()
        {
            await using var store = PageStore.OnFaster(_disk.Copy(), Stores.Unit, Options, _begun);
            await UnitCore.OpenAsync(store, new UnitCoreOptions());
        }

        private async Task FillAsync(RecordingFiles files)
        {
            var store = PageStore.OnFaster(files, Stores.Unit, Options, _map);
            var unit = await HandlerClient.OpenAsync(store);
            for (var i = 0; i < Pages; i++)
            {
                await unit.AskAsync(new WriteRequest(Epoch.First, Entries.Data(i, 1, "text", i, 300 + (ulong)(i % 5))));
                if (i % 7 == 3) await unit.AskAsync(new TrimRequest(Epoch.First, new LogPosition(i), default));
                if (i % 25 == 24) await unit.Handler.CleanAsync();
            }

            await unit.Handler.DisposeAsync();
            await store.DisposeAsync();
        }
    }
}
