using System.Collections.Immutable;
using Corfu.FaultRuns.Machine;
using Corfu.Protocol;
using Corfu.Transport;

namespace Corfu.FaultRuns.Permissions;

/// <summary>Each kind of peer sends every opcode to every role of a node behind TLS, and those of CRAQ and Salus to
/// theirs. What it is allowed is compared with docs/permissions.md; what a client's projections need is tried both
/// ways.</summary>
internal sealed class PermissionRun(UndoList undo, TextWriter output)
{
    public const string AnotherAuthority = "another CA";
    public const string AnotherCluster = "another cluster";

    private const string NoCertificate = "no certificate";

    private static readonly ImmutableArray<(string Peer, AccessRole Role)> s_peers =
    [
        (NoCertificate, AccessRole.None), (AnotherAuthority, AccessRole.None), (AnotherCluster, AccessRole.None),
        ("caller", AccessRole.Caller), ("client", AccessRole.Client), ("admin", AccessRole.Admin),
        ("node", AccessRole.Node),
    ];

    private int _cells;
    private int _differing;

    public async Task<int> RunAsync(CancellationToken stop)
    {
        var page = PermissionPage.Read();
        await using var node = await SecureNode.StartAsync(Path.Combine(undo.Folder, "permissions"), stop);
        var requests = Requests(node.Projection).ToDictionary(request => request.Opcode);
        Compare("docs/permissions.md", "its opcodes", Names(requests.Keys.Concat(SecureStores.Opcodes)),
            Names(page.Opcodes));
        foreach (var (peer, role) in s_peers)
        {
            foreach (var target in node.Roles)
                await AskAllAsync(node, page, peer, role, new PermissionTarget(
                    $"{target.Role}", node.AddressOf(target.Role), [.. requests.Values]), stop);
        }

        await using (var stores = await node.ServeStoresAsync(stop))
        {
            foreach (var (peer, role) in s_peers)
            {
                foreach (var target in stores.Targets) await AskAllAsync(node, page, peer, role, target, stop);
            }
        }

        await using (var frontEnd = await node.ServeGrpcAsync(stop))
        {
            foreach (var (peer, role) in s_peers.Add((FrontEndCells.Granted, AccessRole.Caller)))
                await CallAllAsync(node, page, frontEnd.Address, peer, role, stop);
        }

        await TryProjectionsAsync(node, stop);
        await TryProcessInfoAsync(node, stop);
        var latest = await node.LatestAsync(stop);
        Compare("all peers", "the newest projection", $"{latest}", $"{node.Projection}");
        output.WriteLine($"cells={_cells} differing={_differing}");
        return _differing == 0 ? 0 : 1;
    }

    private async Task AskAllAsync(SecureNode node, PermissionPage page, string peer, AccessRole role,
        PermissionTarget target, CancellationToken stop)
    {
        await using var connection = await ConnectAsync(node, peer, target.Address, stop);
        foreach (var request in target.Requests)
        {
            var answer = await connection.AskAsync(request, stop);
            var isAllowed = answer is not null && answer.Status != Status.Denied;

            // A condition is met: the sample is a projection that the agent knows.
            var expected = page.Of(request.Opcode, role) == "no" ? "no" : "yes";
            Compare($"{peer} to {target.Name}", $"{request.Opcode}", isAllowed ? "yes" : "no", expected);
        }
    }

    private async Task CallAllAsync(SecureNode node, PermissionPage page, string frontEnd, string peer,
        AccessRole role, CancellationToken stop)
    {
        var credentials = peer == NoCertificate ? null : node.CredentialsOf(peer);
        foreach (var (method, answer) in await FrontEndCells.AskAllAsync(frontEnd, credentials, stop))
        {
            // A certificate of strangers ends the handshake.
            var expected = peer is AnotherAuthority or AnotherCluster ? "no" : page.Of(method, role);
            if (expected == "if granted") expected = peer == FrontEndCells.Granted ? "yes" : "no";
            Compare($"{peer} to the front end", method, answer, expected);
        }
    }

