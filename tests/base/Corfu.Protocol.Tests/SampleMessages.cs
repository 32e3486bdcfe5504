using System.Buffers;
using System.Collections.Immutable;
using Corfu.Protocol;

namespace Corfu.Protocol.Tests;

/// <summary>A sample of every message, and a projection with everything in it.</summary>
internal static class SampleMessages
{
    public static readonly Epoch Epoch = new(5);
    public static readonly NodeAddress[] Units = [.. Enumerable.Range(1, 4).Select(i => Node(i))];
    public static readonly RequestTable Table = new(
        UnitMessages.AddTo, SequencerMessages.AddTo, LayoutMessages.AddTo, AgentMessages.AddTo);

    public static readonly EntryOrigin Origin = new(new WriterId(Id(77)), 42);

    public static Guid Id(int n) => new(n, 0, 0, new byte[8]);

    public static NodeAddress Node(int n) => new(new NodeId(Id(n)), new NodeEndpoint("127.0.0.1", 7000 + n));

    public static Projection Projection(Epoch epoch)
    {
        Chain C(params int[] units) => new([.. units.Select(u => new Replica(Units[Math.Abs(u) - 1].Id, u < 0))]);
        return new Projection(
            new ClusterId(Id(99)), epoch, Node(50), new LogPosition(120, epoch), new LogPosition(10),
            [
                new Segment(LogPosition.Zero, new LogPosition(100), [C(1, 2), C(2, 3)]),
                new Segment(new LogPosition(100), null, [C(1, 2, -4), C(2, 3), C(3, 1)]),
            ],
            [.. Units], [Node(1), Node(2), Node(3)], "a test");
    }

    public static IReadOnlyList<Request> Requests()
    {
        var p = Projection(Epoch);
        var entry =
            EntryCodec.Encode(new LogEntry(new LogPosition(3, Epoch), Origin, EntryKind.Data, DateTimeOffset.UnixEpoch,
                [], new byte[] { 1 }));
        ImmutableArray<StreamId> streams = [new StreamId(256), new StreamId(300)];
        var ballot = new Ballot(3, Id(5));
        return
        [
            new WriteRequest(Epoch, entry), new CompleteRequest(Epoch, entry), new FillRequest(Epoch, entry),
            new ReadRequest(Epoch, [new LogPosition(1), new LogPosition(9)], ReadDetail.Headers),
            new TrimRequest(Epoch, new LogPosition(4), new byte[] { 9 }),
            new TrimPrefixRequest(Epoch, new LogPosition(4)),
            new SealRequest(Epoch), new InstallRequest(p), new ConfirmEpochRequest(Epoch),
            new StreamTailsRequest(Epoch, streams),
            new UnitInfoRequest(Epoch), new RepairRequest(Epoch, entry), new CompleteManyRequest(Epoch, [entry, entry]),
            new ListStreamTailsRequest(Epoch, new LogPosition(10), new StreamListCursor(8192, 7)),
            new ImportStreamTailsRequest(Epoch, Tails),
            new BootstrapRequest(p), new TokenRequest(Epoch, 2, streams, 30), new TailRequest(Epoch, streams),
            new LoadStreamsRequest(Epoch, Tails), new GrantsRequest(Epoch, [new LogPosition(7)]),
            new SequencerInfoRequest(Epoch),
            new AdvanceRequest(Epoch, new LogPosition(7), new LogPosition(12),
                [new AdvancedEntry(new LogPosition(9), streams)]),
            new PrepareRequest(Epoch, ballot), new AcceptRequest(ballot, p), new DecidedRequest(p),
            new LatestRequest(Epoch), new ReadSlotRequest(Epoch), new WatchRequest(Epoch),
            new PingRequest(Epoch, Node(6), true, new Automation(2, true)),
            new SuspicionRequest(Epoch, NodeRole.Unit, Node(7)), new AgentInfoRequest(Epoch),
            new SetAutomationRequest(Epoch, new Automation(3, false)), new ProcessInfoRequest(Epoch),
            new DenyRequest(Epoch, [Denied]),
        ];
    }

    public static readonly DeniedCertificate Denied =
        new("0A1B2C", "99AABB", DateTimeOffset.FromUnixTimeMilliseconds(1_800_000_000_000));

