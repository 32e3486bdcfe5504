using System.Buffers;

namespace Salus.Protocol.Tests;

/// <summary>Samples of all messages, requests with their answers.</summary>
internal static class SampleMessages
{
    public static readonly Epoch Epoch = new(5);
    public static readonly RequestTable Table = new(SalusMessages.AddTo);
    public static readonly RegionKey Region = new(new VolumeId(Id(1001)), 1);

    private const int BlockSize = 4096;

    public static Guid Id(int n) => new(n, 0, 0, new byte[8]);

    public static Hash128 Hash(int n) => new(((UInt128)(uint)n << 64) | (uint)n);

    public static BatchHeader Header() => new()
    {
        Volume = Region.Volume,
        Run = 3,
        Number = 42,
        Driver = new Incarnation(Id(9)),
        Participants = [new Participant(1, 41, Hash(21)), new Participant(4, 40, Hash(24))],
        Leader = 4,
        PreviousLeader = 1,
        VolumeRoot = Hash(30),
    };

    public static BatchName Name() => new(3, 42, Hash(42));

    public static SubBatch Batch()
    {
        var payload = new byte[2 * BlockSize];
        for (var i = 0; i < payload.Length; i++) payload[i] = (byte)(i * 7);
        var header = Header();
        return new SubBatch(header, header.SignedBy(new Signer(header.Driver)), 1, BlockSize,
            [
                new BlockWrite(2, TreeHash.OfBlock(payload.AsSpan(0, BlockSize))),
                new BlockWrite(9, TreeHash.OfBlock(payload.AsSpan(BlockSize))),
            ],
            [new ZeroRange(3, 4), new ZeroRange(256, 512)], payload);
    }

    public static RecordHead Head() => new(RegionRecordKind.Put, Region, Epoch, 9, Hash(8), Hash(9));

    public static Certificate Certificate() => new(Epoch, Signatures(3));

    public static CommitProof Proof() => new(4, Name(), Certificate());

    public static CheckpointName Checkpoint() => new(2, 90, 3, 41, Hash(50), Hash(51));

    public static IReadOnlyList<(Request Request, Response[] Answers)> All() =>
        [.. Drivers(), .. Members(), .. Stores()];

    public static byte[] Body(Message message)
    {
        var output = new ArrayBufferWriter<byte>();
        var w = new WireWriter(output, WireProtocol.Current.Highest);
        message.WriteBody(ref w);
        w.Flush();
        return output.WrittenSpan.ToArray();
    }

    public static FrameHeader Frame(Opcode opcode, Status status, int length) =>
        new(length, 1, Epoch, opcode, status);

    private static ImmutableArray<WeakSignature> Signatures(int count) =>
        [.. Enumerable.Range(1, count).Select(n => new WeakSignature(Hash(60 + n)))];

    private static (Request Request, Response[] Answers)[] Drivers() =>
    [
        (new PutBatchRequest(Epoch, Region, new byte[] { 1, 2, 3 }, Proof()),
        [
            new PutBatchResponse(Status.Ok, Epoch) { Last = Name(), Free = 77, Commit = Proof() },
            new PutBatchResponse(SalusStatus.Pending, Epoch) { Last = Name(), Free = 77 },
            new PutBatchResponse(SalusStatus.Gap, Epoch) { Last = Name() },
            new PutBatchResponse(Status.Sealed, Epoch),
        ]),
        (new GetRequest(Epoch, Region, 7, 3, 41, Proof(), 2),
        [
            new GetResponse(Status.Ok, Epoch) { Blocks = [new byte[] { 5, 6 }, default, new byte[] { 7 }] },
            new GetResponse(Status.Corrupt, Epoch),
        ]),
        (new ReadTreeRequest(Epoch, Region, [3, 1023], 41, null),
        [
            new ReadTreeResponse(Status.Ok, Epoch) { Batch = Name(), Pages = [[Hash(1), default, Hash(2)], []] },
            new ReadTreeResponse(Status.Ok, Epoch) { Batch = Name(), PageHashes = [Hash(1), default] },
            new ReadTreeResponse(SalusStatus.Behind, Epoch),
        ]),
        (new RegionStatusRequest(Epoch, Region, 3, 41),
        [
            new RegionStatusResponse(Status.Ok, Epoch)
            {
                LastIndex = 9, Last = Name(), Root = Hash(3), Commit = Proof(), Wait = RegionWait.Predecessor,
            },
            new RegionStatusResponse(SalusStatus.WrongMember, Epoch),
        ]),
        (new RegionHistoryRequest(Epoch, Region, 3),
        [
            new RegionHistoryResponse(Status.Ok, Epoch)
            {
                Base = Name(), BaseRoot = Hash(3), Batches = [new RegionBatch(Name(), Hash(1), Hash(2))],
            },
            new RegionHistoryResponse(Status.Ok, Epoch),
            new RegionHistoryResponse(Status.Corrupt, Epoch),
        ]),
    ];

