using System.Net;

namespace Corfu.ZooKeeper.Connections;

/// <summary>Connections of a front end, and the session of each. Guarded by the front end's gate.</summary>
/// <param name="most">Connections open at once.</param>
/// <param name="mostOfAddress">Connections that one address may have; 0: as many.</param>
internal sealed class ConnectionTable(int most, int mostOfAddress)
{
    private readonly HashSet<ZooConnection> _all = [];
    private readonly Dictionary<IPAddress, int> _byAddress = [];
    private readonly Dictionary<long, ZooConnection> _bySession = [];

    // Sessions whose connection has ended, and whose client was heard since the last look.
    private readonly HashSet<long> _heard = [];

    // Connections that are not read.
    private readonly List<ZooConnection> _crowded = [];

    public int Count => _all.Count;

    /// <summary>Posted writes of connections that are open.</summary>
    public int Writes { get; set; }

    /// <summary>Connections that have a session.</summary>
    public IEnumerable<ZooConnection> Attached => _bySession.Values;

    /// <summary>Bytes of the requests without a reply, and of the packets that are not taken.</summary>
    public (long Input, long Output) QueuedBytes() =>
        (_all.Sum(static connection => connection.InputBytes), _all.Sum(static connection => connection.OutputBytes));

    public ZooConnection? Find(long session) => _bySession.GetValueOrDefault(session);

    /// <summary>Takes a connection, which has no session yet.</summary>
    /// <returns>False: there are too many, or too many of its address.</returns>
    public bool TryAdd(ZooConnection connection)
    {
        var ofAddress = _byAddress.GetValueOrDefault(connection.Address);
        if (_all.Count >= most || mostOfAddress > 0 && ofAddress >= mostOfAddress) return false;
        _all.Add(connection);
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

    /// <summary>Whether the session's client was heard since the last call, also on a connection that has
    /// ended.</summary>
    public bool TakeHeard(long session) => _heard.Remove(session) | (Find(session)?.TakeHeard() ?? false);

    /// <summary>Behind a look at all sessions: what is left belongs to none of them.</summary>
    public void ForgetHeard() => _heard.Clear();

    /// <summary>Lets a connection be read again once it has room.</summary>
    public void AwaitRoom(ZooConnection connection) => _crowded.Add(connection);

    /// <summary>Called behind the effects that are told together.</summary>
    public void GiveRoom() => _crowded.RemoveAll(static connection => connection.TakeRoom());

    /// <summary>Ends connections whose client's certificate has ended, or is denied.</summary>
    public void CloseUntrusted()
    {
        foreach (var connection in _all.ToArray()) connection.CloseUntrusted();
    }

    public void CloseAll()
    {
        foreach (var connection in _all.ToArray()) connection.Close();
    }
}
