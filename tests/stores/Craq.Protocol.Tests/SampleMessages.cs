using System.Buffers;

namespace Craq.Protocol.Tests;

/// <summary>Samples of all messages, requests with their answers.</summary>
internal static class SampleMessages
{
    public static readonly Epoch Epoch = new(5);
    public static readonly ChainId Chain = ChainId.FromName("orders");
    public static readonly RequestTable Table = new(CraqMessages.AddTo);

    private static readonly WriteId s_id = new(Id(77), 42);

    public static Guid Id(int n) => new(n, 0, 0, new byte[8]);

    public static ObjectVersion Version(int counter) => new((Epoch.Value << 40) | (uint)counter);

    public static ChainView View()
    {
        ImmutableArray<ChainMember> members =
            [new(new NodeId(Id(1)), "east"), new(new NodeId(Id(2)), "east"), new(new NodeId(Id(3)), "west")];
        var placement = new Placement([new PlacementGroup("east", 2), new PlacementGroup("west", 1)], 0, 0, "east", 2);
        var options = new ChainOptions { Protocol = ChainProtocol.Cr, Values = ValuePath.Relay };
        var config = new ChainConfig(Chain, "orders", Epoch, members, members[..2], 2, placement, options)
        {
            IsRecordedOpen = true,
        };
        return new ChainView(config, [.. members.Select((_, i) => new NodeEndpoint("127.0.0.1", 7001 + i))]);
    }

    public static ChainRecord Record() => new(Chain, ChainRecordKind.Write, Version(8), Version(7),
        [new RecordOrigin(s_id, new byte[] { 1, 2 })],
        [
            new ObjectWrite("a", 3, 1_700_000_000_000, new byte[] { 9, 8, 7 }),
            new ObjectWrite("b", 0, 0, null),
            new ObjectWrite("c", 0, 0, ReadOnlyMemory<byte>.Empty),
        ])
    {
        Transaction = Id(6),
        Locked = ["a", "z"],
    };

    public static IReadOnlyList<(Request Request, Response[] Answers)> All()
    {
        ReadOnlyMemory<byte> value = new byte[] { 4, 5, 6 };
        var found = new ObjectResult(Status.Ok, Version(4), true, 7, 99, 3, value);
        var absent = new ObjectResult(CraqStatus.NotFound, Version(3), false, 0, 0, 0, default);
        return [.. Objects(found, absent, value), .. Nodes(), .. Transactions(found, value)];
    }

    private static (Request Request, Response[] Answers)[] Objects(
        ObjectResult found, ObjectResult absent, ReadOnlyMemory<byte> value) =>
        [
            (new ReadObjectsRequest(Epoch, Chain, ObjectReadMode.Bounded, ["a", "b"], Version(2), 3, 250, false),
            [
                new ReadObjectsResponse(Status.Ok, Epoch) { Mark = Version(9), Age = 12, Objects = [found, absent] },
                new ReadObjectsResponse(CraqStatus.WrongRole, Epoch) { View = View() },
                new ReadObjectsResponse(Status.Sealed, Epoch),
                new ReadObjectsResponse(CraqStatus.Unconfirmed, Epoch),
            ]),
            (new MutateRequest(Epoch, Chain, s_id, Version(1), true,
                [
                    new ObjectCompare("a", ObjectCompareKind.Version, Version(4), default),
                    new ObjectCompare("b", ObjectCompareKind.Value, default, value),
                ],
                ["a"],
                [
                    new ObjectOperation(ObjectOperationKind.Put, "a", 1, ObjectOperation.KeepExpiry, value),
                    new ObjectOperation(ObjectOperationKind.Add, "n", 0, 0, default, -5),
                ]),
            [
                new MutateResponse(Status.Ok, Epoch)
                {
                    Version = Version(8), Mark = Version(8), Result = new MutateResult([found], [17]),
                },
                new MutateResponse(CraqStatus.Mismatch, Epoch) { Version = Version(4), Mark = Version(3), Index = 1 },
                new MutateResponse(CraqStatus.WrongRole, Epoch) { View = View() },
                new MutateResponse(CraqStatus.Forgotten, Epoch),
            ]),
            (new ChainsRequest(Epoch.None, [Chain], ["cache"]),
            [
                new ChainsResponse(Status.Ok, Epoch)
                {
                    Views = [View()],
                    Keyspaces = [new KeyspaceView("cache", [Chain, ChainId.FromName("other")])],
                },
                new ChainsResponse(Status.Denied, Epoch),
            ]),
        ];

