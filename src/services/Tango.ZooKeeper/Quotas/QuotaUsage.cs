using System.Globalization;
using System.Text;

namespace Tango.ZooKeeper;

/// <summary>
/// Use of a quota, counted as ZooKeeper does: all nodes and bytes of data at and below its path when its limits were
/// created, and since then the changes of those for which no longer path has a quota.
/// </summary>
internal readonly record struct QuotaUsage(long Count, long Bytes)
{
    /// <summary>Content of the node that shows it.</summary>
    public byte[] ToData() =>
        Encoding.ASCII.GetBytes(string.Create(CultureInfo.InvariantCulture, $"count={Count},bytes={Bytes}"));

    public static QuotaUsage operator +(QuotaUsage left, QuotaUsage right) =>
        new(left.Count + right.Count, left.Bytes + right.Bytes);
}
