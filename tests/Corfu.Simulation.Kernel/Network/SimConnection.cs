using Corfu.Protocol;

namespace Corfu.Simulation.Kernel.Network;

/// <summary>Connection of one client to one role identity: all calls in flight fail together when it breaks.</summary>
internal sealed class SimConnection(SimProcess client, string clientHost, SimProcess server, Principal principal)
{
    private readonly SortedDictionary<uint, PendingCall> _pending = [];

    public bool Broken { get; private set; }

    public SimProcess Client => client;

    public Principal Principal => principal;

    public SimProcess Server => server;

    public void Add(uint correlation, PendingCall call) => _pending.Add(correlation, call);

    public void Forget(uint correlation) => _pending.Remove(correlation);

    /// <summary>An answer on its way to the client; a broken connection drops it.</summary>
    public void SendBack(SimNetwork network, string from, byte[] bytes)
    {
        if (Broken || !client.Alive) return;
        network.Send(from, clientHost, client, bytes, Receive);
    }

    public void Break(string why)
    {
        if (Broken) return;
        Broken = true;
        PendingCall[] calls = [.. _pending.Values];
        _pending.Clear();
        foreach (PendingCall call in calls) call.Fail(new TransportException(why, outcomeUnknown: true));
    }

    private void Receive(byte[] bytes)
    {
        FrameHeader header = FrameHeader.Parse(bytes);
        if (Broken || !_pending.Remove(header.Correlation, out PendingCall? call)) return;
        call.Answer(header, bytes.AsMemory(MessageCodec.HeaderSize));
    }
}
