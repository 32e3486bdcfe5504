using Corfu.ZooKeeper.Connections;
using Corfu.ZooKeeper.Watches;

namespace Corfu.ZooKeeper.Serving;

/// <summary>
/// Newest root of a front end, and all that changes with it. One lock, the gate, orders effects, reads, watches and
/// packets: an event stands before every reply that shows its change.
/// </summary>
/// <param name="isReadOnlyOffered">As <see cref="Hosting.ZooKeeperFrontEndOptions.ReadOnly"/>.</param>
internal sealed class Dispatcher(
    ILogger logger, TimeProvider time, TimeSpan lease, ConnectionTable connections, bool isReadOnlyOffered)
    : IApplyObserver
{
    private readonly List<ConnectionOutput> _unsent = [];
    private bool _isDispatching;
    private bool _hasLeft;
    private long _leased;
    private string _fault = "the log has not confirmed its first beat";

    public Lock Gate { get; } = new();

    // The rest is guarded by Gate.

    /// <summary>Null: the tree is not observed yet, or not any more.</summary>
    public TreeRoot? Root { get; private set; }

    public WatchTable Watches { get; } = new(connections.Limits.MaxWatchBytes);

    public ConnectionTable Connections => connections;

    /// <summary>False: nothing is answered, and no connection is taken, but for clients that only read.</summary>
    public bool IsServing { get; private set; }

    /// <summary>Whether clients that ask for it may read the newest root that is known, which others may have
    /// changed. Never together with <see cref="IsServing"/>: a client learns which of the two it has when it
    /// connects.</summary>
    public bool IsReadOnly => isReadOnlyOffered && !IsServing && !_hasLeft && Root is not null;

    /// <summary>Why nothing is answered; null: clients are served.</summary>
    public string? Fault => MayAnswer() ? null : _fault;

    /// <summary>Called behind the effects that are told together.</summary>
    public event Action? Advanced;

    /// <summary>Clients may be answered for the length of a lease.</summary>
    /// <param name="leased">When the beat was sent that the log has confirmed.</param>
    public void Serve(long leased)
    {
        // Clients that only read connect again, and have sessions of the log then.
        if (IsReadOnly) Connections.CloseAll();
        (_leased, IsServing) = (leased, Root is not null);
    }

    /// <summary>Whether clients may be answered now. Asked before each answer: a process that wakes from a pause has no
    /// time to look at its clock before. Without the lease all connections are closed.</summary>
    public bool MayAnswer()
    {
        if (!IsServing) return false;
        if (Planted.Is("answers-without-lease")) return true;
        if (time.GetElapsedTime(_leased) <= lease) return true;
        Stop("the log has confirmed no beat within the lease");
        return false;
    }

    /// <summary>Closes all connections, and takes none.</summary>
    public void Stop(string reason)
    {
        if (!IsServing && Connections.Count == 0) return;
        FrontEndLog.ClosedAll(logger, reason);
        End(reason);
    }

    /// <summary>Closes all connections, as the program ends the front end.</summary>
    public void Leave()
    {
        _hasLeft = true;
        FrontEndLog.Leaving(logger, Connections.Count);
        End("it has ended");
    }

    private void End(string reason)
    {
        (IsServing, _fault) = (false, reason);
        Connections.CloseAll();
    }

    /// <summary>Sends the packets of a connection: at once, or behind the effects that are being told.</summary>
    public void Send(ConnectionOutput output)
    {
        if (_isDispatching) _unsent.Add(output);
        else output.Wake();
    }

    public void OnReset(TangoObject handle, ObservedView view)
    {
        lock (Gate)
        {
            // Z18: events between were missed.
            if (Root is not null) Stop("the tree was loaded anew");
            Root = ZooKeeperTree.RootIn(view);
        }
    }

    public void OnApplied(TangoObject handle, RecordVersion version, object effect)
    {
        lock (Gate)
        {
            if (!_isDispatching) MayAnswer();
            _isDispatching = true;
            Take((TreeEffect)effect);
        }
    }

    public void OnPublished(LogPosition end)
    {
        lock (Gate)
        {
            Advanced?.Invoke();
            Connections.GiveRoom();
            _isDispatching = false;
            foreach (var output in _unsent) output.Wake();
            _unsent.Clear();
        }
    }

    public void OnStopped(TangoObject handle, Exception reason)
    {
        FrontEndLog.TreeStopped(logger, reason);
        lock (Gate)
        {
            Stop("the tree has stopped");
            _fault = $"the tree has stopped: {reason.Message}";
            Root = null;
        }
    }

    // Events, then the reply, then the ends of sessions that the record brought.
    private void Take(TreeEffect effect)
    {
        Root = effect.Root;
        if (!Planted.Is("events-behind-the-reply")) Tell(effect);
        if (effect.Caller is { Session: not 0 } caller && Connections.Find(caller.Session) is { } connection)
            connection.OnEffect(caller, effect);
        if (Planted.Is("events-behind-the-reply")) Tell(effect);
        switch (effect.Result)
        {
            case ExpireResult expired:
                foreach (var session in expired.Sessions) Connections.Find(session)?.Close();
                break;
            case SessionResult { Error: ZooKeeperError.Ok } attached:
                // Z7: the session is another connection's from here on.
                Connections.Find(attached.Session)?.Close();
                break;
        }
    }

    private void Tell(TreeEffect effect)
    {
        foreach (var change in effect.Changes) Watches.Tell(change, effect.Zxid);
    }
}
