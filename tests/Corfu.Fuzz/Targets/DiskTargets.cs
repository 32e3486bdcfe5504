using System.Buffers.Binary;
using System.Text;
using Corfu.Backup;
using Corfu.Hosting;
using Corfu.Layout;
using Corfu.Protocol.Tests;
using Corfu.Register;
using Corfu.Storage;
using Corfu.Unit;
using JobScheduler.Workloads;

namespace Corfu.Fuzz;

/// <summary>Files on disks: units' and acceptors' logs, backups, configurations, traces.</summary>
public static class DiskTargets
{
    private const uint LogId = 77;

    public static IEnumerable<Target> All(string folder)
    {
        yield return new Target("unit record", 80, [UnitLog()], b => RecordCodec.TryDecode(b, 0, out _))
        { Repair = RepairRecord };
        // Two windows of 4 MiB, and bodies up to RecordCodec.MaxBody where a check fits.
        yield return new Target("unit log", 1, [UnitLog()], Scan, typeof(LogDamagedException),
            typeof(MalformedDataException))
        { Repair = RepairRecords, Allowance = 48 << 20 };
        yield return new Target("acceptor log", 30, [AcceptorArea()], OpenAcceptor,
            typeof(AcceptorLogDamagedException))
        { Repair = RepairGroups };
        yield return new Target("backup record", 60, BackupRecords(), BackupRecord,
            typeof(MalformedDataException))
        { Repair = RepairBackupRecord };
        yield return new Target("backup streams", 60, [BackupStreamsCodec.Encode(SampleMessages.Tails)], BackupStreams,
            typeof(MalformedDataException))
        { Repair = RepairBackupStreams };
        yield return new Target("backup header", 12,
            [new BackupFileHeader(new ClusterId(SampleMessages.Id(9)), new LogPosition(5)).Encode()],
            b => BackupFileHeader.Decode(b), typeof(MalformedDataException));
        yield return new Target("backup manifest", 3, [Manifest()], b => BackupManifest.Decode(b),
            typeof(BackupDamagedException));
        var backup = new FuzzedBackup();
        yield return new Target("backup", 2, [backup.Sample()], backup.Verify,
            typeof(BackupDamagedException))
        { Repair = FuzzedBackup.Repair };
        yield return new Target("swf", 6, [Swf()], b => SwfReader.Read(new MemoryStream(b), "fuzz", 64),
            typeof(TraceFormatException))
        { PerByte = 2048 };
        var node = Path.Combine(folder, "node.json");
        yield return new Target("node config", 1, [NodeConfig()], b => LoadNode(node, b), typeof(NodeStartException));
        var cluster = Directory.CreateDirectory(Path.Combine(folder, "cluster")).FullName;
        yield return new Target("cluster manifest", 1, [ClusterManifest()], b => LoadCluster(cluster, b),
            typeof(NodeStartException));
    }

    private static byte[] UnitLog()
    {
        var log = new List<byte>();
        long previous = 0;
        LogRecord[] records =
        [
            new(RecordKind.Open, default), new(RecordKind.Install, new LogPosition(0, new Epoch(1))),
            new(RecordKind.Page, new LogPosition(100, new Epoch(3)), ProtocolTargets.Entries[1],
                ProtocolTargets.Entries[1].Length - 40),
            new(RecordKind.Junk, new LogPosition(100, new Epoch(3)), ProtocolTargets.Entries[2]),
            new(RecordKind.TrimPrefix, new LogPosition(5)),
        ];
        foreach (var record in records)
        {
            var bytes = new byte[RecordCodec.Size(record)];
            var at = log.Count;
            RecordCodec.Encode(record, at, previous, previous, 1, LogId, bytes);
            previous = at;
            log.AddRange(bytes);
            while (log.Count % IRecordLog.Alignment != 0) log.Add(0);
        }

        return [.. log];
    }

    private static void Scan(byte[] bytes)
    {
        long pages = 0;
        new LogScanner(new MemoryImage(bytes), LogId).ScanAsync(0, (in LogRecord record, in RecordPlace _) =>
        {
            // As the core does when it replays.
            if (record.Kind is RecordKind.Page or RecordKind.Junk)
                pages += EntryCodec.DecodeHeaders(record.Body).Streams.Length;
        }).AsTask().GetAwaiter().GetResult();
    }

