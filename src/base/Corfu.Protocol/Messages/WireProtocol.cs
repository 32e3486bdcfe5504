namespace Corfu.Protocol;

/// <summary>Decodes a request's body. A field that the connection's version does not have yet gets its
/// default.</summary>
public delegate Request RequestReader(Epoch epoch, ref WireReader r);

/// <summary>
/// The protocol versions of one build, and the requests with the version that introduced each. The handshake settles
/// on the highest version that both sides know (docs/compatibility.md). The rules of a change:
/// <list type="bullet">
/// <item>A new field stands at the end of its body. An older reader passes over it; a newer one that finds no bytes
/// left takes the default.</item>
/// <item>A new opcode, status or enum value raises <see cref="Highest"/>, and is not sent on a connection of a lower
/// version.</item>
/// <item>Nothing is removed, reordered or reused before <see cref="Lowest"/> has risen above its last version.</item>
/// </list>
/// </summary>
public sealed class WireProtocol
{
    /// <summary>The version of the baseline, whose bytes are recorded in the tests.</summary>
    public const ushort Baseline = 1;

    private readonly (ushort Since, RequestReader? Read)[] _requests = new (ushort, RequestReader?)[256];

    private WireProtocol(ushort lowest, ushort highest)
    {
        Lowest = lowest;
        Highest = highest;
    }

    public static WireProtocol Current { get; } = CreateBaseline();

    public ushort Lowest { get; }

    public ushort Highest { get; }

    /// <summary>The highest version that both sides know, or null when they have none in common.</summary>
    public ushort? Settle(ushort lowest, ushort highest) =>
        lowest <= Highest && highest >= Lowest && lowest <= highest ? Math.Min(highest, Highest) : null;

    /// <summary>This protocol with one more version on top. For tests of what a later build would do.</summary>
    internal WireProtocol Next(params ReadOnlySpan<(Opcode Opcode, RequestReader Read)> requests)
    {
        var next = new WireProtocol(Lowest, (ushort)(Highest + 1));
        _requests.CopyTo(next._requests, 0);
        foreach (var (opcode, read) in requests)
        {
            ref var slot = ref next._requests[(byte)opcode];
            slot = (slot.Read is null ? next.Highest : slot.Since, read);
        }

        return next;
    }

    /// <summary>Null for an opcode that this build, or the connection's version, does not have.</summary>
    internal RequestReader? ReaderOf(Opcode opcode, ushort version)
    {
        var (since, read) = _requests[(byte)opcode];
        return since <= version ? read : null;
    }

    private static WireProtocol CreateBaseline()
    {
        var protocol = new WireProtocol(Baseline, Baseline);
        Add(Opcode.Write, static (epoch, ref r) => new WriteRequest(epoch, r.Bytes()));
        Add(Opcode.Complete, static (epoch, ref r) => new CompleteRequest(epoch, r.Bytes()));
        Add(Opcode.Fill, static (epoch, ref r) => new FillRequest(epoch, r.Bytes()));
        Add(Opcode.Read, ReadRequest.Read);
        Add(Opcode.Trim, TrimRequest.Read);
        Add(Opcode.TrimPrefix, TrimPrefixRequest.Read);
        Add(Opcode.Seal, static (epoch, ref _) => new SealRequest(epoch));
        Add(Opcode.Install, InstallRequest.Read);
        Add(Opcode.ConfirmEpoch, static (epoch, ref _) => new ConfirmEpochRequest(epoch));
        Add(Opcode.StreamTails, StreamTailsRequest.Read);
        Add(Opcode.UnitInfo, static (epoch, ref _) => new UnitInfoRequest(epoch));
        Add(Opcode.Repair, static (epoch, ref r) => new RepairRequest(epoch, r.Bytes()));
        Add(Opcode.CompleteMany, CompleteManyRequest.Read);
        Add(Opcode.ListStreamTails, ListStreamTailsRequest.Read);
        Add(Opcode.ImportStreamTails, ImportStreamTailsRequest.Read);

        Add(Opcode.Bootstrap, BootstrapRequest.Read);
        Add(Opcode.Token, TokenRequest.Read);
        Add(Opcode.Tail, TailRequest.Read);
        Add(Opcode.LoadStreams, LoadStreamsRequest.Read);
        Add(Opcode.Grants, GrantsRequest.Read);
        Add(Opcode.SequencerInfo, static (epoch, ref _) => new SequencerInfoRequest(epoch));
        Add(Opcode.Advance, AdvanceRequest.Read);

        Add(Opcode.Prepare, PrepareRequest.Read);
        Add(Opcode.Accept, AcceptRequest.Read);
        Add(Opcode.Decided, DecidedRequest.Read);
        Add(Opcode.Latest, static (epoch, ref _) => new LatestRequest(epoch));
        Add(Opcode.ReadSlot, static (epoch, ref _) => new ReadSlotRequest(epoch));
        Add(Opcode.Watch, static (epoch, ref _) => new WatchRequest(epoch));

        Add(Opcode.Ping, PingRequest.Read);
        Add(Opcode.Suspicion, SuspicionRequest.Read);
        Add(Opcode.AgentInfo, static (epoch, ref _) => new AgentInfoRequest(epoch));
        Add(Opcode.SetAutomation, SetAutomationRequest.Read);
        return protocol;

        void Add(Opcode opcode, RequestReader read) => protocol._requests[(byte)opcode] = (Baseline, read);
    }
}
