namespace Corfu.Hosting;

/// <summary>Asks every node of a cluster folder how it is. Changes nothing.</summary>
public static class ClusterProbe
{
    private static readonly TimeSpan Patience = TimeSpan.FromSeconds(2);

    public static async Task<ClusterState> StateAsync(ClusterFolder folder,
        CancellationToken cancellationToken = default)
    {
        var manifest = folder.Manifest;
        using var tls = folder.OpenTls();
        using var transport = new TcpTransport(new TcpTransportOptions
        {
            Cluster = manifest.ClusterId,
            Tls = tls,
            ConnectTimeout = Patience,
            RequestTimeout = Patience,
        });
        var projection = await LatestAsync(transport, manifest, cancellationToken);
        var probes = manifest.Nodes.Select(node => ProbeAsync(transport, folder, node, projection, cancellationToken));
        var states = (await Task.WhenAll(probes)).SelectMany(roles => roles).ToList();
        states.AddRange(await Task.WhenAll(Elsewhere(projection, states).Select(async other =>
        {
            var answer = await NodeRoles.Log.ProbeAsync(transport, other.Address, other.Role, cancellationToken);
            return (StateOf("", other.Role, other.Address, null, null, projection, answer), answer);
        })));
        var answers = states.Where(s => !s.State.Id.IsNone).ToDictionary(s => s.State.Id, s => s.Answer);
        // A role that the projection names and no process here holds is a sequencer that has ended.
        var verdict = ClusterVerdict.Of(projection,
            id => answers.GetValueOrDefault(id) ?? RoleAnswer.Silent("not running"));
        return new ClusterState(manifest.ClusterId, folder.ConnectionString(), projection, verdict,
            [.. states.Select(state => state.State)])
        {
            AdminConnectionString = folder.HasCertificates ? folder.AdminConnectionString() : null,
        };
    }

    // Nodes that the projection names and the folder does not hold run on other machines.
    private static IEnumerable<(NodeAddress Address, NodeRole Role)> Elsewhere(
        Projection? projection, IReadOnlyList<(NodeState State, RoleAnswer Answer)> here)
    {
        if (projection is null) return [];
        var endpoints = here.Select(s => s.State.Endpoint).ToHashSet();
        var ids = here.Select(s => s.State.Id).ToHashSet();
        return projection.Units.Select(unit => (unit, NodeRole.Unit))
            .Concat(projection.Acceptors.Select(acceptor => (acceptor, NodeRole.Acceptor)))
            .Append((projection.Sequencer, NodeRole.Sequencer))
            .Where(named => !endpoints.Contains(named.Item1.Endpoint) && !ids.Contains(named.Item1.Id));
    }

    private static async Task<Projection?> LatestAsync(TcpTransport transport, ClusterManifest manifest,
        CancellationToken cancellationToken)
    {
        // Acceptors are replaced like everything else: the newest projection that any of them knows names those that
        // count.
        var acceptors = manifest.AllAcceptors();
        var answers = await Task.WhenAll(acceptors.Select(async acceptor =>
            (acceptor.Id,
                Answer: await TryAsync(
                    async () => await transport.CallAsync(acceptor, new LatestRequest(Epoch.None),
                        cancellationToken)))));
        var newest = answers.Select(answer => answer.Answer?.Latest).OfType<Projection>().MaxBy(p => p.Epoch);
        if (newest is null) return null;
        var answered = newest.Acceptors.Count(
            named => answers.Any(answer => answer.Id == named.Id && answer.Answer is { IsOk: true }));
        return answered * 2 > newest.Acceptors.Length ? newest : null;
    }

    private static async Task<(NodeState State, RoleAnswer Answer)[]> ProbeAsync(TcpTransport transport,
        ClusterFolder folder, ManifestNode node, Projection? projection, CancellationToken cancellationToken)
    {
        var owner = FolderLock.OwnerOf(folder.NodePath(node));
        NodeDescription? description = null;
        var silent = "not running";
        try
        {
            description = await transport.DescribeAsync(node.Endpoint, cancellationToken);
        }
        catch (TransportException e)
        {
            if (owner is not null) silent = e.Message;
        }

        return await Task.WhenAll(node.Roles.Select(async role =>
        {
            // The identity of a sequencer is new with every start, that of a unit after its removal.
            var name = NodeRoles.Log.Find(role.Role)?.Role ?? NodeRole.None;
            var served = description?.Roles.FirstOrDefault(found => found.Role == name) ?? default;
            var address = new NodeAddress(served.Id.IsNone ? new NodeId(role.Id) : served.Id, node.Endpoint);
            var answer = description is null ? RoleAnswer.Silent(silent)
                : served.Id.IsNone ? RoleAnswer.Silent($"the process at {node.Endpoint} does not serve it")
                : await NodeRoles.Log.ProbeAsync(transport, address, name, cancellationToken);
            var path = role.Folder is null ? null : Path.Combine(folder.NodePath(node), role.Folder);
            var state = StateOf(node.Name, name, address, owner, path, projection, answer);
            return (state with { FrontEnds = node.FrontEnds }, answer);
        }));
    }

    private static NodeState StateOf(string name, NodeRole role, NodeAddress address, FolderOwner? owner,
        string? folder, Projection? projection, RoleAnswer answer) =>
        new(name, role, address.Id, address.Endpoint, owner is { ProcessId: > 0 } o ? o.ProcessId : null, folder,
            answer.Answers, answer.Detail)
        {
            Duty = NodeRoles.Log.DutyIn(projection, role, address.Id, answer),
        };

    private static async Task<LayoutResponse?> TryAsync(Func<Task<LayoutResponse>> call)
    {
        try
        {
            return await call();
        }
        catch (CorfuException)
        {
            return null;
        }
    }
}