    private static void RepairRecord(byte[] log) => RepairRecordAt(log, 0);

    public static void RepairRecords(byte[] log)
    {
        for (var at = 0; at + RecordCodec.HeaderSize <= log.Length; at += IRecordLog.Alignment)
        {
            if (BinaryPrimitives.ReadUInt32LittleEndian(log.AsSpan(at)) == RecordCodec.Magic) RepairRecordAt(log, at);
        }
    }

    private static void RepairRecordAt(byte[] log, int at)
    {
        var record = log.AsSpan(at);
        if (record.Length < RecordCodec.HeaderSize
            || BinaryPrimitives.ReadUInt32LittleEndian(record) != RecordCodec.Magic
            || record[4] != RecordCodec.Version) return;
        var covered = BinaryPrimitives.ReadInt32LittleEndian(record[12..]);
        if (covered < 0 || covered > record.Length - RecordCodec.HeaderSize) return;
        var seed = Crc32C.Compute(at, record[..56]);
        BinaryPrimitives.WriteUInt32LittleEndian(record[60..],
            Crc32C.Compute(seed, record.Slice(RecordCodec.HeaderSize, covered)));
        BinaryPrimitives.WriteUInt32LittleEndian(record[56..], Crc32C.Compute(seed, record[60..64]));
    }

    private static byte[] AcceptorArea()
    {
        var device = new MemoryDevice();
        var id = SampleMessages.Node(1).Id;
        AcceptorLog.FormatAsync(device, new ClusterId(SampleMessages.Id(99)), id).AsTask().GetAwaiter().GetResult();
        var core = new AcceptorCore();
        var log = AcceptorLog.OpenAsync(device, core, new ProjectionRegister()).AsTask().GetAwaiter().GetResult();
        var projection = ProjectionRegister.ToValue(SampleMessages.Projection(SampleMessages.Epoch));
        var ballot = new Ballot(3, SampleMessages.Id(5));
        log.AppendAsync([new PromiseRecord(SampleMessages.Epoch, ballot), new AcceptRecord(ballot, projection)])
            .AsTask().GetAwaiter().GetResult();
        log.AppendAsync([new DecidedRecord(projection), new FloorRecord(new Epoch(2))]).AsTask().GetAwaiter()
            .GetResult();
        return device.Content[0].Length > device.Content[1].Length ? device.Content[0] : device.Content[1];
    }

    private static void OpenAcceptor(byte[] area)
    {
        var device = new MemoryDevice();
        device.Content[0] = area;
        AcceptorLog.OpenAsync(device, new AcceptorCore(), new ProjectionRegister()).AsTask().GetAwaiter().GetResult();
    }

    private static void RepairGroups(byte[] area)
    {
        var at = 0;
        long generation = -1;
        while (at + 24 <= area.Length)
        {
            var length = BinaryPrimitives.ReadInt32LittleEndian(area.AsSpan(at + 4));
            if (length < 0 || length > area.Length - at - 24) return;
            var group = area.AsSpan(at, 24 + length);
            group.Slice(16, 4).Clear();
            var covered = new byte[group.Length + 8];
            BinaryPrimitives.WriteInt64LittleEndian(covered, at);
            group.CopyTo(covered.AsSpan(8));
            BinaryPrimitives.WriteUInt32LittleEndian(group[16..], Crc32C.Compute(generation, covered));
            if (at == 0) generation = BinaryPrimitives.ReadInt64LittleEndian(group[26..]);
            at += group.Length;
        }
    }

    private static byte[][] BackupRecords()
    {
        var entry = EntryCodec.Decode(ProtocolTargets.Entries[1]);
        return
        [
            BackupRecordCodec.Encode(new CopiedPage(CopiedKind.Entry, entry.Position, 1, entry)),
            BackupRecordCodec.Encode(new CopiedPage(CopiedKind.Tombstone, entry.Position, 1, entry)),
            BackupRecordCodec.Encode(new CopiedPage(CopiedKind.Trimmed, new LogPosition(7), 1000, null)),
        ];
    }

    private static void BackupRecord(byte[] bytes)
    {
        if (bytes.Length < BackupRecordCodec.HeaderSize) return;
        var length = BackupRecordCodec.BodyLength(bytes.AsSpan(0, BackupRecordCodec.HeaderSize));
        if (length > bytes.Length - BackupRecordCodec.HeaderSize) return;
        BackupRecordCodec.Decode(bytes.AsSpan(0, BackupRecordCodec.HeaderSize),
            bytes.AsMemory(BackupRecordCodec.HeaderSize, length));
    }