    public static readonly ImmutableArray<StreamTail> Tails =
    [
        new StreamTail(new StreamId(256), [new LogPosition(9), new LogPosition(4)]),
        new StreamTail(new StreamId(300), []),
    ];

    private static readonly StreamId X = new(300);
    private static readonly StreamId Y = new(301);

    /// <summary>With everything that declarations may have.</summary>
    public static readonly TokenRequest Declared = new(Epoch, 3, [X, Y])
    {
        Declarations =
        [
            new Declaration(
            [
                new DeclaredRecord([Key(X, 0xAB), new CellScope(Y, ScopeKind.None)], null, []),
                new DeclaredRecord([new CellScope(Y, ScopeKind.Unit)], new LogPosition(9, new Epoch(4)),
                    [Key(Y, 0xCD), new CellScope(new StreamId(7), ScopeKind.Whole)]),
            ]),
            Declaration.None,
            new Declaration([new DeclaredRecord([new CellScope(X, ScopeKind.Whole)], LogPosition.Zero, [])]),
        ],
    };

    public static readonly TokenResponse Ruled =
        new(Status.Ok, Epoch, new LogPosition(8), [], [])
        {
            Rulings =
            [
                new Ruling(true,
                    [new Refusal(1, RefusalReason.Written, Key(Y, 0xCD), new LogPosition(6, Epoch))]),
                Ruling.Granted,
                new Ruling(false,
                    [new Refusal(0, RefusalReason.TooOld, default, new LogPosition(4, Epoch))]),
            ],
        };

    public static readonly ProcessReport Process = new()
    {
        Name = "a",
        Build = "1.2.3",
        Platform = "linux",
        LowestProtocol = 1,
        HighestProtocol = 2,
        Now = DateTimeOffset.FromUnixTimeMilliseconds(1_800_000_000_123),
        Started = DateTimeOffset.FromUnixTimeMilliseconds(1_700_000_000_000),
        OpenFiles = 40,
        OpenFileLimit = 65536,
        Memory = 1 << 20,
        MemoryLimit = 1 << 30,
        Swapped = ProcessReport.Unknown,
        Tls = TlsMode.Both,
        IsInsecure = true,
        Disks = [new DiskReport("/data", "ext4", 100, 50, 10, 5)],
        Certificates =
        [
            new CertificateReport("corfu://c/node/a", "0AFF", DateTimeOffset.UnixEpoch,
                DateTimeOffset.FromUnixTimeMilliseconds(7_776_000_000), false) { Fingerprint = "AB" },
        ],
        Identities = [new IdentityReport("client/billing", AccessRole.Client, 2, 30, 4000)],
        Warnings = ["The disk is nearly full: 900 MiB are left"],
        DeniedCertificates = 2,
        DeniedDigest = 0x0123456789ABCDEF,
    };

