using Microsoft.Extensions.Options;

namespace Corfu.Orleans.Journaling;

/// <summary>Options of a silo's journals in the log.</summary>
public sealed class CorfuJournalOptions
{
    internal static readonly OptionRules<CorfuJournalOptions> Rules = new OptionRules<CorfuJournalOptions>(new())
        .AtLeast(o => o.CompactAfterWrites, 1)
        .AtLeast(o => o.CompactAfterBytes, 1)
        .AtLeast(o => o.MaxBatchBytes, 1)
        .Between(o => o.TrimsInFlight, 1, 1_024);

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
}

internal sealed class CorfuJournalOptionsValidator : IValidateOptions<CorfuJournalOptions>
{
    public ValidateOptionsResult Validate(string? name, CorfuJournalOptions options) =>
        CorfuJournalOptions.Rules.FaultsOf(options) is { Count: > 0 } faults
            ? ValidateOptionsResult.Fail(faults)
            : ValidateOptionsResult.Success;
}
