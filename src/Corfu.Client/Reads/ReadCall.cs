using System.Collections.Immutable;
using Corfu.Protocol;

namespace Corfu.Client;

/// <summary>One call of a reader and how far it has come.</summary>
internal sealed class ReadCall(
    ImmutableArray<LogPosition> positions, ReadDetail detail, ReadMode mode, CancellationToken cancellationToken)
{
    public ImmutableArray<LogPosition> Positions { get; } = positions;

    public ReadDetail Detail { get; } = detail;

    public ReadMode Mode { get; } = mode;

    public CancellationToken CancellationToken { get; } = cancellationToken;

    public LogReadResult[] Results { get; } = new LogReadResult[positions.Length];

    public Item[] Items { get; } = new Item[positions.Length];

    /// <summary>Indexes without a final result.</summary>
    public List<int> Open { get; set; } = [];

    /// <summary>A replica was slow once: from then on answers are waited for.</summary>
    public bool Patient { get; set; }

    public struct Item
    {
        /// <summary>Known to be committed (R11): any full replica will do; else the chain's tail is asked.</summary>
        public bool Known;
        public bool Damaged;

        /// <summary>The replica asked in this pass.</summary>
        public int Place;

        /// <summary>Replicas, by place, that cannot give the page, or did not answer in time.</summary>
        public ulong Tried;
        public ulong Slow;
        public PageResult? Page;
    }

    /// <summary>A new epoch, or another attempt: what single replicas did before does not count.</summary>
    public void Reset()
    {
        foreach (var index in Open) Items[index] = new Item { Known = Items[index].Known };
    }
}
