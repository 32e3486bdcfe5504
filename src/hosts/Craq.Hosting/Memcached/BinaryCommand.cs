namespace Craq.Hosting.Memcached;

/// <summary>A command of memcached's binary protocol.</summary>
internal sealed record BinaryCommand(BinaryHeader Header, BinaryForm Form)
{
    public MemcachedVerb Verb => Form.Verb;

    /// <summary>Not Ok: the answer to a command that is not understood; its body is passed over.</summary>
    public BinaryStatus Status { get; init; }

    /// <summary>The connection ends behind the answer: where the next command begins is not sure.</summary>
    public bool IsMalformed { get; init; }

    public ObjectKey Key { get; init; }

    public ReadOnlyMemory<byte> Value { get; init; }

    public uint Flags { get; init; }

    public uint Exptime { get; init; }

    public ulong Delta { get; init; }

    /// <summary>Null: the counter stays absent.</summary>
    public ulong? Initial { get; init; }

    public bool IsRetrieval => Verb == MemcachedVerb.Get && Status == BinaryStatus.Ok;

    public BinaryCommand Faulty(BinaryStatus status, bool isMalformed = false) =>
        this with { Status = status, IsMalformed = isMalformed };
}

/// <summary>The command of an opcode.</summary>
/// <param name="IsQuiet">Answers that say nothing new are left out: misses of a retrieval, the success of
/// others.</param>
/// <param name="HasKey">Answers repeat the key.</param>
internal readonly record struct BinaryForm(MemcachedVerb Verb, bool IsQuiet = false, bool HasKey = false)
{
    private static readonly BinaryForm[] s_forms =
    [
        new(MemcachedVerb.Get), new(MemcachedVerb.Set), new(MemcachedVerb.Add), new(MemcachedVerb.Replace),
        new(MemcachedVerb.Delete), new(MemcachedVerb.Increment), new(MemcachedVerb.Decrement),
        new(MemcachedVerb.Quit), new(MemcachedVerb.FlushAll), new(MemcachedVerb.Get, IsQuiet: true),
        new(MemcachedVerb.Noop), new(MemcachedVerb.Version), new(MemcachedVerb.Get, HasKey: true),
        new(MemcachedVerb.Get, IsQuiet: true, HasKey: true), new(MemcachedVerb.Append), new(MemcachedVerb.Prepend),
        // 0x10
        new(MemcachedVerb.Stats), new(MemcachedVerb.Set, IsQuiet: true), new(MemcachedVerb.Add, IsQuiet: true),
        new(MemcachedVerb.Replace, IsQuiet: true), new(MemcachedVerb.Delete, IsQuiet: true),
        new(MemcachedVerb.Increment, IsQuiet: true), new(MemcachedVerb.Decrement, IsQuiet: true),
        new(MemcachedVerb.Quit, IsQuiet: true), new(MemcachedVerb.FlushAll, IsQuiet: true),
        new(MemcachedVerb.Append, IsQuiet: true), new(MemcachedVerb.Prepend, IsQuiet: true),
        new(MemcachedVerb.Verbosity), new(MemcachedVerb.Touch), new(MemcachedVerb.GetAndTouch),
        new(MemcachedVerb.GetAndTouch, IsQuiet: true), default,
        // 0x20: SASL, which this server does not have.
        default, default, default, new(MemcachedVerb.GetAndTouch, HasKey: true),
        new(MemcachedVerb.GetAndTouch, IsQuiet: true, HasKey: true),
    ];

    /// <summary>The verb None: no command has the opcode.</summary>
    public static BinaryForm Of(byte opcode) => opcode < s_forms.Length ? s_forms[opcode] : default;
}

/// <summary>Statuses of answers, as memcached and its clients have them.</summary>
internal enum BinaryStatus : ushort
{
    Ok = 0,
    NotFound = 1,
    Exists = 2,
    TooLarge = 3,
    Invalid = 4,
    NotStored = 5,
    NotANumber = 6,
    UnknownCommand = 0x81,
    InternalError = 0x84,
    TemporaryFailure = 0x86,
}
