namespace Craq.Storage;

/// <summary>An object's slot as the index keeps it. The default is none.</summary>
internal readonly record struct ObjectEntry
{
    private readonly long _version;
    private readonly long _address;
    private readonly long _expiry;
    private readonly int _recordLength;
    private readonly int _length;
    private readonly uint _flags;
    private readonly int _holding;
    private readonly short _write;
    private readonly byte _keyLength;
    private readonly byte _kind;

    /// <param name="holding">The chain's, from <see cref="HeldChain.Holding"/>.</param>
    public ObjectEntry(in ObjectSlot slot, int holding, int keyLength)
    {
        _version = slot.Version.Value;
        _address = slot.Address;
        _expiry = slot.Expiry;
        _recordLength = slot.RecordLength;
        _length = slot.Length;
        _flags = slot.Flags;
        _write = (short)slot.Write;
        _holding = holding;
        _keyLength = (byte)keyLength;
        _kind = 1;
    }

    private ObjectEntry(ObjectVersion version, long address, int holding)
    {
        _version = version.Value;
        _address = address;
        _holding = holding;
        _kind = 2;
    }

    /// <summary>Remembers the version of a deletion, so that an older copy in the log does not count in a
    /// recovery.</summary>
    /// <param name="address">The address of the record that says so.</param>
    public static ObjectEntry Removed(ObjectVersion version, long address, int holding) =>
        new(version, address, holding);

    /// <summary>The object stands in another record, which has it alone.</summary>
    public ObjectEntry At(in StorePlace place, int write) => new(
        ToSlot() with { Address = place.Address, RecordLength = place.Length, Write = write }, _holding, _keyLength);

    public bool IsObject => _kind == 1;

    public bool IsNone => _kind == 0;

    public int Holding => _holding;

    public ObjectVersion Version => new(_version);

    public long Address => _address;

    /// <summary>As <see cref="ObjectSlot.Expiry"/>; 0 of a deletion.</summary>
    public long Expiry => _expiry;

    public int Write => _write;

    /// <summary>Bytes of log that the object takes once it stands in a record of its own.</summary>
    public int Weight => IsObject ? WeightOf(_keyLength, _length) : 0;

    public ObjectSlot ToSlot() => new(Version, _address, _recordLength, _write, _length, _flags, _expiry);

    private static int WeightOf(int key, int value) => IRecordLog.FrameHeader + IRecordLog.Align(
        RecordFraming.HeaderSize + NodeScanRules.Prefix + RecordCodec.FixedSize + 12 + 24 + key + value);
}

/// <summary>A chain as the store knows it.</summary>
/// <param name="holding">Counts the chains that the node began to hold: entries of an earlier holding of the same chain
/// count for nothing.</param>
internal sealed class HeldChain(int holding)
{
    public int Holding { get; } = holding;

    /// <summary>The chain's newest state in the log, or its first record: all that the log says about the chain,
    /// besides objects and needed records, stands at or behind this address or in records of versions above
    /// <see cref="StateMark"/>.</summary>
    public long StateAddress { get; set; } = long.MaxValue;

    /// <summary>The mark of that state: records up to there count for their objects alone.</summary>
    public ObjectVersion StateMark { get; set; }

    /// <summary>Objects with versions below are absent.</summary>
    public ObjectVersion Cleared { get; set; }

    /// <summary>Estimates: a start from a checkpoint may be off by what was entered while that was made.</summary>
    public long LiveBytes { get; set; }

    public long Objects { get; set; }

    public HeldChain Copy() => (HeldChain)MemberwiseClone();
}
