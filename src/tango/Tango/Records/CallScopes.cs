using System.Collections.Immutable;
using Corfu;

namespace Tango.Records;

/// <summary>Tells the log what calls write and what transactions read, as scopes of streams (R24). An object is its
/// stream, a key a cell of it.</summary>
/// <param name="cellBits">Bits of a cell; fewer than 64 only in tests, where keys are to share cells. The same at all
/// runtimes of a log.</param>
internal sealed class CallScopes(ulong runtime, int cellBits)
{
    // A call with more keys concerns the whole object, so that no call fills a request.
    private const int MaxKeys = 256;

    private readonly ulong _mask = cellBits < 64 ? (1UL << cellBits) - 1 : ulong.MaxValue;
    private readonly ulong _salt = Planted.Is("cells-by-process") ? runtime : 0;

    /// <summary>A record without effect, in these streams.</summary>
    public static ImmutableArray<CellScope> None(ImmutableArray<StreamId> streams) =>
        [.. streams.Select(static stream => new CellScope(stream, ScopeKind.None))];

    /// <summary>A record of the directory that ends units. Each of the streams is a member's, or the
    /// directory's.</summary>
    public static ImmutableArray<CellScope> Units(ImmutableArray<StreamId> streams) =>
        [.. streams.Select(static stream => new CellScope(stream, ScopeKind.Unit))];

    /// <summary>A record of the directory that adds a member, which is written as a whole (R18).</summary>
    public static ImmutableArray<CellScope> Addition(ObjectId cohort, ObjectId member) =>
    [
        new CellScope(ObjectId.Directory.Stream, ScopeKind.Whole), new CellScope(cohort.Stream, ScopeKind.None),
        new CellScope(member.Stream, ScopeKind.Unit),
    ];

    /// <summary>An update. Also where Apply refuses it, it is a version.</summary>
    /// <param name="key">As it stands in the record.</param>
    public ImmutableArray<CellScope> Update(ObjectId id, ObjectKey key)
    {
        if (!key.IsList || key.Parts.Length > MaxKeys) return [Keyed(id, key.IsList ? ObjectKey.None : key)];
        var scopes = ImmutableArray.CreateBuilder<CellScope>(key.Parts.Length);
        foreach (var part in key.Parts) scopes.Add(Keyed(id, part));
        return scopes.MoveToImmutable();
    }

    /// <summary>A commit record, as if it commits.</summary>
    /// <param name="writes">Writes that stand in the record itself.</param>
    /// <param name="streams">All of the record. Those that are not written are only read.</param>
    public ImmutableArray<CellScope> Commit(
        IEnumerable<TxWrite> writes, SpillList spills, ImmutableArray<StreamId> streams)
    {
        var scopes = new ScopeSet();
        foreach (var write in writes)
        {
            foreach (var scope in Update(write.Object.Id, write.Key)) scopes.Add(scope);
        }

        // R19: the keys stand in the spills.
        foreach (var spilled in spills.References.SelectMany(static spill => spill.Objects))
            scopes.Add(new CellScope(spilled.Stream, ScopeKind.Whole));
        foreach (var stream in streams)
        {
            if (!scopes.Has(stream)) scopes.Add(new CellScope(stream, ScopeKind.None));
        }

        return scopes.ToImmutable();
    }

    /// <summary>Reads of a transaction.</summary>
    /// <param name="reads">Each with the first member of its cohort.</param>
    public ImmutableArray<CellScope> Reads(IEnumerable<(TxRead Read, ObjectId First)> reads)
    {
        var scopes = new ScopeSet();
        foreach (var (read, first) in reads)
        {
            foreach (var key in read.Keys ?? [ObjectKey.None]) scopes.Add(Keyed(read.Object, key));

            // R32: the entry that deletes a cohort need not stand in the streams of its newest members.
            if (first != read.Object && !Planted.Is("deletion-tells-its-streams"))
                scopes.Add(new CellScope(first.Stream, ScopeKind.Unit));
        }

        return scopes.ToImmutable();
    }

    private CellScope Keyed(ObjectId id, ObjectKey key) => key.IsNone
        ? new CellScope(id.Stream, ScopeKind.Whole)
        : new CellScope(id.Stream, ScopeKind.Keyed, (KeyCells.Of(id, key.Bytes) ^ _salt) & _mask);

    /// <summary>In the order in which they came, each once.</summary>
    private sealed class ScopeSet
    {
        private readonly ImmutableArray<CellScope>.Builder _scopes = ImmutableArray.CreateBuilder<CellScope>();
        private readonly HashSet<CellScope> _known = [];
        private readonly HashSet<StreamId> _streams = [];

        public void Add(CellScope scope)
        {
            if (!_known.Add(scope)) return;
            _streams.Add(scope.Stream);
            _scopes.Add(scope);
        }

        public bool Has(StreamId stream) => _streams.Contains(stream);

        public ImmutableArray<CellScope> ToImmutable() => _scopes.DrainToImmutable();
    }
}
