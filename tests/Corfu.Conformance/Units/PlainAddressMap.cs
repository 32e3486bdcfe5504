using System.Buffers;
using System.Buffers.Binary;
using System.Globalization;
using Corfu.Protocol;
using Corfu.Storage;
using Corfu.Unit;

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

/// <summary>The simulator's address maps: in memory, with checkpoints in files of the simulated disk.</summary>
internal sealed class PlainAddressMaps(IMapFiles files) : IAddressMaps
{
    private const string DocumentPrefix = "checkpoint.";
    private const string MapPrefix = "map.";
    private const string FreshName = "new.checkpoint";

    public IAddressMap Open(Guid? checkpoint, Action<Exception> failed)
    {
        if (checkpoint is { } token) return new PlainAddressMap(files, Name(token), Load(token));
        foreach (var name in files.List()) files.Delete(name);
        files.Floor = 0;
        return new PlainAddressMap(files, null, null);
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
            .Where(n => n.StartsWith(MapPrefix, StringComparison.Ordinal) && kept.All(k => Name(k) != n)))
            files.Delete(name);
    }

    internal static string Name(Guid token) => MapPrefix + token.ToString("N");

    private static string Document(long number) => DocumentPrefix + number.ToString(CultureInfo.InvariantCulture);

    private ReadOnlyMemory<byte> Load(Guid token)
    {
        if (!files.List().Contains(Name(token)))
            throw new StoreFailedException("The checkpoint of the address map is missing.");
        var bytes = files.Read(Name(token));
        if (bytes.Length < 4 || Crc32C.Compute(bytes.AsSpan(4)) != BinaryPrimitives.ReadUInt32LittleEndian(bytes))
            throw new StoreFailedException("The checkpoint of the address map is not whole.");
        return bytes.AsMemory(4);
    }
}

internal sealed class PlainAddressMap : IAddressMap
{
    private const int EntrySize = 64;
    private const int FirstAddress = 64;

    private readonly IMapFiles _files;

    // Guards everything below.
    private readonly Lock _gate = new();
    private readonly Dictionary<LogPosition, (PageSlot Slot, long Address)> _entries = [];
    private KeyValuePair<LogPosition, (PageSlot Slot, long Address)>[] _begun = [];
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
            var position = r.Position();
            var slot = new PageSlot((PageState)r.Byte(), r.Int64(), r.Int32(), r.Int32(),
                new EntryOrigin(new WriterId(r.Guid()), r.Int64()), r.Int64());
            var address = r.Int64();
            if (address >= files.Floor) _entries[position] = (slot, address);
        }

        r.End();
    }

    public long Tail { get; private set; } = FirstAddress;

    public long Bytes => Tail - _files.Floor;

    public PageSlot Find(LogPosition position)
    {
        lock (_gate) return _entries.GetValueOrDefault(Bare(position)).Slot;
    }

    public void Set(LogPosition position, in PageSlot slot)
    {
        lock (_gate)
        {
            _entries[Bare(position)] = (slot, Tail);
            Tail += EntrySize;
        }
    }

    public void Forget(long before)
    {
        if (before <= _files.Floor) return;
        _files.Floor = before;
        lock (_gate)
        {
            foreach (var (position, entry) in _entries)
            {
                if (entry.Address < before) _entries.Remove(position);
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
        await _files.WriteAsync(PlainAddressMaps.Name(token), bytes);
    }

    public void Dispose()
    {
    }

    private void Write(ArrayBufferWriter<byte> buffer,
        KeyValuePair<LogPosition, (PageSlot Slot, long Address)>[] entries)
    {
        var w = new WireWriter(buffer);
        w.Int64(Tail);
        w.Int32(entries.Length);
        foreach (var (position, (slot, address)) in entries)
        {
            w.Position(position);
            w.Byte((byte)slot.State);
            w.Int64(slot.Address);
            w.Int32(slot.Length);
            w.Int32(slot.HeaderLength);
            w.Guid(slot.Origin.Writer.Value);
            w.Int64(slot.Origin.Sequence);
            w.Int64(slot.Lsn);
            w.Int64(address);
        }

        w.Flush();
    }

    private static LogPosition Bare(LogPosition position) => new(position.Offset);
}