    /// <summary>Answers with a body, paired with the request that they answer.</summary>
    public static IReadOnlyList<(Request Request, Response Response)> Responses()
    {
        var p = Projection(Epoch);
        var requests = Requests().ToDictionary(r => r.Opcode);
        var page = new PageResult(new LogPosition(9), PageState.Trimmed, true, Origin, new byte[] { 1, 2 });
        var slot = new SlotState(Epoch, new Ballot(4, Id(1)), new Ballot(3, Id(2)), p, true);
        return
        [
            (requests[Opcode.Write], new WriteResponse(Status.AlreadyWritten, Epoch, EntryKind.Junk, Origin)),
            (requests[Opcode.Fill], new WriteResponse(Status.Ok, Epoch)),
            (requests[Opcode.CompleteMany], new CompleteManyResponse(
                Status.Ok, Epoch,
                [new WriteOutcome(Status.Ok), new WriteOutcome(Status.AlreadyWritten, EntryKind.Data, Origin),
                    new WriteOutcome(Status.Trimmed)])),
            (requests[Opcode.CompleteMany], new CompleteManyResponse(Status.NoSpace, Epoch, [])),
            (requests[Opcode.Read], new ReadResponse(Status.Ok, Epoch, [page])),
            (requests[Opcode.Read], new ReadResponse(Status.Sealed, Epoch, [])),
            (requests[Opcode.Trim], new AckResponse(Status.Ok, Epoch)),
            (requests[Opcode.Seal], new SealResponse(Status.Ok, Epoch, new LogPosition(8), new LogPosition(2))),
            (requests[Opcode.StreamTails], new StreamTailsResponse(Status.Ok, Epoch, Tails, true)),
            (requests[Opcode.StreamTails], new StreamTailsResponse(Status.Ok, Epoch, Tails, false)),
            (requests[Opcode.ListStreamTails], new ListStreamTailsResponse(Status.Ok, Epoch, Tails,
                new StreamListCursor(8192, 9), true, false)),
            (requests[Opcode.ListStreamTails], new ListStreamTailsResponse(Status.NotInstalled, Epoch, [], default,
                false, false)),
            (requests[Opcode.ImportStreamTails], new AckResponse(Status.BadRequest, Epoch)),
            (requests[Opcode.UnitInfo], new UnitInfoResponse(Status.Ok, Epoch, Epoch, Epoch, new LogPosition(8),
                new LogPosition(2), 3, 4)
            {
                Health = UnitHealth.ReadOnly, CorruptPages = 5, Reason = "full",
            }),
            (requests[Opcode.UnitInfo], UnitInfoResponse.Failed(Epoch, "EIO")),
            (requests[Opcode.Token], new TokenResponse(Status.Ok, Epoch, new LogPosition(8), Tails, [])),
            (requests[Opcode.Token], new TokenResponse(Status.UnknownStream, Epoch, default, [], [new StreamId(256)])),
            (requests[Opcode.Tail], new TailResponse(Status.Ok, Epoch, new LogPosition(8), Tails, 5, [])),
            (requests[Opcode.Tail], new TailResponse(Status.UnknownStream, Epoch, default, [], 0, [new StreamId(256)])),
            (requests[Opcode.Advance], new TailResponse(Status.Ok, Epoch, new LogPosition(8), [], 0, [])),
            (requests[Opcode.Grants],
                new GrantsResponse(Status.Ok, Epoch, 1, [new Grant(new LogPosition(7), Tails)])),
            (requests[Opcode.SequencerInfo], new SequencerInfoResponse(Status.Ok, Epoch, new LogPosition(8), 3)),
            (requests[Opcode.Prepare], new LayoutResponse(Status.Outbid, Epoch, slot, p)),
            (requests[Opcode.Latest], new LayoutResponse(Status.Ok, Epoch, null, null)),
            (requests[Opcode.Ping], new PingResponse(Status.Ok, Epoch, new Automation(2, true), [Node(8).Endpoint])),
            (requests[Opcode.Suspicion], new SuspicionResponse(Status.Ok, Epoch, false, NodeHealth.Dead, "refused")),
            (requests[Opcode.AgentInfo], new AgentInfoResponse(
                Status.Ok, Epoch, new Automation(2, true), "no standby",
                [new NodeReport(Node(2), NodeRole.Unit, NodeDuty.Spare, NodeHealth.Alive, "")],
                [new WorkReport(JobKind.Rebuild, "rebuild", 3, 10, 4096, 900, true, "no answer")])),
            (requests[Opcode.SetAutomation], new AckResponse(Status.Ok, Epoch)),
            (requests[Opcode.ProcessInfo], new ProcessInfoResponse(Status.Ok, Epoch, Process)),
            (requests[Opcode.ProcessInfo], new ProcessInfoResponse(Status.Denied, Epoch, null)),
            (requests[Opcode.Deny], new AckResponse(Status.Overloaded, Epoch)),
        ];
    }

    public static byte[] Frame(Request request) => Frame(request, WireProtocol.Baseline);

    public static byte[] Frame(Request request, ushort version)
    {
        var buffer = new FrameBuffer();
        MessageCodec.WriteRequest(buffer, 17, request, version);
        return buffer.WrittenSpan.ToArray();
    }

    public static byte[] Frame(Opcode opcode, Response response) => Frame(opcode, response, WireProtocol.Baseline);

    public static byte[] Frame(Opcode opcode, Response response, ushort version)
    {
        var buffer = new FrameBuffer();
        MessageCodec.WriteResponse(buffer, 17, opcode, response, version);
        return buffer.WrittenSpan.ToArray();
    }

    public static byte[] Body(Request request) => Frame(request)[MessageCodec.HeaderSize..];

    private static CellScope Key(StreamId stream, ulong cell) => new(stream, ScopeKind.Keyed, cell);
}
