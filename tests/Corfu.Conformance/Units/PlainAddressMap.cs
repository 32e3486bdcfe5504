using System.Buffers;
using System.Buffers.Binary;
using System.Globalization;
using System.Runtime.InteropServices;
using Corfu.Protocol;
using Corfu.Storage;

namespace Corfu.Conformance;

/// <summary>Files by name, as the simulator's address maps need them.</summary>
internal interface IMapFiles
{
    IReadOnlyList<string> List();

    byte[] Read(string name);

    /// <summary>Replaces the file; durable when it completes, and torn by a crash before.</summary>
    ValueTask WriteAsync(string name, ReadOnlyMemory<byte> bytes);

    /// <summary>At once and durable, as are deletions.</summary>
    void Rename(string from, string to);

    void Delete(string name);

    /// <summary>Slots that were entered in a map below this address are gone, also from its checkpoints. Durable at
    /// once.</summary>
    long Floor { get; set; }
}

internal static class MapFileNames
{
    public const string Prefix = "map.";

    public static string Of(Guid token) => Prefix + token.ToString("N");
}

/// <summary>The simulator's address maps: in memory, with checkpoints in files of the simulated disk.</summary>
internal sealed class PlainAddressMaps<TKey, TSlot>(IMapFiles files) : IAddressMaps<TKey, TSlot>
    where TKey : unmanaged
    where TSlot : unmanaged
{
    private const string DocumentPrefix = "checkpoint.";
    private const string FreshName = "new.checkpoint";

    public IAddressMap<TKey, TSlot> Open(Guid? checkpoint, Action<Exception> failed)
    {
        if (checkpoint is { } token)
            return new PlainAddressMap<TKey, TSlot>(files, MapFileNames.Of(token), Load(token));
        foreach (var name in files.List()) files.Delete(name);
        files.Floor = 0;
        return new PlainAddressMap<TKey, TSlot>(files, null, null);
    }

    public IReadOnlyList<long> List() =>
        [.. files.List().Where(n => n.StartsWith(DocumentPrefix, StringComparison.Ordinal))
            .Select(n => long.Parse(n.AsSpan(DocumentPrefix.Length), CultureInfo.InvariantCulture))];

    public byte[] Read(long number) => files.Read(Document(number));

    public async ValueTask PublishAsync(long number, ReadOnlyMemory<byte> document)
    {
        await files.WriteAsync(FreshName, document);
        files.Rename(FreshName, Document(number));
    }

    public void Delete(IReadOnlyCollection<long> numbers)
    {
        foreach (var number in numbers) files.Delete(Document(number));
    }

    public void Purge(IReadOnlyCollection<Guid> kept)
    {
        foreach (var name in files.List()
            .Where(n => n.StartsWith(MapFileNames.Prefix, StringComparison.Ordinal)
                && kept.All(k => MapFileNames.Of(k) != n)))
            files.Delete(name);
    }

    private static string Document(long number) => DocumentPrefix + number.ToString(CultureInfo.InvariantCulture);

    private ReadOnlyMemory<byte> Load(Guid token)
    {
        if (!files.List().Contains(MapFileNames.Of(token)))
            throw new StoreFailedException("The checkpoint of the address map is missing.");
        var bytes = files.Read(MapFileNames.Of(token));
        if (bytes.Length < 4 || Crc32C.Compute(bytes.AsSpan(4)) != BinaryPrimitives.ReadUInt32LittleEndian(bytes))
            throw new StoreFailedException("The checkpoint of the address map is not whole.");
        return bytes.AsMemory(4);
    }
}

