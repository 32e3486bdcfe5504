using System.Globalization;

namespace JobScheduler.Workloads;

/// <summary>The header comments of a Standard Workload Format trace that matter here ("; MaxNodes: 128").</summary>
internal sealed class SwfHeader
{
    private int? _maxNodes;
    private int? _maxProcs;

    /// <summary>The size of the machine: MaxNodes, else MaxProcs. Null when the header names neither, or says "unknown"
    /// (-1).</summary>
    public int? Nodes => _maxNodes ?? _maxProcs;

    /// <summary>Takes one comment line, with its leading semicolon. The first value of a label counts.</summary>
    public void Read(string comment)
    {
        _maxNodes ??= Value(comment, "MaxNodes:");
        _maxProcs ??= Value(comment, "MaxProcs:");
    }

    // Archives write remarks behind the number ("144 (of 8 processors)"), so the leading digits are the value.
    private static int? Value(string comment, string label)
    {
        ReadOnlySpan<char> text = comment.AsSpan().TrimStart("; \t");
        if (!text.StartsWith(label, StringComparison.OrdinalIgnoreCase))
            return null;
        text = text[label.Length..].TrimStart();
        int digits = text.IndexOfAnyExceptInRange('0', '9');
        ReadOnlySpan<char> number = digits < 0 ? text : text[..digits];
        return int.TryParse(number, NumberStyles.None, CultureInfo.InvariantCulture, out int value) && value > 0
            ? value
            : null;
    }
}
