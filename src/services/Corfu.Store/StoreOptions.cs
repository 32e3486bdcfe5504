using System.ComponentModel;

namespace Corfu.Store;

/// <summary>Options of a <see cref="CorfuStore"/>.</summary>
public sealed record StoreOptions
{
    private static readonly OptionRules<StoreOptions> s_rules = new OptionRules<StoreOptions>(new StoreOptions())
        .Between(o => o.InlineBytes, 0, 64 << 10)
        .AtLeast(o => o.ValueCacheBytes, 0L)
        .AtLeast(o => o.KeepRevisions, 1L)
        .AtLeast(o => o.QuotaBytes, 1L);

    /// <summary>Values up to so many bytes stand in the record that puts them, which every process with the store
    /// receives; larger ones in entries that no process plays. Default 1 KiB.</summary>
    public int InlineBytes { get; init; } = 1 << 10;

    /// <summary>Bytes of values that this process keeps. Default 64 MiB.</summary>
    public long ValueCacheBytes { get; init; } = 64L << 20;

    /// <summary>The store compacts itself, and keeps so many revisions; null: until
    /// <see cref="CorfuStore.CompactAsync"/>. It counts when the store is created, and is then its own. Default:
    /// null.</summary>
    public long? KeepRevisions { get; init; }

    /// <summary>Bytes of keys and values that the store takes, all revisions counted; null: any number. It counts when
    /// the store is created, and is then its own. Default: null.</summary>
    public long? QuotaBytes { get; init; }

    public TimeProvider Time { get; init; } = TimeProvider.System;

    [EditorBrowsable(EditorBrowsableState.Never)]
    public LoopContext Loops { get; init; } = LoopContext.Pool;

    /// <summary>A sentence for each option that is out of range.</summary>
    public IReadOnlyList<string> Faults() => s_rules.FaultsOf(this);
}
