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
    : IPlayedPartitions
{
    private readonly List<ConnectionOutput> _unsent = [];
    private readonly Dictionary<string, TreeRoot> _partitions = [];
    private Observer? _observer;
    private bool _isDispatching;
    private bool _hasLeft;
    private bool _isMounting;
    private long _leased;

    // The newest zxid of all partitions that are played here: never below a root's.
    private long _lastZxid;
    private string _fault = "the log has not confirmed its first beat";

    public Lock Gate { get; } = new();

    // The rest is guarded by Gate.

    /// <summary>State of the root partition. Null: the tree is not observed yet, or not any more.</summary>
    public TreeRoot? Root { get; private set; }

    /// <summary>States of all partitions that are played here. Only while clients are served.</summary>
    public ServedRoots Roots => new(Root!, _partitions, _lastZxid);

    /// <summary>Whether all partitions that are to be played here are; set once.</summary>
    public Func<bool> IsWhole { get; set; } = static () => true;

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

    /// <summary>A path was mounted: clients are served again behind <see cref="Resume"/>. Called under the
    /// gate.</summary>
    public event Action? Mounted;

    /// <summary>A record for all partitions is played. Called under the gate.</summary>
    public event Action<long, TreeResult>? SharedPlayed;

    /// <summary>State of a partition, by mount; null where it is not played.</summary>
    public TreeRoot? RootOf(string mount) =>
        mount == NodePath.Root ? Root : _partitions.GetValueOrDefault(mount);

    /// <summary>Clients may be answered for the length of a lease.</summary>
    /// <param name="leased">When the beat was sent that the log has confirmed.</param>
    public void Serve(long leased)
    {
        // Clients that only read connect again, and have sessions of the log then.
        if (IsReadOnly) Connections.CloseAll();
        var isWhole = Root is not null && IsWhole();
        // Requests that are not answered are not taken either: their clients must come again.
        if (!isWhole && IsServing) Stop("a partition is not played");
        (_leased, IsServing, _isMounting) = (leased, isWhole, _isMounting && !isWhole);
    }

    /// <summary>Serves again, within the same lease, what had stopped for a mount.</summary>
    public void Resume()
    {
        if (!_isMounting || Root is null || !IsWhole()) return;
        _isMounting = false;
        if (IsReadOnly) Connections.CloseAll();
        IsServing = time.GetElapsedTime(_leased) <= lease;
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

    /// <summary>An observer of the partitions that are played from now on: it takes the place of the one
    /// before.</summary>
    public IApplyObserver NewObserver() => new Observer(this);

    // Both observers hear what is played until the new one begins, between two publications: nothing is told twice.
    private bool IsCurrent(Observer observer, bool begins)
    {
        if (begins && observer.Hears(_observer)) _observer = observer;
        return _observer == observer;
    }

    private void OnReset(TreeRoot root, bool begins)
    {
        var known = RootOf(root.Home);
        // Z18: events between were missed.
        if (known is not null && !(begins && known.LastZxid == root.LastZxid) && !Planted.Is("reload-goes-on"))
            Stop("the tree was loaded anew");
        Set(root);
    }

    private void OnApplied(TreeEffect effect)
    {
        if (!_isDispatching) MayAnswer();
        _isDispatching = true;
        Take(effect);
    }

    private void OnPublished()
    {
        Advanced?.Invoke();
        Connections.GiveRoom();
        _isDispatching = false;
        foreach (var output in _unsent) output.Wake();
        _unsent.Clear();
    }

    private void OnStopped(Exception reason)
    {
        FrontEndLog.TreeStopped(logger, reason);
        if (Planted.Is("reload-goes-on")) return;
        Stop("the tree has stopped");
        _fault = $"the tree has stopped: {reason.Message}";
        Root = null;
        _partitions.Clear();
        _lastZxid = 0;
    }

    private void Set(TreeRoot root)
    {
        if (root.Home == NodePath.Root) Root = root;
        else _partitions[root.Home] = root;
        _lastZxid = Math.Max(_lastZxid, root.LastZxid);
    }

    // Events, then the reply, then the ends of sessions that the record brought.
    private void Take(TreeEffect effect)
    {
        var mounts = Root?.MountCount ?? 0;
        Set(effect.Root);
        if (!Planted.Is("events-behind-the-reply")) Tell(effect);
        // The root partition's effect of a record for all partitions is the last, and the reply.
        if (effect.Ticket != 0)
        {
            if (effect.Root.Home != NodePath.Root) return;
            SharedPlayed?.Invoke(effect.Ticket, effect.Result);
            // No partition has taken it: it is sent again.
            if (effect.Result.Error == ZooKeeperError.OperationTimeout) return;
        }

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

        if (Root is { } root && root.MountCount != mounts && effect.Root.Home == NodePath.Root) OnMounted();
    }

    // Events of the new partition would be missed until it is played: clients come back to where it is.
    private void OnMounted()
    {
        Stop("a path was mounted");
        _isMounting = true;
        Mounted?.Invoke();
    }

    private void Tell(TreeEffect effect)
    {
        foreach (var change in effect.Changes) Watches.Tell(change, effect.Zxid);
    }

    private sealed class Observer(Dispatcher dispatcher) : IApplyObserver
    {
        // Handles whose effects have begun.
        private readonly HashSet<TangoObject> _begun = [];

        // Z23: effects of one record, in several partitions. The next record, or the end, shows that none is missing.
        private readonly List<TreeEffect> _record = [];
        private RecordVersion _version;
        private bool _isOver;

        /// <summary>Begins, in place of another one.</summary>
        public bool Hears(Observer? before)
        {
            if (_isOver) return false;
            if (before is not null && before != this) before._isOver = true;
            return true;
        }

        public void OnReset(TangoObject handle, ObservedView view)
        {
            lock (dispatcher.Gate)
            {
                TakeRecord();
                var begins = _begun.Add(handle);
                if (dispatcher.IsCurrent(this, begins)) dispatcher.OnReset(ZooKeeperTree.RootIn(view), begins);
            }
        }

        public void OnApplied(TangoObject handle, RecordVersion version, object effect)
        {
            lock (dispatcher.Gate)
            {
                if (version != _version) TakeRecord();
                _version = version;
                _record.Add((TreeEffect)effect);
                if (Planted.Is("parts-one-by-one")) TakeRecord();
            }
        }

        public void OnPublished(LogPosition end)
        {
            lock (dispatcher.Gate)
            {
                TakeRecord();
                if (dispatcher.IsCurrent(this, false)) dispatcher.OnPublished();
            }
        }

        public void OnStopped(TangoObject handle, Exception reason)
        {
            lock (dispatcher.Gate)
            {
                TakeRecord();
                if (dispatcher.IsCurrent(this, false)) dispatcher.OnStopped(reason);
            }
        }

        private void TakeRecord()
        {
            if (dispatcher.IsCurrent(this, false)) _record.ForEach(dispatcher.OnApplied);
            _record.Clear();
        }
    }
}
