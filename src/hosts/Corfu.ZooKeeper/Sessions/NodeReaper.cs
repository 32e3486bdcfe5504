using Corfu.ZooKeeper.FourLetter;
using Corfu.ZooKeeper.Serving;

namespace Corfu.ZooKeeper.Sessions;

/// <summary>
/// Ends containers that have lost their last child, and empty nodes whose time is over. The live front end with the
/// lowest id does, by its own clock: no safety hangs on it (Z21). Guarded by the front end's gate.
/// </summary>
internal sealed class NodeReaper(FrontEndServices services)
{
    /// <summary>Time between two looks at all such nodes.</summary>
    public static readonly TimeSpan Interval = TimeSpan.FromSeconds(10);

    private const int MostInRecord = 64;

    private long _last = services.Time.GetTimestamp();

    /// <summary>Called behind a confirmed beat.</summary>
    public void Tick()
    {
        if (services.Time.GetElapsedTime(_last) < Interval) return;
        _last = services.Time.GetTimestamp();
        var now = services.Time.GetUtcNow().ToUnixTimeMilliseconds();
        foreach (var root in services.Dispatcher.Roots.All)
        {
            // A partition may be played by some front ends only, and not by the one with the lowest id.
            if (root.Home == NodePath.Root && !ServerMode.IsFirst(root, services.Identity.Id)) continue;
            foreach (var chunk in root.ReapableNodes().Where(node => IsOver(node, now)).Chunk(MostInRecord))
                QuietPosts.Send(services, root.Home, new ReapRecord([.. chunk.Select(ReapedNode.Of)]));
        }
    }

    // A container that never had a child waits for its first one.
    private static bool IsOver(ZNode node, long now) => node.ChildCount == 0
        && (node.Ttl is { } ttl ? now - node.Stat.Mtime > ttl : node.Stat.Cversion != 0);
}
