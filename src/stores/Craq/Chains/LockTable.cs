using System.Buffers;

namespace Craq.Chains;

/// <summary>A part of a transaction that holds its keys.</summary>
/// <param name="record">The part's Lock.</param>
/// <param name="bytes">The record, encoded.</param>
internal sealed class HeldLock(ChainRecord record, byte[] bytes, ImmutableArray<PartId> parts, MutateResult result)
{
    public ChainRecord Record => record;

    public byte[] Bytes => bytes;

    /// <summary>All parts of the transaction.</summary>
    public ImmutableArray<PartId> Parts => parts;

    /// <summary>The values that the part read and computed.</summary>
    public MutateResult Result => result;

    public Guid Transaction => record.Transaction;

    /// <summary>The record that ended the part, not known to be committed; none: the part holds its keys.</summary>
    public ObjectVersion SettledAt { get; set; }

    /// <summary>When its head asks for the outcome itself: a stamp, for liveness alone.</summary>
    public long ResolveAt { get; set; }

    /// <summary>The result of a Lock record.</summary>
    public static byte[] Encode(ImmutableArray<PartId> parts, MutateResult result)
    {
        var output = new ArrayBufferWriter<byte>();
        var w = new WireWriter(output);
        w.Array(parts, PartId.Write);
        result.Write(ref w);
        w.Flush();
        return output.WrittenSpan.ToArray();
    }

    /// <exception cref="MalformedDataException">The record is no Lock of a transaction.</exception>
    public static HeldLock Of(ChainRecord record, byte[] bytes)
    {
        if (record.Origins is not [var origin] || record.Transaction == Guid.Empty)
            throw new MalformedDataException("A Lock is of no transaction.");
        var r = new WireReader(origin.Result);
        return new HeldLock(record, bytes, r.Array(PartId.Size, PartId.Read, TransactRequest.MaxParts),
            MutateResult.Read(ref r));
    }
}

/// <summary>The keys of a chain that parts of transactions hold. A function of the chain's records: every member has
/// one, and a new head goes on with its own.</summary>
/// <remarks>Invariants: a key has one owner at most. A part that has ended stays until the record that ended it is
/// committed, since that record may yet be cut off (C10).</remarks>
internal sealed class LockTable
{
    private readonly Dictionary<Guid, HeldLock> _locks = [];

    // The keys of the parts that have not ended.
    private readonly Dictionary<ObjectKey, Guid> _owners = [];

    // Parts that have ended, in the order of the records that ended them.
    private readonly List<HeldLock> _settled = [];

    /// <summary>No part holds a key.</summary>
    public bool IsEmpty => _locks.Count == _settled.Count;

    /// <summary>Bytes of the records.</summary>
    public long Bytes { get; private set; }

    /// <summary>The parts that hold keys.</summary>
    public IEnumerable<HeldLock> Held => _locks.Values.Where(held => held.SettledAt.IsNone);

    public bool Holds(ObjectKey key) => _owners.ContainsKey(key);

    /// <summary>The transaction's part, if it holds its keys.</summary>
    public HeldLock? Find(Guid transaction) =>
        _locks.GetValueOrDefault(transaction) is { SettledAt.IsNone: true } held ? held : null;

    public void Add(HeldLock held)
    {
        if (!_locks.TryAdd(held.Transaction, held)) return;
        Bytes += held.Bytes.Length;
        Own(held);
    }

    /// <summary>The part has ended, by the record of that version.</summary>
    public void Settle(Guid transaction, ObjectVersion at)
    {
        if (Find(transaction) is not { } held) return;
        held.SettledAt = at;
        _settled.Add(held);
        foreach (var key in held.Record.Locked) _owners.Remove(key);
    }

    /// <summary>Everything up to there is committed.</summary>
    public void Commit(ObjectVersion mark)
    {
        var count = 0;
        while (count < _settled.Count && _settled[count].SettledAt <= mark) Remove(_settled[count++]);
        _settled.RemoveRange(0, count);
    }

    /// <summary>The records above never count again (C10).</summary>
    public void Cut(ObjectVersion above)
    {
        foreach (var held in _locks.Values.Where(held => held.Record.Version > above).ToList())
        {
            Remove(held);
            _settled.Remove(held);
            if (held.SettledAt.IsNone) Disown(held);
        }

        foreach (var held in _settled.Where(held => held.SettledAt > above).ToList())
        {
            held.SettledAt = ObjectVersion.None;
            _settled.Remove(held);
            Own(held);
        }
    }

    /// <summary>The contents so far are dropped: they are told otherwise.</summary>
    public void Restart()
    {
        _locks.Clear();
        _owners.Clear();
        _settled.Clear();
        Bytes = 0;
    }

    /// <summary>The parts that held their keys as of that version, at or above the mark, in order.</summary>
    public IEnumerable<HeldLock> AsOf(ObjectVersion version) => _locks.Values
        .Where(held => held.Record.Version <= version && (held.SettledAt.IsNone || held.SettledAt > version))
        .OrderBy(held => held.Record.Version);

    private void Own(HeldLock held)
    {
        foreach (var key in held.Record.Locked) _owners[key] = held.Transaction;
    }

    private void Disown(HeldLock held)
    {
        foreach (var key in held.Record.Locked) _owners.Remove(key);
    }

    private void Remove(HeldLock held)
    {
        _locks.Remove(held.Transaction);
        Bytes -= held.Bytes.Length;
    }
}
