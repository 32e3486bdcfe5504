using System.Runtime.InteropServices;

namespace Corfu.Sequencer;

/// <summary>Rules on the declarations of token requests. What is granted counts as written; what is refused changes
/// nothing. Shares the slots of streams with the core.</summary>
/// <remarks>
/// A record with the tail C passes if nothing that it reads is written by a grant at or above C. Each declaration tells
/// all that its entry may write, and a grant without one writes everything (R24). So no entry between C and the granted
/// position writes what the record reads: all of them were granted here, before it.
/// </remarks>
internal sealed class Decider(Dictionary<ulong, StreamSlot> streams, CellTable cells)
{
    // Streams of the request that is ruled on, and of them those that the token's declaration names.
    private readonly HashSet<ulong> _entry = [];
    private readonly HashSet<ulong> _named = [];

    // The state of one epoch (R27): a tail of another one says nothing about the positions of this one.
    private Epoch _epoch;
    private long _start;

    /// <summary>A new epoch: nothing is written at or above its start, and what was written below is not
    /// known.</summary>
    public void Begin(Epoch epoch, long start)
    {
        cells.Clear(start);
        if (Planted.Is("mark-not-raised") && _epoch != Epoch.None) return;
        _epoch = epoch;
        _start = start;
    }

    /// <summary>Each token has one declaration, each write is of a stream of the request, and the work is
    /// bounded.</summary>
    public bool IsValid(TokenRequest request)
    {
        if (request.Declarations.Length != request.Count) return false;
        if ((long)request.Count * request.Streams.Length > Declaration.MaxEntered) return false;
        _entry.Clear();
        foreach (var stream in request.Streams) _entry.Add(stream.Value);
        foreach (var declaration in request.Declarations)
        {
            if (declaration.Records.Length > Declaration.MaxRecords) return false;
            foreach (var record in declaration.Records)
            {
                foreach (var write in record.Writes)
                {
                    if (!_entry.Contains(write.Stream.Value)) return false;
                }
            }
        }

        return true;
    }

    /// <summary>Rules on the tokens of a run, one after the other, of which the first gets <paramref name="next"/>; one
    /// that is refused gets no position.</summary>
    public ImmutableArray<Ruling> Decide(TokenRequest request, long next, out int granted)
    {
        var rulings = new Ruling[request.Count];
        granted = 0;
        for (var i = 0; i < rulings.Length; i++)
        {
            rulings[i] = Decide(request.Streams, request.Declarations[i], next + granted);
            if (rulings[i].IsGranted) granted++;
        }

        return ImmutableCollectionsMarshal.AsImmutableArray(rulings);
    }

    private Ruling Decide(ImmutableArray<StreamId> entry, Declaration declaration, long position)
    {
        NameStreams(declaration);
        ImmutableArray<Refusal>.Builder? refused = null;
        for (var i = 0; i < declaration.Records.Length; i++)
        {
            // R25: in order. A later record of the entry meets the writes of this one.
            var record = declaration.Records[i];
            if (Find(record, position) is not { } refusal)
            {
                if (!Planted.Is("records-see-the-same-tables")) Enter(record, position);
                continue;
            }

            (refused ??= ImmutableArray.CreateBuilder<Refusal>()).Add(refusal with { Record = i });
        }

        if (Planted.Is("records-see-the-same-tables"))
        {
            for (var i = 0; i < declaration.Records.Length; i++)
            {
                if (refused?.Any(r => r.Record == i) != true) Enter(declaration.Records[i], position);
            }
        }

        if (refused?.Count == declaration.Records.Length) return new Ruling(false, refused.DrainToImmutable());
        EnterUnnamed(entry, position);
        return refused is null ? Ruling.Granted : new Ruling(true, refused.DrainToImmutable());
    }

    /// <summary>A grant that declares nothing, of positions below <paramref name="end"/>.</summary>
    public static void EnterAll(ref StreamSlot slot, long end)
    {
        if (!Planted.Is("undeclared-is-unwritten")) slot.Enter(ScopeKind.Unit, end);
    }

    private void NameStreams(Declaration declaration)
    {
        _named.Clear();
        foreach (var record in declaration.Records)
        {
            foreach (var write in record.Writes) _named.Add(write.Stream.Value);
        }
    }

    private Refusal? Find(DeclaredRecord record, long position)
    {
        if (record.Since is not { } since) return null;

        // A tail says nothing about positions of another epoch (R27).
        if (since.Epoch != _epoch && !Planted.Is("tail-of-another-epoch"))
            return TooOld(default, _start);
        if (since.Offset < _start || since.Offset > position) return TooOld(default, _start);
        foreach (var read in record.Reads)
        {
            if (Find(read, since.Offset) is { } refusal) return refusal;

            // R24: the entry writes it, and no record of it says what.
            if (_entry.Contains(read.Stream.Value) && !_named.Contains(read.Stream.Value))
                return Written(read, position);
        }

        return null;
    }

    private Refusal? Find(in CellScope read, long since)
    {
        // A stream without a slot has no grant in this epoch.
        if (!streams.TryGetValue(read.Stream.Value, out var slot)) return null;
        switch (read.Kind)
        {
            case ScopeKind.Unit:
                return slot.UnitEnd > since ? Written(read, slot.UnitEnd - 1) : null;
            case ScopeKind.Keyed:
                if (slot.WrittenEnd <= since) return null;
                if (slot.WholeEnd > since) return Written(read, slot.WholeEnd - 1);
                if (cells.EndOf(read.Stream.Value, read.Cell) is var end && end > since) return Written(read, end - 1);
                return cells.Mark > since ? TooOld(read, cells.Mark) : null;
            default:
                return slot.WrittenEnd > since ? Written(read, slot.WrittenEnd - 1) : null;
        }
    }

    private void Enter(DeclaredRecord record, long position)
    {
        foreach (var write in record.Writes)
        {
            SlotOf(write.Stream).Enter(write.Kind, position + 1);
            if (write.Kind == ScopeKind.Keyed) cells.Write(write.Stream.Value, write.Cell, position);
        }
    }

    private void EnterUnnamed(ImmutableArray<StreamId> entry, long position)
    {
        if (_named.Count == entry.Length) return;
        foreach (var stream in entry)
        {
            if (!_named.Contains(stream.Value)) EnterAll(ref SlotOf(stream), position + 1);
        }
    }

    private Refusal Written(in CellScope read, long position) =>
        new(0, RefusalReason.Written, read, new LogPosition(position, _epoch));

    private Refusal TooOld(in CellScope read, long lowest) =>
        new(0, RefusalReason.TooOld, read, new LogPosition(lowest, _epoch));

    private ref StreamSlot SlotOf(StreamId stream) =>
        ref CollectionsMarshal.GetValueRefOrAddDefault(streams, stream.Value, out _);
}
