using System.Collections.Immutable;
using Corfu.Protocol;
using Corfu.Transport;

namespace Corfu.Hosting;

/// <summary>Asks every node of a cluster folder how it is. Changes nothing.</summary>
public static class ClusterProbe
{
    private static readonly TimeSpan Patience = TimeSpan.FromSeconds(2);

    public static async Task<ClusterState> StateAsync(ClusterFolder folder, CancellationToken cancellationToken = default)
    {
        var manifest = folder.Manifest;
        using var transport = new TcpTransport(new TcpTransportOptions
        {
            Cluster = manifest.ClusterId,
            ConnectTimeout = Patience,
            RequestTimeout = Patience,
        });
        var projection = await LatestAsync(transport, manifest, cancellationToken);
        var probes = manifest.Nodes.SelectMany(node => node.Roles.Select(role => ProbeAsync(transport, folder, node, role, cancellationToken)));
        var states = await Task.WhenAll(probes);
        return new ClusterState(
            manifest.ClusterId, manifest.ConnectionString(), projection, IsWritable(projection, states), [.. states.Select(state => state.State)]);
    }

    private static async Task<Projection?> LatestAsync(TcpTransport transport, ClusterManifest manifest, CancellationToken cancellationToken)
    {
        // Acceptors are replaced like everything else: the newest projection that any of them knows names those that count.
        var acceptors = manifest.AllAcceptors();
        var answers = await Task.WhenAll(acceptors.Select(async acceptor =>
            (acceptor.Id, Answer: await TryAsync(async () => await transport.CallAsync(acceptor, new LatestRequest(Epoch.None), cancellationToken)))));
        var newest = answers.Select(answer => answer.Answer?.Latest).OfType<Projection>().MaxBy(p => p.Epoch);
        if (newest is null) return null;
        var answered = newest.Acceptors.Count(named => answers.Any(answer => answer.Id == named.Id && answer.Answer is not null));
        return answered * 2 > newest.Acceptors.Length ? newest : null;
    }

    private static async Task<(NodeState State, Epoch Epoch)> ProbeAsync(
        TcpTransport transport, ClusterFolder folder, ManifestNode node, ManifestRole role, CancellationToken cancellationToken)
    {
        var owner = FolderLock.OwnerOf(folder.NodePath(node));
        var path = role.Folder is null ? null : Path.Combine(folder.NodePath(node), role.Folder);
        var state = new NodeState(
            node.Name, role.Role, new NodeId(role.Id), node.Endpoint, owner is { ProcessId: > 0 } o ? o.ProcessId : null, path, false, "not running");
        try
        {
            var id = new NodeId(role.Id);
            if (role.Role == NodeRole.Sequencer)
            {
                // Its identity is new with every start, so it has to be asked for.
                var description = await transport.DescribeAsync(node.Endpoint, cancellationToken);
                id = description.Roles.FirstOrDefault(found => found.Role == NodeRole.Sequencer).Id;
                if (id.IsNone) return (state with { Detail = "another process listens there" }, Epoch.None);
            }

            var (epoch, detail) = await AskAsync(transport, new NodeAddress(id, node.Endpoint), role.Role, cancellationToken);
            return (state with { Id = id, Serving = true, Detail = detail }, epoch);
        }
        catch (CorfuException e)
        {
            return (owner is null ? state : state with { Detail = e.Message }, Epoch.None);
        }
    }

    private static async Task<(Epoch Epoch, string Detail)> AskAsync(
        TcpTransport transport, NodeAddress address, NodeRole role, CancellationToken cancellationToken)
    {
        switch (role)
        {
            case NodeRole.Unit:
                var unit = await transport.CallAsync(address, new UnitInfoRequest(Epoch.None), cancellationToken);
                if (!unit.IsOk) throw CorfuException.FromStatus(unit.Status, $"the unit at {address.Endpoint}");
                return (unit.Installed, $"{unit.Installed}, {unit.Pages} pages, {unit.StoredBytes} bytes");
            case NodeRole.Sequencer:
                var sequencer = await transport.CallAsync(address, new SequencerInfoRequest(Epoch.None), cancellationToken);
                if (!sequencer.IsOk) return (Epoch.None, "waiting for an epoch");
                return (sequencer.Epoch, $"{sequencer.Epoch}, tail {sequencer.Tail.Offset}, {sequencer.Streams} streams");
            default:
                var acceptor = await transport.CallAsync(address, new LatestRequest(Epoch.None), cancellationToken);
                return (acceptor.Latest?.Epoch ?? Epoch.None, acceptor.Latest is { } latest ? $"{latest.Epoch}" : "nothing decided");
        }
    }

    private static bool IsWritable(Projection? projection, (NodeState State, Epoch Epoch)[] states)
    {
        if (projection is null) return false;
        bool Serves(NodeId id) => states.Any(s => s.State.Serving && s.State.Id == id && s.Epoch == projection.Epoch);
        return Serves(projection.Sequencer.Id) && projection.Units.All(unit => Serves(unit.Id));
    }

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
