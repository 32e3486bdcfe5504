using Corfu.ZooKeeper.Serving;
using Tango;
using Tango.ZooKeeper;

namespace Corfu.Simulation.ZooKeeper;

/// <summary>Partitions as a front end plays them. The monitor hears of each effect before the front end does.</summary>
internal sealed class ObservedPartitions(IPlayedPartitions played, ZooKeeperMonitor monitor, string name)
    : IPlayedPartitions
{
    public Lock Gate => played.Gate;

    public TreeRoot? Root => played.Root;

    public TreeRoot? RootOf(string mount) => played.RootOf(mount);

    public void Resume() => played.Resume();

    public IApplyObserver NewObserver() => new Observer(this, played.NewObserver());

    private sealed class Observer(ObservedPartitions partitions, IApplyObserver inner) : IApplyObserver
    {
        private readonly Dictionary<string, TreeRoot> _roots = [];

        // Partitions that the newest record has changed, and its zxid.
        private readonly List<string> _changed = [];
        private long _played;

        private ZooKeeperMonitor Monitor => partitions.Monitor;

        public void OnReset(TangoObject handle, ObservedView view)
        {
            TreeRoot root = ZooKeeperTree.RootIn(view);
            if (_roots.ContainsKey(root.Home)) Monitor.Mark("zookeeper tree loaded anew");
            _roots[root.Home] = root;
            Monitor.Loaded(root);
            inner.OnReset(handle, view);
        }

        public void OnApplied(TangoObject handle, RecordVersion version, object effect)
        {
            var applied = (TreeEffect)effect;
            string home = applied.Root.Home;
            if (applied.Zxid < _played)
            {
                Monitor.Found(CheckerNames.ZooKeeperZxid,
                    $"{partitions.Name}: {applied.Zxid:x} of {home} behind {_played:x}");
            }

            CheckWhole(applied.Zxid);
            _played = applied.Zxid;
            _changed.Add(home);
            Monitor.Applied($"{partitions.Name} {home}", _roots[home], applied);
            _roots[home] = applied.Root;
            inner.OnApplied(handle, version, effect);
        }

        // A read may come between two effects of a record, and sees no part of it.
        private void CheckWhole(long zxid)
        {
            if (zxid != _played) _changed.Clear();
            lock (partitions.Gate)
            {
                foreach (string home in _changed)
                {
                    if (partitions.RootOf(home)?.LastZxid != zxid) continue;
                    Monitor.Found(CheckerNames.ZooKeeperMulti,
                        $"{partitions.Name}: {home} has {zxid:x} before all partitions have it");
                }
            }
        }

        public void OnPublished(LogPosition end)
        {
            foreach (TreeRoot root in _roots.Values) Monitor.Published(partitions.Name, root);
            inner.OnPublished(end);
        }

        public void OnStopped(TangoObject handle, Exception reason)
        {
            // Behind it the tree is loaded anew, from a checkpoint.
            if (reason is TangoTrimmedException) Monitor.Mark("zookeeper tree overtaken by a trim");
            else Monitor.Found(CheckerNames.ZooKeeperViews, $"{partitions.Name}: the tree has stopped: {reason}");
            inner.OnStopped(handle, reason);
        }
    }

    private ZooKeeperMonitor Monitor => monitor;

    private string Name => name;
}