    /// <summary>The gate: a client's projection counts only where the agent has read it as decided.</summary>
    private async Task TryProjectionsAsync(SecureNode node, CancellationToken stop)
    {
        var known = node.Projection;
        var later = Like(known, known.Epoch.Next);
        var other = Like(known, known.Epoch);
        foreach (var (projection, install, bootstrap) in new[]
        {
            (known, Status.Ok, Status.Ok), (later, Status.NotInstalled, Status.NotBootstrapped),
            (other, Status.Denied, Status.Denied),
        })
        {
            await using var unit = await ConnectAsync(node, "client", NodeRole.Unit, stop);
            var installed = await unit.AskAsync(new InstallRequest(projection), stop);
            var what = $"{projection.Epoch} {projection.Reason}";
            Compare("client", $"Install of {what}", $"{installed?.Status}", $"{install}");
            await using var sequencer = await ConnectAsync(node, "client", NodeRole.Sequencer, stop);
            var begun = await sequencer.AskAsync(new BootstrapRequest(projection), stop);
            Compare("client", $"Bootstrap of {what}", $"{begun?.Status}", $"{bootstrap}");
        }
    }

    /// <summary>A client is told of itself alone.</summary>
    private async Task TryProcessInfoAsync(SecureNode node, CancellationToken stop)
    {
        // Others are connected meanwhile.
        await using var admin = await ConnectAsync(node, "admin", NodeRole.Agent, stop);
        await using var client = await ConnectAsync(node, "client", NodeRole.Agent, stop);
        var answer = await client.AskAsync(new ProcessInfoRequest(Epoch.None), stop) as ProcessInfoResponse;
        var roles = answer?.Process?.Identities.Select(identity => identity.Role).Distinct() ?? [];
        Compare("client", "ProcessInfo names", string.Join(", ", roles), $"{AccessRole.Client}");
    }

    private static Task<RawPeer> ConnectAsync(SecureNode node, string peer, NodeRole target, CancellationToken stop) =>
        ConnectAsync(node, peer, node.AddressOf(target), stop);

    private static Task<RawPeer> ConnectAsync(
        SecureNode node, string peer, NodeAddress target, CancellationToken stop) =>
        RawPeer.ConnectAsync(target, node.Cluster,
            peer == NoCertificate ? null : node.CredentialsOf(peer), stop);

    private static Projection Like(Projection p, Epoch epoch) => new(p.Cluster, epoch, p.Sequencer, p.Start,
        p.TrimMark, p.Segments, p.Units, p.Acceptors, "made up");

    // A sample of each opcode. None changes anything where it is allowed.
    private static IEnumerable<Request> Requests(Projection p)
    {
        var none = Epoch.None;
        var entry = EntryCodec.Encode(new LogEntry(new LogPosition(3, p.Epoch), default, EntryKind.Junk,
            DateTimeOffset.UnixEpoch, [], default));
        var self = new NodeAddress(p.Sequencer.Id, p.Sequencer.Endpoint);
        return
        [
            new WriteRequest(none, entry), new CompleteRequest(none, entry), new FillRequest(none, entry),
            new ReadRequest(none, [LogPosition.Zero], ReadDetail.State),
            new TrimRequest(none, LogPosition.Zero, default), new TrimPrefixRequest(none, LogPosition.Zero),
            new SealRequest(none), new InstallRequest(p),
            new ConfirmEpochRequest(none), new StreamTailsRequest(none, []), new UnitInfoRequest(none),
            new RepairRequest(none, entry), new CompleteManyRequest(none, []),
            new ListStreamTailsRequest(none, LogPosition.Zero, default), new ImportStreamTailsRequest(none, []),
            new BootstrapRequest(p), new TokenRequest(none, 1, []), new TailRequest(none, []),
            new LoadStreamsRequest(none, []), new GrantsRequest(none, []), new SequencerInfoRequest(none),
            new AdvanceRequest(none, LogPosition.Zero, LogPosition.Zero, []),
            new PrepareRequest(none, default), new AcceptRequest(new Ballot(1, Guid.NewGuid()), p),
            new DecidedRequest(p), new LatestRequest(none), new ReadSlotRequest(none), new WatchRequest(none),
            new PingRequest(none, self, false, default), new SuspicionRequest(none, NodeRole.Unit, self),
            new AgentInfoRequest(none), new SetAutomationRequest(none, default), new DenyRequest(none, []),
            new ProcessInfoRequest(none),
        ];
    }

    private static string Names(IEnumerable<Opcode> opcodes) => string.Join(' ', opcodes.Order());

    private void Compare(string who, string what, string actual, string expected)
    {
        _cells++;
        if (actual == expected) return;
        _differing++;
        output.WriteLine($"{who}: {what}: {actual}, expected {expected}");
    }
}
