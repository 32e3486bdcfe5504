using Corfu.Protocol;
using Corfu.Transport;

namespace Corfu.Simulation.Kernel.Network;

/// <summary>The client's port, for one simulated process.</summary>
/// <param name="rights">As its certificate would say.</param>
public sealed class SimTransport(World world, SimNetwork network, SimInternet internet, SimProcess process, string host,
    long requestTimeout, AccessRole rights = AccessRole.Node)
    : ITransport
{
    private readonly Dictionary<NodeAddress, SimConnection> _connections = [];
    private uint _correlation;

    public AccessRole Rights => rights;

    public async ValueTask<TResponse> CallAsync<TResponse>(NodeAddress to, Request<TResponse> request,
        CancellationToken cancellationToken)
        where TResponse : Response
    {
        cancellationToken.ThrowIfCancellationRequested();
        SimHost target = internet.HostAt(to.Endpoint)
            ?? throw new TransportException($"no process has ever listened at {to.Endpoint}", false);
        SimConnection connection = await ConnectAsync(to, target, cancellationToken);
        uint correlation = ++_correlation;
        var call = new PendingCall<TResponse>(request, network.Version);
        connection.Add(correlation, call);
        using CancellationTokenRegistration registration = cancellationToken.Register(() =>
        {
            connection.Forget(correlation);
            call.Fail(new OperationCanceledException(cancellationToken));
        });
        world.Schedule(process, requestTimeout, SimEventKind.Timer, () =>
        {
            connection.Forget(correlation);
            call.Fail(new TransportException($"{request.Opcode} to {to} timed out", outcomeUnknown: true));
        });
        byte[] bytes = Frames.Encode(correlation, request, network.Version);
        network.Calls?.Sent(process, to.Id, request);
        if (!network.Loses(request))
            network.Send(host, target.Name, connection.Server, bytes, m => target.Arrive(connection, to.Id, m),
                network.HeldUntil(request));
        TResponse response = await call.Task;
        network.Calls?.Answered(process, to.Id, request, response);
        return response;
    }

    public async ValueTask<NodeDescription> DescribeAsync(NodeEndpoint endpoint, CancellationToken cancellationToken)
    {
        SimHost target = internet.HostAt(endpoint)
            ?? throw new TransportException($"no process has ever listened at {endpoint}", false);
        await RoundTripAsync(target, cancellationToken);
        return target.Process is null
            ? throw new TransportException($"no process listens at {endpoint}", false)
            : target.Describe();
    }

    public void Drop(NodeAddress node)
    {
        if (_connections.Remove(node, out SimConnection? connection) && !connection.Broken)
            connection.Break($"{node} has been replaced");
    }

    /// <summary>Breaks every connection to a host, as seen from this process.</summary>
    public int BreakConnections(SimHost to)
    {
        int broken = 0;
        foreach ((NodeAddress address, SimConnection connection) in _connections.OrderBy(c => c.Key.Id).ToArray())
        {
            if (address.Endpoint != to.Endpoint || connection.Broken) continue;
            connection.Break($"connection to {address} was broken");
            broken++;
        }

        return broken;
    }

    private async ValueTask<SimConnection> ConnectAsync(NodeAddress to, SimHost target,
        CancellationToken cancellationToken)
    {
        if (_connections.TryGetValue(to, out SimConnection? known) && !known.Broken) return known;
        await RoundTripAsync(target, cancellationToken);
        if (_connections.TryGetValue(to, out known) && !known.Broken) return known;
        if (target.Process is not { Alive: true } server)
        {
            network.Stats.Refused++;
            throw new TransportException($"no process listens at {to.Endpoint}", outcomeUnknown: false)
            { Fault = TransportFault.Refused };
        }

        if (!target.Serves(to.Id))
            throw new TransportException($"another identity answers at {to.Endpoint}",
                outcomeUnknown: false)
            { Fault = TransportFault.WrongIdentity };
        var connection = new SimConnection(process, host, server, new Principal(rights, host));
        _connections[to] = connection;
        // A dead process breaks its connections; its peer may notice at once (reset) or by its time-outs only (the
        // machine is gone).
        server.OnKill(() =>
        {
            if (process.Alive && internet.ResetsOnKill(target))
                world.Schedule(process, 500, SimEventKind.Deliver, () => connection.Break("connection reset"));
            else if (process.Alive)
                world.Schedule(process, requestTimeout, SimEventKind.Deliver,
                    () => connection.Break("connection lost"));
        });
        return connection;
    }

    /// <summary>A handshake: two messages, each of which the network may lose.</summary>
    private async Task RoundTripAsync(SimHost target, CancellationToken cancellationToken)
    {
        var done = new TaskCompletionSource(TaskCreationOptions.RunContinuationsAsynchronously);
        using CancellationTokenRegistration registration =
            cancellationToken.Register(() => done.TrySetCanceled(cancellationToken));
        world.Schedule(process, requestTimeout, SimEventKind.Timer,
            () =>
                done.TrySetException(new TransportException($"no handshake with {target.Name}",
                    outcomeUnknown: false)));
        network.Send(host, target.Name, internet.Wire, Hello, _ =>
            network.Send(target.Name, host, process, Hello, _ => done.TrySetResult()));
        await done.Task;
    }

    private static readonly byte[] Hello = [0x48];
}
