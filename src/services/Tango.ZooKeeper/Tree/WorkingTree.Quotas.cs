namespace Tango.ZooKeeper;

// The use of quotas follows the nodes; where a quota has a node that shows it, that node's content follows too.
internal sealed partial class WorkingTree
{
    // Nodes behind which a record begins no further measurement. A quota alone is measured in any case.
    internal const int MaxMeasured = 10_000;

    private long _measured;

    /// <summary>Whether the record may create a node of this path: limits of a quota, which must be measured, only
    /// while the record has not measured many nodes.</summary>
    public bool MayMeasureFor(string path) =>
        IsPart || _measured < MaxMeasured || QuotaTable.LimitedBy(path) is null;

    /// <summary>Whether the quota over a path has room for a change; true where quotas are not enforced.</summary>
    public bool IsWithinQuota(string path, int count, int bytes)
    {
        if (IsPart || !Settings.EnforceQuota || _parts.Quotas.LongestOver(path) is not { } limited) return true;
        var change = new QuotaUsage(count, bytes);
        var quota = _parts.Quotas.Find(limited)!.Value;
        return quota.Limits.Allow(quota.Usage + change, change);
    }

    private void CountAdded(ZNode node)
    {
        Count(node.Path, new QuotaUsage(1, node.DataLength));
        if (QuotaTable.LimitedBy(node.Path) is { } limited)
            Show(limited, new PathQuota(Measure(limited), QuotaLimits.Parse(node.RawData)));
        else if (QuotaTable.ShownBy(node.Path) is { } shown && _parts.Quotas.Find(shown) is { } quota)
            Show(shown, quota);
    }

    private void CountRemoved(ZNode node)
    {
        if (QuotaTable.LimitedBy(node.Path) is { } limited) _parts.Quotas = _parts.Quotas.Remove(limited);
        Count(node.Path, new QuotaUsage(-1, -node.DataLength));
    }

    private void CountWritten(ZNode written, int bytes)
    {
        if (bytes != 0) Count(written.Path, new QuotaUsage(0, bytes));
        if (QuotaTable.LimitedBy(written.Path) is { } limited && _parts.Quotas.Find(limited) is { } quota)
            _parts.Quotas = _parts.Quotas.Set(limited, quota with { Limits = QuotaLimits.Parse(written.RawData) });
    }

    private void Count(string path, QuotaUsage change)
    {
        if (_parts.Quotas.LongestOver(path) is not { } limited) return;
        var quota = _parts.Quotas.Find(limited)!.Value;
        Show(limited, quota with { Usage = quota.Usage + change });
    }

    private void Show(string limited, PathQuota quota)
    {
        _parts.Quotas = _parts.Quotas.Set(limited, quota);
        if (_parts.Nodes.Find(QuotaTable.StatsOf(limited)) is not { } stats) return;
        var data = quota.Usage.ToData();
        _parts.DataBytes += data.Length - stats.DataLength;
        _parts.Nodes = _parts.Nodes.Set(stats.WithKeptData(data));
    }

    private QuotaUsage Measure(string path)
    {
        var usage = default(QuotaUsage);
        foreach (var node in _parts.Nodes.Subtree(path)) usage += new QuotaUsage(1, node.DataLength);
        _measured += usage.Count;
        return usage;
    }
}
