using System.Collections.Immutable;
using Corfu.Protocol;
using Corfu.Transport;

namespace Corfu.Simulation.Kernel.Network;

/// <summary>
/// A machine that listens on one endpoint: its process may be killed and started again with new role handlers. Requests
/// that arrive together are handed over together, as from one read of a socket.
/// </summary>
public sealed class SimHost(World world, SimNetwork network, IMessageObserver observer, RequestTable requests,
    ClusterId cluster, NodeEndpoint endpoint, string name)
{
    private readonly Queue<Arrival> _inbox = new();
    private ImmutableArray<IRoleHandler> _roles = [];
    private IRequestGate? _gate;
    private bool _drainScheduled;

    /// <summary>Requests that the process denies though the table allows them, as where certificates are mapped to
    /// other roles than elsewhere. Default: none.</summary>
    public Func<Principal, Opcode, bool> Denies { get; set; } = static (_, _) => false;

    public string Name => name;

    public NodeEndpoint Endpoint => endpoint;

    /// <summary>Null while nothing listens.</summary>
    public SimProcess? Process { get; private set; }

    public NodeDescription Describe() => new(cluster, [.. _roles.Select(r => new RoleIdentity(r.Role, r.Id))]);

    public void Listen(SimProcess process, ImmutableArray<IRoleHandler> roles, IRequestGate gate)
    {
        Process = process;
        _gate = gate;
        _roles = roles;
        _inbox.Clear();
        _drainScheduled = false;
        process.OnKill(() =>
        {
            if (Process != process) return;
            Process = null;
            _roles = [];
            _inbox.Clear();
        });
    }

    public bool Serves(NodeId id) => _roles.Any(r => r.Id == id);

    /// <summary>A request has arrived. The connection it came on must have been bound to the identity.</summary>
    internal void Arrive(SimConnection connection, NodeId id, byte[] message)
    {
        _inbox.Enqueue(new Arrival(connection, id, message));
        if (_drainScheduled) return;
        _drainScheduled = true;
        world.Schedule(Process, 0, SimEventKind.Deliver, Drain);
    }

    private void Drain()
    {
        _drainScheduled = false;
        List<IRoleHandler> touched = [];
        while (Process is not null && _inbox.TryDequeue(out Arrival arrival))
        {
            IRoleHandler? role = _roles.FirstOrDefault(r => r.Id == arrival.Id);
            if (role is null || arrival.Connection.Broken) continue;
            if (!touched.Contains(role)) touched.Add(role);
            Hand(role, arrival);
        }

        foreach (IRoleHandler role in touched) role.BatchEnd();
    }

    private void Hand(IRoleHandler role, Arrival arrival)
    {
        // The handler gets a copy that dies when it returns: a slice that is kept reads garbage, as with a real buffer.
        byte[] buffer = (byte[])arrival.Message.Clone();
        FrameHeader header = FrameHeader.Parse(buffer);
        Principal peer = arrival.Connection.Principal;
        AccessVerdict verdict = requests.Judge(header.Opcode, peer.Role);
        if (verdict == AccessVerdict.Denied || Denies(peer, header.Opcode))
        {
            Refuse(arrival, header, Status.Denied);
            return;
        }

        Request request = MessageCodec.ReadRequest(header, buffer.AsMemory(MessageCodec.HeaderSize), requests,
            network.Version)
            ?? throw new InvalidOperationException($"{header.Opcode} did not survive the codec");
        if (verdict == AccessVerdict.Gated && _gate!.Judge(request) is var judged and not Status.Ok)
        {
            Refuse(arrival, header, judged);
            return;
        }

        if (world.Trace is not null)
            world.Explain($"{name} <- {arrival.Connection.Client.Name} {observer.Describe(request)}");
        var info = new MessageInfo(role.Id, arrival.Connection.Client.Name, arrival.Message, world.Steps);
        var sink = new Sink(this, arrival, info, request.Opcode);
        observer.Received(info);
        role.Handle(request, new ReplyTo(sink, header.Correlation, header.Opcode));
        buffer.AsSpan(MessageCodec.HeaderSize).Fill(0xDD);
    }

    /// <summary>As the server does before a role gets the request: the observer of roles sees nothing.</summary>
    private void Refuse(Arrival arrival, FrameHeader header, Status status)
    {
        if (world.Trace is not null)
            world.Explain($"{name} -> {arrival.Connection.Client.Name} {header.Opcode} {status} for its role");
        arrival.Connection.SendBack(network, name,
            Frames.Encode(header.Correlation, header.Opcode, new AckResponse(status, Epoch.None),
                network.Version));
        observer.Refused(header.Opcode, status);
    }

    private void Reply(Arrival arrival, MessageInfo info, uint correlation, Opcode opcode, Response response)
    {
        observer.Answered(info, response);
        if (world.Trace is not null)
            world.Explain($"{name} -> {arrival.Connection.Client.Name} {observer.Describe(response)}");
        byte[] bytes = Frames.Encode(correlation, opcode, response, network.Version);
        arrival.Connection.SendBack(network, name, bytes);
    }

    private readonly record struct Arrival(SimConnection Connection, NodeId Id, byte[] Message);

    private sealed class Sink(SimHost host, Arrival arrival, MessageInfo info, Opcode opcode) : IReplySink
    {
        private readonly SimProcess? _process = host.Process;
        private bool _answered;

        public Principal Principal => arrival.Connection.Principal;

        public void Send(uint correlation, Opcode answered, Response response)
        {
            if (_process is not { Alive: true }) return;
            if (_answered || answered != opcode)
                throw new InvalidOperationException($"{opcode} was answered twice or as {answered}");
            _answered = true;
            host.Reply(arrival, info, correlation, answered, response);
        }
    }
}
