using System.Runtime.InteropServices;

namespace Corfu.Protocol;

/// <summary>Declarations of a token request, and the rulings of its answer.</summary>
/// <remarks>
/// declarations: count i32; each: records u8, then each record:
///   writes u16, each: index of the stream in the request u16, scope; since u8 (0 or 1), and only with 1:
///   epoch i64, position i64, reads u16, each: stream u64, scope
/// scope: kind u8, cell u64 if keyed
/// rulings: decided u8 (1: they follow), count i32; each: granted u8, refused u8, each refused:
///   record u8, reason u8, stream u64, scope, position i64
/// </remarks>
internal static class DeclarationCodec
{
    private const byte Decided = 1;

    // A write without a cell, and a record that has one such write.
    private const int SmallestWrite = 3;
    private const int SmallestRead = 9;
    private const int SmallestRecord = 2 + SmallestWrite + 1;
    private const int SmallestRefusal = 19;

    /// <exception cref="ArgumentException">More than the limits allow, or a write of a stream that is not
    /// named.</exception>
    public static void Write(
        ref WireWriter w, ImmutableArray<Declaration> declarations, ImmutableArray<StreamId> streams)
    {
        if (declarations.Sum(static d => d.Size) > Declaration.MaxBytes
            || declarations.Sum(static d => d.Scopes) > Declaration.MaxScopes)
            throw new ArgumentException("A token request declares too much.", nameof(declarations));
        w.Int32(declarations.Length);
        foreach (var declaration in declarations)
        {
            if (declaration.Records.Length > Declaration.MaxRecords)
                throw new ArgumentException("An entry declares too many records.", nameof(declarations));
            w.Byte((byte)declaration.Records.Length);
            foreach (var record in declaration.Records) Write(ref w, record, streams);
        }
    }

    private static void Write(ref WireWriter w, DeclaredRecord record, ImmutableArray<StreamId> streams)
    {
        w.UInt16((ushort)record.Writes.Length);
        foreach (var write in record.Writes)
        {
            var index = streams.IndexOf(write.Stream);
            if (index < 0) throw new ArgumentException($"{write.Stream} is none of the entry's.", nameof(record));
            w.UInt16((ushort)index);
            WriteScope(ref w, write);
        }

        w.Bool(record.Since is not null);
        if (record.Since is not { } since) return;
        w.Epoch(since.Epoch);
        w.Position(since);
        w.UInt16((ushort)record.Reads.Length);
        foreach (var read in record.Reads)
        {
            w.Stream(read.Stream);
            WriteScope(ref w, read);
        }
    }

    private static void WriteScope(ref WireWriter w, in CellScope scope)
    {
        w.Byte((byte)scope.Kind);
        if (scope.Kind == ScopeKind.Keyed) w.UInt64(scope.Cell);
    }

    /// <exception cref="MalformedDataException">A limit is exceeded, or the count is not the tokens'.</exception>
    public static ImmutableArray<Declaration> Read(ref WireReader r, int tokens, ImmutableArray<StreamId> streams)
    {
        var before = r.Remaining;
        var count = r.Count(1);
        if (count != 0 && count != tokens) throw new MalformedDataException("Declarations are as many as tokens.");
        var left = Declaration.MaxScopes;
        var declarations = new Declaration[count];
        for (var i = 0; i < count; i++)
        {
            var records = r.Byte();
            if (records > Declaration.MaxRecords || records * SmallestRecord > r.Remaining)
                throw new MalformedDataException("An entry declares too many records.");
            declarations[i] = records == 0 ? Declaration.None : ReadRecords(ref r, records, streams, ref left);
            if (before - r.Remaining > Declaration.MaxBytes + 4)
                throw new MalformedDataException("Declarations are too long.");
        }

        return ImmutableCollectionsMarshal.AsImmutableArray(declarations);
    }

    private static Declaration ReadRecords(
        ref WireReader r, int count, ImmutableArray<StreamId> streams, ref int left)
    {
        var records = new DeclaredRecord[count];
        for (var i = 0; i < count; i++) records[i] = ReadRecord(ref r, streams, ref left);
        return new Declaration(ImmutableCollectionsMarshal.AsImmutableArray(records));
    }