internal sealed class PlainAddressMap<TKey, TSlot> : IAddressMap<TKey, TSlot>
    where TKey : unmanaged
    where TSlot : unmanaged
{
    private const int EntrySize = 64;
    private const int FirstAddress = 64;

    private readonly IMapFiles _files;

    // Guards everything below.
    private readonly Lock _gate = new();
    private readonly Dictionary<TKey, (TSlot Slot, long Address)> _entries = [];
    private KeyValuePair<TKey, (TSlot Slot, long Address)>[] _begun = [];
    private long _tokens;

    /// <param name="name">The checkpoint from which the map goes on.</param>
    public PlainAddressMap(IMapFiles files, string? name, ReadOnlyMemory<byte>? checkpoint)
    {
        _files = files;
        if (checkpoint is not { } bytes) return;
        _tokens = long.Parse(name.AsSpan(name!.Length - 12), NumberStyles.HexNumber, CultureInfo.InvariantCulture);
        var r = new WireReader(bytes);
        Tail = r.Int64();
        for (var count = r.Int32(); count > 0; count--)
        {
            var key = MemoryMarshal.Read<TKey>(r.Bytes().Span);
            var slot = MemoryMarshal.Read<TSlot>(r.Bytes().Span);
            var address = r.Int64();
            if (address >= files.Floor) _entries[key] = (slot, address);
        }

        r.End();
    }

    public long Tail { get; private set; } = FirstAddress;

    public long Bytes => Tail - _files.Floor;

    public TSlot Find(TKey key)
    {
        lock (_gate) return _entries.GetValueOrDefault(key).Slot;
    }

    public bool TryFind(TKey key, out TSlot slot)
    {
        slot = Find(key);
        return true;
    }

    public ValueTask LoadAsync(TKey key) => ValueTask.CompletedTask;

    public void Set(TKey key, in TSlot slot)
    {
        lock (_gate)
        {
            _entries[key] = (slot, Tail);
            Tail += EntrySize;
        }
    }

    public ValueTask ScanAsync(long from, long until, Action<TKey, TSlot> visit)
    {
        KeyValuePair<TKey, (TSlot Slot, long Address)>[] entries;
        lock (_gate)
            entries = [.. _entries.Where(e => e.Value.Address >= from && e.Value.Address < until)
                .OrderBy(e => e.Value.Address)];
        foreach (var (key, (slot, _)) in entries) visit(key, slot);
        return ValueTask.CompletedTask;
    }

    public void Forget(long before)
    {
        if (before <= _files.Floor) return;
        _files.Floor = before;
        lock (_gate)
        {
            foreach (var (key, entry) in _entries)
            {
                if (entry.Address < before) _entries.Remove(key);
            }
        }
    }

    public Guid BeginCheckpoint()
    {
        lock (_gate) _begun = [.. _entries];
        return new Guid(0, 0, 0, [0, 0, .. BitConverter.GetBytes(BinaryPrimitives.ReverseEndianness(++_tokens))[2..]]);
    }

    // Every other one reflects what was entered since it was begun as well, as FASTER's may.
    public async ValueTask EndCheckpointAsync(Guid token)
    {
        var buffer = new ArrayBufferWriter<byte>();
        lock (_gate) Write(buffer, _tokens % 2 == 0 ? _begun : [.. _entries]);
        _begun = [];
        var bytes = new byte[4 + buffer.WrittenCount];
        buffer.WrittenSpan.CopyTo(bytes.AsSpan(4));
        BinaryPrimitives.WriteUInt32LittleEndian(bytes, Crc32C.Compute(buffer.WrittenSpan));
        await _files.WriteAsync(MapFileNames.Of(token), bytes);
    }

    public void Dispose()
    {
    }

    private void Write(ArrayBufferWriter<byte> buffer,
        KeyValuePair<TKey, (TSlot Slot, long Address)>[] entries)
    {
        var w = new WireWriter(buffer);
        w.Int64(Tail);
        w.Int32(entries.Length);
        foreach (var (key, (slot, address)) in entries)
        {
            w.Bytes(BytesOf(key));
            w.Bytes(BytesOf(slot));
            w.Int64(address);
        }

        w.Flush();
    }

    private static byte[] BytesOf<T>(T value)
        where T : unmanaged => MemoryMarshal.AsBytes(new ReadOnlySpan<T>(in value)).ToArray();
}
