using System.Collections.Immutable;
using Corfu.Protocol;

namespace Corfu.Sequencer.Tests;

/// <summary>All grants of an epoch, without bounds, and the rulings that follow from them.</summary>
internal sealed class ExactRulings(Epoch epoch, long start)
{
    private readonly List<(long Position, CellScope Scope)> _writes = [];

    public long Start { get; } = start;

    public long Next { get; private set; } = start;

    public int Cells => _writes.Where(w => w.Scope.Kind == ScopeKind.Keyed)
        .Select(w => (w.Scope.Stream, w.Scope.Cell)).Distinct().Count();

    /// <summary>A grant that declares nothing.</summary>
    public void Grant(ImmutableArray<StreamId> streams)
    {
        foreach (var stream in streams) _writes.Add((Next, new CellScope(stream, ScopeKind.Unit)));
        Next++;
    }

    /// <summary>The records that pass; none where there is no position.</summary>
    public ImmutableArray<int> Decide(ImmutableArray<StreamId> streams, Declaration declaration)
    {
        var (before, passed) = (_writes.Count, ImmutableArray.CreateBuilder<int>());
        var unnamed = streams.Where(s => !declaration.Records.Any(r => r.Writes.Any(w => w.Stream == s))).ToList();
        for (var i = 0; i < declaration.Records.Length; i++)
        {
            var record = declaration.Records[i];
            if (!Passes(record, unnamed)) continue;
            passed.Add(i);
            foreach (var write in record.Writes) _writes.Add((Next, write));
        }

        if (passed.Count == 0 && declaration.Records.Length > 0)
        {
            Assert.Equal(before, _writes.Count);
            return [];
        }

        foreach (var stream in unnamed) _writes.Add((Next, new CellScope(stream, ScopeKind.Unit)));
        Next++;
        return passed.ToImmutable();
    }

    private bool Passes(DeclaredRecord record, List<StreamId> unnamed)
    {
        if (record.Since is not { } since) return true;
        if (since.Epoch != epoch || since.Offset < Start || since.Offset > Next) return false;
        return record.Reads.All(read => !unnamed.Contains(read.Stream) && WriteFrom(since.Offset, read) is null);
    }

    /// <summary>The position of a grant from there on that writes what is read.</summary>
    public long? WriteFrom(long since, CellScope read)
    {
        foreach (var (position, write) in _writes)
        {
            if (position >= since && Meets(write, read)) return position;
        }

        return null;
    }

    private static bool Meets(CellScope write, CellScope read) => write.Stream == read.Stream && write.Kind switch
    {
        ScopeKind.None => false,
        ScopeKind.Unit => true,
        ScopeKind.Whole => read.Kind != ScopeKind.Unit,
        _ => read.Kind == ScopeKind.Whole || (read.Kind == ScopeKind.Keyed && read.Cell == write.Cell),
    };
}
