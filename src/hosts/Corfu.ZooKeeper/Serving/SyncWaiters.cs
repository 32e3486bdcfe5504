using Corfu.ZooKeeper.Connections;

namespace Corfu.ZooKeeper.Serving;

/// <summary>
/// Connections whose first request waits for a check of the log. One check serves all that wait when it begins. A
/// check that fails closes them.
/// </summary>
internal sealed class SyncWaiters(
    Dispatcher dispatcher, ZooKeeperTree tree, FrontEndPartitions partitions, LoopContext loops,
    CancellationToken stop)
{
    // Guarded by the gate.
    private readonly List<ZooConnection> _next = [];
    private readonly SortedDictionary<long, List<ZooConnection>> _played = [];
    private bool _isChecking;

    /// <summary>Tells the connection when a check that begins now is played. Called under the gate.</summary>
    public void Wait(ZooConnection connection)
    {
        _next.Add(connection);
        if (_isChecking) return;
        _isChecking = true;
        loops.Start(CheckAsync);
    }

    /// <summary>Tells those whose check the newest root has. Called under the gate.</summary>
    public void OnAdvanced()
    {
        while (_played.Count > 0 && _played.First() is var (zxid, waiters) && zxid <= (dispatcher.Root?.LastZxid ?? 0))
        {
            _played.Remove(zxid);
            foreach (var waiter in waiters) waiter.OnSynced();
        }
    }

    private async Task CheckAsync()
    {
        while (true)
        {
            ZooConnection[] waiting;
            HashSet<string> missing = [];
            lock (dispatcher.Gate)
            {
                if (_next.Count == 0)
                {
                    _isChecking = false;
                    return;
                }

                waiting = [.. _next];
                _next.Clear();
                foreach (var connection in waiting) missing.UnionWith(connection.OnChecking());
            }

            try
            {
                await partitions.HostAsync(missing, stop);
                var zxid = (await tree.ReadAsync(stop)).LastZxid;
                lock (dispatcher.Gate)
                {
                    if (!_played.TryGetValue(zxid, out var waiters)) _played.Add(zxid, waiters = []);
                    waiters.AddRange(waiting);
                    OnAdvanced();
                    // Nothing may be published for a while.
                    dispatcher.Connections.GiveRoom();
                }
            }
            catch (Exception)
            {
                // The syncs that come later have their own check.
                lock (dispatcher.Gate)
                {
                    foreach (var connection in waiting) connection.Close();
                }
            }
        }
    }
}
