namespace Tango.ZooKeeper;

// The use of quotas follows the nodes; where a quota has a node that shows it, that node's content follows too.
internal sealed partial class WorkingTree
{
    /// <summary>Whether the quota over a path has room for a change; true where quotas are not enforced.</summary>
    public bool IsWithinQuota(string path, int count, int bytes)
    {
        if (!Settings.EnforceQuota || _parts.Quotas.LongestOver(path) is not { } limited) return true;
        var change = new QuotaUsage(count, bytes);
        return _parts.Nodes.Find(QuotaTable.LimitsOf(limited)) is not { } limits
            || QuotaLimits.Parse(limits.RawData).Allow(_parts.Quotas.Find(limited)!.Value + change, change);
    }

    private void CountAdded(ZNode node)
    {
        Count(node.Path, new QuotaUsage(1, node.DataLength));
        if (QuotaTable.LimitedBy(node.Path) is { } limited) Show(limited, Measure(limited));
        else if (QuotaTable.ShownBy(node.Path) is { } shown && _parts.Quotas.Find(shown) is { } usage)
            Show(shown, usage);
    }

    private void CountRemoved(ZNode node)
    {
        if (QuotaTable.LimitedBy(node.Path) is { } limited) _parts.Quotas = _parts.Quotas.Remove(limited);
        Count(node.Path, new QuotaUsage(-1, -node.DataLength));
    }

    private void CountWritten(string path, int bytes)
    {
        if (bytes != 0) Count(path, new QuotaUsage(0, bytes));
    }

    private void Count(string path, QuotaUsage change)
    {
        if (_parts.Quotas.LongestOver(path) is { } limited) Show(limited, _parts.Quotas.Find(limited)!.Value + change);
    }

    private void Show(string limited, QuotaUsage usage)
    {
        _parts.Quotas = _parts.Quotas.Set(limited, usage);
        if (_parts.Nodes.Find(QuotaTable.StatsOf(limited)) is not { } stats) return;
        var data = usage.ToData();
        _parts.DataBytes += data.Length - stats.DataLength;
        _parts.Nodes = _parts.Nodes.Set(stats.WithKeptData(data));
    }

    private QuotaUsage Measure(string path)
    {
        var usage = default(QuotaUsage);
        foreach (var node in _parts.Nodes.Subtree(path)) usage += new QuotaUsage(1, node.DataLength);
        return usage;
    }
}
