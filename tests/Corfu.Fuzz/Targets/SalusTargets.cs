using System.Buffers;
using System.Buffers.Binary;
using System.Runtime.CompilerServices;
using Salus.Coordination;
using Salus.Protocol;
using Salus.Store.Files;
using Salus.Store.Tests;
using Tango;
using Tango.Formatting;
using Samples = Salus.Protocol.Tests.SampleMessages;

namespace Corfu.Fuzz;

/// <summary>Messages of Salus, records of a region's log, checkpoint files, and the values that the log keeps of nodes
/// and volumes.</summary>
public static class SalusTargets
{
    private const int EndSize = 80;
    private const int PieceSize = 1 << 20;
    private const int Hashed = EndSize - Hash128.Size;

    private delegate void Read(ref MessagePackReader reader);

    private static readonly RegionFile s_file = new(Samples.Region, 1);

    private static readonly Read[] s_stored =
    [
        Stored<VolumeHead>, Stored<RegionState>, Stored<BookedNode>, Stored<VolumeEntry>, Stored<RegionReport>,
        Stored<RegionOpening>, Stored<CommitProof>, Stored<VolumeGeometry>, Stored<Suspicion>,
    ];

    public static IEnumerable<Target> All()
    {
        var messages = Samples.All();
        yield return new Target("salus request", 120,
            [.. messages.Select((sample, i) => Chosen(i, Samples.Body(sample.Request)))],
            bytes => Request(messages, bytes), typeof(MalformedDataException));
        yield return new Target("salus response", 120,
            [.. messages.SelectMany((sample, i) => sample.Answers.Select(answer =>
                Chosen(i, [(byte)answer.Status, .. Samples.Body(answer)])))],
            bytes => Response(messages, bytes), typeof(MalformedDataException));
        yield return new Target("salus batch", 80, [Samples.Batch().Encode()],
            static bytes => SubBatch.Decode(bytes, out _).FirstDamaged(), typeof(MalformedDataException));
        yield return new Target("salus record", 80,
            [
                new RegionRecord(Samples.Head(), Samples.Certificate(), Samples.Batch().Encode()).Encode(),
                new RegionRecord(Samples.Head(), Samples.Certificate(), new byte[100]).Encode(),
            ],
            static bytes => RegionRecord.Decode(bytes), typeof(MalformedDataException));
        var file = Checkpoint();
        yield return new Target("salus checkpoint", 20, [file], Checkpoint, typeof(MalformedDataException))
        { Repair = RepairCheckpoint, Allowance = 4 << 20 };
        yield return new Target("salus copied file", 20, [file], Copy) { Repair = RepairCheckpoint };
        yield return new Target("salus index page", 40, [Page()], static bytes => IndexPage.Read(bytes).ToTree(),
            typeof(MalformedDataException))
        { Repair = RepairPage };
        RuntimeHelpers.RunClassConstructor(typeof(SalusVolume).TypeHandle);
        yield return new Target("salus stored", 120, StoredSamples(), Stored, typeof(TangoException),
            typeof(MessagePackSerializationException), typeof(EndOfStreamException), typeof(OverflowException))
        { PerByte = 2048 };
    }

    private static byte[] Chosen(int number, ReadOnlySpan<byte> rest) => [(byte)number, .. rest];

    private static void Request(IReadOnlyList<(Request Request, Response[] Answers)> messages, byte[] bytes)
    {
        if (bytes.Length == 0) return;
        var opcode = messages[bytes[0] % messages.Count].Request.Opcode;
        var body = bytes.AsMemory(1);
        var request = MessageCodec.ReadRequest(Samples.Frame(opcode, Status.Ok, body.Length), body, Samples.Table,
            WireProtocol.Current.Highest);
        // A decoded request encodes to the same bytes; further bytes would be of a later version.
        if (request is not null && !body.Span.StartsWith(Samples.Body(request)))
            throw new InvalidOperationException($"A {opcode} is not what was read.");
    }

    private static void Response(IReadOnlyList<(Request Request, Response[] Answers)> messages, byte[] bytes)
    {
        if (bytes.Length < 2) return;
        var request = messages[bytes[0] % messages.Count].Request;
        var body = bytes.AsMemory(2);
        MessageCodec.ReadResponse(request, Samples.Frame(request.Opcode, (Status)bytes[1], body.Length), body);
    }

    private static byte[] Checkpoint()
    {
        const int BlockSize = 4096;
        var files = new MemoryRegionFiles();
        var blocks = Enumerable.Range(0, 3).Select(i =>
        {
            var data = new byte[BlockSize];
            data.AsSpan().Fill((byte)(i + 1));
            return new BlockContent(i * 300, TreeHash.OfBlock(data), data);
        });
        var task = new CheckpointTask(s_file, 10, Samples.Hash(1), Samples.Name());
        new CheckpointWriter(files).WriteAsync(task, CheckpointState.None(s_file.Region, BlockSize, 4),
            blocks.ToAsyncEnumerable()).AsTask().GetAwaiter().GetResult();
        return files.Files[s_file];
    }

