using Microsoft.Extensions.Options;

namespace Corfu.Orleans.Journaling;

/// <summary>Options of a silo's journals in the log.</summary>
public sealed class CorfuJournalOptions
{
    /// <summary>Writes since the last snapshot after which one is asked for. Default 1,000.</summary>
    public int CompactAfterWrites { get; set; } = 1_000;

    /// <summary>Bytes since the last snapshot after which one is asked for, unless the snapshot itself is larger.
    /// Default 1 MiB.</summary>
    public long CompactAfterBytes { get; set; } = 1 << 20;

    /// <summary>Largest batch or snapshot. It is written in entries of at most the log's payload limit. Default 64
    /// MiB.</summary>
    public int MaxBatchBytes { get; set; } = 64 << 20;

    /// <summary>Outdated entries of a journal that are trimmed at once. Default 16.</summary>
    public int TrimsInFlight { get; set; } = 16;

    internal IEnumerable<string> Faults()
    {
        if (CompactAfterWrites < 1) yield return "CompactAfterWrites: it must be at least 1.";
        if (CompactAfterBytes < 1) yield return "CompactAfterBytes: it must be at least 1.";
        if (MaxBatchBytes < 1) yield return "MaxBatchBytes: it must be at least 1.";
        if (TrimsInFlight is < 1 or > 1_024) yield return "TrimsInFlight: it must be 1 to 1,024.";
    }
}

internal sealed class CorfuJournalOptionsValidator : IValidateOptions<CorfuJournalOptions>
{
    public ValidateOptionsResult Validate(string? name, CorfuJournalOptions options)
    {
        List<string> faults = [.. options.Faults()];
        return faults.Count == 0 ? ValidateOptionsResult.Success : ValidateOptionsResult.Fail(faults);
    }
}