    private static void BackupStreams(byte[] bytes)
    {
        if (bytes.Length < BackupStreamsCodec.HeaderSize) return;
        var length = BackupStreamsCodec.BodyLength(bytes.AsSpan(0, BackupStreamsCodec.HeaderSize));
        if (length > bytes.Length - BackupStreamsCodec.HeaderSize) return;
        BackupStreamsCodec.Decode(bytes.AsSpan(0, BackupStreamsCodec.HeaderSize),
            bytes.AsMemory(BackupStreamsCodec.HeaderSize, length));
    }

    private static void RepairBackupStreams(byte[] bytes)
    {
        if (bytes.Length < BackupStreamsCodec.HeaderSize) return;
        BinaryPrimitives.WriteInt32LittleEndian(bytes, bytes.Length - BackupStreamsCodec.HeaderSize);
        BinaryPrimitives.WriteUInt32LittleEndian(bytes.AsSpan(4),
            Crc32C.Compute(bytes.AsSpan(BackupStreamsCodec.HeaderSize)));
    }

    private static void RepairBackupRecord(byte[] bytes)
    {
        var body = bytes.AsSpan(BackupRecordCodec.HeaderSize);
        BinaryPrimitives.WriteInt32LittleEndian(bytes, body.Length);
        if (body.Length > EntryCodec.FixedSize)
        {
            var entry = body.ToArray();
            ProtocolTargets.RepairEntry(entry);
            entry.CopyTo(body);
        }

        BinaryPrimitives.WriteUInt32LittleEndian(bytes.AsSpan(24),
            Crc32C.Compute(Crc32C.Compute(bytes.AsSpan(0, 24)), body));
    }

    private static byte[] Manifest() => (BackupManifest.Empty(new ClusterId(SampleMessages.Id(9))) with
    {
        TrimMark = 3,
        End = 90,
        Files = [new BackupFile(BackupFile.NameOf(3), 3, 40, 500, new string('a', 64)),
            new BackupFile(BackupFile.NameOf(40), 40, 90, 700, new string('b', 64))],
    }).Encode();

    private static byte[] Swf() => Encoding.ASCII.GetBytes(
        "; Version: 2.2\n; MaxNodes: 64\n; MaxProcs: 64\n; Note: fuzz\n\n"
        + "1 0 10 100 4 -1 -1 4 200 -1 1 3 1 1 1 -1 -1 -1\n2 5 0 30 1 -1 -1 1 60 -1 1 4 1 2 1 -1 -1 -1\n3 9 2 7 64 "
        + "-1 -1 64 9 -1 0 3 1 1 1 -1 2 5\n");

    private static byte[] NodeConfig() => Encoding.UTF8.GetBytes(
        """
        { "name": "unit-0", "cluster": "5ad7c2f6-9d0c-4b7e-8e55-6a4f3c1f7a10", "listen": "127.0.0.1:20001",
          "insecure": false, "log": "unit-0.log",
          "roles": [ { "role": "Unit", "id": "0d1f0000-9d0c-4b7e-8e55-6a4f3c1f7a10", "folder": "unit" },
                     { "role": "Sequencer" } ] }
        """);

    private static byte[] ClusterManifest() => Encoding.UTF8.GetBytes(
        """
        { "format": 1, "cluster": "5ad7c2f6-9d0c-4b7e-8e55-6a4f3c1f7a10", "formed": true, "replicas": 2,
          "nodes": [ { "name": "unit-0", "host": "127.0.0.1", "port": 20001,
             "roles": [ { "role": "Unit", "id": "0d1f0000-9d0c-4b7e-8e55-6a4f3c1f7a10", "folder": "unit" } ] } ] }
        """);

    private static void LoadNode(string path, byte[] bytes)
    {
        File.WriteAllBytes(path, bytes);
        Hosting.NodeConfig.Load(path);
    }

    private static void LoadCluster(string path, byte[] bytes)
    {
        File.WriteAllBytes(Path.Combine(path, "cluster.json"), bytes);
        _ = ClusterFolder.Open(path).Manifest.ConnectionString();
    }
}
