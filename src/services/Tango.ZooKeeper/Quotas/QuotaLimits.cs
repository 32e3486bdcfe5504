using System.Globalization;
using System.Text;

namespace Tango.ZooKeeper;

/// <summary>Limits that a quota's node asks for; -1: none. Only hard ones are enforced.</summary>
internal readonly record struct QuotaLimits(long Count, long Bytes)
{
    public static QuotaLimits None => new(-1, -1);

    /// <summary>Reads <c>count=4,bytes=5=;countHardLimit=10;byteHardLimit=20</c>. Text that is no limit asks for none:
    /// a client's content must not stop the tree.</summary>
    public static QuotaLimits Parse(byte[]? data)
    {
        var limits = None;
        foreach (var pair in Encoding.UTF8.GetString(data ?? []).Split(',', ';'))
        {
            var parts = pair.Split('=');
            if (parts.Length < 2 || !TryParse(parts[1], out var value)) continue;
            if (parts[0] == "countHardLimit") limits = limits with { Count = value };
            else if (parts[0] == "byteHardLimit") limits = limits with { Bytes = value };
        }

        return limits;
    }

    /// <param name="usage">With the change that is asked for.</param>
    /// <param name="change">Only a kind that changes is limited.</param>
    public bool Allow(QuotaUsage usage, QuotaUsage change) =>
        (change.Count == 0 || Count < 0 || usage.Count <= Count)
        && (change.Bytes == 0 || Bytes < 0 || usage.Bytes <= Bytes);

    private static bool TryParse(string text, out long value) =>
        long.TryParse(text, NumberStyles.AllowLeadingSign, CultureInfo.InvariantCulture, out value);
}
