using System.Net;
using Corfu.ZooKeeper.Hosting;

namespace Corfu.ZooKeeper.Connections;

/// <summary>Connections of a front end, and the session of each. Guarded by the front end's gate.</summary>
internal sealed class ConnectionTable(ZooKeeperLimits limits)
{
    private readonly HashSet<ZooConnection> _all = [];

    // Beside these, connections that send their last packets.
    private readonly HashSet<ZooConnection> _holders = [];
    private readonly Dictionary<IPAddress, int> _byAddress = [];
    private readonly Dictionary<long, ZooConnection> _bySession = [];

    // Sessions whose connection has ended, and whose client was heard since the last look.
    private readonly HashSet<long> _heard = [];

    // Connections that are not read.
    private readonly List<ZooConnection> _crowded = [];

    public ZooKeeperLimits Limits => limits;

    public int Count => _all.Count;

    /// <summary>Posted writes of connections that are open.</summary>
    public int Writes { get; set; }

    /// <summary>Connections that have a session.</summary>
    public IEnumerable<ZooConnection> Attached => _bySession.Values;

    /// <summary>Bytes of the requests without a reply, and of those that have not come whole.</summary>
    public long InputBytes { get; private set; }

    /// <summary>Bytes of the packets that clients have not taken.</summary>
    public long OutputBytes { get; private set; }

    /// <summary>Whether connections may be read. Requests alone stop their clients, and close none of them.</summary>
    public bool HasRoom =>
        Writes < ConnectionLimits.Writes && InputBytes < limits.MaxBufferedBytes / 2;

    public ZooConnection? Find(long session) => _bySession.GetValueOrDefault(session);

    /// <summary>Takes a connection, which has no session yet.</summary>
    /// <returns>False: there are too many, or too many of its address.</returns>
    public bool TryAdd(ZooConnection connection)
    {
        var ofAddress = _byAddress.GetValueOrDefault(connection.Address);
        var mostOfAddress = limits.MaxConnectionsPerAddress;
        if (_holders.Count >= limits.MaxConnections || mostOfAddress > 0 && ofAddress >= mostOfAddress) return false;
        _all.Add(connection);
        _holders.Add(connection);
        _byAddress[connection.Address] = ofAddress + 1;
        return true;
    }

    /// <summary>Gives a session to a connection; the one that had it is closed.</summary>
    public void Bind(long session, ZooConnection connection)
    {
        Find(session)?.Close();
        _bySession[session] = connection;
    }

    public void Remove(ZooConnection connection)
    {
        if (_all.Remove(connection) && --_byAddress[connection.Address] == 0) _byAddress.Remove(connection.Address);
        if (Find(connection.Session) != connection) return;
        _bySession.Remove(connection.Session);
        if (connection.TakeHeard()) _heard.Add(connection.Session);
    }

    /// <summary>A connection holds more, or less, than before. Beyond the limit the one that holds most is
    /// closed.</summary>
    public void OnHeld(ZooConnection connection, long input, long output)
    {
        if (!_holders.Contains(connection)) return;
        (InputBytes, OutputBytes) = (InputBytes + input, OutputBytes + output);
        while (InputBytes + OutputBytes > limits.MaxBufferedBytes)
        {
            var largest = _holders.MaxBy(static holder => holder.HeldBytes)!;
            // Memory comes back when the socket has ended; until then no other is closed for it.
            Forget(largest);
            largest.Evict(largest.HeldBytes, limits.MaxBufferedBytes, "maxBufferedBytes");
        }
    }

    /// <summary>The connection's socket has ended, or is about to.</summary>
    public void Forget(ZooConnection connection)
    {
        if (!_holders.Remove(connection)) return;
        InputBytes -= connection.InputBytes;
        OutputBytes -= connection.OutputBytes;
    }

    /// <summary>Whether the session's client was heard since the last call, also on a connection that has
    /// ended.</summary>
    public bool TakeHeard(long session) => _heard.Remove(session) | (Find(session)?.TakeHeard() ?? false);

    /// <summary>Behind a look at all sessions: what is left belongs to none of them.</summary>
    public void ForgetHeard() => _heard.Clear();

    /// <summary>Lets a connection be read again once it has room.</summary>
    public void AwaitRoom(ZooConnection connection) => _crowded.Add(connection);

    /// <summary>Called behind the effects that are told together.</summary>
    public void GiveRoom() => _crowded.RemoveAll(static connection => connection.TakeRoom());

    public void CloseAll()
    {
        foreach (var connection in _all.ToArray()) connection.Close();
    }
}