    private static (Request Request, Response[] Answers)[] Members()
    {
        CommitResponse[] commits =
        [
            new CommitResponse(Status.Ok, Epoch) { Commit = Proof() },
            new CommitResponse(SalusStatus.Pending, Epoch),
        ];
        return
        [
            (new ForwardRequest(Epoch, Head(), Signatures(1), new byte[] { 1, 2, 3 }, Proof()),
            [
                new ForwardResponse(Status.Ok, Epoch) { Signatures = Signatures(2), Free = 12 },
                new ForwardResponse(SalusStatus.Gap, Epoch) { LastIndex = 7 },
                new ForwardResponse(SalusStatus.Diverged, Epoch),
            ]),
            (new PreparedRequest(Epoch, Region, Name(), new Incarnation(Id(2)), new WeakSignature(Hash(4))),
                [new AckResponse(Status.Ok, Epoch)]),
            (new VoteRequest(Epoch, Region, Name(), new RegionVote(4, Certificate())), commits),
            (new ConfirmRequest(Epoch, Region, 3, 41), commits),
            (new DecideRequest(Epoch, Region,
                    [new DecidedBatch(Header(), [new RegionVote(1, Certificate()), new RegionVote(4, Certificate())])],
                    Proof(), Signatures(1)),
            [
                new DecideResponse(Status.Ok, Epoch) { Signatures = Signatures(2) },
                new DecideResponse(SalusStatus.RunOver, Epoch),
            ]),
            (new CommitRequest(Epoch, Region, Proof()), [new AckResponse(Status.Ok, Epoch)]),
            .. Passes(),
        ];
    }

    private static (Request Request, Response[] Answers)[] Passes()
    {
        var opening = new Opening(3, Name());
        var head = Head() with { Kind = RegionRecordKind.Open, Digest = Hash128.Of(opening.Encode()) };
        var signed = new OpeningSignatures(new WeakSignature(Hash(71)), new WeakSignature(Hash(72)));
        Response[] answers = [new SignedResponse(Status.Ok, Epoch) { Signatures = Signatures(2) },
            new SignedResponse(SalusStatus.Diverged, Epoch)];
        return
        [
            (new FenceRequest(Epoch, Region, Report(), 9, Hash(8), Signatures(1)),
            [
                new FenceResponse(Status.Ok, Epoch) { Signatures = Signatures(2) },
                new FenceResponse(SalusStatus.Gap, Epoch) { LastIndex = 7 },
                new FenceResponse(SalusStatus.Behind, Epoch) { Commit = Proof() },
                new FenceResponse(SalusStatus.RunOver, Epoch),
            ]),
            (new AdoptRequest(Epoch, head, opening, 2, [signed]),
            [
                new AdoptResponse(Status.Ok, Epoch) { Signatures = [signed, signed] },
                new AdoptResponse(SalusStatus.Gap, Epoch)
                {
                    LastIndex = 11, Chain = Hash(12), Member = new Incarnation(Id(2)),
                },
                new AdoptResponse(SalusStatus.Pending, Epoch),
            ]),
            (new ReleaseRequest(Epoch, Region, 2, 90, Signatures(1)), answers),
            (new CheckpointedRequest(Epoch, Region, Checkpoint(), new Incarnation(Id(2)), new WeakSignature(Hash(4))),
                [new AckResponse(Status.Ok, Epoch)]),
            (new CutRequest(Epoch, Region), [new AckResponse(Status.Ok, Epoch)]),
        ];
    }

    private static RegionReport Report() => new(4, Proof(), new ReportedBatch(Name(), Hash(30), [1, 4]),
        [new ReportedBatch(new BatchName(3, 43, Hash(43)), Hash(31), [1])]);

    private static (Request Request, Response[] Answers)[] Stores() =>
    [
        (new SealRegionRequest(Epoch, Region),
        [
            new SealRegionResponse(Status.Ok, Epoch) { Generation = new Epoch(4), LastIndex = 9 },
            new SealRegionResponse(Status.Failed, Epoch),
        ]),
        (new ListLogRequest(Epoch, Region, 1, 100),
        [
            new ListLogResponse(Status.Ok, Epoch)
            {
                Sealed = Epoch, Records = [new ListedRecord(Head(), Certificate(), 4711)], HasMore = true,
                Commit = Proof(),
            },
            new ListLogResponse(SalusStatus.NotFound, Epoch),
        ]),
        (new ReadRecordsRequest(Epoch, Region, [new RecordName(new Epoch(4), 8), new RecordName(Epoch, 9)], 1 << 20),
        [
            new ReadRecordsResponse(Status.Ok, Epoch) { Records = [new byte[] { 1, 2 }, default] },
            new ReadRecordsResponse(SalusStatus.NotFound, Epoch),
        ]),
        (new ListFilesRequest(Epoch, Region),
        [
            new ListFilesResponse(Status.Ok, Epoch) { Files = [new ListedFile(Checkpoint(), 1 << 20)] },
            new ListFilesResponse(Status.Failed, Epoch),
        ]),
        (new ReadFileRequest(Epoch, Region, 2, 4096, 65536),
        [
            new ReadFileResponse(Status.Ok, Epoch) { Total = 1 << 20, Bytes = new byte[] { 1, 2, 3 } },
            new ReadFileResponse(SalusStatus.NotFound, Epoch),
        ]),
        (new StoreInfoRequest(Epoch),
        [
            new StoreInfoResponse(Status.Ok, Epoch)
            {
                State = StoreState.Salvaged, Free = 5, LogBytes = 6,
                Regions = [new StoredRegion(Region, Epoch, 9) { Damaged = 2, Mended = 3 }],
            },
            new StoreInfoResponse(Status.Failed, Epoch),
        ]),
    ];
}
