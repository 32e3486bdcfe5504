namespace Corfu.Hosting;

/// <summary>Takes other levels of a node's log while it runs.</summary>
internal sealed class LogReload(NodeLogLevels levels, NodeLogOptions log) : IReloadable
{
    private NodeLogOptions _log = log;

    public ImmutableArray<string> Reload(NodeOptions now)
    {
        if (now.Log.Levels.SequenceEqual(_log.Levels)) return [];
        levels.Replace(now.Log.Levels);
        _log = now.Log;
        return ["log.levels"];
    }
}