    private static DeclaredRecord ReadRecord(ref WireReader r, ImmutableArray<StreamId> streams, ref int left)
    {
        var writes = new CellScope[ScopeCount(ref r, SmallestWrite, ref left)];
        if (writes.Length == 0) throw new MalformedDataException("A record declares no write.");
        for (var i = 0; i < writes.Length; i++)
        {
            var index = r.UInt16();
            if (index >= streams.Length) throw new MalformedDataException("A write names no stream of its entry.");
            writes[i] = ReadScope(ref r, streams[index], ScopeKind.None);
        }

        var declared = ImmutableCollectionsMarshal.AsImmutableArray(writes);
        if (!r.Bool()) return new DeclaredRecord(declared, null, []);
        var epoch = r.Epoch();
        var since = r.Position(epoch);
        var reads = new CellScope[ScopeCount(ref r, SmallestRead, ref left)];
        for (var i = 0; i < reads.Length; i++) reads[i] = ReadScope(ref r, r.Stream(), ScopeKind.Whole);
        return new DeclaredRecord(declared, since, ImmutableCollectionsMarshal.AsImmutableArray(reads));
    }

    private static int ScopeCount(ref WireReader r, int smallest, ref int left)
    {
        var count = r.UInt16();
        if (count > left || count * smallest > r.Remaining)
            throw new MalformedDataException("A token request declares too much.");
        left -= count;
        return count;
    }

    private static CellScope ReadScope(ref WireReader r, StreamId stream, ScopeKind lowest)
    {
        var kind = (ScopeKind)r.Byte();
        if (kind < lowest || kind > ScopeKind.Keyed) throw new MalformedDataException("A scope is of no kind.");
        return new CellScope(stream, kind, kind == ScopeKind.Keyed ? r.UInt64() : 0);
    }

    public static void Write(ref WireWriter w, ImmutableArray<Ruling> rulings)
    {
        w.Byte(Decided);
        w.Array(rulings, static (ref w, ruling) =>
        {
            w.Bool(ruling.IsGranted);
            w.Byte((byte)ruling.Refused.Length);
            foreach (var refusal in ruling.Refused)
            {
                w.Byte((byte)refusal.Record);
                w.Byte((byte)refusal.Reason);
                w.Stream(refusal.Read.Stream);
                WriteScope(ref w, refusal.Read);
                w.Position(refusal.Position);
            }
        });
    }

    /// <summary>Empty where the sequencer has decided nothing.</summary>
    /// <exception cref="MalformedDataException">The rulings are not those of the declarations.</exception>
    public static ImmutableArray<Ruling> ReadRulings(ref WireReader r, Epoch epoch, int declarations)
    {
        if (r.Byte() != Decided) return [];
        if (r.Count(2) != declarations) throw new MalformedDataException("Rulings are as many as declarations.");
        var rulings = new Ruling[declarations];
        for (var i = 0; i < rulings.Length; i++)
        {
            var isGranted = r.Bool();
            var refusals = new Refusal[r.Byte()];
            if (refusals.Length * SmallestRefusal > r.Remaining)
                throw new MalformedDataException("A ruling refuses more than the bytes that follow.");
            for (var j = 0; j < refusals.Length; j++) refusals[j] = ReadRefusal(ref r, epoch);
            rulings[i] = isGranted && refusals.Length == 0
                ? Ruling.Granted
                : new Ruling(isGranted, ImmutableCollectionsMarshal.AsImmutableArray(refusals));
        }

        return ImmutableCollectionsMarshal.AsImmutableArray(rulings);
    }

    private static Refusal ReadRefusal(ref WireReader r, Epoch epoch)
    {
        var record = r.Byte();
        var reason = (RefusalReason)r.Byte();
        if (reason is not (RefusalReason.Written or RefusalReason.TooOld))
            throw new MalformedDataException("A refusal has no reason.");
        return new Refusal(record, reason, ReadScope(ref r, r.Stream(), ScopeKind.None), r.Position(epoch));
    }
}
