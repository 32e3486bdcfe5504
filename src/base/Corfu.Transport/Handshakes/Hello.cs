using static System.Buffers.Binary.BinaryPrimitives;

namespace Corfu.Transport;

/// <summary>The client's first message, 48 bytes: magic (8), lowest and highest protocol version it speaks (2 + 2),
/// highest role to be used (1; zero: the certificate's), zero (3), cluster id (16; zero only where the identity is zero
/// too), identity wanted (16, or zero for a description only). Little-endian.</summary>
public readonly record struct Hello(ushort LowestVersion, ushort HighestVersion, ClusterId Cluster, NodeId Target)
{
    public const int Size = 48;

    /// <summary>The connection has no more rights than this role, whatever its certificate allows. None: the
    /// certificate's. Nodes of version 1 know no roles, and pass over it.</summary>
    public AccessRole Role { get; init; }

    /// <summary>Not text, and broken by every line-end conversion.</summary>
    public static ReadOnlySpan<byte> Magic => "CORFU\r\n\u001a"u8;

    public void Write(Span<byte> span)
    {
        Magic.CopyTo(span);
        WriteUInt16LittleEndian(span[8..], LowestVersion);
        WriteUInt16LittleEndian(span[10..], HighestVersion);
        WriteUInt32LittleEndian(span[12..], (byte)Role);
        Cluster.Value.TryWriteBytes(span[16..]);
        Target.Value.TryWriteBytes(span[32..]);
    }

    public static Hello Read(ReadOnlySpan<byte> span)
    {
        if (span[0] == 0x16)
            throw new MalformedDataException("A connection speaks TLS, and this node does not: give it certificates.");
        if (!span.StartsWith(Magic))
            throw new MalformedDataException("A connection does not begin with this protocol's handshake.");
        return new Hello(ReadUInt16LittleEndian(span[8..]), ReadUInt16LittleEndian(span[10..]),
            new ClusterId(new Guid(span.Slice(16, 16))), new NodeId(new Guid(span.Slice(32, 16))))
        {
            Role = (AccessRole)span[12],
        };
    }
}