    // As a region is opened, read and scrubbed. Blocks of other files that places name are not there.
    private static void Checkpoint(byte[] bytes)
    {
        var files = new MemoryRegionFiles();
        files.Files[s_file] = bytes;
        var file = CheckpointFile.OpenAsync(files, s_file).AsTask().GetAwaiter().GetResult();
        file.State.ToTree();
        for (var page = 0; page < file.State.Pages.Length; page++)
        {
            if (file.State.Pages[page].File != s_file.Number) continue;
            var index = file.ReadPageAsync(page).AsTask().GetAwaiter().GetResult();
            for (var block = 0; block < IndexPage.Blocks; block++)
            {
                if (index[block].File == s_file.Number && !index[block].IsEmpty)
                    file.ReadBlockAsync(index[block]).AsTask().GetAwaiter().GetResult();
            }
        }

        file.FindDamageAsync().AsTask().GetAwaiter().GetResult();
    }

    // As a file comes from a peer, piece by piece.
    private static void Copy(byte[] bytes)
    {
        var check = new CheckpointCheck(bytes.Length);
        while (check.Next > 0) check.Add(bytes.AsSpan((int)check.Offset, check.Next));
        var digest = bytes.Length < Hash128.Size ? default : Hash128.Read(bytes.AsSpan(bytes.Length - Hash128.Size));
        check.IsWhole(digest);
    }

    /// <summary>The hashes as docs/formats/salus.md says them.</summary>
    private static void RepairCheckpoint(byte[] file)
    {
        var end = file.AsSpan(file.Length - EndSize);
        var (offset, length) = (BinaryPrimitives.ReadInt64LittleEndian(end[8..]),
            BinaryPrimitives.ReadInt32LittleEndian(end[16..]));
        if (length >= 0 && offset >= 0 && offset + length <= file.Length - EndSize)
        {
            Hash128.Of(file.AsSpan((int)offset, length)).Write(end[32..]);
            var (hashed, at) = ((int)offset + length, (int)offset + length);
            for (var from = 0; from < hashed && at + Hash128.Size <= file.Length - EndSize; from += PieceSize)
            {
                Hash128.Of(file.AsSpan(from, Math.Min(PieceSize, hashed - from))).Write(file.AsSpan(at));
                at += Hash128.Size;
            }

            Hash128.Of(file.AsSpan(hashed, at - hashed)).Write(end[48..]);
        }

        Hash128.Of(end[..Hashed]).Write(end[Hashed..]);
    }

    private static byte[] Page()
    {
        var bytes = new byte[IndexPage.Size];
        IndexPage.Empty.Write(bytes);
        // Hash 16, file 4, slot 4.
        for (var i = 0; i < 100; i++)
            (bytes[i * 24], bytes[(i * 24) + 16], bytes[(i * 24) + 20]) = ((byte)(i + 1), 1, (byte)i);
        RepairPage(bytes);
        return bytes;
    }

    private static void RepairPage(byte[] bytes)
    {
        const int Places = IndexPage.Size - Hash128.Size;
        Hash128.Of(bytes.AsSpan(0, Places)).Write(bytes.AsSpan(Places));
    }

    private static byte[][] StoredSamples()
    {
        var member = new RegionMember(new StoreId(Samples.Id(1)), new Incarnation(Samples.Id(2)), true);
        var opening = new RegionOpening(9, Samples.Hash(8), 3, Samples.Name(), 2);
        var report = new RegionReport(4, Samples.Proof(), new ReportedBatch(Samples.Name(), Samples.Hash(30), [1]), []);
        var region = new RegionState(new RegionGeneration(new Epoch(2), [member], null, false),
            [new RegionGeneration(Epoch.First, [member], opening, true)], [Samples.Checkpoint()], report);
        var geometry = VolumeGeometry.Create(1 << 20, 4096, 64, 1);
        var suspicion = new Suspicion(0, new Epoch(2), member.Incarnation, SuspicionKind.Stall, 1_700_000_000_000);
        var head = new VolumeHead
        {
            Id = Samples.Region.Volume,
            Geometry = geometry,
            Run = 4,
            Driver = member.Incarnation,
            Phase = RunPhase.Waiting,
            Decision = new RunDecision(3, Samples.Name(), Samples.Hash(1), [Samples.Name(), null]),
            Shortfall = new RunShortfall([1], Samples.Name(), 41),
            Snapshots = [new SnapshotEntry("snap", Samples.Name(), Samples.Hash(2), SnapshotState.Complete)],
            Suspicions = [suspicion],
            Losses = [new VolumeLoss(2, Samples.Name(), Samples.Name(), "operator", 1_700_000_000_000)],
        };
        return
        [
            Kept(0, head), Kept(1, region),
            Kept(2, new BookedNode(member.Store, member.Incarnation, new NodeEndpoint("host", 1), "rack", 1000,
                BookedState.Expelled, 7)),
            Kept(3, new VolumeEntry(Samples.Region.Volume, geometry, VolumeStage.Ready)), Kept(4, report),
            Kept(5, opening), Kept(6, Samples.Proof()), Kept(7, geometry), Kept(8, suspicion),
        ];
    }

    private static byte[] Kept<T>(int number, T value) => Chosen(number, TangoFormatters.ToBytes(value).Span);

    private static void Stored(byte[] bytes)
    {
        if (bytes.Length == 0) return;
        var reader = new MessagePackReader(new ReadOnlySequence<byte>(bytes.AsMemory(1)));
        s_stored[bytes[0] % s_stored.Length](ref reader);
    }

    private static void Stored<T>(ref MessagePackReader reader) => TangoFormatters.Read<T>(ref reader);
}
