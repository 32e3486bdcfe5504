using System.Buffers.Binary;
using Corfu.Protocol;
using Corfu.Simulation.Kernel;
using Corfu.Simulation.Kernel.Disk;
using Craq;
using Craq.Storage;
using RecordCodec = Craq.Protocol.RecordCodec;

namespace Corfu.Simulation.Craq;

/// <summary>The plainest store of a node: one file of records that only grows, and an index in memory.</summary>
/// <remarks>Stands for the shipped <see cref="NodeStore"/>: seeds judge the chains over a disk that tears and loses
/// writes. The shipped store's cleaning, checkpoints and limits of space are in no seed; <c>NodeStoreConformance</c>
/// and recorded power cuts judge them.</remarks>
internal sealed class PlainNodeStore(SimDisk disk, SimProcess process) : INodeStore
{
    // Length, check, kind, chain, version.
    private const int Header = 4 + 4 + 1 + 16 + 8;

    private readonly SimFile _file = disk.Open("craq.log");
    private readonly Dictionary<ChainId, SortedDictionary<ObjectHash, (ObjectKey Key, ObjectSlot Slot)>> _index = [];
    private bool _isCommitting;
    private bool _isAsked;
    private bool _hasFailed;

    public INodeStoreObserver? Observer { get; set; }

    public long DurableUntil { get; private set; }

    public async ValueTask RecoverAsync(Action<StoreRecord> visit)
    {
        var bytes = new byte[_file.Length];
        await disk.ReadAsync(process, _file, 0, bytes);
        var at = 0;
        while (TryRead(bytes.AsMemory(at), out var record, out var length))
        {
            visit(record with { Place = new StorePlace(at + Header, record.Body.Length, at + length) });
            at += length;
        }

        // A torn end was never acknowledged. What a dead process left in the cache is made durable now.
        disk.Truncate(_file, at);
        await disk.FlushAsync(process, _file);
        DurableUntil = at;
    }

    public ValueTask AttachAsync(INodeChains? chains) => ValueTask.CompletedTask;

    public Status Admit(int bytes, StoreUse use) => _hasFailed ? Status.Failed : Status.Ok;

    public StorePlace Append(StoreRecordKind kind, ChainId chain, ObjectVersion version, ReadOnlySpan<byte> body)
    {
        var frame = new byte[Header + body.Length];
        var at = _file.Length;
        BinaryPrimitives.WriteInt32LittleEndian(frame, frame.Length);
        frame[8] = (byte)kind;
        chain.Value.TryWriteBytes(frame.AsSpan(9));
        BinaryPrimitives.WriteInt64LittleEndian(frame.AsSpan(25), version.Value);
        body.CopyTo(frame.AsSpan(Header));
        BinaryPrimitives.WriteUInt32LittleEndian(frame.AsSpan(4), RecordCodec.Check(frame.AsSpan(8)));
        disk.Write(_file, at, frame);
        return new StorePlace(at + Header, body.Length, at + frame.Length);
    }

    public void Commit()
    {
        _isAsked = true;
        if (_isCommitting || _hasFailed) return;
        _isCommitting = true;
        process.Context.Post(async void (_) => await CommitAsync(), null);
    }

    public bool TryFind(ChainId chain, ObjectKey key, out ObjectSlot? slot)
    {
        slot = _index.TryGetValue(chain, out var objects)
            && objects.TryGetValue(ObjectHash.Of(chain, key), out var found)
                ? found.Slot
                : null;
        return true;
    }

    public ValueTask LoadAsync(ChainId chain, ObjectKey key) => ValueTask.CompletedTask;

    public void Set(ChainId chain, ObjectKey key, in ObjectSlot slot)
    {
        if (!_index.TryGetValue(chain, out var objects)) _index.Add(chain, objects = []);
        var hash = ObjectHash.Of(chain, key);
        if (objects.TryGetValue(hash, out var known) && known.Slot.Version > slot.Version) return;
        objects[hash] = (key.ToOwned(), slot);
    }

    public void Remove(ChainId chain, ObjectKey key, ObjectVersion version, long address)
    {
        var hash = ObjectHash.Of(chain, key);
        if (_index.TryGetValue(chain, out var objects) && objects.TryGetValue(hash, out var known)
            && known.Slot.Version <= version) objects.Remove(hash);
    }

    public void Clear(ChainId chain, ObjectVersion below)
    {
        if (!_index.TryGetValue(chain, out var objects)) return;
        foreach (var (hash, entry) in objects.ToArray())
        {
            if (entry.Slot.Version < below) objects.Remove(hash);
        }
    }

    public void Forget(ChainId chain) => _index.Remove(chain);

    public async ValueTask<ReadOnlyMemory<byte>?> ReadAsync(ObjectSlot slot, ObjectKey key)
    {
        var write = (await RecordAsync(slot)).Writes[slot.Write];
        if (write.Key != key) throw new CorfuException($"The record of {slot.Version} is another key's.");
        return write.Value;
    }

    public async IAsyncEnumerable<(ObjectHash Hash, ObjectSlot Slot)> ListAsync(ChainId chain, ObjectHash from)
    {
        await Task.Yield();
        if (!_index.TryGetValue(chain, out var objects)) yield break;
        foreach (var (hash, entry) in objects.ToArray())
        {
            if (hash.CompareTo(from) >= 0) yield return (hash, entry.Slot);
        }
    }

    public async ValueTask<ObjectKey?> ReadKeyAsync(ObjectSlot slot) =>
        (await RecordAsync(slot)).Writes[slot.Write].Key;

    public ValueTask DisposeAsync() => ValueTask.CompletedTask;

    private async ValueTask<global::Craq.Protocol.ChainRecord> RecordAsync(ObjectSlot slot)
    {
        var bytes = new byte[slot.RecordLength];
        await disk.ReadAsync(process, _file, slot.Address, bytes);
        return RecordCodec.Decode(bytes);
    }

    private async Task CommitAsync()
    {
        try
        {
            while (_isAsked)
            {
                _isAsked = false;
                var end = _file.Length;
                await disk.FlushAsync(process, _file);
                DurableUntil = end;
                Observer?.OnDurable(end);
            }
        }
        catch (IOException e)
        {
            _hasFailed = true;
            Observer?.OnFailed(e);
        }

        _isCommitting = false;
    }

    private static bool TryRead(ReadOnlyMemory<byte> bytes, out StoreRecord record, out int length)
    {
        record = default;
        length = 0;
        if (bytes.Length < Header) return false;
        var span = bytes.Span;
        length = BinaryPrimitives.ReadInt32LittleEndian(span);
        if (length < Header || length > bytes.Length) return false;
        if (BinaryPrimitives.ReadUInt32LittleEndian(span[4..]) != RecordCodec.Check(span[8..length])) return false;
        record = new StoreRecord((StoreRecordKind)span[8], new ChainId(new Guid(span.Slice(9, 16))),
            new ObjectVersion(BinaryPrimitives.ReadInt64LittleEndian(span[25..])), bytes[Header..length], default);
        return true;
    }
}
