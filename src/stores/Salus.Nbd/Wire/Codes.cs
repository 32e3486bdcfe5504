namespace Salus.Nbd.Wire;

/// <summary>Magic numbers of the protocol.</summary>
internal static class Magic
{
    /// <summary>"NBDMAGIC", the server's first bytes.</summary>
    public const ulong Server = 0x4e42444d41474943;

    /// <summary>"IHAVEOPT", of newstyle servers and of each option.</summary>
    public const ulong Option = 0x49484156454f5054;

    public const ulong OptionReply = 0x0003e889045565a9;
    public const uint Request = 0x25609513;
    public const uint SimpleReply = 0x67446698;
    public const uint StructuredReply = 0x668e33ef;
}

/// <summary>Flags of server and client before the first option; both use the same bits.</summary>
[Flags]
internal enum HandshakeFlags : ushort
{
    None = 0,
    FixedNewstyle = 1,
    NoZeroes = 2,
}

internal enum OptionCode : uint
{
    ExportName = 1,
    Abort = 2,
    List = 3,
    StartTls = 5,
    Info = 6,
    Go = 7,
    StructuredReply = 8,
    ListMetaContext = 9,
    SetMetaContext = 10,
}

internal enum OptionReply : uint
{
    Ack = 1,
    Server = 2,
    Info = 3,
    MetaContext = 4,
    Unsupported = (1u << 31) + 1,
    Policy = (1u << 31) + 2,
    Invalid = (1u << 31) + 3,
    TlsRequired = (1u << 31) + 5,
    Unknown = (1u << 31) + 6,
    Shutdown = (1u << 31) + 7,
    TooBig = (1u << 31) + 9,
}

internal enum InfoKind : ushort
{
    Export = 0,
    Name = 1,
    Description = 2,
    BlockSize = 3,
}

/// <summary>Properties of an export.</summary>
[Flags]
internal enum TransmissionFlags : ushort
{
    HasFlags = 1,
    ReadOnly = 2,
    SendFlush = 4,
    SendFua = 8,
    SendTrim = 32,
    SendWriteZeroes = 64,
    SendDf = 128,
    CanMultiConn = 256,
    SendCache = 1024,
    SendFastZero = 2048,
}

internal enum CommandCode : ushort
{
    Read = 0,
    Write = 1,
    Disconnect = 2,
    Flush = 3,
    Trim = 4,
    Cache = 5,
    WriteZeroes = 6,
    BlockStatus = 7,
}

[Flags]
internal enum CommandFlags : ushort
{
    None = 0,
    Fua = 1,
    NoHole = 2,
    DontFragment = 4,
    RequestOne = 8,
    FastZero = 16,
}

/// <summary>Errors of commands; the protocol took its numbers from Linux.</summary>
internal enum NbdError : uint
{
    None = 0,
    NotPermitted = 1,
    InputOutput = 5,
    Invalid = 22,
    NoSpace = 28,
    NotSupported = 95,
    Shutdown = 108,
}

internal enum ChunkKind : ushort
{
    None = 0,
    OffsetData = 1,
    OffsetHole = 2,
    BlockStatus = 5,
    Error = (1 << 15) + 1,
    ErrorOffset = (1 << 15) + 2,
}
