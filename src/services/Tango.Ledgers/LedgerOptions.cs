namespace Tango.Ledgers;

/// <summary>Limits of a <see cref="LedgerStore"/>. They concern this process alone.</summary>
public sealed record LedgerOptions
{
    private static readonly OptionRules<LedgerOptions> s_rules = new OptionRules<LedgerOptions>(new LedgerOptions())
        .Between(o => o.MaxAppendsInFlight, 1, 4096)
        .Between(o => o.MaxBatchBytes, 1, 1 << 20)
        .AtLeast(o => o.MaxBytesInFlight, o => o.MaxBatchBytes)
        .AtLeast(o => o.MaxBytesWaiting, o => o.MaxBatchBytes)
        .Above(o => o.PollInterval, TimeSpan.Zero);

    /// <summary>Appends to the log that a writer has under way at once. Default 64.</summary>
    public int MaxAppendsInFlight { get; init; } = 64;

    /// <summary>Bytes of entries that a writer puts into one entry of the log; a larger entry goes alone. Default
    /// 64 KiB.</summary>
    public int MaxBatchBytes { get; init; } = 64 << 10;

    /// <summary>Bytes of entries that a writer has under way at once. Default 16 MiB.</summary>
    public int MaxBytesInFlight { get; init; } = 16 << 20;

    /// <summary>Bytes of entries that may wait to be sent, each counting 128 more; above, appends are refused. Default
    /// 64 MiB.</summary>
    public int MaxBytesWaiting { get; init; } = 64 << 20;

    /// <summary>How often all followers of the store together ask whether open ledgers have grown. Default 10
    /// milliseconds.</summary>
    public TimeSpan PollInterval { get; init; } = TimeSpan.FromMilliseconds(10);

    public TimeProvider Time { get; init; } = TimeProvider.System;

    /// <summary>A sentence for each option that is out of range.</summary>
    public IReadOnlyList<string> Faults() => s_rules.FaultsOf(this);
}