    private static (Request Request, Response[] Answers)[] Nodes()
    {
        ImmutableArray<ReadOnlyMemory<byte>> records = [RecordCodec.Encode(Record())];
        return
        [
            (new ReplicateRequest(Epoch, Chain, Version(7), Version(6), records),
            [
                new ReplicateResponse(Status.Ok, Epoch) { Last = Version(8), Mark = Version(8) },
                new ReplicateResponse(CraqStatus.Gap, Epoch) { Last = Version(5), Mark = Version(4) },
                new ReplicateResponse(Status.Sealed, Epoch) { View = View() },
            ]),
            (new ConfirmRequest(Epoch.None, [new ChainEpoch(Chain, Epoch)]),
            [
                new ConfirmResponse(Status.Ok, Epoch) { Chains = [new ChainConfirmation(true, Epoch, Version(8))] },
                new ConfirmResponse(Status.Overloaded, Epoch),
            ]),
            (new InstallChainRequest(Epoch, View()),
            [
                new InstallChainResponse(Status.Ok, Epoch) { Last = Version(8), Mark = Version(7) },
                new InstallChainResponse(Status.Sealed, Epoch) { View = View() },
            ]),
            (new FetchRequest(Epoch, Chain, Version(6), 1 << 20, true),
            [
                new FetchResponse(Status.Ok, Epoch) { Last = Version(8), Mark = Version(7), Records = records },
                new FetchResponse(CraqStatus.Forgotten, Epoch),
            ]),
            (new ReconcileRequest(Epoch, Chain, Version(6), [default, new HashPrefix(1, 0xab00000000000000)],
                [new KeyHash(1, 2)]),
            [
                new ReconcileResponse(Status.Ok, Epoch)
                {
                    Base = Version(6),
                    Buckets =
                    [
                        new HashBucket([.. Enumerable.Range(0, HashBucket.Fan).Select(i => (ulong)i)], []),
                        new HashBucket([], [new KeyVersion(new KeyHash(3, 4), Version(5))]),
                    ],
                    Records = [records[0], default],
                },
                new ReconcileResponse(CraqStatus.Behind, Epoch),
            ]),
            (new ValuesRequest(Epoch, Chain, records[0]),
                [new AckResponse(Status.Ok, Epoch), new AckResponse(Status.Sealed, Epoch)]),
            (new MarkedRequest(Epoch, Chain, Version(8)),
                [new AckResponse(Status.Ok, Epoch), new AckResponse(Status.NotInstalled, Epoch)]),
            (new PingNodeRequest(Epoch.None, new NodeId(Chain.Value)),
            [
                new PingNodeResponse(Status.Ok, Epoch.None, true, NodeHealth.Silent),
                new PingNodeResponse(Status.Failed, Epoch.None, false, NodeHealth.Unknown),
            ]),
        ];
    }

    private static IEnumerable<(Request Request, Response[] Answers)> Transactions(
        ObjectResult found, ReadOnlyMemory<byte> value)
    {
        var part = new TransactPart(Chain, Version(3),
            [new ObjectCompare("a", ObjectCompareKind.Version, Version(4), default)], ["b"],
            [new ObjectOperation(ObjectOperationKind.Put, "a", 1, 0, value)]);
        PartResponse[] parts =
        [
            new PartResponse(Status.Ok, Epoch)
            {
                State = PartState.Prepared, Version = Version(7), Mark = Version(8),
                Result = new MutateResult([found], [17]),
            },
            new PartResponse(Status.Ok, Epoch)
            {
                State = PartState.Aborted, Version = Version(7), Mark = Version(7), Reason = CraqStatus.Mismatch,
                Index = 2, Found = Version(4),
            },
            new PartResponse(CraqStatus.WrongRole, Epoch) { View = View() },
            new PartResponse(CraqStatus.Forgotten, Epoch),
        ];
        yield return (new TransactRequest(Epoch, Id(9), [part]),
        [
            new TransactResponse(Status.Ok, Epoch)
            {
                IsCommitted = true,
                Parts = [new CommittedPart(Version(8), Version(9), new MutateResult([found], []))],
            },
            new TransactResponse(Status.Ok, Epoch)
            {
                Part = 1, Reason = CraqStatus.Mismatch, Index = 2, Found = Version(4),
            },
            new TransactResponse(CraqStatus.WrongRole, Epoch) { View = View() },
            new TransactResponse(CraqStatus.Unconfirmed, Epoch),
        ]);
        yield return (new PreparePartRequest(Epoch, Id(9), [part.Id, new PartId(ChainId.FromName("other"), Version(2))],
            part), parts);
        yield return (new SettlePartRequest(Epoch, Chain, Id(9), Version(3), true), parts);
    }

    public static byte[] Body(Message message)
    {
        var output = new ArrayBufferWriter<byte>();
        var w = new WireWriter(output, WireProtocol.Current.Highest);
        message.WriteBody(ref w);
        w.Flush();
        return output.WrittenSpan.ToArray();
    }

    public static FrameHeader Header(Opcode opcode, Status status, int length) =>
        new(length, 1, Epoch, opcode, status);
}
